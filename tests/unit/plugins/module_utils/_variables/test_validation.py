# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of the roles secondary_scheduler and operator: all errors at once, each with its place, the value and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.operators import UPSTREAM_NAMESPACE
from ansible_collections.osso.scheduler.plugins.module_utils._variables import (
    default_scheduler,
    mirror,
    monitoring,
    operator,
    playbooks,
    publish,
    registry_login,
    secondary_scheduler,
    typed_values,
)

ROOT = Path(__file__).resolve().parents[5]
IMAGE = "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7"
GOOD = {"image": IMAGE, "preset": "no_scoring"}
LONGEST = "a" * 43


def options(role):
    return yaml.safe_load((ROOT / f"roles/{role}/meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]


def check(given, errors, **facts):
    found = secondary_scheduler.complete(given, **facts)["errors"]
    assert [(error, start) for error, start in zip(found, errors, strict=True) if not error.startswith(start)] == []


@pytest.mark.parametrize(
    ("given", "errors"),
    [
        ([GOOD], []),
        ([{**GOOD, "name": LONGEST}, {"name": "b", "state": "absent"}, {**GOOD, "name": None}], []),
        ([{**GOOD, "name": 5}], []),
        ([{}], ["secondary_schedulers[0]: openshift-secondary-scheduler-operator/cluster needs image, and one of config, config_text, "]),
        ([GOOD, {**GOOD, "name": "b", "config_text": "x"}], ["secondary_schedulers[1]: openshift-secondary-scheduler-operator/b needs image, and one"]),
        ([{**GOOD, "name": LONGEST + "a"}], [f"secondary_schedulers[0]: name is {LONGEST}a: use up to 43 "]),
        ([{**GOOD, "name": "Big"}, {**GOOD, "name": "b/c"}], ["secondary_schedulers[0]: name is Big: ", "secondary_schedulers[1]: name is b/c: "]),
        ([{**GOOD, "namespace": "a.b"}], ["secondary_schedulers[0]: namespace is a.b: use up to 63 "]),
        ([{**GOOD, "image": "a b"}], ["secondary_schedulers[0]: image: 'a b' is no image reference, such as registry.example.com/"]),
        (
            [{**GOOD, "annotations": {"a": "b", "x/y": 5}, "topology": {"mode": "Highly", "nodes": 2}}],
            [
                "secondary_schedulers[0]: annotations has x/y with the value 5: an annotation is a text, so put it in quotes.",
                "secondary_schedulers[0]: topology has nodes: use mode and highlyAvailableTopology.",
                "secondary_schedulers[0]: topology.mode is Highly: set SingleReplica or HighlyAvailable.",
            ],
        ),
        ([{**GOOD, "topology": {"highlyAvailableTopology": {}}}, {**GOOD, "name": "b", "topology": {"mode": "HighlyAvailable"}}], []),
        (
            [{**GOOD, "topology": {"highlyAvailableTopology": {"maxReplicas": 2}}}],
            ["secondary_schedulers[0]: topology.highlyAvailableTopology is for the mode HighlyAvailable only."],
        ),
        (
            [GOOD, {**GOOD, "name": "b"}, {"name": "cluster", "state": "absent"}],
            ["secondary_schedulers[0], secondary_schedulers[2]: openshift-secondary-scheduler-operator/cluster is listed 2 times: "],
        ),
    ],
)  # fmt: skip
def test_invalid_schedulers_are_rejected_with_place_and_remedy(given, errors):
    check(given, errors)


def test_the_error_names_the_configuration_options_of_an_item():
    (error,) = secondary_scheduler.complete([{"config_text": "x", "preset": "y"}])["errors"]
    assert error.endswith("It has config_text, preset.")
    (error,) = secondary_scheduler.complete([{}])["errors"]
    assert error.endswith("It has none of these.")


def test_two_items_with_one_scheduler_name_are_an_error():
    """Absent items do not count."""
    given = [{"name": "gone", "state": "absent"}, {**GOOD, "name": "a"}, {**GOOD, "name": "b"}, {**GOOD, "name": "c"}]
    place = "secondary_schedulers[1], secondary_schedulers[3]: the schedulerName x is in the profiles of "
    check(given, [place], names=[["x", "y"], ["z"], ["x"]])
    check(given, [], names=[["x"], ["y"], ["z"]])


def test_items_that_the_operator_would_reject_are_found_before_the_first_write():
    overrides = {"resorces": {}, "args": ["--v=3"], "volumeMounts": [{"name": "a", "mountPath": "/b"}]}
    errors = [
        "overrides.resorces is unknown; did you mean resources? Known are affinity, ",
        "overrides.args[0] is --v: spec.logLevel does it; remove it.",
        "overrides.volumeMounts[0].name is a; no volume of that name is given: add it to overrides.volumes.",
        'annotations: osso.scheduler/rollback is "always"; it must be Automatic or Never.',
    ]
    item = {**GOOD, "overrides": overrides, "annotations": {"osso.scheduler/rollback": "always"}}
    check([item], [f"secondary_schedulers[0]: {error}" for error in errors])
    check([{**item, "state": "absent"}], [])
    check([{**GOOD, "overrides": "a", "annotations": ["b"]}], ["secondary_schedulers[0]: overrides is a text; it must be a mapping with "])


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        ({"osso.scheduler/plugins": "garbage"}, "osso.scheduler/plugins cannot be used: plugins: 'garbage' is no set of plugins"),
        ({"osso.scheduler/kubernetes-version": "new"}, "osso.scheduler/kubernetes-version cannot be used: new is no release"),
        ({"osso.scheduler/monitoring-required": "yes"}, 'osso.scheduler/monitoring-required is "yes"; it must be true or false.'),
    ],
)
def test_a_malformed_annotation_is_found_before_the_first_write(annotation, said):
    check([{**GOOD, "annotations": annotation}], [f"secondary_schedulers[0]: annotations: {said}"])


