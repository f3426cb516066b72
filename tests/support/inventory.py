# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All that a cluster holds, to be compared with what it holds later."""

from __future__ import annotations

import uuid

# What comes, goes and changes by itself on a cluster at rest.
RESTLESS = {"Event", "Lease", "Node"}


def everything(kubectl, version=False) -> set[tuple[str, ...]]:
    """All objects of all API resources as (apiVersion, kind, namespace, name), with `version` their resourceVersion, too.

    Without the namespaces that are being deleted, as earlier tests leave them, and what is in them.
    """
    named = "-o=jsonpath={range .items[?(@.status.phase=='Terminating')]}{.metadata.name}{' '}{end}"
    leaving = set(kubectl("get", "namespaces", named).stdout.split())
    listed = kubectl("api-resources", "--verbs=list", "--output=name").stdout.split()
    columns = [
        "V:.apiVersion",
        "K:.kind",
        "NS:.metadata.namespace",
        "N:.metadata.name",
        *(["R:.metadata.resourceVersion"] if version else []),
    ]
    answer = kubectl("get", ",".join(listed), "--all-namespaces", "--no-headers", f"--output=custom-columns={','.join(columns)}")
    rows = {tuple(line.split()) for line in answer.stdout.splitlines() if line.strip()}
    return {row for row in rows if row[1] not in RESTLESS and row[2] not in leaving and not (row[1] == "Namespace" and row[3] in leaving)}


def sees_what_is_planted(kubectl) -> None:
    """Prove that `everything` would tell of an object that should not be there."""
    before, name = everything(kubectl), f"planted-{uuid.uuid4().hex[:6]}"
    kubectl("create", "clusterrole", name, "--verb=get", "--resource=pods")
    try:
        assert everything(kubectl) - before == {("rbac.authorization.k8s.io/v1", "ClusterRole", "<none>", name)}
    finally:
        kubectl("delete", "clusterrole", name)
