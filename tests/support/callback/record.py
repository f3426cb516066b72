# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Callback plugin that writes every task result as one JSON line to the file named by OSSO_TEST_RECORD."""

from __future__ import annotations

import json
import os

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: record
type: aggregate
short_description: Task results as JSON lines, for the tests
description:
  - Writes one line per task, host and loop item to the file named by the environment variable E(OSSO_TEST_RECORD).
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "record"
    CALLBACK_NEEDS_ENABLED = True

    def _record(self, status, result):
        line = {
            "task": result.task.get_name().strip(),
            "host": result.host.get_name(),
            "status": status,
            "result": result.result,
        }
        with open(os.environ["OSSO_TEST_RECORD"], "a", encoding="utf-8") as record:
            record.write(json.dumps(line, default=str) + "\n")

    def v2_runner_on_ok(self, result):
        self._record("ok", result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._record("ignored" if ignore_errors else "failed", result)

    def v2_runner_on_unreachable(self, result):
        self._record("unreachable", result)

    def v2_runner_on_skipped(self, result):
        self._record("skipped", result)
