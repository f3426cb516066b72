# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""OperatorGroups: a namespace has exactly one, which defines the namespaces that the operators in it watch."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import GROUP, Options, is_ours, manifest, name_of, spec, status


def targets(group: Object) -> list[str]:
    """The namespaces that a group targets, sorted; [] means all."""
    if spec(group, "selector") and not spec(group, "targetNamespaces"):
        found = status(group, "namespaces", [])
    else:
        found = spec(group, "targetNamespaces", [])
    return sorted(name for name in found if name)


def namespaces_text(names: Sequence[str]) -> str:
    return "all namespaces" if not names else ", ".join(names)


def intersect(some: Sequence[str], others: Sequence[str]) -> bool:
    """Do two lists of targets have a namespace in common? [] means all namespaces."""
    return not some or not others or bool(set(some) & set(others))


def wanted(groups: Sequence[Object], options: Options, tenants: Sequence[str]) -> tuple[Object | None, str]:
    """``(manifest, name)``: the OperatorGroup to apply, None where one that exists is adopted; and the group's name.

    ``groups`` are those in the namespace, ``tenants`` the names of other Subscriptions in it. Raises `InputError` where the operator
    cannot be installed with what there is.
    """
    if len(groups) > 1:
        raise InputError(
            "namespace {0} has {1} OperatorGroups: {2}. OLM installs nothing where there is more than one. "
            "Delete all but one: kubectl delete operatorgroup NAME -n {0}".format(
                options.namespace, len(groups), ", ".join(sorted(f"{name_of(one)} (for {namespaces_text(targets(one))})" for one in groups))
            )
        )
    group = groups[0] if groups else None
    name = name_of(group) if group else options.name
    if group and not is_ours(group):
        if targets(group) != options.targets:
            raise InputError(_conflict(group, options))
        return None, name
    if group and tenants and targets(group) != options.targets:
        raise InputError(f"{_conflict(group, options)} It is also used by {', '.join(sorted(tenants))}, so it is not changed.")
    wanted_spec = {"targetNamespaces": options.targets} if options.targets else {}
    return manifest(GROUP, name, options.namespace, wanted_spec, options.labels), name


def _conflict(group: Object, options: Options) -> str:
    there = targets(group)
    return (
        f"watch_namespaces is for {namespaces_text(options.targets)}, but OperatorGroup {name_of(group)} in namespace {options.namespace} is for "
        f"{namespaces_text(there)}, and a namespace has one OperatorGroup only. Set watch_namespaces to {there}, or install into another namespace."
    )
