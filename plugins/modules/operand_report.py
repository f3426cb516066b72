#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: operand_report
short_description: Tell what one reconcile of a SecondaryScheduler came to
version_added: 1.0.0
author:
  - osso.scheduler contributors (@osso)
description:
  - The last step of the operator's reconcile. Writes the status of the resource, events for what changed, and the condition
    C(SchedulerNamesUnique) of other resources where it changes; annotates the user's ConfigMap so that the operator is told of its edits; and
    hands the conditions to the operator's metrics.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.attributes
  - osso.scheduler.attributes.actiongroup_scheduler
attributes:
  check_mode:
    support: none
    details:
      - It belongs to a reconcile that has happened.
  diff_mode:
    support: none
  idempotent:
    support: full
    details:
      - Without a change of what it tells, it writes nothing.
options:
  resource:
    description: The C(SecondaryScheduler) as it was before the reconcile.
    type: dict
    required: true
  operand:
    description:
      - The result of M(osso.scheduler.operand_info) for it. Leave it out if that failed, and give the reason as O(error); the status then
        says that and is otherwise as it was. Not used with O(state=absent).
    type: dict
  namespaces:
    description: With O(state=absent), namespaces in which other C(SecondaryScheduler) resources are looked for. Empty means all.
    type: list
    elements: str
    default: []
  state:
    description:
      - V(absent) after all that belongs to the resource was deleted and before the resource itself is deleted. The resource need not be
        valid for that.
    type: str
    choices: [present, absent]
    default: present
  objects:
    description: RV(osso.scheduler.apply#module:objects) of what was applied.
    type: list
    elements: dict
    default: []
  additions:
    description: RV(osso.scheduler.apply#module:additions) of what was applied.
    type: list
    elements: dict
    default: []
  deployment:
    description: The scheduler's Deployment after the apply. Without it the one that M(osso.scheduler.operand_info) saw.
    type: dict
  error:
    description: Why M(osso.scheduler.operand_info) or the apply failed, empty if neither did.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Read the resource
  kubernetes.core.k8s_info:
    api_version: operator.openshift.io/v1
    kind: SecondaryScheduler
    namespace: openshift-secondary-scheduler-operator
    name: batch
  register: found

- name: Look at it
  osso.scheduler.operand_info:
    resource: "{{ found.resources[0] }}"
    ask_image: false
  register: operand
  no_log: true

- name: Report what is there
  osso.scheduler.operand_report:
    resource: "{{ found.resources[0] }}"
    operand: "{{ operand }}"
  no_log: true
"""

RETURN = r"""
status:
  description: The status that the resource has now; null with O(state=absent).
  returned: always
  type: dict
look_again:
  description:
    - When the operator has to look again by itself, empty if it is told of every change that matters.
    - A state that lasts is looked at ever more rarely. A failure is to be tried again at once where this is empty.
  returned: always
  type: str
  sample: 5s
failure:
  description: Why the reconcile has to be tried again, empty if it has not.
  returned: always
  type: str
"""

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.module import argument_spec, cluster_module


def run(module):
    try:
        from ansible_collections.osso.scheduler.plugins.module_utils.operand.reporting import Reporting
        from ansible_collections.osso.scheduler.plugins.module_utils.operand.survey import Survey
    except ImportError as error:
        raise ClusterError(f"{error}: install PyYAML, or set ansible_python_interpreter to a Python that has it.") from None

    params = module.params
    if params["state"] == "absent":
        client = Client.from_module(module)
        neighbours = Survey(client, params["resource"], params["namespaces"]).neighbours()
        return Reporting(client, params["resource"], neighbours, module.warn).absent()
    operand = params["operand"]
    if operand is None:
        if not params["error"]:
            raise ClusterError("operand is missing: give the result of osso.scheduler.operand_info, or as error why there is none.")
        return Reporting(Client.from_module(module), params["resource"], None, module.warn).unread(params["error"])
    # The invocation is part of the result
    params["operand"] = {"action": operand["action"]}
    reporting = Reporting(Client.from_module(module), params["resource"], operand, module.warn)
    return reporting.present(params["objects"], params["deployment"] or operand["deployment"], params["error"], params["additions"])


def main():
    cluster_module(
        run,
        argument_spec=argument_spec(
            resource=dict(type="dict", required=True),
            operand=dict(type="dict"),
            namespaces=dict(type="list", elements="str", default=[]),
            state=dict(type="str", choices=["present", "absent"], default="present"),
            objects=dict(type="list", elements="dict", default=[]),
            additions=dict(type="list", elements="dict", default=[]),
            deployment=dict(type="dict"),
            error=dict(type="str", default=""),
        ),
    )


if __name__ == "__main__":
    main()
