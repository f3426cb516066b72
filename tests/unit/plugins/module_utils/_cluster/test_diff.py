# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a person sees of a change."""

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.diff import as_diff, content, difference


def secret(**data):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "type": "Opaque", "data": data}


def test_secret_values_are_masked_so_that_a_change_shows():
    before, after = difference(secret(same="AAAA", other="BBBB", gone="CCCC"), secret(same="AAAA", other="DDDD", new="EEEE"))
    assert before["data"]["same"] == after["data"]["same"]
    assert before["data"]["other"] != after["data"]["other"]
    assert set(before["data"]) == {"same", "other", "gone"}
    assert set(after["data"]) == {"same", "other", "new"}
    assert before["type"] == "Opaque"
    for value in ("AAAA", "BBBB", "CCCC", "DDDD", "EEEE"):
        assert value not in json.dumps([before, after])


def test_managers_of_fields_are_shown_where_nothing_else_differs():
    def owned(value, **managers):
        fields = [{"manager": name, "operation": "Update", "time": time, "fieldsV1": {"f:data": {}}} for name, time in managers.items()]
        return {"kind": "ConfigMap", "metadata": {"name": "a", "managedFields": fields}, "data": {"a": value}}

    before, after = difference(owned("1", kubectl="9:00"), owned("1", me="9:00", kubectl="10:00"))
    assert [[one["manager"] for one in side["metadata"]["managedFields"]] for side in (before, after)] == [["kubectl"], ["kubectl", "me"]]
    assert "time" not in str(after)
    for one in difference(owned("1", me="9:00"), owned("1", me="10:00")) + difference(owned("1", kubectl=""), owned("2", me="")):
        assert one["metadata"] == {"name": "a"}


def test_variables_with_the_name_of_a_credential_are_masked():
    def deployment(**env):
        variables = [{"name": name, "value": value} for name, value in env.items()]
        return {"kind": "Deployment", "spec": {"containers": [{"env": [*variables, {"name": "FROM_TOKEN", "valueFrom": {}}]}]}}

    old = deployment(DB_PASSWORD="planted-1", API_TOKEN="planted", TOKEN_FILE="/file", A="1", EMPTY_SECRET="")
    before, after = difference(old, deployment(DB_PASSWORD="planted-2", API_TOKEN="planted", TOKEN_FILE="/file", A="2", EMPTY_SECRET=""))
    shown = deployment(DB_PASSWORD="******** (before)", API_TOKEN="********", TOKEN_FILE="/file", A="1", EMPTY_SECRET="")
    assert (before, difference(None, old)[1]) == (shown, deployment(**{**_values(shown), "DB_PASSWORD": "********"}))
    assert _values(after)["DB_PASSWORD"] == "******** (after)"
    assert _values(old)["DB_PASSWORD"] == "planted-1"


def _values(deployment):
    return {one["name"]: one["value"] for one in deployment["spec"]["containers"][0]["env"] if "value" in one}


def test_credentials_in_addresses_are_masked_in_every_object():
    def scheduled(password):
        return {
            "kind": "Deployment",
            "metadata": {"annotations": {"a": f"http://me:{password}@h"}},
            "args": [f"--url=h?token={password}", "x:y"],
        }

    before, after = difference(scheduled("planted-1"), scheduled("planted-2"))
    assert before["metadata"]["annotations"] == {"a": "http://******** (before)@h"}
    assert after["args"] == ["--url=h?token=******** (after)", "x:y"]


def test_created_and_deleted_secrets_are_masked_too():
    for before, after in (difference(None, secret(a="AAAA")), difference(secret(a="AAAA"), None)):
        assert "AAAA" not in json.dumps([before, after])
        assert {} in (before, after)


