# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""In a playbook that sets the variable ``preview_playbook``, the message names the variables of that playbook in the place of options."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._preview.option_names import PLAYBOOKS, renamed
from ansible_collections.osso.scheduler.plugins.plugin_utils.cluster_action import action_of


class ActionModule(action_of("scheduler_preview")):
    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        names = PLAYBOOKS.get((task_vars or {}).get("preview_playbook"))
        if names and isinstance(result.get("msg"), str):
            result["msg"] = renamed(result["msg"], names)
            # Since ansible-core 2.19, it is the source of the error that is shown, and without it the message is.
            if not isinstance(result.get("exception"), (str, type(None))):
                del result["exception"]
        return result
