# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module kube_scheduler_config where it needs no cluster."""

from __future__ import annotations

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
BROKEN = HEAD + "profiles:\n- schedulerName: a\n- schedulerName: a\n"
MODULE = "kube_scheduler_config"


def test_structure_becomes_text(run_module):
    structure = {
        "kind": "KubeSchedulerConfiguration",
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "profiles": [{"schedulerName": "y"}],
    }
    result = run_module(MODULE, {"config": structure})
    assert not result["failed"]
    assert result["text"] == (
        "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\nprofiles:\n  - schedulerName: 'y'\n"
    )
    assert (result["changed"], result["valid"], result["scheduler_names"]) == (False, True, ["y"])
    again = run_module(MODULE, {"text": result["text"]}, check=True)
    assert (again["hash"], again["text"]) == (result["hash"], result["text"])


def test_file(run_module, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes(BROKEN.encode().replace(b"\n", b"\r\n"))
    result = run_module(MODULE, {"src": str(path)})
    assert result["failed"]
    assert (
        f"\n{path}:5:18: profiles[1].schedulerName: a is also the name of profiles[0] (each profile needs a name of its own)"
        in result["msg"]
    )
    assert "text" not in result
    assert result["findings"][0]["code"] == "duplicate-name"
    assert run_module(MODULE, {"src": str(path), "fail": False})["text"] == BROKEN


def test_file_that_is_no_text(run_module, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes(HEAD.encode() + b"\xff\n")
    result = run_module(MODULE, {"src": str(path), "fail": False})
    assert (result["valid"], result["findings"][0]["line"]) == (False, 3)
    assert "text" not in result


def test_missing_file(run_module):
    result = run_module(MODULE, {"src": "/does/not/exist"})
    assert result["failed"]
    assert "src: /does/not/exist cannot be read: No such file or directory" in result["msg"]


def test_findings_of_a_structure_have_no_lines(run_module):
    structure = {"apiVersion": "v1", "kind": "KubeSchedulerConfiguration"}
    result = run_module(MODULE, {"config": structure, "fail": False})
    assert not result["failed"]
    assert (result["valid"], result["findings"][0]["path"], result["findings"][0]["line"]) == (
        False,
        "apiVersion",
        None,
    )


def test_exactly_one_source(run_module):
    assert "config, text, src, config_map" in run_module(MODULE, {})["msg"]
    assert "mutually exclusive" in run_module(MODULE, {"text": HEAD, "src": "/x"})["msg"]


def test_needs_no_kubernetes_library(run_module, tmp_path):
    (tmp_path / "kubernetes.py").write_text("raise ImportError('hidden')")
    assert run_module(MODULE, {"text": HEAD}, env={"PYTHONPATH": str(tmp_path)})["valid"]
    hidden = run_module(MODULE, {"config_map": {"name": "a", "namespace": "b"}}, env={"PYTHONPATH": str(tmp_path)})
    assert "library kubernetes is missing" in hidden["msg"]
