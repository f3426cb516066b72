# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests to end, while work cleans up after itself."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.interrupts import ended_by_signals, uninterrupted

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_request_to_end_is_an_error_in_the_work_and_ignored_in_the_clean_up(number):
    before = [signal.getsignal(one) for one in SIGNALS]
    cleaned = False
    with uninterrupted():
        signal.raise_signal(number)
        with pytest.raises(ClusterError, match=rf"^The probe was ended by {signal.Signals(number).name}\.$"), ended_by_signals("The probe"):
            signal.raise_signal(number)
        signal.raise_signal(number)
        cleaned = True
    assert cleaned
    assert [signal.getsignal(one) for one in SIGNALS] == before


class _Finalized:
    """A request to end arrives while Python finalizes it."""

    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        sum(range(1000))


def _ignored(seconds):
    _Finalized()
    time.sleep(seconds)


@pytest.mark.parametrize("seconds", [60, 0])
def test_a_request_that_python_ignores_ends_the_block_a_little_later(seconds):
    before = signal.getsignal(signal.SIGTERM), sys.unraisablehook, threading.active_count()
    with pytest.raises(ClusterError, match=r"^The probe was ended by SIGTERM\.$"), ended_by_signals("The probe"):
        _ignored(seconds)
    assert (signal.getsignal(signal.SIGTERM), sys.unraisablehook, threading.active_count()) == before


def test_other_errors_that_python_ignores_are_reported(monkeypatch):
    class Other:
        def __del__(self):
            raise ValueError("other")

    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: seen.append(str(unraisable.exc_value)))
    with ended_by_signals("The probe"):
        Other()
    assert seen == ["other"]


def test_a_request_that_is_caught_is_raised_at_the_end():
    with pytest.raises(ClusterError, match=r"^The probe was ended by SIGTERM\.$"), ended_by_signals("The probe"):
        _catch(signal.SIGTERM)


def _catch(number):
    with contextlib.suppress(ClusterError):
        signal.raise_signal(number)


def test_further_requests_do_not_interrupt_the_end_of_the_block():
    done = []
    with pytest.raises(ClusterError, match=r"^The probe was ended by SIGINT\.$"), ended_by_signals("The probe"):
        _end_slowly(done)
    assert done == ["closed"]


def _end_slowly(done):
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGHUP)
        done.append("closed")
