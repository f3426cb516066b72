# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The last lines of a play for one cluster: the state of each scheduler, the node of its probe pod, and the next command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .result_rows import changed_parts, plain_text


def summary(
    known: Mapping[str, Any],
    items: Sequence[Mapping[str, Any]] = (),
    verdicts: Sequence[Mapping[str, Any]] = (),
    probes: Iterable[Mapping[str, Any]] = (),
    check: bool = False,
    waited: bool = True,
) -> list[str]:
    """Short lines of text for a person.

    ``known``: as for `result_rows.row`; ``items``: the schedulers of the play, complete; ``verdicts``: the result of kube_scheduler_config for each
    that is present; ``probes``: the results of scheduler_probe, with the ``item`` that each is for; ``check``: whether this was check mode;
    ``waited``: whether the play waited for the rollout.
    """
    changed = ", ".join(changed_parts(known))
    if check:
        return [f"Would change: {changed}. Next: run the same command without --check." if changed else "Nothing would change."]
    if known.get("job") == "remove.yml":
        return [f"Removed: {changed}." if changed else "Nothing was installed."]
    nodes = {probe["item"]: probe for probe in probes if probe.get("item") and probe.get("node")}
    present = [item for item in items if item.get("state") != "absent"]
    lines = [
        _line(item, name, nodes.get(name), waited)
        for item, verdict in zip(present, verdicts)
        for name in verdict.get("scheduler_names") or []
    ]
    messages = (one.get("message") for probe in nodes.values() for one in probe.get("conflicts") or [])
    lines += [f"Conflict: {message}." for message in dict.fromkeys(messages)]
    lines += [f"SecondaryScheduler {item.get('namespace')}/{item.get('name')} is absent." for item in items if item not in present]
    if not lines:
        return ["No scheduler is given in secondary_schedulers. Next: add one, and run the same command again."]
    used = next((name for verdict in verdicts for name in verdict.get("scheduler_names") or []), "")
    if not used:
        return [plain_text(line) for line in lines]
    lines.append(
        f"Next: set schedulerName: {used} in pods, or move workloads with ansible-playbook osso.scheduler.use_scheduler. "
        "ansible-playbook osso.scheduler.report shows all schedulers and the pods that wait."
    )
    return [plain_text(line) for line in lines]


def _line(item: Mapping[str, Any], name: str, probe: Mapping[str, Any] | None, waited: bool) -> str:
    state = item.get("management_state")
    resource = f"{item.get('namespace')}/{item.get('name')}"
    if state not in ("Managed", "Force"):
        return f"Scheduler {name} ({resource}) is not managed: management_state is {state}."
    start = f"Scheduler {name} ({resource}) is {'available' if waited else 'applied, and the play did not wait for it'}"
    if not probe:
        return f"{start}; it was not probed. -e probe=always probes it."
    return f"{start}; its probe pod was placed on {probe['node']} after {probe.get('seconds')} s."
