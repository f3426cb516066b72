# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: mirror_catalog_images
short_description: The images that the bundles of a file-based catalog need
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - The bundles themselves, and what they name in C(relatedImages).
positional: package
options:
  _input:
    description: The catalog's blobs.
    type: list
    elements: dict
    required: true
  package:
    description: Of this package alone.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Show what a catalog needs
  ansible.builtin.debug:
    msg: "{{ lookup('ansible.builtin.file', 'catalog.yaml') | from_yaml_all | osso.scheduler.mirror_catalog_images }}"
"""

RETURN = r"""
_value:
  description: References of images, each of them once.
  type: list
  elements: str
"""

from ansible.errors import AnsibleFilterError
from ansible_collections.osso.scheduler.plugins.module_utils.images.mirroring import catalog_images


def mirror_catalog_images(documents, package=""):
    try:
        return catalog_images(list(documents), package)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from None


class FilterModule:
    def filters(self):
        return {"mirror_catalog_images": mirror_catalog_images}
