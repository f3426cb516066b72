# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The check on the command line (command_line.py)."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import formats
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.command_line import main
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import ERROR, Finding
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.releases import NEWEST

PROFILE = "profiles:\n- schedulerName: a\n  plugins:\n    score:\n      enabled:\n      - name: {0}\n"
V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}\n"
GOOD = V1 + PROFILE.format("NodeResourcesFit")
MISSPELT = V1 + PROFILE.format("NodeResourceFit")
TRIMARAN = V1 + PROFILE.format("TargetLoadPacking") + "  pluginConfig: [{name: TargetLoadPacking, args: {watcherAddress: 'http://w'}}]\n"


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """command(text, *arguments): exit status, stdout, stderr; the text is in config.yaml of the working directory."""
    monkeypatch.chdir(tmp_path)

    def run(text, *arguments, files=("config.yaml",)):
        (tmp_path / "config.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        try:
            status = main([*files, *arguments])
        except SystemExit as error:  # argparse
            status = error.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_a_valid_file_prints_nothing_and_exits_with_0(command):
    assert command(GOOD, "--kubernetes=1.31") == (0, "", "")


def test_finding_has_the_form_that_editors_know(command):
    status, out, _err = command(MISSPELT, "--kubernetes=1.31")
    assert status == 1
    (line,) = out.splitlines()
    assert line.startswith("config.yaml:9:15: error: profiles[0].plugins.score.enabled[0].name: ")
    assert line.endswith("(did you mean NodeResourcesFit?)")


def test_all_errors_of_all_files_are_printed(command, tmp_path):
    (tmp_path / "other.yaml").write_text(V1 + "parallelism: 0\npercentageOfNodesToScore: 101\n")
    status, out, _err = command(MISSPELT, "--kubernetes=1.31", files=("config.yaml", "other.yaml"))
    assert (status, len(out.splitlines())) == (1, 3)
    assert "other.yaml:4:14: error: parallelism: " in out


def test_warnings_are_no_failure(command):
    status, out, _err = command(GOOD, "--image=k8s.gcr.io/kube-scheduler:v1.31.0")
    assert status == 0
    assert out.startswith("config.yaml:1:1: warning: the image k8s.gcr.io/kube-scheduler:v1.31.0")


def test_a_file_that_is_no_text_is_an_error(command):
    status, out, _err = command(V1.encode() + b"\xff\n", "--kubernetes=1.31")
    assert (status, out.partition(" ")[0]) == (1, "config.yaml:4:1:")


def test_a_hyphen_reads_the_configuration_from_standard_input(command, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(MISSPELT.encode())))
    status, out, _err = command("", "--kubernetes=1.31", files=("-",))
    assert (status, out.partition(" ")[0]) == (1, "-:9:15:")


def test_plugins_image_and_flags_change_the_verdict(command, tmp_path):
    assert command(TRIMARAN, "--kubernetes=1.31")[0] == 1
    assert command(TRIMARAN, "--kubernetes=1.31", "--plugins=scheduler-plugins")[0] == 0
    assert command(TRIMARAN, "--image=registry.k8s.io/scheduler-plugins/kube-scheduler:v0.31.8")[0] == 0
    (tmp_path / "image.yaml").write_text("extra: [{name: NodeResourceFit, points: [score]}]\n")
    assert command(MISSPELT, "--kubernetes=1.31", "--plugins=image.yaml")[0] == 0
    (tmp_path / "image.yaml").write_text("{extra: [{name: NodeResourceFit, points: [score]}]}\n")
    assert command(MISSPELT, "--kubernetes=1.31", "--plugins=image.yaml")[0] == 0
    late = V1.replace("leaderElect: false", "renewDeadline: 2s")
    assert command(late, "--kubernetes=1.31")[0] == 1
    assert command(late, "--kubernetes=1.31", "--flag=--leader-elect-renew-deadline=10s")[0] == 0


