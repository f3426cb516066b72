# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""F022: how the role mirror chooses what the cluster is told, by what it serves."""

from __future__ import annotations

import itertools
from pathlib import Path

import yaml
from support.ansible_runs import play

ROOT = Path(__file__).parents[3]
ROLE = {"ansible.builtin.include_role": {"name": "osso.scheduler.mirror"}}
SERVED = "Look for what the cluster serves"
CHOSEN = "Choose how the cluster is told of the copies"


def test_a_cluster_that_is_told_nothing_is_not_asked():
    """There need not be one yet."""
    run = play([ROLE], variables={"mirror_set_kind": "none"}, env={"K8S_AUTH_HOST": "https://127.0.0.1:9"}, succeed=False)
    assert run.task(SERVED).status == "skipped"
    assert run.task(CHOSEN).result["ansible_facts"]["mirror_kind"] == "none"
    (failure,) = run.failures
    assert failure.result["msg"].startswith("mirror_registry is not given")


def test_of_what_is_served_the_best_is_chosen():
    """Nine plays in one run"""
    role = ROOT / "roles/mirror"
    kinds = yaml.safe_load((role / "vars/main.yml").read_text())["mirror_kinds"]
    (choose,) = [task for task in yaml.safe_load((role / "tasks/main.yml").read_text()) if task["name"] == CHOSEN]
    tasks = [
        {"ansible.builtin.include_vars": str(role / "vars/main.yml")},
        choose,
        {"name": "Show", "ansible.builtin.debug": {"var": "mirror_kinds_served"}},
    ]
    cases = list(
        itertools.product(
            ("auto", "none", "ImageContentSourcePolicy"), (((), "none"), ((1,), kinds[1]["kind"]), ((0, 1), kinds[0]["kind"]))
        )
    )
    plays = []
    for set_kind, (served, _best) in cases:
        found = [{"item": kind, "resources": [{"kind": "x"}] if number in served else []} for number, kind in enumerate(kinds)]
        variables = {"mirror_served": {"results": found}, "mirror_set_kind": set_kind}
        plays.append(
            {"name": "Case", "hosts": "localhost", "connection": "local", "gather_facts": False, "vars": variables, "tasks": tasks}
        )
    run = play(plays)
    chosen = [task.result["ansible_facts"]["mirror_kind"] for task in run.tasks if task.task == CHOSEN]
    assert chosen == [best if set_kind == "auto" else set_kind for set_kind, (_served, best) in cases]
    shown = [task.result["mirror_kinds_served"] for task in run.tasks if task.task == "Show"]
    assert shown == [[kinds[number]["kind"] for number in served] for _set_kind, (served, _best) in cases]
    assert {best for _set_kind, (_served, best) in cases} == {"none", "ImageContentSourcePolicy", "ImageDigestMirrorSet"}