def test_a_misspelt_annotation_is_a_warning():
    item = {**GOOD, "annotations": {"osso.scheduler/pluginz": "in-tree", "example.com/a": "b"}}
    said = "osso.scheduler/pluginz (did you mean osso.scheduler/plugins?), which the operator does not know and ignores."
    found = secondary_scheduler.complete([item])
    assert (found["errors"], found["warnings"]) == ([], [f"secondary_schedulers[0]: annotations has {said}"])


def test_fields_that_the_upstream_operator_ignores_are_errors():
    item = {**GOOD, "name": "b", "namespace": "c", "overrides": {"replicas": 2}, "annotations": {"osso.scheduler/adopt": "true", "x": "y"}}
    said = ["name is b, but", "namespace is c, but", "overrides has replicas, but", "annotations has osso.scheduler/adopt, which"]
    check([GOOD], [], variant="upstream")
    check([item], [f"secondary_schedulers[0]: {start}" for start in said], variant="upstream")


def test_items_are_complete_and_have_their_types():
    assert secondary_scheduler.complete([])["warnings"] == ["secondary_schedulers is empty: no scheduler is configured."]
    (item,) = secondary_scheduler.complete([{**GOOD, "kubernetes_version": 1.31, "ask_image": "false"}])["items"]
    assert (item["kubernetes_version"], item["ask_image"], item["where"]) == ("1.31", False, "secondary_schedulers[0]")


def test_documented_defaults_are_the_defaults():
    documented = options("secondary_scheduler")["secondary_schedulers"]["options"]
    # Derived from the name, or left out of the resource
    assert set(documented) - set(secondary_scheduler.DEFAULTS) == {"config_map", "topology"}
    said = {name: option["default"] for name, option in documented.items() if "default" in option}
    assert said == {name: secondary_scheduler.DEFAULTS[name] for name in said}


def test_the_namespace_of_upstreams_operator_is_one():
    """Its schedulers are there, so it is the default of both roles."""
    variables = yaml.safe_load((ROOT / "roles/operator/vars/main.yml").read_text())
    assert variables["operator_upstream_namespace"] == DEFAULTS["operator_namespace"] == UPSTREAM_NAMESPACE


DEFAULTS = yaml.safe_load((ROOT / "roles/operator/defaults/main.yml").read_text())
FACTS = {"operators": [], "olm": False, "kubernetes_version": "1.34", "image": "a/b:1", "schedulers": []}
OURS = {"namespace": DEFAULTS["operator_namespace"], "variant": "osso", "method": "manifests", "replicas": 1, "watches": ["a"], "name": "x"}


def decide(given=(), **facts):
    given = dict(given)
    return operator.complete({**DEFAULTS, **given}, list(given), {**FACTS, **facts})


def test_errors_of_the_operators_variables_are_reported_at_once():
    other = {**OURS, "namespace": "other", "watches": ["*"]}
    given = {"operator_catalog_image": "a/b:c", "operator_upgrade": "version", "operator_approve": "1.0.0"}
    found = decide(given, operators=[other], kubernetes_version="1.24", image="")["errors"]
    starts = [
        "The operator other/x already watches *.",
        "operator_approve, operator_catalog_image, operator_upgrade cannot be honoured with operator_variant osso and operator_method manifests",
        "The cluster runs Kubernetes 1.24, and the operator needs",
        "operator_image is missing, and with this version",
        "operator_upgrade is version, but operator_version is missing",
        "operator_approve is 1.0.0, but operator_approval is Automatic",
    ]
    assert [(error, start) for error, start in zip(found, starts, strict=True) if not error.startswith(start)] == []


