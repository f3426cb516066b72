# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: release_stale
short_description: What a released secondary scheduler no longer uses
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Once another operator has replaced the pods of a released C(SecondaryScheduler), this names what was made for the former ones and is in
    use no more. Before that, it names nothing.
positional: deployments, inventories
options:
  _input:
    description: The C(SecondaryScheduler).
    type: dict
    required: true
  deployments:
    description: The Deployments of its namespace, or of all.
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
- name: Show that nothing of what does not exist is left
  ansible.builtin.debug:
    msg: "{{ resource | osso.scheduler.release_stale([], []) }}"
  vars:
    resource:
      metadata: {namespace: openshift-secondary-scheduler-operator, name: cluster}
"""

RETURN = r"""
_value:
  description: The objects, each with C(apiVersion), C(kind) and C(metadata), as O(osso.scheduler.apply#module:manifests) takes them.
  type: list
  elements: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.operand.release import stale


class FilterModule:
    def filters(self):
        return {"release_stale": stale}
