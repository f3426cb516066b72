# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make ansible-operator reconcile this resource again after some time.

ansible-operator looks in the events for a task whose action is *written* ``requeue_after`` and takes ``period`` from its
result. It stops reading the run at that event: the task must be the last one, and earlier failures are not detected. A skipped task has a result
without ``period``, which makes ansible-operator panic; so put the condition on an ``include_tasks``, not on the task itself.

    - name: Look again soon
      requeue_after:
        period: 10s
"""

from __future__ import annotations

import re

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

# time.ParseDuration of Go, without signs.
DURATION = re.compile(r"([0-9]+(\.[0-9]*)?(ns|us|ms|s|m|h))+")


class ActionModule(ActionBase):
    """Returns ``period``, a duration such as ``10s`` or ``1m30s``."""

    TRANSFERS_FILES = False
    _VALID_ARGS = frozenset(["period"])

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        period = self._task.args.get("period")
        if not isinstance(period, str) or not DURATION.fullmatch(period):
            raise AnsibleActionFail(f"requeue_after: period is {period!r}; it has to be a duration with a unit, such as 10s or 1m30s.")
        return {**result, "changed": False, "period": period}
