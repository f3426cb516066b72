# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module kube_scheduler_config where it needs no cluster."""

from __future__ import annotations

import pytest
from support.direct_module import COLLECTIONS, run_directly

V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
V1BETA3 = V1.replace("/v1", "/v1beta3")
BROKEN = V1 + "profiles:\n- schedulerName: a\n- schedulerName: a\n"
LATE = V1 + "leaderElection:\n  renewDeadline: 2s\n  retryPeriod: 2s\n"
PLUGIN = V1 + "profiles:\n- schedulerName: a\n  plugins:\n    score:\n      enabled:\n      - name: {0}\n"
TRIMARAN = PLUGIN.format("TargetLoadPacking")
PLUGINS_IMAGE = "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.31.8"
PEAKS = {"watcher_address": "http://w:2020", "node_power_model": {"n": {"k0": 1, "k1": 1, "k2": 1}}}
OTHER_IMAGE = "registry.example.com/scheduler:7"


def judge(content=None, check=False, env=None, **options):
    """The module's result for a text, for Kubernetes 1.31 unless told otherwise."""
    if not {"kubernetes_version", "image", "convert_to"} & set(options):
        options["kubernetes_version"] = "1.31"
    options = {"content": content, **options} if content is not None else options
    run = run_directly("kube_scheduler_config", check=check, env=env, succeed=None, **options)
    return {"failed": False, **run.result, "warnings": run.warnings}


def test_a_structure_is_written_as_yaml_text():
    structure = {
        "kind": "KubeSchedulerConfiguration",
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "profiles": [{"schedulerName": "y"}],
    }
    result = judge(config=structure)
    assert not result["failed"]
    assert result["text"] == (
        "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\nprofiles:\n  - schedulerName: 'y'\n"
    )
    assert (result["changed"], result["valid"], result["starts"], result["scheduler_names"]) == (False, True, True, ["y"])
    again = judge(result["text"], check=True)
    assert (again["hash"], again["text"]) == (result["hash"], result["text"])


@pytest.mark.parametrize(
    ("paths", "severity"),
    [(None, "warning"), ([], "error"), (["/etc/kube-other"], "error"), (["/etc/kube/"], ""), (["/etc/kube/config"], "")],
)
def test_a_kubeconfig_that_no_volume_contains_is_a_finding(paths, severity):
    """The scheduler would end at once, again and again: an error where it is known what the pod mounts."""
    text = V1 + "profiles: [{schedulerName: a}]\nclientConnection: {kubeconfig: /etc/kube/config}\n"
    result = judge(text, **({} if paths is None else {"mounted_paths": paths}))
    assert [finding["severity"] for finding in result["findings"] if finding["code"] == "kubeconfig"] == [severity] * bool(severity)
    assert (result["failed"], result["starts"]) == (severity == "error", severity != "error")
    assert ('clientConnection.kubeconfig: "/etc/kube/config": no volume of' in result.get("msg", "")) is (severity == "error")


def test_a_preset_is_written_as_yaml_text():
    options = {"preset": "trimaran_target_load_packing", "image": PLUGINS_IMAGE}
    result = judge(**options, preset_parameters={"scheduler_name": "load-aware", "target_utilization": 55})
    assert (result["failed"], result["valid"], result["scheduler_names"]) == (False, True, ["load-aware"])
    assert "targetUtilization: 55\n" in result["text"]
    assert judge(result["text"], image=PLUGINS_IMAGE)["hash"] == result["hash"]
    assert {finding["line"] for finding in result["findings"]} == {None}
    wrong = judge(**options, preset_parameters={"target_utilisation": 55})
    assert wrong["msg"] == (
        "preset_parameters.target_utilisation: the preset trimaran_target_load_packing has no such parameter: did you mean target_utilization?"
    )
    assert judge(preset="trimaran", image=PLUGINS_IMAGE)["msg"].startswith("value of preset must be one of: trimaran_target_load_packing,")
    old = judge(preset="peaks", image=PLUGINS_IMAGE.replace("0.31.8", "0.30.12"), preset_parameters=PEAKS)
    assert "Peaks" in old["msg"]


