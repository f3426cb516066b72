# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The command line of previews, with a stand-in for kube-scheduler."""

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._preview import preview_command
from support import scheduler_stand_in
from support.preview import CONFIG, listed, node, pod


@pytest.fixture
def call(tmp_path, capsys):
    """call(objects, arguments): exit status, stdout, stderr."""
    path, _given = scheduler_stand_in.write(tmp_path)
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(CONFIG))

    def called(objects, *arguments):
        (tmp_path / "list.json").write_bytes(listed(*objects))
        usual = [f"--snapshot={tmp_path}/list.json", f"--config={tmp_path}/config.yaml", f"--binary={path}"]
        status = preview_command.main([*usual, *arguments])
        return (status, *capsys.readouterr())

    called.folder, called.path = tmp_path, path
    return called


def moving():
    better = node("b")
    better["metadata"]["labels"]["score"] = "9"
    return [node("a"), better, pod("p", on="a")]


def test_an_exceeded_limit_is_printed_and_gives_exit_status_1(call):
    status, out, error = call(moving(), "--mode=replace", "--format=json")
    found = json.loads(out)
    assert (status, [row["node"] for row in found["pods"]]) == (0, ["b"])
    assert out.startswith('{\n  "changed": false,')
    assert error == ""
    status, out, error = call(moving(), "--mode=replace", "--max-moved-percent=50")
    assert (status, error) == (1, "100.0 % of the pods would be on another node, the limit is 50.0 %: shop/p.\n")
    assert "shop/p" in out


def test_the_command_line_sets_the_options_of_both_sides(call):
    config = f"{call.folder}/config.yaml"
    given = preview_command._parser().parse_args(
        [
            *("--snapshot=s", "--config=c", "--binary=b", "--flag=--x", "--flag=--y", "--baseline-config=d", "--baseline-flag=--z"),
            *("--release=1.34", "--plugins=in-tree", "--as-scheduler=n", "--allow-extenders", "--namespace=n", "--node=m", "--limit=5"),
            *("--max-unschedulable=3", "--max-moved-percent=4", "--timeout=9", "--mode=drain"),
        ]
    )
    about = {"release": "1.34", "plugins": "in-tree", "allow_extenders": True}
    assert preview_command._options(given)._asdict() == {
        "candidate": {**about, "config_file": "c", "binary": "b", "flags": ["--x", "--y"], "as_scheduler": "n"},
        "mode": "drain",
        "baseline": {**about, "config_file": "d", "binary": "b", "flags": ["--z"]},
        "namespaces": ["n"],
        "labels": None,
        "scheduler_names": (),
        "nodes": ["m"],
        "template": None,
        "limit": 5,
        "scores": "changed",
        "max_unschedulable": 3,
        "max_moved_percent": 4.0,
        "timeout": 9,
    }
    status, out, _error = call(moving(), "--mode=replace", "--format=json", f"--baseline-config={config}", f"--baseline-binary={call.path}")
    assert (status, [row["status"] for row in json.loads(out)["pods"]]) == (0, ["same"])
    plain = preview_command._options(preview_command._parser().parse_args(["--snapshot=s", "--config=c", "--binary=b"]))
    assert (plain.baseline, plain.mode, plain.limit, plain.timeout, plain.max_unschedulable) == (None, "pending", 1000, 600, None)


@pytest.mark.parametrize("option", ["binary", "flag"])
def test_options_of_a_baseline_require_its_configuration(call, option, capsys):
    with pytest.raises(SystemExit) as ended:
        call([node("a")], f"--baseline-{option}=x")
    assert ended.value.code == 2
    assert f"--baseline-{option}: set --baseline-config, too" in capsys.readouterr().err


def test_a_snapshot_that_cannot_be_read_gives_exit_status_2(call):
    status, out, error = call([node("a")], "--snapshot=/nowhere")
    assert (status, out) == (2, "")
    assert error.startswith("error: --snapshot: /nowhere cannot be read: No such file or directory.")


WORKLOAD = {"kind": "Deployment", "spec": {"template": {"spec": pod("x", cpu="1")["spec"]}}}


@pytest.mark.parametrize("template", [WORKLOAD, pod("x", cpu="1")])
def test_the_template_may_be_a_workload_or_a_pod(call, template):
    path = call.folder / "template.yaml"
    path.write_text(yaml.safe_dump(template))
    status, out, error = call([node("a", cpu="3")], "--mode=headroom", f"--template={path}")
    assert (status, error.splitlines()[1:]) == (0, [])
    assert "3" in out


def test_the_pods_of_a_workload_are_in_its_namespace(tmp_path):
    path = tmp_path / "template.yaml"
    for template, namespace in ((WORKLOAD["spec"]["template"], "shop"), ({"metadata": {"namespace": "own"}, "spec": {}}, "own")):
        path.write_text(yaml.safe_dump({"metadata": {"namespace": "shop"}, "spec": {"template": template}}))
        assert preview_command._template(str(path))["metadata"]["namespace"] == namespace


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, "error: --template: {} cannot be read: No such file or directory."), ("a: [", "error: --template: {} is no YAML: ")],
)
def test_a_template_that_cannot_be_read_gives_exit_status_2(call, content, why):
    path = call.folder / "template.yaml"
    if content:
        path.write_text(content)
    status, _out, error = call([node("a")], "--mode=headroom", f"--template={path}")
    assert status == 2
    assert error.startswith(why.format(path))
    assert preview_command._run_command(["sh", "-c", "echo out; echo error >&2; exit 3"]) == (3, "out\n", "error\n")