def test_json_output_contains_findings_and_the_completed_configuration(command):
    status, out, _err = command(MISSPELT, "--kubernetes=1.31", "--format=json")
    (report,) = json.loads(out)
    assert (status, report["file"], report["valid"], report["starts"]) == (1, "config.yaml", False, False)
    assert report["findings"][0]["line"] == 9
    (report,) = json.loads(command(GOOD, "--kubernetes=1.31", "--format=json", "--complete")[1])
    assert (report["completed"]["parallelism"], report["scheduler_names"]) == (16, ["a"])
    assert ["NodeResourcesFit", 1] in report["effective"]["a"]["score"]


def test_the_completed_configuration_completes_to_itself(command):
    status, out, _err = command(GOOD, "--kubernetes=1.31", "--complete")
    assert (status, yaml.safe_load(out)["parallelism"]) == (0, 16)
    assert command(out, "--kubernetes=1.31", "--complete")[1] == out
    status, out, err = command(MISSPELT, "--kubernetes=1.31", "--complete")
    assert (status, out) == (1, "")
    assert "NodeResourceFit" in err


def test_convert_prints_the_new_configuration_and_reports_each_change(command):
    status, out, err = command(GOOD.replace("/v1", "/v1beta3"), "--convert=1.31")
    assert (status, out) == (0, GOOD)
    assert "config.yaml: exact: apiVersion: " in err


def test_convert_reads_by_the_documents_own_version_where_the_given_release_does_not(command):
    status, out, _err = command(GOOD.replace("/v1", "/v1beta3"), "--kubernetes=1.31", "--convert=1.34")
    assert (status, out) == (0, GOOD)


def test_diff_prints_the_differences_of_files_and_of_releases(command, tmp_path):
    (tmp_path / "before.yaml").write_text(GOOD)
    after = GOOD + "        weight: 5\n"
    assert command(after, "--kubernetes=1.31", "--diff=before.yaml")[:2] == (0, "a: score: NodeResourcesFit: changed: 1 -> 5\n")
    assert command(GOOD, "--kubernetes=1.31", "--diff=before.yaml")[:2] == (0, "")
    status, out, _err = command(GOOD, "--kubernetes=openshift-4.17", "--diff-release=openshift-4.18")
    assert (status, "a: filter: EBSLimits: removed" in out) == (0, True)


def test_the_output_without_a_release_names_the_limits_of_the_check(command):
    status, out, err = command(MISSPELT)
    assert (status, out) == (0, "")
    assert "only release-independent checks are made" in err
    status, _out, err = command(MISSPELT, "--kubernetes=openshift-9.0")
    assert (status, err.splitlines()) == (
        0,
        [
            "note: openshift-9.0 is newer than this program and is ignored",
            "note: without --kubernetes or --image only release-independent checks are made",
        ],
    )
    image = "--image=registry.k8s.io/kube-scheduler:v1.31.4"
    assert command(MISSPELT, "--kubernetes=openshift-9.0", image)[0] == command(MISSPELT, image)[0] == 1
    status, _out, err = command(MISSPELT, "--image=registry.example.com/mine:1")
    assert (status, "registry.example.com/mine:1" in err) == (0, True)
    assert command("a: b: c")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--kubernetes=1.99"], "1.99 is not known here"),
        (["--kubernetes=1.99"], f"upgrade osso.scheduler, or use 1.{NEWEST}, the newest release that this one knows"),
        (["--convert=openshift-9.0"], f"upgrade osso.scheduler, or use 1.{NEWEST}, the newest release that this one knows"),
        (["--kubernetes=1." + 5000 * "9"], "is no release: write for example 1.31"),
        (["--kubernetes=openshift-5." + 5000 * "9"], "is no release: write for example 1.31"),
        (["--kubernetes=openshift-4.7"], "openshift-4.7 is not known here: Kubernetes 1.21 to"),
        (["--kubernetes=1.36", "--plugins=scheduler-plugins"], "no release of scheduler-plugins"),
        (["--kubernetes=1.31", "--plugins=/does/not/exist"], "/does/not/exist: No such file"),
        (["--kubernetes=1.31", "--plugins=config.yaml"], "extra"),
        (["--kubernetes=1.31", "--diff=/does/not/exist"], "/does/not/exist: No such file"),
        (["--kubernetes=1.31", "--complete", "--convert=1.31"], "choose one of --complete and --convert"),
        (["--kubernetes=1.31", "--complete", "other.yaml"], "--complete takes one FILE"),
        (["--complete"], "--complete needs --kubernetes"),
        (["--kubernetes=1.31", "--format=xml"], "xml"),
        (["--kubernetes=1.31", "--complete", "--format=sarif"], "--complete has the formats text and json"),
        ([], "/no/file: No such file"),
    ],
)
def test_wrong_usage_exits_with_2_and_names_the_mistake(command, arguments, said):
    files = ("/no/file",) if not arguments else ("config.yaml",)
    status, out, err = command(GOOD, *arguments, files=files)
    assert (status, out) == (2, "")
    assert said in err


