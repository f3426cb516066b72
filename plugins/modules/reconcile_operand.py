#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: reconcile_operand
short_description: Reconcile a SecondaryScheduler, for the operator
version_added: 1.0.0
author:
  - osso.scheduler contributors (@osso)
description:
  - Part of the operator, not for playbooks of users. Its options and return values can change with every release.
  - One reconcile is one task. It reads what the resource depends on, validates the configuration, decides which rollout is to be applied, if any,
    renders the templates of the role P(osso.scheduler.operand#role), applies them, and reports by the status of the resource, events and metrics.
  - Configurations and tokens never become variables or results of Ansible.
  - A reconcile runs on the controller, in Ansible's own process; O(state=unattended) runs where modules run.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.attributes
  - osso.scheduler.attributes.actiongroup_scheduler
attributes:
  check_mode:
    support: partial
    details:
      - Of O(state=unattended) alone. Otherwise the task is skipped.
  diff_mode:
    support: partial
    details:
      - Of O(state=unattended) alone.
  idempotent:
    support: full
    details:
      - Where nothing has changed, nothing is written.
options:
  resource:
    description:
      - The whole C(SecondaryScheduler) as the API server returns it. Required for O(state=unattended).
      - By default the one that ansible-operator passes. It is read without templates, because a resource can contain a mapping that Ansible
        takes for an encrypted text.
    type: dict
  state:
    description:
      - V(present) does what the resource specifies.
      - V(absent) cleans up after a resource that is being deleted. It does not wait for the pods of the scheduler to end, but asks for another
        reconcile. What fails is tried again until O(cleanup_deadline).
      - V(unattended) cleans up after a resource whose operator does not run, and removes the operator's finalizer from it.
    type: str
    choices: [present, absent, unattended]
    default: present
  cleanup_deadline:
    description:
      - Seconds after the first attempt at which a clean-up that still fails is given up. An event on the resource reports what is left.
      - With V(unattended), seconds that the pods of the scheduler get to end.
    type: int
    default: 240
"""

EXAMPLES = r"""
- name: Read the resource
  kubernetes.core.k8s_info:
    api_version: operator.openshift.io/v1
    kind: SecondaryScheduler
    namespace: openshift-secondary-scheduler-operator
    name: batch
  register: found

- name: Clean up in place of its operator, which was deleted before
  osso.scheduler.reconcile_operand:
    resource: "{{ found.resources[0] }}"
    state: unattended
"""

RETURN = r"""
look_again:
  description:
    - When the operator must reconcile again without an event, empty if events report every relevant change.
    - A lasting state is checked less and less often.
  returned: with O(state=present) and O(state=absent)
  type: str
  sample: 5s
failure:
  description: Why the reconcile must be retried, empty if it succeeded. The task fails if RV(look_again) is empty.
  returned: with O(state=present) and O(state=absent)
  type: str
requests:
  description: How many requests were sent, by C(read), C(write) and C(dry_run).
  returned: with O(state=present) and O(state=absent)
  type: dict
objects:
  description: RV(osso.scheduler.apply#module:objects) of what was deleted.
  returned: with O(state=unattended)
  type: list
  elements: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module

UNATTENDED = "unattended"
OPTIONS = argument_spec(
    resource=dict(type="dict"),
    state=dict(type="str", choices=["present", "absent", UNATTENDED], default="present"),
    cleanup_deadline=dict(type="int", default=240),
)


def run(module):
    from ansible_collections.osso.scheduler.plugins.module_utils._operand.reconcile import clean_up_unattended

    params = module.params
    if params["state"] != UNATTENDED:
        raise InputError(f"state is {params['state']}: that runs on the controller; call it as a task, so that its action plugin runs.")
    if params["resource"] is None:
        raise InputError(f"resource is missing; state {UNATTENDED} requires the SecondaryScheduler to clean up after.")
    client = Client.connect(params, module.warn)
    result = clean_up_unattended(client, params["resource"], params["cleanup_deadline"], module.warn, module.check_mode, module._diff)
    return {key: result[key] for key in ("changed", "objects", "diff") if key in result}


def main():
    cluster_module(run, hidden=("resource",), argument_spec=OPTIONS, supports_check_mode=True)


if __name__ == "__main__":
    main()
