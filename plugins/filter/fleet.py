# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Filters of playbooks over clusters. Each is documented in the file NAME.yml beside this one."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils.fleet import rows
from ansible_collections.osso.scheduler.plugins.module_utils.fleet.summary import summary


class FilterModule:
    def filters(self):
        return {
            "fleet_row": rows.row,
            "fleet_rows": rows.rows,
            "fleet_stage": rows.stage,
            "fleet_summary": summary,
            "fleet_table": rows.table,
        }
