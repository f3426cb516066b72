# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """Options by which a module finds the instance of a scheduler to look into: those of ``debugging.target_pod.INSTANCE_SPEC``."""

    DOCUMENTATION = r"""
options:
  scheduler_name:
    description:
      - The C(schedulerName) of the scheduler. The module finds the scheduler in the same way as M(osso.scheduler.scheduler_info), and uses its
        leading instance.
      - Either this or O(pod) is required.
    type: str
  namespaces:
    description: Namespaces in which Deployments are searched, besides those of SecondaryScheduler resources. All if the list is empty.
    type: list
    elements: str
    default: []
  pod:
    description: The pod that runs the scheduler. No search takes place then.
    type: dict
    suboptions:
      namespace:
        description: Namespace of the pod.
        type: str
        required: true
      name:
        description: Name of the pod.
        type: str
        required: true
      container:
        description: Name of the container. Required if the pod has several containers and none of them starts C(kube-scheduler).
        type: str
"""
