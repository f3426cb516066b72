# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which version a ClusterServiceVersion (CSV) is, and of which package; and which InstallPlan may be approved."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import name_of, spec, status

_VERSION_IN_NAME = re.compile(r"\.v?(\d+\.\d+\.\d+.*)$")


class Versions:
    """What is known of CSVs by name: ``version(name)`` and ``package(name)``, each None where unknown.

    ``entries`` are those of the package's channels in the catalog, as pairs of CSV name and version.
    """

    def __init__(self, package: str, entries: Iterable[tuple[str, str | None]] = ()) -> None:
        self._package = package
        self._versions = {name: version for name, version in entries if version}
        self._packages = {name: package for name, version in entries}

    def learn(self, plans: Iterable[Object] = (), csvs: Iterable[Object] = (), subscriptions: Iterable[Object] = ()) -> None:
        """Take over what these objects say."""
        for plan in plans:
            for lookup in status(plan, "bundleLookups", []):
                found = _package_property(lookup.get("properties"))
                if found and lookup.get("identifier"):
                    self._packages.setdefault(lookup["identifier"], found[0])
                    self._versions.setdefault(lookup["identifier"], found[1])
        for csv in csvs:
            if spec(csv, "version"):
                self._versions.setdefault(name_of(csv), str(spec(csv, "version")))
            found = _package_property((csv["metadata"].get("annotations") or {}).get("operatorframework.io/properties"))
            if found:
                self._packages.setdefault(name_of(csv), found[0])
        for subscription in subscriptions:
            for field in ("installedCSV", "currentCSV"):
                if status(subscription, field):
                    self._packages.setdefault(status(subscription, field), spec(subscription, "name"))

    def version(self, name: str | None) -> str | None:
        if not name:
            return None
        found = _VERSION_IN_NAME.search(name)
        return self._versions.get(name) or (found.group(1) if found else None)

    def package(self, name: str) -> str | None:
        return self._packages.get(name)

    def is_ours(self, name: str) -> bool:
        return self.package(name) == self._package

    def matches(self, name: str | None, version: str) -> bool:
        """Is the CSV ``name`` what a user calls ``version``: that version, or the CSV's own name?"""
        return bool(name) and (name == version or self.version(name) == version.lstrip("v"))


def _package_property(text: str | None) -> tuple[str, str] | None:
    """``(package, version)`` of the properties of a bundle, a JSON text; None where there are none."""
    try:
        properties = json.loads(text or "{}").get("properties") or []
        value = next(one["value"] for one in properties if one.get("type") == "olm.package")
        return value["packageName"], value["version"]
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
        return None


def precedes(version: str, other: str) -> bool:
    """Is ``version`` older than ``other``? By the rules of semver, builds left out."""
    return precedence(version) < precedence(other)


def precedence(version: str) -> tuple[list[int], bool, list[tuple[int, int, str]]]:
    """A key to sort versions by the rules of semver."""
    core, dash, pre = version.lstrip("v").partition("+")[0].partition("-")
    numbers = [int(part) if part.isdecimal() else 0 for part in core.split(".")]
    parts = [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in pre.split(".")] if dash else []
    return numbers, not dash, parts


def csvs_of(plan: Object) -> list[str]:
    return list(spec(plan, "clusterServiceVersionNames", []))


def waits_for_approval(plan: Object) -> bool:
    """OLM makes an InstallPlan first and writes its status after: who approves it in between makes OLM drop it and make another one."""
    return not spec(plan, "approved", False) and status(plan, "phase") == "RequiresApproval"


def current(plans: Iterable[Object], subscription: Object | None) -> Object | None:
    """The InstallPlan that the Subscription refers to, else None."""
    name = (status(subscription, "installPlanRef") or {}).get("name")
    return next((plan for plan in plans if name_of(plan) == name), None)


def to_approve(
    plans: Iterable[Object], subscription: Object | None, versions: Versions, wanted: Callable[[str], bool], approve_others: bool
) -> Object | None:
    """The InstallPlan that may be approved now, or None.

    ``wanted(name)`` says whether the CSV of that name, of our package, is one that the user agreed to. Of several such plans it is
    the one that the Subscription refers to, else the newest. Raises `InputError` for a plan that installs other operators, unless ``approve_others``.
    """
    found = [plan for plan in plans if waits_for_approval(plan) and any(versions.is_ours(name) and wanted(name) for name in csvs_of(plan))]
    if not found:
        return None
    referred = (status(subscription, "installPlanRef") or {}).get("name")
    plan = max(found, key=lambda plan: (name_of(plan) == referred, spec(plan, "generation", 0), name_of(plan)))
    others = foreign(plan, versions)
    if others and not approve_others:
        own = [name for name in csvs_of(plan) if name not in others]
        raise InputError(
            "InstallPlan {0} brings {1}, but also {2}, which does not belong to package {3}: approving it would also install or upgrade "
            "that. It was not approved; set approve_others: true to approve it.".format(
                name_of(plan), ", ".join(own), ", ".join(others), versions.package(own[0])
            )
        )
    return plan


def foreign(plan: Object, versions: Versions) -> list[str]:
    """The CSVs in a plan that are not of our package."""
    return [name for name in csvs_of(plan) if not versions.is_ours(name)]


def approval(plan: Object) -> list[Object]:
    """The JSON patch that approves exactly this plan, refused by the server when it has changed since it was read."""
    return [
        {"op": "test", "path": "/spec/clusterServiceVersionNames", "value": csvs_of(plan)},
        {"op": "replace", "path": "/spec/approved", "value": True},
    ]
