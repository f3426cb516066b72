# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: custom_names
short_description: What is wrong with the names that custom schedulers serve
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Finds a C(schedulerName) that two of the schedulers serve, and the default scheduler's where it is not allowed.
positional: names
options:
  _input:
    description: Schedulers as P(osso.scheduler.custom_schedulers#filter) completes them.
    type: list
    elements: dict
    required: true
  names:
    description: For each of them the scheduler names of its configuration.
    type: list
    elements: list
    required: true
"""

EXAMPLES = r"""
- name: Show what speaks against the default scheduler's name
  ansible.builtin.debug:
    msg: "{{ ([{'name': 'mine'}] | osso.scheduler.custom_schedulers)['items'] | osso.scheduler.custom_names([['default-scheduler']]) }}"
"""

RETURN = r"""
_value:
  description: Messages, empty if all is well.
  type: list
  elements: str
"""

from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.custom import doubly_served


class FilterModule:
    def filters(self):
        return {"custom_names": doubly_served}
