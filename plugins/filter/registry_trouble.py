# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: registry_trouble
short_description: What a registry did not do, and what can be done about it
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Makes one sentence of what podman, buildah, skopeo and opm print when they fail.
positional: reference, prefix
options:
  _input:
    description: What was printed.
    type: str
    required: true
  reference:
    description: The image that it was about.
    type: str
    required: true
  prefix:
    description: What the names of the playbook's variables begin with.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Show what is wrong
  ansible.builtin.debug:
    msg: "{{ 'manifest unknown' | osso.scheduler.registry_trouble('registry.example.com/osso:1', 'mirror_') }}"
"""

RETURN = r"""
_value:
  description: The sentence.
  type: str
"""

from ansible_collections.osso.scheduler.plugins.module_utils.images.trouble import explain


class FilterModule:
    def filters(self):
        return {"registry_trouble": explain}
