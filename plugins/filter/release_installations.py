# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: release_installations
short_description: Installations of the operator that a release leaves unused
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Once other operators have replaced the pods of all released C(SecondaryScheduler) resources, this lists the installations of this
    operator that no scheduler depends on. Before that, the list is empty.
positional: operators, deployments, inventories
options:
  _input:
    description: The result of P(osso.scheduler.release_plan#filter).
    type: dict
    required: true
  operators:
    description: RV(osso.scheduler.scheduler_info#module:operators).
    type: list
    elements: dict
    required: true
  deployments:
    description: The Deployments of all namespaces.
    type: list
    elements: dict
    required: true
  inventories:
    description: The ConfigMaps in which M(osso.scheduler.apply) records what belongs to a set.
    type: list
    elements: dict
    required: true
"""

EXAMPLES = r"""
- name: Show that without an inventory no installation is found
  ansible.builtin.debug:
    msg: "{{ [] | osso.scheduler.release_plan([]) | osso.scheduler.release_installations([], [], []) }}"
"""

RETURN = r"""
_value:
  description: >-
    For each installation the C(namespace) of its set, and with C(orphan) the names of its Namespaces and CustomResourceDefinitions, which
    other operators use, as O(osso.scheduler.apply#module:orphan) takes them.
  type: list
  elements: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.operand.release import installations


class FilterModule:
    def filters(self):
        return {"release_installations": installations}
