# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: scheduler_placements
short_description: Who placed the pods of workloads
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Says for each pod of some workloads which schedulerName it asks for and who placed it, as its event says.
positional: pods, events, moved
options:
  _input:
    description: The workloads, as the API server returns them.
    type: list
    elements: dict
    required: true
  pods:
    description: Pods of their namespaces, as the API server returns them.
    type: list
    elements: dict
    required: true
  events:
    description: Events of the reason C(Scheduled) in their namespaces, as the API server returns them.
    type: list
    elements: dict
    required: true
  moved:
    description:
      - Those of the workloads whose pods are new, each with C(kind), C(namespace) and C(name). If not given, all.
      - Pods of the others may have no event any more, since events expire.
    type: list
    elements: dict
"""

EXAMPLES = r"""
- name: Show the pods that somebody else has placed
  ansible.builtin.debug:
    msg: "{{ deployments | osso.scheduler.scheduler_placements(pods, events) | rejectattr('as_wanted') }}"
  vars:
    deployments: []
    pods: []
    events: []
"""

RETURN = r"""
_value:
  description: >-
    For each pod its C(workload), C(pod), C(node), C(scheduler_name), C(placed_by), which is empty where no event is left, and C(as_wanted), whether
    the scheduler that the workload asks for has placed it.
  type: list
  elements: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.moves import placements


class FilterModule:
    def filters(self):
        return {"scheduler_placements": placements}
