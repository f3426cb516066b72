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
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError

_AGAIN_SECONDS = 0.1


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Requests to end are ignored while the block runs."""
    with _on_signal(signal.SIG_IGN):
        yield


@contextmanager
def ended_by_signals(what: str) -> Iterator[None]:
    """The first request to end raises ClusterError in the block; ``what`` begins its message."""
    request = _Request(what)
    report, sys.unraisablehook = sys.unraisablehook, request.on_unraisable
    try:
        with _on_signal(request.on_signal):
            try:
                yield
                if request.error is not None:
                    raise request.error
            finally:
                request.close()
    finally:
        sys.unraisablehook = report


class _Request:
    """Raised once, and again a little later if Python has ignored it, as it does while it finalizes an object."""

    def __init__(self, what: str) -> None:
        self.error: ClusterError | None = None
        self._what = what
        self._number = 0
        self._is_raised = False
        self._repetition: threading.Timer | None = None
        self._report = sys.unraisablehook

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self._is_raised:
            self._is_raised = True
            self._number = number
            self.error = self.error or ClusterError(f"{self._what} was ended by {signal.Signals(number).name}.")
            raise self.error

    def on_unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        if self.error is None or unraisable.exc_value is not self.error:
            self._report(unraisable)
            return
        repetition = threading.Timer(_AGAIN_SECONDS, self._repeat, (threading.get_ident(),))
        repetition.start()
        self._repetition = repetition

    def close(self) -> None:
        if self._repetition is not None:
            self._repetition.cancel()
            self._repetition.join()

    def _repeat(self, thread: int) -> None:
        self._is_raised = False
        signal.pthread_kill(thread, self._number)


@contextmanager
def _on_signal(handler: Callable[[int, FrameType | None], Any] | signal.Handlers) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
