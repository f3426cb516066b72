# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: fleet_table
short_description: A table of how a play went on all clusters
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Makes a table for people of rows of P(osso.scheduler.fleet_rows#filter).
options:
  _input:
    description: The rows.
    type: list
    elements: dict
    required: true
"""

EXAMPLES = r"""
- name: Show it
  ansible.builtin.debug:
    msg: "{{ ['berlin', 'lisbon'] | osso.scheduler.fleet_rows({'berlin': {}, 'lisbon': {}}) | osso.scheduler.fleet_table }}"
"""

RETURN = r"""
_value:
  description: Its lines, with a heading.
  type: list
  elements: str
"""

from ansible_collections.osso.scheduler.plugins.module_utils.fleet.rows import table


class FilterModule:
    def filters(self):
        return {"fleet_table": table}
