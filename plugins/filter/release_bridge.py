# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: release_bridge
short_description: The pod that schedules pods while a secondary scheduler is handed over
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - For the playbook C(osso.scheduler.release). Creates the manifest of a pod from a scheduler's running pod. The new pod schedules pods without the
    Lease until the scheduler of the other operator has acquired the Lease.
positional: workload
options:
  _input:
    description: The pod that holds the Lease.
    type: dict
    required: true
  workload:
    description: Name of the scheduler's Deployment, and of its Lease.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Show that a pod without a configuration of the operator is not bridged
  ansible.builtin.debug:
    msg: "{{ pod | osso.scheduler.release_bridge('secondary-scheduler') }}"
  vars:
    pod: {metadata: {name: other, labels: {}}, spec: {containers: []}}
"""

RETURN = r"""
_value:
  description: The pod; empty if the given one was not made by this collection's operator for this Deployment.
  type: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.bridge import bridge


class FilterModule:
    def filters(self):
        return {"release_bridge": bridge}
