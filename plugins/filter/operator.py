# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Filters of the role operator. Each is documented in the file NAME.yml beside this one."""

from __future__ import annotations

from ansible.errors import AnsibleFilterError
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.similar_names import did_you_mean
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.needs import CONTROLLER, NEEDS, ROLE_PREFIX
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.scheduler_plugins import PLUGINS


def plugin_needs(names):
    known = {plugin.name for plugin in PLUGINS}
    chosen = sorted(NEEDS if list(names) == ["*"] else map(str, names))
    for name in chosen:
        if name not in known:
            hint = did_you_mean(name, known, f"choose from {', '.join(sorted(known))}, or * alone for all")
            raise AnsibleFilterError(f"There is no plugin {name} in kubernetes-sigs/scheduler-plugins: {hint}")
    needs = {name: NEEDS[name] for name in chosen if name in NEEDS}
    kinds = [kind for need in needs.values() for kind in need.kinds]
    roles = [(ROLE_PREFIX + name, need.rules) for name, need in needs.items() if need.rules]
    if any(need.controller for need in needs.values()):
        kinds += CONTROLLER.kinds
        roles += [(CONTROLLER.role, CONTROLLER.rules), (CONTROLLER.lease_role, CONTROLLER.lease_rules)]
    return {
        "definitions": sorted({kind.definition for kind in kinds if not kind.provider}),
        "cluster_roles": [{"name": name, "rules": [rule.manifest() for rule in rules]} for name, rules in roles],
    }


class FilterModule:
    def filters(self):
        return {
            "plugin_needs": plugin_needs,
        }
