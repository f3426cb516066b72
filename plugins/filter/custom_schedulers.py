# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: custom_schedulers
short_description: Custom schedulers with all that was left out
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Completes what the role C(osso.scheduler.custom_scheduler) is told, and says what of it cannot be used.
options:
  _input:
    description: The schedulers, as in the role's C(custom_schedulers).
    type: list
    elements: dict
    required: true
"""

EXAMPLES = r"""
- name: Show what the documentation's scheduler consists of
  ansible.builtin.debug:
    msg: "{{ [{'image': 'registry.k8s.io/kube-scheduler:v1.34.7'}] | osso.scheduler.custom_schedulers }}"
"""

RETURN = r"""
_value:
  description: C(items), the schedulers with every option, and C(refusals), a list of messages.
  type: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.custom import completed


class FilterModule:
    def filters(self):
        return {"custom_schedulers": completed}
