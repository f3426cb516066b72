# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sentences that a module shows while it runs. Ansible shows nothing of a running module, so they go through a pipe to the action plugin."""

from __future__ import annotations

import os

pipe: int | None = None
"""A file descriptor to write to. It is set in the fork that runs the module (plugins/plugin_utils/in_fork.py)."""


def show(sentence: str) -> None:
    """Show a sentence, if there is an action plugin that does."""
    if pipe is not None:
        os.write(pipe, " ".join(sentence.split()).encode("utf-8", "replace") + b"\n")
