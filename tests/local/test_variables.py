# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Wrong variables of roles and plays, before a request is sent. The rules: tests/unit/plugins/module_utils/_variables."""

from __future__ import annotations

import json
import re

import pytest
from support.ansible_runs import play

IMAGE = "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7"


@pytest.mark.parametrize(
    ("role", "argument"),
    [
        ("default_scheduler", "default_scheduler_flags=v=4"),
        ("mirror", "mirror_additional_images=a,b"),
        ("monitoring", "monitoring_rules_labels=a=b"),
        ("publish", "publish_insecure_registries=a,b"),
        ("secondary_scheduler", "secondary_scheduler_prometheus=url=x"),
        ("secondary_scheduler", "scheduler_pools=a"),
    ],
)
def test_roles_reject_a_text_before_they_send_a_request(role, argument):
    # A request would fail.
    env = {"K8S_AUTH_HOST": "https://127.0.0.1:9", "K8S_AUTH_API_KEY": "x"}
    task = {"ansible.builtin.include_role": {"name": f"osso.scheduler.{role}"}}
    others = {
        "mirror": {"mirror_set_kind": "none"},
        "secondary_scheduler": {"secondary_schedulers": [{"image": IMAGE, "preset": "no_scoring"}]},
    }
    args = [f"--extra-vars={argument}", f"--extra-vars={json.dumps(others.get(role, {}))}"]
    (failure,) = play([task], args=args, env=env, succeed=False).failures
    assert f"{argument.partition('=')[0]} is a text instead of a " in failure.result["msg"]


def test_a_play_warns_once(tmp_path):
    """... of extra variables and of the inventory, and not of what a play before has registered."""
    (tmp_path / "inventory.json").write_text(json.dumps({"all": {"vars": {"operator_images": "x", "secondary_scheduler_colour": "red"}}}))
    check = {
        "hosts": "localhost",
        "gather_facts": False,
        "tasks": [
            {"osso.scheduler.fleet_info": {}, "register": "fleet_clusters"},
            {"ansible.builtin.set_fact": {"secondary_scheduler_checked": {}}},
        ],
    }
    args = [f"--inventory={tmp_path}/inventory.json", "--extra-vars=secondary_scheduler=x"]
    run = play([check, check], args=args, env={"ANSIBLE_LOCALHOST_WARNING": "true"})
    said = re.sub(r"\s+", " ", run.stdout + run.stderr)
    assert said.count("secondary_scheduler is not a variable of osso.scheduler") == 1
    for name in ("operator_images", "secondary_scheduler_colour"):
        assert said.count(f"{name} is not a variable") == 1, said
    assert "secondary_scheduler_checked" not in said
