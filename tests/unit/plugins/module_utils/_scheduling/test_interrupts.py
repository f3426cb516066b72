# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests to end, while work cleans up after itself."""

from __future__ import annotations

import os
import signal
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


def _ignore_one_and_wait():
    _Finalized()
    time.sleep(60)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_request_that_python_ignores_ends_the_block_a_little_later():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(ClusterError, match=r"^The probe was ended by SIGTERM\.$"), ended_by_signals("The probe"):
        _ignore_one_and_wait()
    assert signal.getsignal(signal.SIGTERM) is before