@pytest.mark.parametrize(
    ("method", "olm", "installed", "chosen"),
    [
        ("auto", True, [], "olm"),
        ("auto", False, [], "manifests"),
        ("auto", True, [OURS], "manifests"),
        ("auto", True, [{**OURS, "method": "olm"}], "olm"),
        ("olm", True, [OURS], "olm"),
    ],
)
def test_olm_and_the_installed_operator_decide_the_method(method, olm, installed, chosen):
    found = decide({"operator_method": method}, olm=olm, operators=installed)
    assert (found["method"], found["errors"]) == (chosen, [])
    assert found["installed"] == [one["method"] for one in installed]


def test_variables_of_the_other_method_are_accepted_with_method_auto():
    given = {"operator_catalog_image": "a/b:c", "operator_image": "a/b:1"}
    for olm in (True, False):
        assert decide({"operator_method": "auto", **given}, olm=olm)["errors"] == []
        assert len(decide({"operator_method": "olm" if olm else "manifests", **given}, olm=olm)["errors"]) == 1


def test_a_subscription_gets_the_given_settings():
    given = {"operator_method": "olm", "operator_subscription_config": {"env": []}, "operator_node_selector": {"a": "b"}}
    assert decide(given, olm=True)["config"] == {"env": [], "nodeSelector": {"a": "b"}}
    assert decide({**given, "operator_resources": {"limits": {}}}, olm=True)["config"]["resources"] == {"limits": {}}
    assert (decide()["upgrade"], decide({"operator_version": "1.0.0"})["upgrade"]) == ("channel", "version")


def test_a_removal_spares_schedulers_of_others():
    absent = {"operator_state": "absent"}
    foreign = {"kind": "SecondaryScheduler", "namespace": "other", "name": "cluster"}
    (error,) = decide(absent, schedulers=[foreign, {**foreign, "kind": "Deployment"}])["errors"]
    assert error.startswith("SecondaryScheduler other/cluster is in a namespace that this operator does not watch")
    assert decide({**absent, "operator_watch_namespaces": ["*"]}, schedulers=[foreign])["errors"] == []
    (error,) = decide(absent, scheduler_namespaces=["a"])["errors"]
    assert error.startswith("operator_state is absent, but secondary_schedulers has schedulers to deploy")
    theirs = {**OURS, "variant": "upstream", "watches": [DEFAULTS["operator_namespace"]]}
    (error,) = decide(absent, operators=[theirs])["errors"]
    assert "Set operator_variant to upstream to remove that one" in error


@pytest.mark.parametrize(
    ("value", "wanted", "result"),
    [
        ("false", "bool", False),
        ("Yes", "bool", True),
        (False, "bool", False),
        ("300", "int", 300),
        ("-1", "int", -1),
        ("many", "int", "many"),
        (1.31, "str", "1.31"),
        (True, "str", True),
        ([1], "list", [1]),
        (None, "bool", None),
    ],
)
def test_a_text_is_converted_to_the_type_of_its_option(value, wanted, result):
    found = typed_values.typed(value, wanted)
    assert (found, type(found)) == (result, type(result))


LISTS_AND_DICTS = [
    (role, name)
    for role in (
        "custom_scheduler",
        "default_scheduler",
        "mirror",
        "monitoring",
        "operator",
        "publish",
        "scheduler_pool",
        "secondary_scheduler",
    )
    for name, about in options(role).items()
    if about.get("type") in ("list", "dict")
]


@pytest.mark.parametrize(("role", "name"), LISTS_AND_DICTS)
def test_a_list_or_dict_that_is_a_text_is_an_error(role, name):
    """In every role: Ansible accepts such a text, and a role would read its characters."""
    about = options(role)
    for text in ("a,b", "a=b", "[]", ""):
        (error,) = typed_values.errors(about, {name: text})
        assert error.startswith(f"{name} is a text instead of a {about[name]['type']}. Give it in a file")
    assert typed_values.errors(about, {name: [] if about[name]["type"] == "list" else {}, "other": "text"}) == []


