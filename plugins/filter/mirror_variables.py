# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: mirror_variables
short_description: The variables by which roles use copies of images
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Names images so that a cluster pulls their copies. Where it redirects images by itself, the operator is named where it is, by digest;
    elsewhere by its copy.
positional: copies, kind
options:
  _input:
    description: The plan of P(osso.scheduler.mirror_plan#filter).
    type: list
    elements: dict
    required: true
  copies:
    description: C(copies) of P(osso.scheduler.mirror_compare#filter).
    type: dict
    required: true
  kind:
    description: What redirects images.
    type: str
    choices: [ImageDigestMirrorSet, ImageContentSourcePolicy, none]
    required: true
  operator:
    description: The operator's image, as it is in the plan.
    type: str
    default: ""
  catalog:
    description: The catalog's image, as it is in the plan. Then the operator comes from OLM.
    type: str
    default: ""
  probe:
    description: The image of the pod that proves a scheduler, as it is in the plan.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Show how the operator is named
  ansible.builtin.debug:
    msg: "{{ plan | osso.scheduler.mirror_variables({image: 'registry.example.com/mirror/osso/scheduler-operator@sha256:0000'}, 'none', operator=image) }}"
  vars:
    image: quay.io/osso/scheduler-operator:1.0.0
    plan: "{{ [image] | osso.scheduler.mirror_plan('registry.example.com/mirror') }}"
"""

RETURN = r"""
_value:
  description: >-
    C(operator_method), and C(operator_image) or C(operator_catalog_image), as P(osso.scheduler.operator#role) takes them; C(probe_image), as the
    playbook C(osso.scheduler.site) takes it.
  type: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.images.mirroring import variables


class FilterModule:
    def filters(self):
        return {"mirror_variables": variables}