def test_secrets_repeated_in_an_annotation_are_not_shown():
    obj = secret(a="AAAA")
    obj["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(secret(a="AAAA"))}
    assert "AAAA" not in json.dumps(difference(None, obj))


HOSTILE = ('{"metadata": []}', '{"kind": "Secret", "data": [1]}', '{"kind": "Secret", "metadata": {"annotations": {"a": 1}}}')


def annotated(text, name="kapp.k14s.io/original", kind="Deployment"):
    return {"kind": kind, "metadata": {"name": "a", "annotations": {name: text}}}


def _shown(obj):
    return json.loads(next(iter(obj["metadata"]["annotations"].values())))


@pytest.mark.parametrize("name", ["osso.scheduler/present-rollout", "kapp.k14s.io/original"])
def test_variables_that_an_annotation_repeats_as_json_are_masked(name):
    def rollout(password):
        return annotated(
            json.dumps({"overrides": {"env": [{"name": "DB_PASSWORD", "value": password}, {"name": "A", "value": "1"}]}}), name
        )

    def masks(obj):
        return [one["value"] for one in _shown(obj)["overrides"]["env"]]

    before, after = difference(rollout("planted-1"), rollout("planted-2"))
    assert (masks(before), masks(after)) == (["******** (before)", "1"], ["******** (after)", "1"])
    assert masks(difference(rollout("planted"), None)[0]) == ["********", "1"]


def test_an_annotation_with_a_copy_of_an_object_is_masked_like_the_object():
    before, after = difference(annotated(json.dumps(secret(a="planted-1", b="c"))), annotated(json.dumps(secret(a="planted-2", b="c"))))
    assert (_shown(before)["data"], _shown(after)["data"]) == (
        {"a": "******** (before)", "b": "********"},
        {"a": "******** (after)", "b": "********"},
    )
    assert _shown(after)["metadata"] == {"name": "a"}
    configuration = difference(None, annotated(json.dumps(config_map("cGxhbnRlZA=="))))[1]
    assert "cGxhbnRlZA==" not in json.dumps(configuration)
    patch = [{"op": "add", "path": "/env", "value": [{"name": "API_TOKEN", "value": "planted"}]}]
    assert _shown(difference(None, annotated(json.dumps(patch)))[1])[0]["value"] == [{"name": "API_TOKEN", "value": "********"}]


@pytest.mark.parametrize("wrap", [lambda one: [one], lambda one: {"kind": "List", "items": [one]}, lambda one: {"spec": {"manifest": one}}])
def test_copies_of_secrets_are_masked_at_any_depth(wrap):
    shown = difference(None, annotated(json.dumps(wrap(secret(a="cGxhbnRlZA==")))))[1]
    assert _shown(shown) == json.loads(json.dumps(wrap({**secret(a="********")})))


def test_nothing_is_shown_of_the_json_that_others_noted_on_a_secret():
    old, new = (annotated(f'[{{"path": "/data/a", "value": "{value}"}}', kind="Secret") for value in ("AAAA", "BBBB"))
    before, after = difference(old, new)
    assert [side["metadata"]["annotations"]["kapp.k14s.io/original"] for side in (before, after)] == [
        "******** (before)",
        "******** (after)",
    ]
    assert difference(old, old)[1]["metadata"]["annotations"] == {"kapp.k14s.io/original": "********"}
    ours = annotated('{"image": "a"}', "osso.scheduler/served-rollout", "Secret")
    assert difference(None, ours)[1] == ours


@pytest.mark.parametrize("text", ['{"a":  1}', "[1,  2]", "{not json", "[" * 100_000, *HOSTILE])
def test_annotations_without_credentials_stay_as_they_are(text):
    assert difference(None, annotated(text))[1] == annotated(text)


@pytest.mark.parametrize("depth", [600, 3_000, 100_000])
def test_a_deeply_nested_annotation_is_no_failure(depth):
    given = '{"a": ' * depth + "1" + "}" * depth
    (text,) = difference(None, annotated(given))[1]["metadata"]["annotations"].values()
    assert text in (given, "********")  # the depth that Python reads depends on its release


def test_a_diff_does_not_change_its_objects():
    obj = secret(a="AAAA")
    difference(obj, obj)
    assert obj == secret(a="AAAA")


def test_the_content_omits_status_uid_and_managed_fields():
    obj = {"kind": "Pod", "metadata": {"name": "a", "uid": "u", "managedFields": [], "labels": {"l": "1"}}, "spec": {}, "status": {"x": 1}}
    assert content(obj) == {"kind": "Pod", "metadata": {"name": "a", "labels": {"l": "1"}}, "spec": {}}
    assert content(obj, with_status=True)["status"] == {"x": 1}
    assert content(None) == {}


def test_a_diff_is_yaml():
    entry = as_diff("ConfigMap b/a", {}, {"data": {"a": "b"}})
    assert entry == {"before_header": "ConfigMap b/a", "after_header": "ConfigMap b/a", "before": "", "after": "data:\n  a: b\n"}


def test_lines_of_a_text_stay_lines():
    long = "word " * 60
    entry = as_diff("ConfigMap b/a", {}, {"data": {"config.yaml": f"a: 1\nb: {long}b\n", "key": long + "."}})
    assert entry["after"] == f"data:\n  config.yaml: |\n    a: 1\n    b: {long}b\n  key: {long}.\n"


def config_map(key, name="config.yaml", kind="KubeSchedulerConfiguration"):
    text = f"# ours\nkind: {kind}\nextenders: [{{urlPrefix: https://a, tlsConfig: {{certData: Y2VydA==, keyData: {key}}}}}]\n"
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {name: text, "other": "keyData: known"}}