@pytest.mark.parametrize(
    ("role", "values", "error"),
    [
        ("custom_scheduler", {"custom_schedulers": [{}, {"pull_secrets": "a"}]}, "custom_schedulers[1].pull_secrets is a text instead of a list. "),
        ("custom_scheduler", {"custom_schedulers": [{"replicas": 2**31}]}, "custom_schedulers[0].replicas is 2147483648: set a number of at most "),
        ("custom_scheduler", {"custom_schedulers": [{"service_account": ["x"]}]}, "custom_schedulers[0].service_account is a list instead of a text."),
        ("secondary_scheduler", {"secondary_schedulers": {"a": "b"}}, "secondary_schedulers is a dict instead of a list. Write it as [...]."),
        ("secondary_scheduler", {"secondary_schedulers": [{"annotations": ["x"]}]}, "secondary_schedulers[0].annotations is a list instead of a dict. "),
        ("secondary_scheduler", {"secondary_schedulers": ["batch"]}, "secondary_schedulers[0] is a text instead of a dict."),
        ("secondary_scheduler", {"secondary_schedulers": [None]}, "secondary_schedulers[0] is a null instead of a dict."),
        ("secondary_scheduler", {"secondary_schedulers": [{"annotations": "x=y"}]}, "secondary_schedulers[0].annotations is a text instead of a dict. "),
        ("secondary_scheduler", {"secondary_scheduler_prometheus": {"url": {}}}, "secondary_scheduler_prometheus.url is a dict instead of a text."),
        ("operator", {"operator_replicas": "99999999999999999999"}, "operator_replicas is 99999999999999999999: set a number of at most 2147483647."),
        ("operator", {"operator_wait_timeout": float("inf")}, "operator_wait_timeout is inf: set a whole number."),
        ("operator", {"operator_namespace": None}, "operator_namespace is null: leave it out for its default openshift-"),
        ("secondary_scheduler", {"secondary_schedulers": None}, "secondary_schedulers is null: leave it out for its default [], or give it a list."),
        ("monitoring", {"monitoring_rules_labels": None}, "monitoring_rules_labels is null: leave it out for its default {}, or give it a dict."),
        ("secondary_scheduler", {"secondary_scheduler_wait_timeout": None}, "secondary_scheduler_wait_timeout is null: leave it out for its default 300"),
        ("secondary_scheduler", {"secondary_scheduler_wait": None}, "secondary_scheduler_wait is null: leave it out for its default true, or give it a bool."),
        ("operator", {"operator_watch_namespaces": ["a", None]}, "operator_watch_namespaces[1] is a null instead of a text."),
        ("operator", {"operator_wait": "soon"}, "operator_wait is soon: set true or false."),
        ("operator", {"operator_variant": "Upstream"}, "operator_variant is Upstream: did you mean upstream? Known are osso, upstream."),
        ("operator", {"operator_upgrade": False}, 'operator_upgrade is False: known are "", none, channel, version.'),
        ("monitoring", {"monitoring_sources": ["route", "rout"]}, "monitoring_sources[1] is rout: did you mean route? Known are route, service, "),
        (
            "secondary_scheduler",
            {"secondary_schedulers": [{"state": "present"}, {"state": "gone"}]},
            "secondary_schedulers[1].state is gone: known are present, absent.",
        ),
        ("secondary_scheduler", {"secondary_schedulers": [{}, {"imag": "x"}]}, "secondary_schedulers[1].imag is unknown: did you mean image? Known"),
    ],
)  # fmt: skip
def test_values_of_a_wrong_type_are_errors(role, values, error):
    (found,) = typed_values.errors(options(role), values)
    assert found.startswith(error)


def test_a_dict_whose_options_are_not_listed_may_have_any():
    assert typed_values.errors(options("operator"), {"operator_resources": {"requests": {"cpu": 1}}}) == []
    assert typed_values.errors(options("secondary_scheduler"), {"secondary_schedulers": [{"config": {"kind": "x"}}]}) == []


FILLED = {"text": "${LOAD_WATCHER_URL} ${PROM_URL} ${PROM_TOKEN}", "url": "", "has_token": False, "problem": "", "namespace": "ns"}


@pytest.mark.parametrize(
    ("upstream", "errors"),
    [
        (
            FILLED,
            [
                "secondary_schedulers: the configuration holds ${LOAD_WATCHER_URL}, but the upstream operator deploys no load-watcher. ",
                "secondary_schedulers: the configuration holds ${PROM_URL}, but no Prometheus is known. Set ",
                "secondary_schedulers: the configuration holds ${PROM_TOKEN}, but there is no token to fill it with. Set ",
            ],
        ),
        (
            {**FILLED, "text": "${PROM_TOKEN}", "problem": "no Secret"},
            ["secondary_schedulers: the configuration holds ${PROM_TOKEN}, but there is no token to fill it with: no Secret. Set "],
        ),
        ({**FILLED, "text": "${PROM_TOKEN} ${PROM_URL}", "url": "https://x", "has_token": True}, []),
        ({**FILLED, "text": ""}, []),
    ],
)  # fmt: skip
def test_placeholders_that_the_upstream_operator_does_not_fill_are_errors(upstream, errors):
    check([GOOD], errors, variant="upstream", upstream=upstream)


