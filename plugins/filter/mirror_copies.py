# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: mirror_copies
short_description: The copies of mirrored images, by digest
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Says for the playbook C(osso.scheduler.mirror) how the copy of each image is named.
positional: digests
options:
  _input:
    description: The plan of P(osso.scheduler.mirror_plan#filter).
    type: list
    elements: dict
    required: true
  digests:
    description: The digests of the sources, in the order of the plan.
    type: list
    elements: str
    required: true
"""

EXAMPLES = r"""
- name: Show the copies
  ansible.builtin.debug:
    msg: "{{ plan | osso.scheduler.mirror_copies(['sha256:' ~ '0' * 64]) }}"
  vars:
    plan: "{{ ['quay.io/osso/scheduler-operator:1.0.0'] | osso.scheduler.mirror_plan('registry.example.com/mirror') }}"
"""

RETURN = r"""
_value:
  description: Each image as it was given, and its copy.
  type: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.images.mirroring import copies


class FilterModule:
    def filters(self):
        return {"mirror_copies": copies}
