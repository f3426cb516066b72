# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: fleet_stage
short_description: Where a play over many clusters stands after a batch
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Tells from the rows of P(osso.scheduler.fleet_row#filter) whether other batches are to come. The first of several batches is the canary.
positional: batch, facts, job
options:
  _input:
    description: Names of all clusters of the play.
    type: list
    elements: str
    required: true
  batch:
    description: Names of those in this batch.
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
- name: Show that nothing is stopped
  ansible.builtin.debug:
    msg: "{{ ['berlin', 'lisbon'] | osso.scheduler.fleet_stage(['berlin'], {'berlin': {'fleet_row': {'outcome': 'done'}}, 'lisbon': {}}) }}"
"""

RETURN = r"""
_value:
  description: >-
    C(stops), whether a cluster of the canary failed; C(over), whether this was the last batch, or none is to follow; C(spared), whether all clusters
    of the batch failed and Ansible would not go on if that counted; C(failed), the clusters of this batch and of earlier ones that failed.
  type: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.fleet.rows import stage


class FilterModule:
    def filters(self):
        return {"fleet_stage": stage}