LOGIN = {"registry_login_prefix": "mirror_", "registry_login_credentials": {}, "registry_login_auth_file": "", "registry_login_ca_file": ""}


@pytest.mark.parametrize(
    ("given", "errors"),
    [
        ({}, []),
        ({"registry_login_credentials": {"r:5000": {"username": "u", "password": "p"}}, "registry_login_ca_file": __file__}, []),
        ({"registry_login_credentials": ["s3cret"]}, ["mirror_credentials has to be a mapping from registry to username and password."]),
        (
            {"registry_login_credentials": {"r": {"username": "u", "password": "p"}}, "registry_login_auth_file": "/no", "registry_login_ca_file": "/"},
            [
                "mirror_credentials and mirror_auth_file exclude each other: give one of them.",
                "There is no file /no: correct mirror_auth_file.",
                "There is no file /: correct mirror_ca_file.",
            ],
        ),
    ],
)  # fmt: skip
def test_invalid_settings_of_registries_are_rejected_with_the_remedy(given, errors):
    assert registry_login.complete({**LOGIN, **given})["errors"] == errors


PUBLISH = {
    **dict.fromkeys(("publish_operator_image", "publish_bundle_image", "publish_engine"), ""),
    "publish_registry": "r.example.com/team", "publish_method": "olm", "publish_skopeo": "skopeo", "publish_opm": "opm",
}  # fmt: skip


@pytest.mark.parametrize(
    ("given", "there", "missing"),
    [
        ({}, ["skopeo", "podman"], []),
        ({}, [], ["skopeo cannot be run on here, ", "Neither buildah nor podman can be run on here, "]),
        ({"publish_engine": "docker"}, ["skopeo", "podman"], ["docker cannot be run on here, "]),
        ({"publish_bundle_image": "b@sha256:0"}, ["skopeo", "buildah"], ["opm cannot be run on here, "]),
    ],
)
def test_missing_programs_for_publishing_are_named(given, there, missing):
    programs = [{"item": name, "rc": 0 if name in there else 2} for name in ("skopeo", "buildah", "podman", "opm")]
    found = publish.complete({**PUBLISH, **given}, {"host": "here", "programs": programs})["errors"]
    assert [error.startswith(start) for error, start in zip(found, missing, strict=True)] == [True] * len(missing)
    assert publish.complete({**PUBLISH, **given}, {})["errors"] == []


NUMBERS = [
    (role, name)
    for role in sorted({role for role, _name in LISTS_AND_DICTS})
    for name, about in options(role).items()
    if about.get("type") == "int"
]


@pytest.mark.parametrize(("role", "name"), NUMBERS)
def test_a_negative_number_is_an_error(role, name):
    """In every role: a module would reject it only after others have written."""
    about = options(role)
    least = -1 if name.endswith("_revision_limit") else 0
    for value in (least - 1, str(least - 1)):
        assert typed_values.errors(about, {name: value}) == [f"{name} is {least - 1}: set a number of at least {least}."]
    assert [typed_values.errors(about, {name: value}) for value in (least, str(least), 300)] == [[]] * 3
    assert typed_values.errors(about, {name: "many"}) == [f"{name} is many: set a whole number."]


@pytest.mark.parametrize(
    ("window", "usable"), [("5m", True), ("1h30m", True), ("90s", True), ("garbage", False), ("5", False), ("0s", False), ("", False)]
)
def test_the_window_of_rates_is_a_duration_of_prometheus(window, usable):
    found = monitoring.complete({"monitoring_rate_window": window})["errors"]
    assert found == ([] if usable else [f"monitoring_rate_window is {window!r}: set a duration of Prometheus, such as 5m or 1h30m."])


def test_the_default_schedulers_name_is_rejected_as_by_the_operator():
    """The refusal comes before the resource is written."""
    allowed = {"annotations": {"osso.scheduler/allow-default-scheduler": "true"}}
    names = [["batch"], ["default-scheduler"]]
    first = "secondary_schedulers[1]: openshift-secondary-scheduler-operator/b has a profile with the schedulerName default-scheduler"
    check([GOOD, {**GOOD, "name": "b"}], [first], names=names)
    check([GOOD, {**GOOD, "name": "b", **allowed}], [], names=names)
    check([{**GOOD, "state": "absent", "name": "gone"}, GOOD], ["secondary_schedulers[1]: "], names=[["default-scheduler"]])
    check([GOOD], [], names=[["default-scheduler"]], variant="upstream")


