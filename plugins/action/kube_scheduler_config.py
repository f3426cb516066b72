# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ansible does not print a configuration that contains a credential, whether or not the task has ``no_log``."""

from __future__ import annotations

from ansible.utils.display import Display
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import holds_credential
from ansible_collections.osso.scheduler.plugins.plugin_utils.cluster_action import action_of


class ActionModule(
    action_of(
        "kube_scheduler_config", *(f"_kube_scheduler.{part}" for part in ("encode", "extenders", "framework", "lint", "pem", "startup"))
    )
):
    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        # The text of a configuration that is not valid is in no result of a failed task.
        if result.get("text") and holds_credential(result["text"]):
            result["_ansible_no_log"] = True
            # Before ansible-core 2.19 they are hidden with the result.
            for warning in result.get("warnings") or []:
                if isinstance(warning, str):
                    Display().warning(warning)
        return result
