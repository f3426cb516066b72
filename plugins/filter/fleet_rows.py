# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: fleet_rows
short_description: How a play went on all clusters
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Takes the rows that P(osso.scheduler.fleet_row#filter) made, as their hosts keep them in the fact C(fleet_row). A cluster without one was not begun.
positional: facts, job
options:
  _input:
    description: Names of all clusters of the play.
    type: list
    elements: str
    required: true
  facts:
    description: C(hostvars).
    type: dict
    required: true
  job:
    description: Of which job the rows have to be. A play before this one may have left others.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Show them
  ansible.builtin.debug:
    msg: "{{ ['berlin', 'lisbon'] | osso.scheduler.fleet_rows({'berlin': {}, 'lisbon': {}}) }}"
"""

RETURN = r"""
_value:
  description: The rows. The C(outcome) of those that were not begun is V(not begun).
  type: list
  elements: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.fleet.rows import rows


class FilterModule:
    def filters(self):
        return {"fleet_rows": rows}
