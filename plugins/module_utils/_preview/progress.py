# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Progress of a preview that takes longer than a few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

_FIRST, _EVERY = 3.0, 5.0
"""Seconds until the first sentence, and between two sentences."""


class Progress:
    """Shows a sentence now and then, whatever the number of calls. Each preview starts with a new one."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._next = time.monotonic() + _FIRST

    def __call__(self, sentence: str) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _EVERY
            self._show(sentence)
