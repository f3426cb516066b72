# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All that a cluster holds, to be compared with what it holds later."""

from __future__ import annotations

import uuid

from .scheduler import eventually

# What comes, goes and changes by itself on a cluster at rest.
RESTLESS = {"Event", "Lease", "Node"}


def everything(kubectl, version=False) -> set[tuple[str, ...]]:
    """All objects of all API resources as (apiVersion, kind, namespace, name), with `version` their resourceVersion, too.

    Without the namespaces that are being deleted, as earlier tests leave them, and what is in them.
    """
    named = "-o=jsonpath={range .items[?(@.status.phase=='Terminating')]}{.metadata.name}{' '}{end}"
    leaving = set(kubectl("get", "namespaces", named).stdout.split())
    columns = [
        "V:.apiVersion",
        "K:.kind",
        "NS:.metadata.namespace",
        "N:.metadata.name",
        *(["R:.metadata.resourceVersion"] if version else []),
    ]

    def listed():
        """The API server serves each kind that it lists."""
        kinds = kubectl("api-resources", "--verbs=list", "--output=name", check=False)
        if kinds.returncode:
            return None
        output = f"--output=custom-columns={','.join(columns)}"
        found = kubectl("get", ",".join(kinds.stdout.split()), "--all-namespaces", "--no-headers", output, check=False)
        return None if found.returncode else found

    # A kind that is deleted at this moment, or a server of further kinds that does not answer, fails one of both.
    answer = eventually(listed)
    rows = {tuple(line.split()) for line in answer.stdout.splitlines() if line.strip()}
    return {row for row in rows if row[1] not in RESTLESS and row[2] not in leaving and not (row[1] == "Namespace" and row[3] in leaving)}


def at_rest(kubectl) -> set[tuple[str, ...]]:
    """`everything`, as soon as nothing comes and goes any more, such as the rests of kinds that were deleted."""

    def unchanged():
        found = everything(kubectl)
        return found == everything(kubectl) and found

    return eventually(unchanged)


def sees_what_is_planted(kubectl) -> None:
    """Prove that `everything` would tell of an object that should not be there."""
    before, name = everything(kubectl), f"planted-{uuid.uuid4().hex[:6]}"
    kubectl("create", "clusterrole", name, "--verb=get", "--resource=pods")
    try:
        assert everything(kubectl) - before == {("rbac.authorization.k8s.io/v1", "ClusterRole", "<none>", name)}
    finally:
        kubectl("delete", "clusterrole", name)
