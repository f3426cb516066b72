# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: in_tree_gangs
short_description: Convert gangs of scheduler-plugins to gangs of Kubernetes
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Converts manifests for the plugin Coscheduling of kubernetes-sigs/scheduler-plugins to manifests for the gang scheduling of Kubernetes 1.37.
  - A PodGroup of C(scheduling.x-k8s.io/v1alpha1) becomes one of C(scheduling.k8s.io/v1beta1), with C(minMember) as C(schedulingPolicy.gang.minCount).
    The fields C(minResources) and C(scheduleTimeoutSeconds) have no successor and are removed.
  - In pods, and in the pod templates of workloads, the label C(scheduling.x-k8s.io/pod-group) becomes the field C(schedulingGroup.podGroupName).
  - The filter returns all other manifests unchanged.
options:
  _input:
    description: The manifests.
    type: list
    elements: dict
    required: true
"""

EXAMPLES = r"""
- name: Show a PodGroup for Kubernetes 1.37
  ansible.builtin.debug:
    msg: "{{ [old] | osso.scheduler.in_tree_gangs }}"
  vars:
    old:
      apiVersion: scheduling.x-k8s.io/v1alpha1
      kind: PodGroup
      metadata:
        name: model
      spec:
        minMember: 3
"""

RETURN = r"""
_value:
  description: The converted manifests, in the same order.
  type: list
  elements: dict
"""

from ansible.errors import AnsibleFilterError
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.gangs import CannotConvert, convert


def in_tree_gangs(manifests):
    try:
        return [convert(manifest) for manifest in manifests]
    except CannotConvert as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    def filters(self):
        return {"in_tree_gangs": in_tree_gangs}
