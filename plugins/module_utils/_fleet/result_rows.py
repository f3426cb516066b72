# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a play over many clusters went: one row for each of them.

A row is a dict: ``cluster``; ``id``, the first part of its identity; ``outcome``, one of `OUTCOMES`; ``version`` of Kubernetes; ``operator``;
``schedulers`` and ``changed``, lists of names; ``reason``, one line. What is not known is empty. Rows go through variables of Ansible and into a page: they
hold plain, short text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import scrub, secret_texts

DONE, FAILED, NOT_BEGUN = OUTCOMES = ("done", "failed", "not begun")

# Enough for every sentence of a module, too little for an object in a message.
LONGEST_REASON = 500
HIDDEN = "its output is hidden"
# Each part of the installation, and the variable that shows whether it changed
_PARTS = {"operator": "operator", "metrics": "metrics", "schedulers": "schedulers_changed", "pools": "pools_changed"}


def row(
    known: Mapping[str, Any],
    cluster: str,
    access: Mapping[str, Any] | None = None,
    task: str | None = None,
    result: Mapping[str, Any] | None = None,
    hidden: bool = False,
) -> dict[str, Any]:
    """The row of a cluster.

    ``known``: ``job``, of which it is a row, ``id``, ``version``, ``variant``, ``csv``, ``image``, ``schedulers``, and whether a run changed them:
    ``operator``, ``metrics``, ``schedulers_changed``, ``pools_changed``. ``task`` is the name of the task that failed, ``result`` its result, ``hidden``
    whether that must not be shown. ``access`` is ``cluster_access``, whose credentials no row shows.
    """
    secrets = secret_texts(access or {})
    made = {
        "job": known.get("job") or "",
        "cluster": cluster,
        "id": known.get("id") or "",
        "outcome": FAILED if task else DONE,
        "version": known.get("version") or "",
        "operator": _operator(known),
        "schedulers": list(known.get("schedulers") or []),
        "changed": changed_parts(known),
        "reason": f"{task}: {_reason(result or {}, hidden)}" if task else "",
    }
    return {name: _clean(value, secrets) for name, value in made.items()}


def changed_parts(known: Mapping[str, Any]) -> list[str]:
    """What a run changed, of `known` as for `row`."""
    return [name for name, changed in _PARTS.items() if known.get(changed)]


def rows(clusters: Sequence[str], facts: Mapping[str, Mapping[str, Any]], job: str = "") -> list[dict[str, Any]]:
    """The rows of all clusters of a play, in their order; ``facts`` has the variables of each. One without a row was not begun."""
    found = [_row_of(facts, name, job) for name in clusters]
    failed = [one["cluster"] for one in found if one.get("outcome") == FAILED]
    missing = f"{', '.join(failed[:3])}{' and others' if failed[3:] else ''} failed before" if failed else ""
    empty = {
        "cluster": "",
        "id": "",
        "outcome": NOT_BEGUN,
        "version": "",
        "operator": "",
        "schedulers": [],
        "changed": [],
        "reason": missing,
    }
    return [{name: value for name, value in {**empty, **one}.items() if name != "job"} for one in found]


def stage(clusters: Sequence[str], batch: Sequence[str], facts: Mapping[str, Mapping[str, Any]], job: str = "") -> dict[str, bool]:
    """Where a play stands after one batch of its clusters.

    ``stops``: the canary, which is the first of several batches, has failed, so there is no other one. ``over``: this was the last batch, or it stops.
    """
    failed = any(_row_of(facts, name, job).get("outcome") == FAILED for name in batch)
    last = clusters[-1] in batch
    stops = failed and clusters[0] in batch and not last
    return {"stops": stops, "over": last or stops}


def _row_of(facts: Mapping[str, Mapping[str, Any]], name: str, job: str) -> Mapping[str, Any]:
    """What the host keeps of this job: a play before may have been another one."""
    found = facts[name].get("fleet_row") or {}
    return found if found and found.get("job", job) == job else {"cluster": name}


def table(found: Iterable[Mapping[str, Any]]) -> list[str]:
    """The lines of a table for people."""
    head = ("cluster", "id", "version", "operator", "schedulers", "changed", "reason")
    lines = [head, *(_cells(one) for one in found)]
    # The last column is as wide as it is.
    widths = [max(len(line[column]) for line in lines) for column in range(len(head) - 1)]
    return ["  ".join([*(cell.ljust(width) for cell, width in zip(line, widths)), line[-1]]).rstrip() for line in lines]


def _cells(one: Mapping[str, Any]) -> tuple[str, ...]:
    changed = ", ".join(one["changed"]) or ("-" if one["outcome"] == NOT_BEGUN else "nothing")
    reason = f"{one['outcome']}: {one['reason']}" if one["reason"] else "" if one["outcome"] == DONE else one["outcome"]
    return (
        one["cluster"],
        one["id"] or "-",
        one["version"] or "-",
        one["operator"] or "-",
        ", ".join(one["schedulers"]) or "-",
        changed,
        reason,
    )


def _operator(known: Mapping[str, Any]) -> str:
    """Its variant, and the version in its name or image; with the phase of a ClusterServiceVersion that did not succeed."""
    if not known.get("variant"):
        return ""
    image = known.get("image") or ""
    _name, digest, tag = image.rpartition("@")
    if digest:
        tag = tag[:19]  # sha256: and twelve digits
    else:
        tag = image.rpartition("/")[2].partition(":")[2]
    csv = known.get("csv") or {}
    version = csv.get("name") or tag
    if csv.get("name") and csv.get("phase") != "Succeeded":
        version += f" ({csv.get('phase') or 'not installed'})"
    return " ".join(filter(None, [known["variant"], version]))


def _reason(result: Mapping[str, Any], hidden: bool) -> str:
    """Why a task failed: of a loop, why its first item did."""
    if hidden:
        return HIDDEN
    for item in result.get("results") or []:
        if isinstance(item, dict) and item.get("failed"):
            return _reason(item, hidden)
    # That of a loop is hidden as a whole if one of its items is.
    if result.get("_ansible_no_log"):
        return HIDDEN
    return str(result.get("msg") or "it reports no reason")


def _clean(value: Any, secrets: Collection[str]) -> Any:
    if isinstance(value, list):
        return [_clean(item, secrets) for item in value]
    return plain_text(scrub(str(value), secrets))


def plain_text(text: str) -> str:
    """One line of limited length. Whatever a server said is a text, never a template."""
    text = " ".join(text.split())
    text = re.sub(r"\{(?=[{%#])", "{ ", text)
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 3]}..."