def config_map(text, name="one", indent=4) -> str:
    about = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: team}}\ndata:\n  config.yaml: |\n"
    return about + "".join(f"{' ' * indent}{line}\n" for line in text.splitlines())


def secondary_scheduler(config="one", image="registry.k8s.io/kube-scheduler:v1.31.4", annotations="{}") -> str:
    return (
        f"apiVersion: operator.openshift.io/v1\nkind: SecondaryScheduler\nmetadata: {{name: cluster, namespace: team, annotations: {annotations}}}\n"
        f"spec:\n  schedulerConfig: {config}\n  schedulerImage: {image}\n"
    )


CRD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: any}\nspec: " + "{x: y}\n"


def test_stream_of_objects_names_object_key_and_place(command):
    stream = "---\n# Source: chart/crd.yaml\n" + CRD + "---\n" + config_map(MISSPELT) + "---\n" + config_map(GOOD, "two", indent=6)
    status, out, _err = command(stream, "--kubernetes=1.31")
    (line,) = out.splitlines()
    assert status == 1
    # Four lines of the CRD with its comment and two separators, five of the ConfigMap before the text, and its ninth line.
    assert line.startswith("config.yaml:21:19: error: ConfigMap team/one, key config.yaml: profiles[0].plugins.score.enabled[0].name: ")
    assert stream.splitlines()[20][18:] == "NodeResourceFit"


@pytest.mark.parametrize("configs", [("one", "two"), ("one", "one")], ids=["two ConfigMaps", "one ConfigMap"])
def test_two_secondary_schedulers_of_one_name_are_named(command, configs):
    first, second = (secondary_scheduler(config) for config in configs)
    second = second.replace("name: cluster,", "name: other,")
    maps = [config_map(GOOD, name) for name in dict.fromkeys(configs)]
    status, out, _err = command("---\n".join([*maps, first, second]))
    lines = [line for line in out.splitlines() if "is used by" in line]
    assert status == 0
    assert len(lines) == len(maps)
    for line in lines:
        assert "warning: ConfigMap team/" in line
        assert "is used by SecondaryScheduler team/cluster and SecondaryScheduler team/other (give each its own schedulerName" in line
    alone = config_map(GOOD) + "---\n" + config_map(GOOD, "two") + "---\n" + first
    assert "is used by" not in command(alone)[1]


def test_the_image_of_a_secondary_scheduler_decides(command):
    one = config_map(TRIMARAN) + "---\n"
    assert command(one + secondary_scheduler())[0] == 1
    assert command(one + secondary_scheduler(image="registry.k8s.io/scheduler-plugins/kube-scheduler:v0.31.8"))[0] == 0
    assert (
        command(
            one
            + secondary_scheduler(image="x/y:1", annotations="{osso.scheduler/kubernetes-version: '1.31', osso.scheduler/plugins: in-tree}")
        )[0]
        == 1
    )
    status, _out, err = command(one + secondary_scheduler(image="x/y:1"))
    assert (status, "SecondaryScheduler team/cluster: the image x/y:1 is not one" in err) == (0, True)
    assert command(one + secondary_scheduler(), "--kubernetes=1.31", "--plugins=scheduler-plugins")[0] == 0