def test_the_result_contains_completed_fields_and_effective_plugins():
    result = judge(V1 + "profiles:\n- schedulerName: a\n")
    assert result["api_version"] == "kubescheduler.config.k8s.io/v1"
    assert (result["completed"]["parallelism"], result["effective"]["a"]["queueSort"]) == (16, [["PrioritySort", 0]])
    assert result["target"] == {
        "kubernetes_version": "1.31",
        "kubernetes_version_from": "option",
        "plugins": "in-tree",
        "plugins_from": "default",
        "unknown": "",
    }


def test_findings_in_a_file_have_its_path_and_line(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes(BROKEN.encode().replace(b"\n", b"\r\n"))
    result = judge(src=str(path))
    assert result["failed"]
    head, line = result["msg"].split("\n")
    assert head == "This is no usable KubeSchedulerConfiguration for Kubernetes 1.31:"
    assert line.startswith(f"{path}:5:18: profiles[1].schedulerName: ")
    assert (result["text"], result["completed"], result["hash"] is None) == (None, None, False)
    assert judge(src=str(path), fail_on="never")["text"] == BROKEN


def test_a_file_that_is_not_utf_8_is_invalid_with_the_line(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes(V1.encode() + b"\xff\n")
    result = judge(src=str(path), fail_on="never")
    assert (result["valid"], result["findings"][0]["line"]) == (False, 3)
    assert result["text"] is result["hash"] is None


def test_a_missing_file_is_an_error():
    result = judge(src="/does/not/exist")
    assert result["failed"]
    assert "src: /does/not/exist cannot be read: No such file or directory" in result["msg"]


def test_findings_of_a_structure_have_no_lines():
    result = judge(config={"apiVersion": "v1", "kind": "KubeSchedulerConfiguration"}, fail_on="never")
    assert not result["failed"]
    (finding,) = result["findings"]
    assert (result["valid"], finding["path"], finding["line"], finding["stage"]) == (False, "apiVersion", None, "decode")


def test_exactly_one_source_of_the_configuration_is_required():
    assert "config, content, src, config_map" in judge()["msg"]
    assert "mutually exclusive" in judge(V1, src="/x")["msg"]


def test_the_module_needs_the_kubernetes_library_only_for_a_config_map(tmp_path):
    (tmp_path / "kubernetes.py").write_text("raise ImportError('hidden')")
    assert judge(V1, env={"PYTHONPATH": f"{tmp_path}:{COLLECTIONS}"})["valid"]
    hidden = judge(config_map={"name": "a", "namespace": "b"}, env={"PYTHONPATH": f"{tmp_path}:{COLLECTIONS}"})
    assert "library kubernetes is missing" in hidden["msg"]


def test_an_unknown_release_without_cluster_and_image_is_an_error():
    run = run_directly("kube_scheduler_config", content=V1, kubeconfig="/does/not/exist", succeed=False)
    assert "Give kubernetes_version, such as 1.31, or image." in run.message
    run = run_directly("kube_scheduler_config", content=V1, kubeconfig="/does/not/exist", kubernetes_version="openshift-9.0", succeed=False)
    assert run.message.startswith(
        "kubernetes_version openshift-9.0 is newer than this collection and image is not given, so the release of"
    )


def test_the_image_determines_the_release_of_an_openshift_that_is_too_new():
    target = judge(V1, image=PLUGINS_IMAGE, kubernetes_version="openshift-9.0")["target"]
    assert (target["kubernetes_version"], target["kubernetes_version_from"]) == ("1.31", "image")
    assert judge(V1, kubernetes_version="openshift-5.0")["target"]["kubernetes_version"] == "1.36"


def test_the_image_determines_release_and_plugins():
    result = judge(TRIMARAN, image=PLUGINS_IMAGE)
    assert not result["failed"], result["msg"]
    assert result["target"] == {
        "kubernetes_version": "1.31",
        "kubernetes_version_from": "image",
        "plugins": "scheduler-plugins",
        "plugins_from": "image",
        "unknown": "",
    }
    assert ["TargetLoadPacking", 1] in result["effective"]["a"]["score"]
    refused = judge(TRIMARAN, image="registry.k8s.io/kube-scheduler:v1.31.4")
    assert refused["failed"]
    assert "content:8:15: profiles[0].plugins.score.enabled[0].name: " in refused["msg"]


def test_the_image_decides_which_api_version_is_valid():
    assert judge(V1BETA3, image="registry.k8s.io/kube-scheduler:v1.28.0")["valid"] is True
    refused = judge(V1BETA3, image="registry.k8s.io/kube-scheduler:v1.29.0")
    assert (refused["failed"], refused["findings"][0]["path"]) == (True, "apiVersion")


def test_options_take_precedence_over_the_image():
    result = judge(TRIMARAN, image=OTHER_IMAGE, kubernetes_version="1.30", plugins="scheduler-plugins")
    assert (result["valid"], result["target"]["kubernetes_version"], result["target"]["plugins_from"]) == (True, "1.30", "option")
    result = judge(V1, image=PLUGINS_IMAGE, kubernetes_version="1.30")
    assert [(finding["severity"], finding["code"]) for finding in result["findings"]] == [("warning", "version-mismatch")]


@pytest.mark.parametrize("options", [{}, {"kubernetes_version": "1.31"}, {"plugins": "in-tree"}])
def test_unknown_image_is_never_called_valid(options):
    result = judge(TRIMARAN, image=OTHER_IMAGE, **options)
    assert not result["failed"]
    assert result["valid"] is result["starts"] is result["completed"] is result["target"]["kubernetes_version"] is None
    assert OTHER_IMAGE in result["target"]["unknown"]
    assert result["scheduler_names"] == ["a"]
    refused = judge(BROKEN, image=OTHER_IMAGE, **options)
    assert (refused["failed"], refused["valid"], refused["starts"]) == (True, False, False)


@pytest.mark.parametrize("form", ["mapping", "text"])
def test_plugins_of_a_custom_image_are_given_as_mapping_or_text(form):
    plugins = {"base": "in-tree", "extra": [{"name": "RackAware", "points": ["score"]}]}
    given = plugins if form == "mapping" else "{base: in-tree, extra: [{name: RackAware, points: [score]}]}"
    result = judge(PLUGIN.format("RackAware"), image=OTHER_IMAGE, kubernetes_version="1.31", plugins=given)
    assert (result["valid"], result["target"]["plugins"]) == (True, plugins)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kubernetes_version": "1.99"}, "kubernetes_version: 1.99 is not known here: Kubernetes 1.21 to"),
        ({"kubernetes_version": "1.36", "plugins": {"extras": []}}, "plugins"),
        ({"kubernetes_version": "1.36", "plugins": "scheduler-plugins"}, "no release of scheduler-plugins for Kubernetes 1.36"),
        ({"plugins": {"extras": []}}, "extra"),
        ({"kubernetes_version": 1.30}, "without quotes"),
        ({"convert_to": "latest"}, "convert_to: latest is no release"),
    ],
)
def test_an_unknown_release_or_unknown_plugins_fail_the_task_unless_tolerated(options, said):
    result = judge(V1, **options)
    assert (result["failed"], said in result["msg"]) == (True, True), result["msg"]
    tolerant = judge(V1, fail_on="never", **options)
    assert (tolerant["failed"], tolerant["valid"]) == (False, None)
    assert tolerant["target"]["unknown"].rstrip(".") in result["msg"]