def test_schedulers_in_namespaces_that_the_operator_does_not_watch_are_rejected():
    mine = DEFAULTS["operator_namespace"]
    (error,) = decide(scheduler_namespaces=[mine, "jobs", "batch", "jobs"])["errors"]
    assert error == (
        f"secondary_schedulers has schedulers in batch and jobs, but the operator watches {mine} alone, and would never deploy them. Set "
        f'operator_watch_namespaces to ["{mine}", "batch", "jobs"], or leave the namespace out.'
    )
    for watched in (["*"], ["jobs", "batch"]):
        assert decide({"operator_watch_namespaces": watched}, scheduler_namespaces=["jobs", "batch"])["errors"] == []
    assert decide()["errors"] == []
    another = {**OURS, "namespace": "another", "watches": ["jobs"]}
    assert decide(operators=[another], scheduler_namespaces=["jobs"])["errors"] == []
    assert len(decide(operators=[{**OURS, "watches": ["jobs"]}], scheduler_namespaces=["jobs"])["errors"]) == 1


def test_malformed_values_of_the_operators_variables_are_errors():
    given = {"operator_namespace": "Bad_NS", "operator_watch_namespaces": ["A B", "*", "good"]}
    errors = decide(given, image="a b")["errors"]
    assert [error.partition(":")[0] for error in errors] == [
        "operator_namespace is Bad_NS",
        "operator_watch_namespaces has A B",
        "operator_image",
    ]


@pytest.mark.parametrize("name", ["probe_namespace", "preview_job_namespace"])
def test_malformed_namespaces_of_playbooks_are_errors(name):
    assert playbooks.errors({name: ""}) == playbooks.errors({name: "good"}) == []
    (error,) = playbooks.errors({name: "A B"})
    assert error.startswith(f"{name} is A B: use up to 63 ")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, []),
        ({"preview": "report", "probe": "never", "fleet_required": "yes", "preview_limit": "5", "gather_log_lines": 1.5}, []),
        ({"fleet_required": "", "preview_limit": None, "hand_over_wait": ""}, []),
        ({"operator_variant": "Upstream"}, ["operator_variant is Upstream: set osso or upstream."]),
        ({"preview": ""}, ["preview is : set never, report or required."]),
        ({"probe": "sometimes"}, ["probe is sometimes: set changed, always or never."]),
        ({"use_scheduler_undo": "maybe"}, ["use_scheduler_undo is maybe: set true or false."]),
        ({"preview_timeout": "long"}, ["preview_timeout is long: set a number."]),
        ({"preview_timeout": True}, ["preview_timeout is True: set a number."]),
        ({"preview_timeout": [1]}, ["preview_timeout is [1]: set a number."]),
    ],
)
def test_variables_of_the_playbooks_are_validated(values, expected):
    assert playbooks.errors(values) == expected


MIRROR = {
    "mirror_method": "olm",
    "mirror_catalog_image": "c:1",
    "mirror_set_kind": "auto",
    "mirror_registry": "r",
    "mirror_operator_image": "",
}
SERVED = ["ImageDigestMirrorSet", "ImageContentSourcePolicy"]


@pytest.mark.parametrize(
    ("given", "served", "kind", "errors"),
    [
        ({}, SERVED, "ImageDigestMirrorSet", []),
        ({"mirror_set_kind": "ImageContentSourcePolicy"}, SERVED, "ImageContentSourcePolicy", []),
        ({"mirror_method": "manifests", "mirror_catalog_image": "", "mirror_operator_image": "o:1"}, SERVED, SERVED[0], []),
        ({"mirror_catalog_image": "", "mirror_operator_image": "o:1"}, [], "none", []),
        ({"mirror_registry": ""}, SERVED, SERVED[0], ["mirror_registry is not given: "]),
        ({"mirror_catalog_image": ""}, [], "none", ["mirror_operator_image is missing. operator_image is missing, and"]),
        ({"mirror_set_kind": "Other"}, SERVED, "Other", ["The cluster does not serve Other: "]),
        ({}, [], "none", ["The cluster has no mirror sets, so the bundles of c:1 would be pulled from where they are."]),
        ({"mirror_method": "manifests"}, SERVED, SERVED[0], ["mirror_method is manifests and mirror_catalog_image is c:1. "]),
        (
            {"mirror_catalog_image": "", "mirror_operator_image": "o:1"},
            SERVED,
            SERVED[0],
            ["mirror_method is olm and mirror_catalog_image is not given. "],
        ),
    ],
)
def test_variables_of_the_role_mirror_are_validated(given, served, kind, errors):
    found = mirror.complete({**MIRROR, **given}, {"served": served})
    assert found["kind"] == kind
    assert [error.startswith(start) for error, start in zip(found["errors"], errors, strict=True)] == [True] * len(errors)


