# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Filters of playbooks over clusters. Each is documented in the file NAME.yml beside this one."""

from __future__ import annotations

from ansible.errors import AnsibleFilterError
from ansible_collections.osso.scheduler.plugins.plugin_utils import bytecode

# Ansible loads all filters of a collection with the first one of a play, in the order of their files: this is the first import of most of the code.
bytecode.keep()

from ansible_collections.osso.scheduler.plugins.module_utils._fleet import batches, result_rows
from ansible_collections.osso.scheduler.plugins.module_utils._fleet.summary import summary


def fleet_batches(serial):
    try:
        return batches.batches(serial)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    def filters(self):
        return {
            "fleet_batches": fleet_batches,
            "fleet_row": result_rows.row,
            "fleet_rows": result_rows.rows,
            "fleet_stage": result_rows.stage,
            "fleet_summary": summary,
            "fleet_table": result_rows.table,
        }