def test_a_valid_configuration_that_cannot_start_fails_the_task():
    result = judge(LATE, fail_on="never")
    assert (result["valid"], result["starts"]) == (True, False)
    assert judge(LATE)["failed"]
    overridden = ["--leader-elect-renew-deadline=10s"]
    assert judge(LATE, flags=overridden)["starts"] is True


def test_fail_on_decides_whether_warnings_fail_the_task():
    frozen = "k8s.gcr.io/scheduler-plugins/kube-scheduler:v0.31.8"
    result = judge(V1, image=frozen)
    assert (result["failed"], result["findings"][-1]["code"]) == (False, "frozen-registry")
    assert any("use registry.k8s.io" in warning for warning in result["warnings"])
    failed = judge(V1, image=frozen, fail_on="warning")
    assert failed["msg"].startswith("Likely mistakes, for Kubernetes 1.31 with scheduler-plugins:\n")
    assert judge(V1, image=frozen, fail_on="never")["warnings"] == []


def test_a_failure_message_contains_no_credential():
    token = "open-sesame"
    text = TRIMARAN + f"  pluginConfig:\n  - name: TargetLoadPacking\n    args: {{metricProvider: {{type: Prometheus, token: {token}}}}}\n"
    failed = judge(text + "nonsense: 1\n", image=PLUGINS_IMAGE)
    assert failed["failed"]
    assert token not in str(failed)