def test_placeholders_that_the_operator_fills_are_no_warning(command):
    text = TRIMARAN.replace(
        "watcherAddress: 'http://w'", "metricProvider: {type: Prometheus, address: '${PROM_URL}', token: '${PROM_TOKEN}'}"
    )
    image = "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.31.8"
    assert "placeholder" not in command(config_map(text) + "---\n" + secondary_scheduler(image=image))[1]
    assert "placeholder" in command(config_map(text), f"--image={image}")[1]


@pytest.mark.parametrize(
    ("scheduler", "said"),
    [
        (
            secondary_scheduler("One_"),
            "config.yaml:5:20: error: SecondaryScheduler team/cluster: spec.schedulerConfig: One_ is no name of a ConfigMap",
        ),
        (secondary_scheduler("''"), "spec.schedulerConfig: is missing"),
        (
            config_map(GOOD).replace("config.yaml:", "scheduler.yaml:") + "---\n" + secondary_scheduler(),
            "spec.schedulerConfig: the ConfigMap one has no key config.yaml",
        ),
    ],
)
def test_secondary_schedulers_are_checked(command, scheduler, said):
    status, out, _err = command(scheduler, "--kubernetes=1.31")
    assert (status, said in out) == (1, True), out


@pytest.mark.parametrize("kind", ["Secret", "ConfigMap"])
def test_base64_texts_in_secrets_and_config_maps_are_checked(command, kind):
    field = "data" if kind == "Secret" else "binaryData"
    encoded = base64.b64encode(MISSPELT.encode()).decode()
    text = f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: one}}\n{field}:\n  c.yaml: {encoded}\n  other: AAAA\n"
    status, out, _err = command(text, "--kubernetes=1.31")
    assert status == 1
    assert out.startswith(
        f"config.yaml:5:11: error: {kind} one, key c.yaml: profiles[0].plugins.score.enabled[0].name: line 9, column 15: "
    )


def test_config_maps_in_lists_and_in_json_are_checked(command):
    objects = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"config.yaml": MISSPELT}} for name in "ab"]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [*objects, {"apiVersion": "v1", "kind": "Pod"}]})
    for written in (text, yaml.safe_dump(json.loads(text), default_style='"')):
        status, out, _err = command(written, "--kubernetes=1.31")
        assert (status, [line.split(": ")[2] for line in out.splitlines()]) == (
            1,
            ["ConfigMap a, key config.yaml", "ConfigMap b, key config.yaml"],
        )
    found = json.loads(command(text, "--kubernetes=1.31", "--format=json")[1])
    assert [(one["object"], one["key"], one["valid"]) for one in found] == [(f"ConfigMap {name}", "config.yaml", False) for name in "ab"]


def test_a_stream_may_begin_with_a_directive(command):
    status, out, _err = command("%YAML 1.1\n---\n" + config_map(MISSPELT), "--kubernetes=1.31")
    assert (status, out.partition(": profiles")[0]) == (1, "config.yaml:16:19: error: ConfigMap team/one, key config.yaml"), out


def test_objects_without_a_configuration_are_no_failure(command):
    status, out, err = command(CRD + "---\n" + config_map("about: kubescheduler.config.k8s.io\n"), "--kubernetes=1.31")
    assert (status, out, "no ConfigMap or Secret has a KubeSchedulerConfiguration" in err) == (0, "", True)


def test_a_broken_object_is_an_error_only_if_it_may_contain_a_configuration(command):
    broken = "apiVersion: v1\nkind: ConfigMap\ndata: [\n"
    assert command(CRD + "---\n" + broken, "--kubernetes=1.31")[0] == 0
    status, out, _err = command(CRD + "---\n" + broken + "# kubescheduler.config.k8s.io\n", "--kubernetes=1.31")
    assert (status, out.startswith("config.yaml:10:1: error: ConfigMap: not YAML")) == (1, True), out