@pytest.mark.parametrize(
    ("given", "errors"),
    [
        ({}, []),
        ({"publish_operator_image": "o@sha256:0"}, []),
        ({"publish_bundle_image": "b:1"}, []),
        ({"publish_registry": ""}, ["publish_registry is not given: "]),
        ({"publish_registry": "https://r"}, ["'https://r' is no registry"]),
        ({"publish_operator_image": "o:1"}, ["publish_operator_image is o:1: name it by digest "]),
        (
            {"publish_operator_image": "o@sha256:0", "publish_bundle_image": "b:1"},
            ["publish_bundle_image and publish_operator_image exclude each other: "],
        ),
        ({"publish_bundle_image": "b:1", "publish_method": "manifests"}, ["publish_bundle_image is for OLM: "]),
    ],
)
def test_variables_of_the_role_publish_are_validated(given, errors):
    found = publish.complete({**PUBLISH, **given}, {})["errors"]
    assert [error.startswith(start) for error, start in zip(found, errors, strict=True)] == [True] * len(errors)


def test_a_named_engine_alone_is_sufficient():
    programs = [{"item": name, "rc": 0} for name in ("skopeo", "docker", "opm")]
    given = {**PUBLISH, "publish_engine": "docker", "publish_bundle_image": "b:1"}
    assert publish.complete(given, {"host": "here", "programs": programs})["errors"] == []


UNMANAGED = {"operator_managed": False, "i_understand_unmanaged_operator": True}


@pytest.mark.parametrize(
    ("given", "errors"),
    [
        ({}, []),
        ({"operator_managed": True, "cluster_version_operator": "running"}, []),
        ({"operator_managed": None}, []),
        (UNMANAGED, []),
        ({"operator_managed": False}, ["default_scheduler_operator_managed is false. "]),
        ({**UNMANAGED, "operator_image": "i"}, ["default_scheduler_operator_image is set. Red Hat does not support "]),
        (
            {"operator_image": "i", "i_understand_custom_operator_image": True},
            ["default_scheduler_operator_image is set, but the cluster-version operator would put its own image back: "],
        ),
        ({**UNMANAGED, "operator_image": "i", "i_understand_custom_operator_image": True}, []),
        ({"cluster_version_operator": "stopped"}, ["default_scheduler_cluster_version_operator is stopped. "]),
        ({"cluster_version_operator": "stopped", "i_understand_stopped_cluster_version_operator": True}, []),
        (
            {"profile": "p", "config": {"a": 1}, "state": "absent", "manifest": ""},
            [
                "default_scheduler_config, default_scheduler_state cannot be honoured with default_scheduler_provider openshift: only the provider static_pod "
            ],
        ),
        (
            {"provider": "static_pod", "operator_managed": False, "profile": "p", "debug_log_level": "", "wait": None},
            [
                "default_scheduler_operator_managed cannot be honoured with default_scheduler_provider static_pod: only the provider openshift has that. "
            ],
        ),
        ({"provider": "static_pod", "flags": {"v": 4, "x": None}}, ["default_scheduler_flags: x has no value. "]),
        (
            {"provider": "static_pod", "flags": {"leader_elect-resource-name": "x", "leader-elect-resource-namespace": "kube-system"}},
            ["default_scheduler_flags: leader-elect-resource-name is x. "],
        ),
        ({"provider": "static_pod", "state": "absent", "flags": {"x": None}, "config": {"profiles": [{"schedulerName": "x"}]}}, []),
        ({"provider": "static_pod", "config": {"profiles": [{"plugins": {}}], "leaderElection": {"resourceName": "kube-scheduler"}}}, []),
        ({"provider": "static_pod", "config": {"profiles": [{"schedulerName": "a"}, {"schedulerName": "default-scheduler"}]}}, []),
        ({"provider": "static_pod", "config": {"profiles": 1, "leaderElection": 1}}, []),
        (
            {
                "provider": "static_pod",
                "config": {"profiles": [{"schedulerName": "packing"}], "leaderElection": {"resourceNamespace": "x"}},
            },
            [
                "default_scheduler_config: profiles have the names packing. Then nothing schedules pods without a schedulerName: ",
                "default_scheduler_config: leaderElection.resourceNamespace is x. ",
            ],
        ),
        (
            {"provider": "static_pod", "profile": "p", "config": {"a": 1}},
            ["default_scheduler_profile and default_scheduler_config are both set. "],
        ),
    ],
)
def test_variables_of_the_role_default_scheduler_are_validated(given, errors):
    values = {f"default_scheduler_{name}": value for name, value in given.items()}
    found = default_scheduler.complete(values, list(values), ["refused"])["errors"]
    found.remove("refused")
    assert [error[: len(start)] for error, start in zip(found, errors, strict=True)] == errors
    # Before the cluster was examined
    early = default_scheduler.complete(values, list(values))["errors"]
    assert early == (found if given.get("provider") == "static_pod" else [error for error in found if "honoured" in error])