def test_a_conversion_yields_the_newer_version_and_is_idempotent():
    old = V1BETA3 + "# mine\nprofiles:\n- schedulerName: a\n"
    result = judge(old, convert_to="1.31")
    assert not result["failed"], result["msg"]
    assert (result["valid"], result["api_version"]) == (True, "kubescheduler.config.k8s.io/v1")
    assert "kubescheduler.config.k8s.io/v1\n" in result["text"]
    assert result["conversion"]["complete"] is True
    assert result["conversion"]["steps"]
    assert result["target"]["kubernetes_version_from"] == "convert_to"
    later = judge(old, convert_to="1.31", kubernetes_version="openshift-9.0")
    assert (later["failed"], later["text"]) == (False, result["text"]), "a later release of OpenShift is ignored, as everywhere"
    again = judge(result["text"], convert_to="1.31")
    assert (again["text"], again["conversion"]["steps"]) == (result["text"], [])


def test_a_conversion_of_an_invalid_configuration_fails():
    result = judge(V1BETA3 + "nonsense: 1\n", convert_to="1.31")
    assert result["failed"]
    assert "content:3:1: nonsense" in result["msg"]


def test_every_outcome_returns_the_same_keys():
    results = [
        judge(V1),
        judge(BROKEN, fail_on="never"),
        judge(V1, image=OTHER_IMAGE),
        judge(V1BETA3, convert_to="1.31"),
        judge("a: b: c", fail_on="never"),
        judge("", kubernetes_version="1.99", fail_on="never"),
    ]
    keys = [set(result) - {"warnings", "msg"} for result in results]
    assert keys == [keys[0]] * len(keys)


def test_ask_image_requires_an_image_and_excludes_a_conversion():
    assert "image" in judge(V1, ask_image=True)["msg"]
    assert "exclude each other" in judge(V1, ask_image=True, image=PLUGINS_IMAGE, convert_to="1.31")["msg"]


def test_check_mode_does_not_run_the_image():
    result = judge(V1, check=True, ask_image=True, image=PLUGINS_IMAGE)
    assert (result["failed"], result["valid"], result["image_answer"]) == (False, True, None)
    assert any("check mode" in warning for warning in result["warnings"])


POOL = {"scheduler_name": "batch", "namespaces": {"names": ["a"]}, "nodes": {"match_labels": {"pool": "batch"}}}
BATCH = V1 + "profiles:\n- schedulerName: batch\n"


def test_structure_and_preset_keep_to_the_nodes_of_their_pool():
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "batch"}],
    }
    for source in ({"config": config}, {"preset": "no_scoring", "preset_parameters": {"scheduler_name": "batch"}}):
        result = judge(**source, pools=[POOL])
        assert (result["valid"], "addedAffinity" in result["text"]) == (True, True)
    assert "addedAffinity" not in judge(config=config, pools=[{**POOL, "scheduler_name": "other"}])["text"]


def test_a_configuration_given_as_text_must_contain_the_nodes_of_its_pool():
    said = judge(BATCH, pools=[POOL])["msg"]
    assert said.startswith("scheduler_pools[0].nodes: the scheduler batch also places pods on other nodes. Add these lines")
    assert judge(BATCH, pools=[{**POOL, "nodes": None}])["valid"]
    assert judge(BATCH + "  " + said[said.index("pluginConfig:") :].replace("\n", "\n  "), pools=[POOL])["valid"]
    assert judge(BATCH, pools=[{**POOL, "share": 0}])["msg"].startswith("scheduler_pools[0].share is 0")
