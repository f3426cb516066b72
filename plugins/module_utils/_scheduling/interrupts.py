# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests to end, for work that has to clean up after itself.

with uninterrupted():
    try:
        with ended_by_signals("The probe"):
            ...
    finally:
        ...  # the cleaning up, which nothing interrupts
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError

_AGAIN_SECONDS = 0.5


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Requests to end are ignored while the block runs."""
    with _on_signal(signal.SIG_IGN):
        yield


@contextmanager
def ended_by_signals(what: str) -> Iterator[None]:
    """A request to end raises ClusterError in the block; ``what`` begins its message."""

    asked: list[int] = []
    ended = threading.Event()

    def again() -> None:
        while not ended.wait(_AGAIN_SECONDS):
            signal.pthread_kill(asked[0], asked[1])

    # Python ignores what is raised while it finalizes an object, and other code may: so it is raised again until the block has ended.
    repetition = threading.Thread(target=again, daemon=True)

    def end(number: int, frame: FrameType | None) -> NoReturn:
        if not asked:
            asked.extend((threading.get_ident(), number))
            repetition.start()
        raise ClusterError(f"{what} was ended by {signal.Signals(number).name}.")

    with _on_signal(end):
        try:
            yield
        finally:
            ended.set()
            if asked:
                repetition.join()


@contextmanager
def _on_signal(handler: Callable[[int, FrameType | None], Any] | signal.Handlers) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