@pytest.mark.parametrize(
    ("field", "place"),
    [
        ("  config.yaml: [\n", "config.yaml:10:1: "),
        ("  config.yaml: |\n    {{- toYaml .Values.config | nindent 4 }}\n  x: {{ .y }}\n", "config.yaml:11:7: "),
    ],
    ids=["not YAML", "template"],
)
def test_an_object_that_cannot_be_read_is_a_warning(command, field, place):
    """It may hold a configuration, so that nothing said would mean that all is well."""
    status, out, _err = command(CRD + "---\napiVersion: v1\nkind: ConfigMap\ndata:\n" + field, "--kubernetes=1.31")
    assert (status, out.count("\n")) == (0, 1), out
    assert out.startswith(f"{place}warning: ConfigMap: "), out
    assert ("this is a template" in out) is ("{{" in field)


def test_a_list_of_objects_may_be_larger_than_a_configuration(command):
    """as `kubectl get configmaps -A -o yaml` writes it for most clusters"""
    item = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: c{0}}}\n  data: {{ca: {1}}}\n"
    wrong = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: wrong}\n  data: {c: " + json.dumps(MISSPELT) + "}\n"
    many = "".join(item.format(number, "x" * 4000) for number in range(300))
    for text in (many, many.replace("- ", "", 1).replace("\n- ", "\n---\n").replace("\n  ", "\n")):
        listed = "apiVersion: v1\nkind: List\nitems:\n" + many + wrong if text is many else text + "---\n" + config_map(MISSPELT)
        assert len(listed) > 2**20
        status, out, _err = command(listed, "--kubernetes=1.31")
        assert (status, len(out.splitlines()), "NodeResourceFit" in out) == (1, 1, True), out
    objects = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}"}, "data": {"c": "x" * 4000}} for number in range(300)
    ]
    objects.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "wrong"}, "data": {"c": MISSPELT}})
    status, out, _err = command(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}), "--kubernetes=1.31")
    assert (status, "ConfigMap wrong, key c: " in out) == (1, True), out


@pytest.mark.parametrize(
    ("annotations", "said"),
    [
        ("{osso.scheduler/kubernetes-version: garbage}", "metadata.annotations.osso.scheduler/kubernetes-version: garbage is no release"),
        ("{osso.scheduler/kubernetes-version: 1.31}", "osso.scheduler/kubernetes-version: is a number, not a string (put it into quotes)"),
        ("{osso.scheduler/plugins: garbage}", "metadata.annotations.osso.scheduler/plugins: plugins: 'garbage' is no set of plugins"),
        ("{osso.scheduler/plugins: '{'}", "metadata.annotations.osso.scheduler/plugins: plugins: '{' is no set of plugins"),
        ("{osso.scheduler/plugins: '{extra: [{name: A}]}'}", "metadata.annotations.osso.scheduler/plugins: plugins.extra[0].points: "),
        (
            "{ansible.sdk.operatorframework.io/reconcile-period: garbage}",
            'metadata.annotations.ansible.sdk.operatorframework.io/reconcile-period: "garbage" is no duration',
        ),
        ("{ansible.sdk.operatorframework.io/reconcile-period: 1ms}", 'reconcile-period: "1ms" is less than 1s, so the operator reconciles'),
        (
            "{ansible.sdk.operatorframework.io/verbosity: '8'}",
            'verbosity: "8" is no number from 0 to 7; with a large number the operator ends',
        ),
        ("{ansible.sdk.operatorframework.io/verbosity: 3}", "verbosity: is a number, not a string (put it into quotes)"),
        (
            "{ansible.sdk.operatorframework.io/max-runner-artifacts: '2'}",
            'max-runner-artifacts: "2" is no number from 3 to 100; with 1 or 2',
        ),
    ],
)
def test_annotations_of_secondary_schedulers_are_checked(command, annotations, said):
    stream = config_map(GOOD) + "---\n" + secondary_scheduler(annotations=annotations)
    for form in ("text", "junit"):
        status, out, _err = command(stream, f"--format={form}")
        assert status == 1, out
    status, out, _err = command(stream)
    assert said in out, out
    line = stream[: stream.index("metadata: {name: cluster")].count("\n") + 1
    assert out.startswith(f"config.yaml:{line}:"), out


