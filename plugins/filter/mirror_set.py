# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: mirror_set
short_description: The object that has the nodes of OpenShift pull copies of images
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - An C(ImageDigestMirrorSet), or for clusters that do not have that kind an C(ImageContentSourcePolicy). Both hold for images that are
    named by digest, and for no others.
positional: kind, name, never_source
options:
  _input:
    description: The plan of P(osso.scheduler.mirror_plan#filter).
    type: list
    elements: dict
    required: true
  kind:
    description: Which of the two.
    type: str
    choices: [ImageDigestMirrorSet, ImageContentSourcePolicy]
    required: true
  name:
    description: Name of the object.
    type: str
    required: true
  never_source:
    description: Whether nodes must not try the source of an image. C(ImageContentSourcePolicy) cannot say that.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Show what nodes are told
  ansible.builtin.debug:
    msg: "{{ plan | osso.scheduler.mirror_set('ImageDigestMirrorSet', 'osso-scheduler') }}"
  vars:
    plan: "{{ ['quay.io/osso/scheduler-operator:1.0.0'] | osso.scheduler.mirror_plan('registry.example.com/mirror') }}"
"""

RETURN = r"""
_value:
  description: The object.
  type: dict
"""

from ansible.errors import AnsibleFilterError
from ansible_collections.osso.scheduler.plugins.module_utils.images.mirroring import mirror_set as made


def mirror_set(plan, kind, name, never_source=False):
    try:
        return made(plan, kind, name, never_source)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from None


class FilterModule:
    def filters(self):
        return {"mirror_set": mirror_set}
