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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Requests to end are ignored while the block runs."""
    with _on_signal(signal.SIG_IGN):
        yield


@contextmanager
def ended_by_signals(what: str) -> Iterator[None]:
    """A request to end raises ClusterError in the block; ``what`` begins its message."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise ClusterError(f"{what} was ended by {signal.Signals(number).name}.")

    with _on_signal(end):
        yield


@contextmanager
def _on_signal(handler: Callable[[int, FrameType | None], Any] | signal.Handlers) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