@pytest.mark.parametrize(
    "annotations", ["{osso.scheduler/kubernetes-version: openshift-99.1}", "{osso.scheduler/plugins: ''}", "{other: garbage}"]
)
def test_annotations_that_the_operator_accepts_are_accepted(command, annotations):
    status, out, _err = command(config_map(GOOD) + "---\n" + secondary_scheduler(annotations=annotations))
    assert (status, "annotations" in out) == (0, False), out


def test_a_configuration_among_objects_is_checked(command):
    status, out, _err = command(CRD + "---\n" + MISSPELT, "--kubernetes=1.31")
    assert (status, out.partition(": profiles")[0]) == (1, "config.yaml:14:15: error: KubeSchedulerConfiguration"), out


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_byte_order_marks_do_not_hide_objects(command, encoding):
    """PowerShell writes UTF-16 with one, when the output of helm or kubectl is redirected."""
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    status, out, _err = command((mark + config_map(MISSPELT)).encode(encoding), "--kubernetes=1.31")
    assert (status, out.partition(": profiles")[0]) == (1, "config.yaml:14:19: error: ConfigMap team/one, key config.yaml"), out


def test_the_lease_of_a_secondary_scheduler_is_the_operators(command):
    alone = config_map(GOOD.replace("leaderElect: false", "leaderElect: true"))
    assert "lease-collision" in command(alone, "--kubernetes=1.31", "--format=github")[1]
    assert "lease-collision" not in command(alone + "---\n" + secondary_scheduler(), "--format=github")[1]
    assert "lease-collision" not in command(alone + "---\n" + secondary_scheduler(), "--kubernetes=1.31", "--format=github")[1]


@pytest.mark.parametrize(("encoded", "said"), [("/////w==", "UTF-8"), ("'!!!'", "is not base64")])
def test_a_configuration_that_the_operator_cannot_read_is_an_error(command, encoded, said):
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: one, namespace: team}}\nbinaryData: {{config.yaml: {encoded}}}\n---\n"
    status, out, _err = command(text + secondary_scheduler())
    assert (status, said in out) == (1, True), out


@pytest.mark.parametrize("form", ["text", "github"])
def test_control_characters_do_not_reach_the_terminal(command, form):
    text = f'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: "a\\u001b[2J"}}\ndata: {{config.yaml: {json.dumps(MISSPELT)}}}\n'
    status, out, _err = command(text, "--kubernetes=1.31", f"--format={form}")
    assert (status, "\x1b" in out, "a\ufffd[2J" in out) == (1, False, True), out


def test_one_configuration_of_a_stream_is_completed_and_converted(command):
    assert yaml.safe_load(command(config_map(GOOD), "--kubernetes=1.31", "--complete")[1])["parallelism"] == 16
    assert command(config_map(GOOD.replace("/v1", "/v1beta3")), "--convert=1.31")[1] == GOOD
    status, _out, err = command(config_map(GOOD) + "---\n" + config_map(GOOD, "two"), "--kubernetes=1.31", "--complete")
    assert (status, "one configuration is needed, found are 2: ConfigMap team/one, key config.yaml; " in err) == (2, True)


@pytest.mark.parametrize(
    "text",
    [
        "{{- if .Values.enabled }}\n" + GOOD + "{{- end }}\n",
        GOOD.replace("schedulerName: a", "schedulerName: {{ .Values.name }}"),
        GOOD.replace("schedulerName: a", "schedulerName: {% if x %}{{ name }}{% endif %}"),
    ],
)
def test_a_template_is_called_a_template(command, text):
    status, out, _err = command(text, "--kubernetes=1.31")
    assert status == 1
    assert "this is a template, not a configuration" in out
    assert "helm template" in out


