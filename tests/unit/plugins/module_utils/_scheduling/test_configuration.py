# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a configuration is to a kube-scheduler, and the result of the module kube_scheduler_config."""

from __future__ import annotations

import base64

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import ADVICE, ERROR, RUN, WARNING, Finding
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import config_validation, image_answer
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.config_validation import Answer, Target, resolve_target
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.configuration import (
    Found,
    Options,
    read_config_map,
    validate_configuration,
)

TEXT = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}\nprofiles:\n- schedulerName: one\n"
BROKEN = TEXT + "parallelism: many\n"
IMAGE = "registry.k8s.io/kube-scheduler:v1.34.2"
IN_TREE = Target("1.34", "option", "in-tree", "default")


def target(image=None, kubernetes=None, plugins=None, cluster="v1.33.1", **options):
    return resolve_target(image, kubernetes, plugins, [], lambda: cluster, **options)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ("1.33", "cluster", "in-tree", "default")),
        ({"kubernetes": "1.34"}, ("1.34", "option", "in-tree", "default")),
        ({"image": IMAGE}, ("1.34", "image", "in-tree", "image")),
        ({"image": IMAGE, "kubernetes": "1.32"}, ("1.32", "option", "in-tree", "image")),
        ({"image": IMAGE, "plugins": "scheduler-plugins"}, ("1.34", "image", "scheduler-plugins", "option")),
        ({"image": IMAGE, "convert_to": "1.35"}, ("1.35", "convert_to", "in-tree", "image")),
        ({"image": "example.com/own:1", "convert_to": "1.35"}, ("1.35", "convert_to", "in-tree", "image")),
        ({"image": "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.33.5"}, ("1.33", "image", "scheduler-plugins", "image")),
        ({"kubernetes": "1.34", "plugins": ""}, ("1.34", "option", "in-tree", "default")),
    ],
)
def test_options_and_image_give_the_release_and_plugins_of_the_target(given, expected):
    assert target(**given) == Target(*expected)


def test_an_unknown_image_leaves_the_target_unknown():
    found = target(image="example.com/own:1")
    assert (found.kubernetes, found.kubernetes_from, found.plugins, found.plugins_from) == (None, None, None, None)
    assert found.unknown.endswith(": give kubernetes_version and plugins")
    assert target(image="example.com/own:1", kubernetes="1.34").unknown.endswith(": give plugins")
    assert target(image="example.com/own:1", plugins="in-tree").unknown.endswith(": give kubernetes_version")
    assert str(found) == "any kube-scheduler"


def test_a_release_that_no_table_has_is_rejected_or_unknown():
    with pytest.raises(InputError, match=r"^kubernetes_version: .*A number without quotes loses its last zero: write '1\.30'\.$"):
        target(kubernetes="1.3")
    with pytest.raises(InputError, match=r"^convert_to: "):
        target(convert_to="garbage")
    assert target(kubernetes="1.3", strict=False).unknown
    assert target(cluster="v1.99.0").unknown


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (IN_TREE, "Kubernetes 1.34"),
        (IN_TREE._replace(plugins="scheduler-plugins"), "Kubernetes 1.34 with scheduler-plugins"),
        (IN_TREE._replace(plugins={"base": "in-tree"}), "Kubernetes 1.34 with plugins of its own"),
    ],
)
def test_a_target_is_described_by_its_release_and_plugins(found, text):
    assert str(found) == text
    assert found.as_dict() == {
        "kubernetes_version": "1.34",
        "kubernetes_version_from": "option",
        "plugins": found.plugins,
        "plugins_from": "default",
        "unknown": "",
    }


def test_plugins_can_be_given_as_text():
    described = "base: in-tree\nextra:\n- name: Own\n  points: [score]\n"
    assert target(kubernetes="1.34", plugins=described).plugins == {"base": "in-tree", "extra": [{"name": "Own", "points": ["score"]}]}