UPSTREAM = {"operator_variant": "upstream", "operator_namespace": UPSTREAM_NAMESPACE, "operator_watch_namespaces": [UPSTREAM_NAMESPACE]}


@pytest.mark.parametrize(
    ("given", "facts", "starts"),
    [
        ({"operator_method": "olm"}, {}, ["operator_method is olm, but the cluster does not serve operators.coreos.com: "]),
        (UPSTREAM, {}, []),
        (
            {**UPSTREAM, "operator_namespace": "a", "operator_watch_namespaces": ["b"]},
            {},
            [
                f"operator_namespace is a, but upstream's operator works in {UPSTREAM_NAMESPACE} alone. ",
                f"operator_watch_namespaces is b, but upstream's operator watches {UPSTREAM_NAMESPACE} alone. ",
            ],
        ),
        (UPSTREAM, {"image": ""}, ["operator_image is missing: with operator_variant upstream and operator_method manifests it names "]),
        (
            {**UPSTREAM, "operator_plugins": ["x"]},
            {},
            [
                "operator_plugins cannot be honoured with operator_variant upstream and operator_method manifests: upstream's operator has nothing of "
            ],
        ),
        (
            {"operator_method": "olm", "operator_replicas": 2},
            {"olm": True},
            [
                "operator_replicas cannot be honoured with operator_variant osso and operator_method olm: OLM takes the operator's image and "
            ],
        ),
        ({"operator_approval": "Manual", "operator_approve": "1.0.0", "operator_method": "olm"}, {"olm": True, "operators": [OURS]}, []),
        ({"operator_approval": "Manual", "operator_method": "olm"}, {"olm": True}, []),
        (
            {"operator_approval": "Manual", "operator_method": "olm"},
            {"olm": True, "operators": [OURS]},
            ["operator_approval is Manual and operator_approve is missing: moving from manifests to OLM "],
        ),
        ({"operator_upgrade": "version", "operator_version": "1.0.0", "operator_method": "olm"}, {"olm": True}, []),
        ({"operator_method": "olm"}, {"olm": True, "image": ""}, []),
        ({}, {"operators": [{**OURS, "namespace": "b", "watches": ["z"]}]}, []),
        ({}, {"operators": [{**OURS, "namespace": "b", "watches": ["*"], "replicas": 0}]}, []),
        (
            {"operator_watch_namespaces": ["z"]},
            {"operators": [{**OURS, "namespace": "b", "watches": ["z"]}]},
            ["The operator b/x already watches z. "],
        ),
        ({"operator_watch_namespaces": ["*"]}, {"operators": [{**OURS, "namespace": "b"}]}, ["The operator b/x already watches a. "]),
    ],
)
def test_variables_that_the_cluster_cannot_satisfy_are_errors(given, facts, starts):
    errors = decide(given, **facts)["errors"]
    assert [error.startswith(start) for error, start in zip(errors, starts, strict=True)] == [True] * len(starts), errors


def test_a_missing_image_leaves_the_installed_operator():
    (error,) = decide(image="", operators=[OURS])["errors"]
    assert error.endswith(" The operator that is installed was left as it is.")
    assert decide(image="", operators=None)["errors"][0].endswith("for Red Hat's operator.")


def test_placement_of_the_operator_is_part_of_its_subscription():
    given = {"operator_tolerations": [{"key": "a"}], "operator_subscription_config": {"tolerations": []}}
    assert decide({"operator_tolerations": [{"key": "a"}]})["config"] == {"tolerations": [{"key": "a"}]}
    assert decide(given)["config"] == {"tolerations": []}
    assert decide()["config"] == {}
    assert decide({"operator_upgrade": "none", "operator_version": "1.0.0"})["upgrade"] == "none"
