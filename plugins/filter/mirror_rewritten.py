# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: mirror_rewritten
short_description: Secondary schedulers with the copies of their images
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Puts the copies of images in the places of the images.
positional: copies
options:
  _input:
    description: O(osso.scheduler.secondary_scheduler#role:main:secondary_schedulers).
    type: list
    elements: dict
    required: true
  copies:
    description: C(copies) of P(osso.scheduler.mirror_compare#filter).
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Show the images
  ansible.builtin.debug:
    msg: "{{ schedulers | osso.scheduler.mirror_rewritten(copies) | map(attribute='image') }}"
  vars:
    schedulers: [{name: cluster, image: "registry.k8s.io/kube-scheduler:v1.34.7"}]
    copies: {"registry.k8s.io/kube-scheduler:v1.34.7": "registry.example.com/kube-scheduler:v1.34.7"}
"""

RETURN = r"""
_value:
  description: The same, with the copies of those images that have one.
  type: list
  elements: dict
"""

from ansible.errors import AnsibleFilterError
from ansible_collections.osso.scheduler.plugins.module_utils.images.mirroring import rewritten


def mirror_rewritten(schedulers, copies):
    try:
        return rewritten(schedulers, copies)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from None


class FilterModule:
    def filters(self):
        return {"mirror_rewritten": mirror_rewritten}
