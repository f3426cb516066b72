# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: mirror_plan
short_description: Which image goes where in a registry that is to hold copies
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Says for the playbook C(osso.scheduler.mirror) where the copy of each image goes. The path of the image stays as it is, below that of
    the registry.
positional: registry
options:
  _input:
    description: References of images; instead of one, a dict of C(image) and the repository C(to), below the registry, where it goes.
    type: list
    elements: raw
    required: true
  registry:
    description: Registry with port, and a path if wanted, such as V(registry.example.com:5000/team).
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Show where the copies go
  ansible.builtin.debug:
    msg: "{{ images | osso.scheduler.mirror_plan('registry.example.com/mirror') | map(attribute='target') }}"
  vars:
    images:
      - registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7
      - {image: "registry.example.org/kube-scheduler:v1.34.7", to: own/kube-scheduler}
"""

RETURN = r"""
_value:
  description: >-
    For each image C(image) as given; C(source), C(source_host) and C(source_repository); C(target), C(target_host) and C(repository) of the
    copy; C(digest), empty where only the registry can tell.
  type: list
  elements: dict
"""

from ansible.errors import AnsibleFilterError
from ansible_collections.osso.scheduler.plugins.module_utils.images.mirroring import plan


def mirror_plan(images, registry):
    try:
        return plan(images, registry)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from None


class FilterModule:
    def filters(self):
        return {"mirror_plan": mirror_plan}