def test_github_output_places_an_annotation_in_the_file(command):
    status, out, _err = command(config_map(MISSPELT), "--kubernetes=1.31", "--format=github")
    assert status == 1
    assert out.startswith(
        "::error file=config.yaml,line=14,col=19,title=unknown-plugin::ConfigMap team/one, key config.yaml: profiles[0]"
    ), out
    assert len(out.splitlines()) == 1


def test_sarif_output_contains_the_place_and_the_rule_of_each_finding(command):
    _status, out, _err = command(MISSPELT, "--image=k8s.gcr.io/kube-scheduler:v1.31.0", "--format=sarif")
    (run,) = json.loads(out)["runs"]
    places = {
        one["level"]: one["locations"][0]["physicalLocation"]["region"]
        for one in run["results"]
        if one["ruleId"] in ("unknown-plugin", "frozen-registry")
    }
    assert places["error"] == {"startLine": 9, "startColumn": 15}
    assert {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]} == {"config.yaml"}
    assert {one["ruleId"] for one in run["results"]} == {one["id"] for one in run["tool"]["driver"]["rules"]}
    assert json.loads(command(GOOD, "--kubernetes=1.31", "--format=sarif")[1])["runs"][0]["results"] == []


@pytest.mark.parametrize(
    ("name", "uri"), [("a b%é.yaml", "a%20b%25%C3%A9.yaml"), ("c:d.yaml", "c%3Ad.yaml"), ("/tmp/x y", "file:///tmp/x%20y"), ("-", "-")]
)
def test_sarif_has_the_names_of_files_as_uris(name, uri):
    finding = Finding(ERROR, "code", "message")
    (run,) = json.loads(formats.sarif([formats.Checked(name, "", [finding])]))["runs"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_junit_output_marks_an_invalid_configuration_as_a_failure(command):
    text = config_map(MISSPELT.replace("NodeResourceFit", "<&\x07>")) + "---\n" + config_map(GOOD, "two")
    status, out, _err = command(text, "--kubernetes=1.31", "--format=junit")
    root = ElementTree.fromstring(out)
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert (status, root.get("failures"), root.get("tests")) == (1, "1", str(len(cases)))
    assert [name for name, case in cases.items() if case.find("failure") is not None] == [next(iter(cases))]


def test_the_command_runs_without_ansible(root, tmp_path):
    """as pre-commit installs it: the package alone, under a name of its own"""
    (tmp_path / "osso_kube_scheduler").symlink_to(root / "plugins/module_utils/_kube_scheduler")
    (tmp_path / "ansible.py").write_text("raise ImportError('there is no Ansible')")
    (tmp_path / "ansible_collections.py").write_text("raise ImportError('there is no Ansible')")
    (tmp_path / "config.yaml").write_text(MISSPELT)
    done = subprocess.run(
        [sys.executable, "-m", "osso_kube_scheduler.command_line", "config.yaml", "--kubernetes=1.31", "--plugins=scheduler-plugins"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.partition(" ")[0]) == (1, "config.yaml:9:15:"), done.stderr


def test_precommit_installs_this_package(root):
    project = (root / "pyproject.toml").read_text()
    (hook,) = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text())
    assert f'{hook["entry"]} = "osso_kube_scheduler.command_line:run"' in project
    folders = {path.parent.relative_to(root / "plugins/module_utils") for path in root.glob("plugins/module_utils/_kube_scheduler/**/*.py")}
    packages = {f'"osso{str(folder).replace("/", ".")}"' for folder in folders}
    assert packages == set(project.partition("packages = [")[2].partition("]")[0].split(", "))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("scheduler-config.yaml", True),
        ("a/kube-scheduler-config.yml", True),
        ("a/secondary-scheduler-config.yaml", True),
        ("kubescheduler.config.json", True),
        ("scheduler.py", False),
        ("config.yaml", False),
    ],
)
def test_precommit_finds_files_of_the_usual_names(root, name, expected):
    (hook,) = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text())
    assert bool(re.search(hook["files"], name)) is expected
