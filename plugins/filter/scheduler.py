# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Filters of roles and playbooks about schedulers. Each is documented in the file NAME.yml beside this one."""

from __future__ import annotations

from collections.abc import Iterable

from ansible.errors import AnsibleFilterError
from ansible_collections.osso.scheduler.plugins.module_utils._operand import hand_over, upstream_cleanup
from ansible_collections.osso.scheduler.plugins.module_utils._preview.table import table
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import gangs, lease_bridge, scheduler_moves
from ansible_collections.osso.scheduler.plugins.module_utils._variables import custom_scheduler, secondary_scheduler


def custom_schedulers(given):
    return custom_scheduler.complete(given)["items"]


def secondary_schedulers(given):
    return secondary_scheduler.complete(given)["items"]


def in_tree_gangs(manifests):
    # One manifest instead of a list of them is refused by what it is made of.
    several = manifests if isinstance(manifests, Iterable) else [manifests]
    try:
        return [gangs.convert(manifest) for manifest in several if manifest is not None]
    except gangs.CannotConvert as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    def filters(self):
        return {
            "custom_operand": custom_scheduler.operand,
            "custom_schedulers": custom_schedulers,
            "in_tree_gangs": in_tree_gangs,
            "hand_over_bridge": lease_bridge.bridge,
            "hand_over_installations": hand_over.installations,
            "hand_over_plan": hand_over.plan,
            "hand_over_stale": hand_over.stale,
            "preview_table": table,
            "scheduler_move": scheduler_moves.plan,
            "scheduler_placements": scheduler_moves.placements,
            "secondary_schedulers": secondary_schedulers,
            "upstream_leftovers": upstream_cleanup.leftovers_after,
        }
