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


def test_what_cannot_be_read_is_not_shown():
    broken = {"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"c": "kind: KubeSchedulerConfiguration\nkeyData: [QUFBQQ==\n"}}
    assert "QUFBQQ==" not in json.dumps(difference(broken, None))
