# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: scheduler_move
short_description: What has to be written to have workloads placed by another scheduler
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Says for the playbook C(osso.scheduler.use_scheduler) which workloads have to be changed and how, and which must not be.
  - Refused are workloads in C(openshift-*) and C(kube-*), static pods, what cannot be changed (Jobs, pods), and what belongs to an object that
    would set it back.
positional: found, scheduler_name, undo
options:
  _input:
    description: The workloads that are meant, each with C(kind), C(namespace) and C(name).
    type: list
    elements: dict
    required: true
  found:
    description: Those of them that exist, as the API server returns them.
    type: list
    elements: dict
    required: true
  scheduler_name:
    description: The schedulerName that they are to have. Not needed with O(undo).
    type: str
    default: ""
  undo:
    description: Whether they are to have the schedulerName again that they had before they were moved.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Show why a workload stays where it is
  ansible.builtin.debug:
    msg: "{{ (workloads | osso.scheduler.scheduler_move([], 'batch')).refused }}"
  vars:
    workloads:
      - {kind: Deployment, namespace: kube-system, name: coredns}
"""

RETURN = r"""
_value:
  description: >-
    C(refused), sentences about what must not be changed; C(patches), a manifest for each workload that is to be changed, which holds
    nothing else; C(moved), the same with C(before) and C(after); C(rollouts), those whose pods are replaced then; C(verify), these and
    those that an earlier run has moved; and C(held), sentences about those whose pods are not replaced.
  type: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.moves import plan


class FilterModule:
    def filters(self):
        return {"scheduler_move": plan}