def test_validation_returns_the_verdict_and_the_decoded_configuration():
    valid = config_validation.validate(TEXT, IN_TREE)
    assert (valid.valid, valid.starts, valid.scheduler_names, valid.api_version) == (True, True, ("one",), "kubescheduler.config.k8s.io/v1")
    assert (valid.decoded, valid.completed is valid.config, valid.holds_token, valid.asks_prometheus) == (TEXT, True, False, [])
    broken = config_validation.validate(BROKEN, IN_TREE)
    assert (broken.valid, broken.starts, broken.completed) == (False, False, None)
    unknown = config_validation.validate(TEXT, config_validation.unknown_target("why"))
    assert (unknown.valid, unknown.target.unknown) == (None, "why")
    assert config_validation.validate(b"\xff", IN_TREE).decoded == ""
    assert config_validation.validate(b"\xff", IN_TREE).hash is None


def test_the_answer_of_the_image_overrides_the_verdict():
    valid, broken = (config_validation.validate(text, IN_TREE) for text in (TEXT, BROKEN))
    refused = config_validation.with_answer(valid, Answer(False, "no such plugin"))
    assert (refused.valid, refused.starts) == (False, False)
    assert refused.findings[0] == Finding(ERROR, "refused-by-image", "no such plugin")
    assert refused.findings[1:] == valid.findings
    both = config_validation.with_answer(broken, Answer(False, "no"))
    assert both.findings == broken.findings
    accepted = config_validation.with_answer(broken, Answer(True, config=TEXT))
    assert accepted.valid is True
    assert accepted.config["profiles"] == [{"schedulerName": "one"}]
    (error,) = [one for one in broken.findings if one.severity == ERROR]
    (softened,) = [one for one in accepted.findings if one.code == error.code]
    assert (softened.severity, softened.stage, softened.hint) == (WARNING, ADVICE, "the image accepts it all the same")
    assert config_validation.with_answer(valid, Answer(True)).config == valid.config


KUBECONFIG = TEXT + "clientConnection:\n  kubeconfig: /etc/kubernetes/scheduler.conf\n"


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        ([], True),
        (["/etc/kube"], True),
        (["/etc/kubernetes"], False),
        (["/etc/"], False),
        (["/other", "/etc/kubernetes/scheduler.conf"], False),
    ],
)
def test_a_kubeconfig_has_to_be_in_a_volume(paths, found):
    result = config_validation.with_mounts(config_validation.validate(KUBECONFIG, IN_TREE), paths)
    errors = [(one.severity, one.path, one.stage, one.message) for one in result.findings if one.code == "kubeconfig"]
    message = '"/etc/kubernetes/scheduler.conf": no volume of the scheduler\'s pod contains this file'
    assert errors == ([(ERROR, "clientConnection.kubeconfig", RUN, message)] if found else [])
    assert result.starts is not found
    assert config_validation.unmounted_kubeconfig({"clientConnection": {"kubeconfig": ""}}, []) == ""
    assert config_validation.unmounted_kubeconfig({"clientConnection": 5}, []) == ""


def test_an_option_that_contradicts_the_image_is_a_warning():
    result = config_validation.validate(TEXT, IN_TREE._replace(kubernetes="1.33"), image=IMAGE)
    (warning,) = [one for one in result.findings if one.code == "version-mismatch"]
    assert (warning.severity, warning.message) == (WARNING, f"kubernetes_version is 1.33, but the tag of {IMAGE} means 1.34")
    assert not [one for one in config_validation.validate(TEXT, IN_TREE, image=IMAGE).findings if one.code == "version-mismatch"]


def test_a_conversion_reports_its_steps():
    old = TEXT.replace("config.k8s.io/v1", "config.k8s.io/v1beta3")
    result, about = config_validation.convert(old, "1.25", IN_TREE)
    assert (result.valid, result.api_version, about["source"], about["complete"]) == (True, "kubescheduler.config.k8s.io/v1", "1.25", True)
    assert about["steps"]
    assert set(about["steps"][0]) == {"kind", "path", "message"}
    result, about = config_validation.convert(old, "1.25", config_validation.unknown_target("why"))
    assert (result.text, about) == (old, {"source": "1.25", "complete": False, "steps": []})


