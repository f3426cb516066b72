# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What to wait for after a set was applied."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import readiness
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.readiness import Judge
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN, Object


def goals(members: Collection[Identity], rollouts: bool, wait_for: Iterable[Mapping[str, Any]]) -> list[tuple[Identity, Judge]]:
    """Pairs of an identity and a function that evaluates the live object (see `readiness`).

    With ``rollouts``, all workloads among ``members`` (identities); also the objects that the entries of ``wait_for`` name. Raises `InputError` for
    an invalid entry.
    """
    found: list[tuple[Identity, Judge]] = []
    if rollouts:
        found += [(one, readiness.rollout) for one in members if one.kind in readiness.ROLLOUTS and one.group in ("apps", "batch")]
    for entry in wait_for:
        identity = _named(entry, members)
        if entry.get("condition") or entry.get("fields"):
            found.append((identity, _as_told(entry.get("condition"), entry.get("fields"), entry.get("rollout"))))
        elif entry.get("rollout") and (identity, readiness.rollout) not in found:
            found.append((identity, readiness.rollout))
    return found


def _named(entry: Mapping[str, Any], members: Collection[Identity]) -> Identity:
    """The identity that an entry means; without api_version it is looked up by kind."""
    kind, name = entry["kind"], entry["name"]
    versions = {entry["api_version"]} if entry.get("api_version") else {one.api_version for one in members if one.kind == kind}
    versions = versions or {version for version, known in KNOWN if known == kind}
    if len(versions) != 1:
        why = "it could be " + " or ".join(sorted(versions)) if versions else "the manifests do not contain this kind"
        raise InputError(f"wait_for: {kind} {name} has no api_version, and {why}; set it.")
    identity = Identity(versions.pop(), kind, entry.get("namespace"), name)
    if entry.get("rollout") and kind not in readiness.ROLLOUTS:
        others = ", ".join(readiness.ROLLOUTS)
        raise InputError(f"wait_for: {identity} has no rollout; use condition or fields. These have one: {others}.")
    return identity


def _as_told(condition: Mapping[str, Any] | None, fields: Mapping[str, Any] | None, rollout: bool | None) -> Judge:
    """The check of one entry: all its conditions must be true at the same time."""

    def judge(live: Object) -> readiness.Verdict:
        verdict = readiness.condition(live, **condition) if condition else readiness.Verdict(readiness.READY)
        if fields and verdict.state == readiness.READY:
            verdict = readiness.fields(live, fields)
        return readiness.rollout(live) if rollout and verdict.state == readiness.READY else verdict

    return judge