@pytest.mark.parametrize(
    ("old", "new", "masks"),
    [
        ("b2xkLWtleQ==", "bmV3LWtleQ==", ["******** (before)", "******** (after)"]),
        ("b2xkLWtleQ==", "b2xkLWtleQ==", ["********", "********"]),
        (None, "bmV3LWtleQ==", [None, "********"]),
        ("b2xkLWtleQ==", None, ["********", None]),
    ],
)
def test_credentials_of_a_scheduler_s_configuration_are_masked(old, new, masks):
    shown = difference(old and config_map(old), new and config_map(new))
    for key in filter(None, (old, new)):
        assert key not in json.dumps(shown)
    for side, mask in zip(shown, masks, strict=True):
        if mask:
            (extender,) = yaml.safe_load(side["data"]["config.yaml"])["extenders"]
            assert extender == {"urlPrefix": "https://a", "tlsConfig": {"certData": "********", "keyData": mask}}
            assert side["data"]["other"] == "keyData: known"


def test_the_user_of_a_url_is_masked():
    def config_of(user):
        text = f"kind: KubeSchedulerConfiguration\nextenders: [{{urlPrefix: 'https://{user}@a:1/x'}}, {{urlPrefix: 'https://b/?at=c@d'}}]\n"
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"config.yaml": text}}

    shown = difference(config_of("bob:old-pw"), config_of("bob:new-pw"))
    assert "bob" not in json.dumps(shown)
    assert "-pw" not in json.dumps(shown)
    prefixes = [[extender["urlPrefix"] for extender in yaml.safe_load(side["data"]["config.yaml"])["extenders"]] for side in shown]
    assert prefixes == [["https://******** (before)@a:1/x", "https://b/?at=c@d"], ["https://******** (after)@a:1/x", "https://b/?at=c@d"]]


def test_a_placeholder_is_no_credential():
    filled, empty = config_map("bmV3LWtleQ=="), config_map('"${PROM_TOKEN}"')
    empty["data"]["config.yaml"] = empty["data"]["config.yaml"].replace("certData: Y2VydA==, ", "")
    assert difference(None, empty)[1]["data"] == empty["data"]
    assert "keyData: ${PROM_TOKEN}" in difference(filled, empty)[1]["data"]["config.yaml"]


def test_a_configuration_without_credentials_is_shown_as_it_is():
    obj = {"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"c": "# mine\nkind:   KubeSchedulerConfiguration\n", "d": "kind: ["}}
    assert difference(None, obj) == ({}, obj)


def test_an_unreadable_configuration_is_not_shown():
    broken = {"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"c": "kind: KubeSchedulerConfiguration\nkeyData: [QUFBQQ==\n"}}
    assert "QUFBQQ==" not in json.dumps(difference(broken, None))
