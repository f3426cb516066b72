# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: custom_operand
short_description: What the templates of the role operand are told of a custom scheduler
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - One template of a scheduler's Deployment and one of its permissions serve the operator and the role C(osso.scheduler.custom_scheduler). This
    says to them what the latter wants.
positional: checked
options:
  _input:
    description: A scheduler as P(osso.scheduler.custom_schedulers#filter) completes it.
    type: dict
    required: true
  checked:
    description: The result of M(osso.scheduler.kube_scheduler_config) for its configuration.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Show it
  ansible.builtin.debug:
    msg: "{{ ([{'image': 'example.com/scheduler:1'}] | osso.scheduler.custom_schedulers)['items'][0] | osso.scheduler.custom_operand(checked) }}"
  vars:
    checked: {hash: 3f1f5a9c07be, target: {plugins: in-tree}}
"""

RETURN = r"""
_value:
  description: The variable C(operand) of the templates.
  type: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.custom import operand


class FilterModule:
    def filters(self):
        return {"custom_operand": operand}
