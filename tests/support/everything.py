# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All that is in a cluster, to see what something leaves behind."""

from __future__ import annotations

# What comes, goes and changes by itself on a cluster at rest.
RESTLESS = {"Event", "Lease", "Node"}


def everything(kubectl, version=False) -> set[tuple[str, ...]]:
    """All objects of all API resources as (apiVersion, kind, namespace, name), with `version` their resourceVersion, too."""
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
    return {row for row in rows if row[1] not in RESTLESS}
