# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: registry_problems
short_description: What keeps one from pushing to a registry
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Says for the role P(osso.scheduler.publish#role) why a registry did not tell whether it has some images. That it does not have them is
    no problem.
positional: prefix
options:
  _input:
    description: For each image what C(skopeo inspect) returned, C(rc), C(stderr), and C(item), the image's reference.
    type: list
    elements: dict
    required: true
  prefix:
    description: What the names of the playbook's variables begin with.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Show what is wrong
  ansible.builtin.debug:
    msg: "{{ [{'item': 'registry.example.com/osso:1', 'rc': 1, 'stderr': 'connection refused'}] | osso.scheduler.registry_problems('publish_') }}"
"""

RETURN = r"""
_value:
  description: Sentences, those that are about the whole registry only once.
  type: list
  elements: str
"""

from ansible_collections.osso.scheduler.plugins.module_utils.images.trouble import problems


class FilterModule:
    def filters(self):
        return {"registry_problems": problems}
