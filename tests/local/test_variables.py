# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Wrong variables of roles and plays, before a request is sent. The rules: tests/unit/plugins/module_utils/_variables."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from support.ansible_runs import play

ROOT = Path(__file__).parents[2]
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


def roles_without_ansibles_validation():
    """Names and entry points of the roles that playbooks call with rolespec_validate: false."""
    for path in ROOT.glob("playbooks/**/*.yml"):
        calls = re.findall(r"_role:\n((?: +\w+: \S+\n)+)", path.read_text())
        for call in map(yaml.safe_load, calls):
            if not call.get("rolespec_validate", True):
                yield call["name"].removeprefix("osso.scheduler."), call.get("tasks_from", "main")


@pytest.mark.parametrize(("role", "entry"), sorted({*roles_without_ansibles_validation()} - {("operand", "main")}))
def test_roles_without_ansibles_validation_run_validate_variables(role, entry):
    folder = ROOT / f"roles/{role}/tasks"
    tasks = yaml.safe_load((folder / f"{entry}.yml").read_text())
    if imported := tasks[0].get("ansible.builtin.import_tasks"):
        tasks = yaml.safe_load((folder / imported).read_text())
    # One that reads facts of the cluster may be before it.
    assert any("osso.scheduler.validate_variables" in task for task in tasks[:2])


def test_validate_variables_reports_all_errors_at_once():
    schedulers = [{"image": IMAGE, "preset": "no_scoring", "state": "prezent", "colour": "red"}]
    task = {
        "ansible.builtin.include_role": {"name": "osso.scheduler.secondary_scheduler", "tasks_from": "check", "rolespec_validate": False}
    }
    variables = {"secondary_schedulers": schedulers, "secondary_scheduler_wait_timeout": "soon"}
    (failure,) = play([task], variables=variables, succeed=False).failures
    for error in (
        "secondary_schedulers[0].state is prezent: did you mean present? Known are present, absent.",
        "secondary_schedulers[0].colour is unknown: ",
        "secondary_scheduler_wait_timeout is soon: set a whole number.",
    ):
        assert error in failure.result["msg"]


def test_a_value_with_the_form_of_a_token_is_not_quoted():
    task = {
        "ansible.builtin.include_role": {"name": "osso.scheduler.secondary_scheduler", "tasks_from": "check", "rolespec_validate": False}
    }
    variables = {"secondary_schedulers": [{"state": "ghp_planted1234567890"}]}
    (failure,) = play([task], variables=variables, succeed=False).failures
    assert "secondary_schedulers[0].state is ********: known are present, absent." in failure.result["msg"]


@pytest.mark.parametrize(
    ("variant", "overrides", "expected"),
    [
        ("osso", {"command": ["/scheduler"], "imagePullSecrets": [{"name": "registry"}]}, (["/scheduler"], ["registry"])),
        ("osso", {}, (None, [])),
        ("upstream", {}, (["/bin/kube-scheduler"], [])),
    ],
)
def test_the_image_check_uses_command_and_pull_secrets_of_the_overrides(variant, overrides, expected):
    task = {"ansible.builtin.include_role": {"name": "osso.scheduler.secondary_scheduler", "tasks_from": "check"}}
    variables = {"secondary_schedulers": [{"image": IMAGE, "preset": "no_scoring", "overrides": overrides}]}
    variables["secondary_scheduler_operator_variant"] = variant
    # The role compares the release with that of the cluster.
    (failure,) = play([task], variables=variables, succeed=False, env={"KUBECONFIG": "/dev/null"}).failures
    (checked,) = failure.result["results"]
    given = checked["invocation"]["module_args"]
    assert (given["ask_command"], given["ask_pull_secrets"]) == expected


@pytest.mark.parametrize("role", ["secondary_scheduler", "custom_scheduler"])
@pytest.mark.parametrize("name", ["nowhere.yaml", "/"])
def test_a_file_that_cannot_be_read_is_named_with_its_place_and_the_remedy(role, name):
    task = {"ansible.builtin.include_role": {"name": f"osso.scheduler.{role}", "tasks_from": "check", "rolespec_validate": False}}
    variables = {f"{role}s": [{"name": "a", "image": IMAGE, "config_file": name}]}
    (failure,) = play([task], variables=variables, succeed=False).failures
    assert f"{role}s[0]: config_file is {name}, which is no readable file on the control node. Correct the path; " in failure.result["msg"]


INSTALLED = {"install_method": "manifests", "install_operator_image": "mirror.example.com/a@sha256:1", "install_catalog_image": ""}
FROM_A_CATALOG = {**INSTALLED, "install_method": "olm", "install_catalog_image": "mirror.example.com/a-catalog@sha256:2"}


@pytest.mark.parametrize(
    ("made", "extra", "accepted"),
    [
        (INSTALLED, {"operator_image": "quay.io/other/a:1"}, False),
        (INSTALLED, {"operator_method": "olm"}, False),
        (FROM_A_CATALOG, {"operator_catalog_image": "quay.io/other/a-catalog:1"}, False),
        (FROM_A_CATALOG, {"operator_method": "manifests"}, False),
        (INSTALLED, {}, True),
        (FROM_A_CATALOG, {}, True),
    ],
)
def test_extra_variables_that_replace_published_images_are_rejected(made, extra, accepted):
    """They take precedence over the images that were just mirrored or built."""
    # A request would fail.
    env = {"K8S_AUTH_HOST": "https://127.0.0.1:9", "K8S_AUTH_API_KEY": "x"}
    variables = {**made, "install_instead": "Name the image elsewhere."}
    tasks = [{"ansible.builtin.include_tasks": str(ROOT / "playbooks/tasks/install_images.yml"), "vars": variables}]
    defaults = {"group/osso.scheduler.scheduler": {"retry_seconds": 0}}
    plays = [{"hosts": "localhost", "gather_facts": False, "module_defaults": defaults, "tasks": tasks}]
    run = play(plays, variables=extra, env=env, succeed=False)
    check = run.task("Fail if the operator would not be installed from these images")
    assert (check.status == "ok") is accepted
    if not accepted:
        assert "cannot be given by --extra-vars here" in check.result["msg"]
        assert check.result["msg"].endswith("Name the image elsewhere.")
        assert run.failures == [check]


@pytest.mark.parametrize("variable", ["operator_state", "monitoring_state", "scheduler_pool_state"])
def test_a_removal_with_a_variable_for_an_installation_fails(variable):
    env = {"K8S_AUTH_HOST": "https://127.0.0.1:9", "K8S_AUTH_API_KEY": "x"}
    tasks = [{"ansible.builtin.include_tasks": str(ROOT / "playbooks/tasks/remove.yml")}]
    (failure,) = play(tasks, variables={variable: "present"}, env=env, succeed=False).failures
    assert failure.result["msg"].startswith("This playbook removes everything: leave operator_state, ")


def test_two_plays_warn_once_about_an_unknown_variable(tmp_path):
    """It is a variable of the inventory or an extra variable, not one that an earlier play has registered."""
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
