# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""F022: how the role mirror chooses what the cluster is told, by what it serves."""

from __future__ import annotations

from pathlib import Path

import pytest
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


@pytest.mark.parametrize("set_kind", ["auto", "none", "ImageContentSourcePolicy"])
@pytest.mark.parametrize(("served", "best"), [((), "none"), ((1,), "ImageContentSourcePolicy"), ((0, 1), "ImageDigestMirrorSet")])
def test_of_what_is_served_the_best_is_chosen(served, best, set_kind):
    role = ROOT / "roles/mirror"
    kinds = yaml.safe_load((role / "vars/main.yml").read_text())["mirror_kinds"]
    found = [{"item": kind, "resources": [{"kind": "x"}] if number in served else []} for number, kind in enumerate(kinds)]
    (choose,) = [task for task in yaml.safe_load((role / "tasks/main.yml").read_text()) if task["name"] == CHOSEN]
    tasks = [
        {"ansible.builtin.include_vars": str(role / "vars/main.yml")},
        choose,
        {"ansible.builtin.debug": {"var": "mirror_kinds_served"}},
    ]
    run = play(tasks, variables={"mirror_served": {"results": found}, "mirror_set_kind": set_kind})
    assert run.task(CHOSEN).result["ansible_facts"]["mirror_kind"] == (best if set_kind == "auto" else set_kind)
    assert run.tasks[-1].result["mirror_kinds_served"] == [kinds[number]["kind"] for number in served]