class Client:
    """Has this ConfigMap, and is of this release."""

    def __init__(self, config_map=None, version="v1.34.2"):
        self.config_map, self.release, self.seen = config_map, version, []

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def get(self, resource, name, namespace=None):
        self.seen.append((resource.kind, namespace, name))
        return self.config_map

    def version(self):
        if isinstance(self.release, Exception):
            raise self.release
        return self.release


def run(client=None, check_mode=False, **options):
    warnings = []

    def connect():
        assert client, "no cluster is needed"
        return client

    result = validate_configuration(Options(**options), connect, warnings.append, check_mode)
    return result, warnings


def test_the_result_of_the_module_has_all_its_fields():
    result, warnings = run(content=TEXT, kubernetes_version="1.34")
    assert warnings == []
    completed, effective, digest = (result.pop(key) for key in ("completed", "effective", "hash"))
    assert (completed["kind"], list(effective), len(digest) > 8) == ("KubeSchedulerConfiguration", ["one"], True)
    assert ["NodeResourcesFit", 1] in effective["one"]["score"]
    assert result == {
        "changed": False,
        "valid": True,
        "starts": True,
        "findings": [],
        "target": IN_TREE.as_dict(),
        "scheduler_names": ["one"],
        "api_version": "kubescheduler.config.k8s.io/v1",
        "text": TEXT,
        "asks_prometheus": [],
        "missing_kinds": [],
        "conversion": None,
        "image_answer": None,
        "found": True,
        "reason": "",
        "labels": {},
        "annotations": {},
        "resource_version": "",
    }


def test_an_invalid_configuration_fails_the_task_with_its_errors():
    with pytest.raises(ClusterError) as failure:
        run(content=BROKEN, kubernetes_version="1.34")
    title, error = failure.value.message.splitlines()
    assert title == "This is no usable KubeSchedulerConfiguration for Kubernetes 1.34:"
    assert error.startswith("content:")
    assert (failure.value.result["valid"], failure.value.result["text"], failure.value.result["effective"]) == (False, None, {})
    result, _warnings = run(content=BROKEN, kubernetes_version="1.34", fail_on="never")
    assert (result["valid"], result["completed"], result["text"]) == (False, None, BROKEN)
    (finding,) = [one for one in result["findings"] if one["severity"] == "error"]
    assert finding["line"] == 6


def test_findings_about_a_structure_have_no_line_numbers():
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "parallelism": "many"}
    result, _warnings = run(config=config, kubernetes_version="1.34", fail_on="never")
    assert {(one["line"], one["column"]) for one in result["findings"]} == {(None, None)}


def test_the_release_of_the_cluster_is_used_where_none_is_given():
    result, _warnings = run(Client(), content=TEXT)
    assert result["target"]["kubernetes_version_from"] == "cluster"
    message = (
        "Neither kubernetes_version nor image is given, so the release of the connected cluster is required, but it cannot be read: gone. "
        "Give kubernetes_version, such as 1.31, or image."
    )
    with pytest.raises(InputError) as failure:
        run(Client(version=ClusterError("gone.")), content=TEXT)
    assert failure.value.message == message


def test_an_unknown_release_is_a_warning():
    result, warnings = run(content=TEXT, image="example.com/own:1")
    assert (result["valid"], len(warnings)) == (None, 1)
    assert warnings[0].startswith("The kube-scheduler release is unknown, so only checks that apply to every release were made: ")


ABOUT = {"labels": {"l": "1"}, "annotations": {"a": "1"}, "resourceVersion": "7"}
SOURCE = "ConfigMap n/c[config.yaml]"


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        (None, Found(None, SOURCE, "The ConfigMap c does not exist in the namespace n.")),
        ({"metadata": {}, "data": {"config.yaml": "x"}}, Found("x", SOURCE, "", None, None, "")),
        (
            {"metadata": ABOUT, "data": {"b": "", "a": ""}},
            Found(None, SOURCE, "The ConfigMap n/c has no key config.yaml; its keys: a, b.", {"l": "1"}, {"a": "1"}, "7"),
        ),
        ({"metadata": {}}, Found(None, SOURCE, "The ConfigMap n/c has no key config.yaml; its keys: none.")),
        (
            {"metadata": ABOUT, "binaryData": {"config.yaml": base64.b64encode(b"\xff").decode()}},
            Found(
                None,
                SOURCE,
                "The ConfigMap n/c cannot be read: binaryData.config.yaml is not UTF-8 text (byte 0).",
                {"l": "1"},
                {"a": "1"},
                "7",
                True,
            ),
        ),
    ],
)
def test_a_configuration_is_read_from_a_config_map_or_its_absence_explained(live, expected):
    assert read_config_map(Client(live), "n", "c") == expected


