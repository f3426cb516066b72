# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of the operator in one task, in Ansible's own process. The module of that name documents it."""

from __future__ import annotations

import json
import os

from ansible.module_utils.common.text.converters import to_text
from ansible.utils.display import Display
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import message_of
from ansible_collections.osso.scheduler.plugins.module_utils._operand import reconcile
from ansible_collections.osso.scheduler.plugins.modules.reconcile_operand import OPTIONS, UNATTENDED
from ansible_collections.osso.scheduler.plugins.plugin_utils import operand_templates
from ansible_collections.osso.scheduler.plugins.plugin_utils.cluster_action import OnCluster

NODE_USER = "65532"
# The extra variable of ansible-operator with the resource.
GIVEN = "_operator_openshift_io_secondaryscheduler"

# Ansible imports this before it forks the task's process; in the operator's image, the parent of all reconciles imports it.
operand_templates.compile_all()


class ActionModule(OnCluster):
    TRANSFERS_FILES = False
    _requests = None

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        _validated, options = self.validate_argument_spec(OPTIONS)
        if options["state"] == UNATTENDED:
            return {**result, **self._execute_module(task_vars=task_vars)}
        if self._task.check_mode:
            return dict(result, skipped=True, msg="A reconcile writes what it found out, so it does not support check mode.")
        resource = _plain(options["resource"] or task_vars[GIVEN])
        try:
            done, failure = self._reconcile(resource, options), None
        except Exception as error:
            done, failure = reconcile.Result(), message_of(error)
        # Outside of the handler, since newer releases of ansible-core add the traceback of the exception that is being handled
        if failure is None and done.failure and not done.look_again and options["state"] == "present":
            failure = done.failure
        told = {"changed": done.changed, "look_again": done.look_again, "failure": failure or done.failure, "requests": self._requests}
        return {**result, **told, **({"failed": True, "msg": failure} if failure else {})}

    def _reconcile(self, resource, options):
        client = Client.connect(options, Display().warning)
        self._requests = client.requests
        # Empty: all
        namespaces = [name for name in os.environ.get("WATCH_NAMESPACE", "").split(",") if name]
        if options["state"] == "absent":
            return reconcile.finalize(client, resource, options["cleanup_deadline"], namespaces, Display().warning)
        return reconcile.reconcile(client, resource, _rendered, namespaces, Display().warning)


def _plain(resource):
    """The resource as the API server has it, of plain data: PyYAML takes no subclass of str.

    A mapping with the key ``__ansible_vault`` is an encrypted text for whatever reads Ansible's variables. No template may touch it.
    """
    return json.loads(json.dumps(resource, default=lambda value: {"__ansible_vault": to_text(value._ciphertext)}))


def _rendered(operand):
    # Where the platform chooses the user itself, as OpenShift does, none is named.
    user = os.environ.get("SCHEDULER_USER") or ("" if operand["platform"]["openshift"] else NODE_USER)
    return operand_templates.manifests(operand, user, operand_templates.prometheus(os.environ.get(operand_templates.PROMETHEUS)))
