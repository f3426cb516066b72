# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: mirror_compare
short_description: Which images have to be copied
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Says for the role P(osso.scheduler.mirror#role) which copies are not there or are not what they should be.
positional: sources, targets, prefix
options:
  _input:
    description: The plan of P(osso.scheduler.mirror_plan#filter).
    type: list
    elements: dict
    required: true
  sources:
    description: For each entry of the plan what C(skopeo inspect) returned for the source, C(rc), C(stdout) that ends with C(@) and the digest, and C(stderr).
    type: list
    elements: dict
    required: true
  targets:
    description: The same for the copy.
    type: list
    elements: dict
    required: true
  prefix:
    description: What the names of variables begin with, in texts about problems.
    type: str
    default: mirror_
"""

EXAMPLES = r"""
- name: Show what is to be copied
  ansible.builtin.debug:
    msg: "{{ (plan | osso.scheduler.mirror_compare(there, not_there)).missing | map(attribute='target') }}"
  vars:
    plan: "{{ ['quay.io/osso/scheduler-operator:1.0.0'] | osso.scheduler.mirror_plan('registry.example.com/mirror') }}"
    there: [{rc: 0, stdout: "quay.io/osso/scheduler-operator@sha256:0000"}]
    not_there: [{rc: 1, stderr: manifest unknown}]
"""

RETURN = r"""
_value:
  description: >-
    Texts about C(problems); C(missing), those entries of the plan that have to be copied, each with its C(digest); C(copies), each image as
    it was given, and its copy by digest.
  type: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.images.mirroring import compare


def mirror_compare(plan, sources, targets, prefix="mirror_"):
    return compare(plan, sources, targets, prefix)


class FilterModule:
    def filters(self):
        return {"mirror_compare": mirror_compare}
