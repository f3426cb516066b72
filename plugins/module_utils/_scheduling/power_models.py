# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes that the power models of the plugin Peaks lack. Pure: no requests.

Source: pkg/trimaran/peaks/peaks.go of kubernetes-sigs/scheduler-plugins. The increase of power is 0 on a node that is not in the model, so Peaks prefers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.plain_data import as_mapping, mappings_in
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import ADVICE, WARNING, Effective, Finding
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.collisions import EXAMPLES, uses
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pool_policies import added_terms

PLUGIN = "Peaks"


def incomplete(config: Mapping[str, Any], effective: Effective, nodes: Sequence[Object]) -> list[Finding]:
    """A warning for each power model that lacks nodes on which its profile places pods. config: completed (``ValidationResult.config``)."""
    found = []
    for profile in mappings_in(config.get("profiles")):
        name = str(profile.get("schedulerName"))
        if not any(plugin == PLUGIN for plugin, _weight in effective.get(name, {}).get("score", ())):
            continue
        args = next(as_mapping(one.get("args")) for one in mappings_in(profile.get("pluginConfig")) if one.get("name") == PLUGIN)
        model, terms = as_mapping(args.get("NodePowerModel")), added_terms(config, name)
        missing = sorted(node["metadata"]["name"] for node in nodes if uses(terms, node) and node["metadata"]["name"] not in model)
        if missing:
            more = f" and {len(missing) - EXAMPLES} more" if len(missing) > EXAMPLES else ""
            message = f"{PLUGIN} of the scheduler {name} prefers {', '.join(missing[:EXAMPLES])}{more} to all other nodes: its power model lacks them"
            hint = "add k0, k1 and k2 of each node, or keep the scheduler off it (addedAffinity of NodeAffinity)"
            found.append(Finding(WARNING, "power-model-incomplete", message, hint=hint, stage=ADVICE))
    return found