def test_a_missing_config_map_is_an_error_or_a_result():
    options = {"config_map": {"namespace": "n", "name": "c"}, "kubernetes_version": "1.34"}
    reason = "The ConfigMap c does not exist in the namespace n."
    with pytest.raises(ClusterError) as failure:
        run(Client(), **options)
    assert (failure.value.message, failure.value.result["found"]) == (reason, False)
    result, _warnings = run(Client(), fail_on="never", **options)
    assert (result["found"], result["reason"], result["valid"], result["text"]) == (False, reason, False, None)


def test_a_file_is_read_and_an_unreadable_one_is_reported(tmp_path):
    path = tmp_path / "c.yaml"
    with pytest.raises(InputError, match=rf"^src: {path} cannot be read: No such file or directory\. It is a path on the host"):
        run(src=str(path), kubernetes_version="1.34")
    path.write_text(TEXT)
    assert run(src=str(path), kubernetes_version="1.34")[0]["text"] == TEXT
    path.write_bytes(b"\xff")
    result, _warnings = run(src=str(path), kubernetes_version="1.34", fail_on="never")
    assert (result["valid"], result["text"], result["hash"]) == (False, None, None)


def test_unknown_presets_and_conflicting_options_are_rejected():
    assert run(preset="no_scoring", kubernetes_version="1.34")[0]["valid"] is True
    with pytest.raises(InputError):
        run(preset="none such", kubernetes_version="1.34")
    with pytest.raises(InputError, match=r"^ask_image and convert_to exclude each other: "):
        run(content=TEXT, ask_image=True, convert_to="1.34")
    assert run(Client(), content=TEXT, image=IMAGE, ask_image=True, check_mode=True)[1] == [
        "ask_image: check mode creates no Job, so the image did not validate it."
    ]


@pytest.mark.parametrize(
    ("options", "command", "pull_secrets"),
    [
        ({"image": "registry.k8s.io/kube-scheduler:v1.34.7"}, ("/usr/local/bin/kube-scheduler",), ()),
        ({"image": "registry.example.com/kube-scheduler:v1.34.7", "plugins": "scheduler-plugins"}, ("/bin/kube-scheduler",), ()),
        ({"image": "registry.example.com/scheduler:7"}, ("/bin/kube-scheduler",), ()),
        ({"image": "registry.k8s.io/kube-scheduler:v1.34.7", "ask_command": ["/a", "-b"], "ask_pull_secrets": ["c"]}, ("/a", "-b"), ("c",)),
    ],
)
def test_the_image_check_runs_the_program_of_the_image_or_the_given_command(options, command, pull_secrets, monkeypatch):
    asked = []
    monkeypatch.setattr(image_answer, "ask", lambda client, question: asked.append(question) or Answer(True))
    assert run(Client(), content=TEXT, ask_image=True, **options)[0]["valid"] is True
    assert [(question.command, question.pull_secrets) for question in asked] == [(command, pull_secrets)]


class Bare(Client):
    """Serves no kind with a CustomResourceDefinition."""

    def groups(self):
        return {"resource.k8s.io": ["v1"]}

    def resource(self, api_version, kind):
        if (api_version, kind) not in KNOWN:
            raise ApiError(404, "NotServed", "no")
        return KNOWN[api_version, kind]


