# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: registry_auth
short_description: The file by which podman, buildah, skopeo and opm log in to registries
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Makes the text of that file. It is secret; error messages of this filter are not.
positional: variable
options:
  _input:
    description: Registry, with port if it has one, to C(username) and C(password).
    type: dict
    required: true
  variable:
    description: Name of the variable that error messages speak of.
    type: str
    default: credentials
"""

EXAMPLES = r"""
- name: Write the file
  ansible.builtin.copy:
    dest: "{{ private_folder }}/config.json"
    content: "{{ {'registry.example.com': {'username': 'robot', 'password': registry_password}} | osso.scheduler.registry_auth }}"
    mode: "0600"
  no_log: true
"""

RETURN = r"""
_value:
  description: JSON.
  type: str
"""

from ansible.errors import AnsibleFilterError
from ansible_collections.osso.scheduler.plugins.module_utils.images.credentials import auth_file


def registry_auth(credentials, variable="credentials"):
    try:
        return auth_file(credentials, variable)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from None


class FilterModule:
    def filters(self):
        return {"registry_auth": registry_auth}