def test_kinds_of_plugins_that_the_cluster_does_not_serve_are_returned():
    options = {"preset": "coscheduling", "kubernetes_version": "1.34", "plugins": "scheduler-plugins"}
    result, _warnings = run(Bare(), compare_cluster=True, **options)
    assert result["missing_kinds"] == ["scheduling.x-k8s.io/v1alpha1/PodGroup"]
    assert run(**options)[0]["missing_kinds"] == [], "nothing was compared"


class Devices(Client):
    """Serves these groups; the ClusterRole of the scheduler is empty or an error."""

    def __init__(self, groups, role=None):
        super().__init__()
        self.served, self.role = groups, role

    def groups(self):
        return self.served

    def get(self, resource, name, namespace=None):
        assert (resource.kind, name) == ("ClusterRole", "system:kube-scheduler")
        if isinstance(self.role, Exception):
            raise self.role
        return self.role


@pytest.mark.parametrize(
    ("groups", "role", "codes"),
    [
        ({}, None, ["dra-api"]),
        ({"resource.k8s.io": ["v1"]}, {"rules": []}, ["dra-permissions"]),
        ({"resource.k8s.io": ["v1"]}, None, []),
        ({"resource.k8s.io": ["v1"]}, ApiError(403, "Forbidden", "no"), []),
    ],
)
def test_missing_api_and_permissions_for_devices_are_warnings(groups, role, codes):
    result, warnings = run(Devices(groups, role), content=TEXT, kubernetes_version="1.34", compare_cluster=True)
    assert [one["code"] for one in result["findings"]] == codes
    assert len(warnings) == len(codes)


class Nodes(Devices):
    """Serves what devices need; its nodes, or an error."""

    def __init__(self, nodes):
        super().__init__({"resource.k8s.io": ["v1"]})
        self.nodes = nodes

    def list(self, resource):
        assert resource.kind == "Node"
        if isinstance(self.nodes, Exception):
            raise self.nodes
        return self.nodes


def test_nodes_that_a_power_model_lacks_are_warnings():
    model = {"watcher_address": "http://w:2020", "node_power_model": {"listed": {"k0": 1, "k1": 1, "k2": 1}}}
    options = {
        "preset": "peaks",
        "preset_parameters": model,
        "kubernetes_version": "1.34",
        "plugins": "scheduler-plugins",
        "flags": ["--leader-elect=false"],
        "compare_cluster": True,
    }
    nodes = [{"metadata": {"name": name}, "spec": {}} for name in ("listed", "other")]
    result, _warnings = run(Nodes(nodes), **options)
    assert [one["code"] for one in result["findings"]] == ["power-model-incomplete"]
    assert run(Nodes(ApiError(403, "Forbidden", "no")), **options)[0]["findings"] == []
    with pytest.raises(ApiError):
        run(Nodes(ApiError(500, "", "no")), **options)


def test_a_warning_can_be_a_failure():
    with pytest.raises(ClusterError, match=r"^Likely mistakes, for Kubernetes 1\.34:\ncontent: .*resource\.k8s\.io"):
        run(Devices({}), content=TEXT, kubernetes_version="1.34", compare_cluster=True, fail_on="warning")
    with pytest.raises(ApiError):
        run(Devices({"resource.k8s.io": ["v1"]}, ApiError(500, "", "no")), content=TEXT, kubernetes_version="1.34", compare_cluster=True)


def test_the_image_s_answer_keeps_warnings_and_runtime_findings():
    elects = config_validation.validate(TEXT.replace("leaderElection: {leaderElect: false}\n", ""), IN_TREE)
    assert [one.severity for one in elects.findings] == [WARNING]
    assert config_validation.with_answer(elects, Answer(True)).findings == elects.findings
    assert [one.code for one in config_validation.with_answer(elects, Answer(False, "no")).findings] == [
        "refused-by-image",
        "lease-collision",
    ]
    mounted = config_validation.with_mounts(config_validation.validate(KUBECONFIG, IN_TREE), [])
    assert config_validation.with_answer(mounted, Answer(True)).findings == mounted.findings
    assert config_validation.with_answer(mounted, Answer(False, "no")).findings[0].code == "refused-by-image"
