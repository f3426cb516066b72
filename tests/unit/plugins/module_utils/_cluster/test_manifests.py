# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Manifests: what is accepted, what is refused with which words, and what is sent."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity, desired, read


def config_map(name="a", namespace="b", **fields):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, **fields}


def names(objects):
    return [obj["metadata"]["name"] for obj in objects]


def test_read_takes_objects_texts_and_lists_of_both():
    text = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n---\n# nothing\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
    assert names(read([config_map("a"), text, [config_map("d")], None])) == ["a", "b", "c", "d"]
    assert names(read(config_map("a"))) == ["a"]
    assert read("") == read(None) == read([]) == []


def test_a_list_is_read_as_its_items():
    assert names(read({"apiVersion": "v1", "kind": "List", "items": [config_map("a"), config_map("b")]})) == ["a", "b"]


def test_dates_in_yaml_are_read_as_text():
    (obj,) = read("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {day: 2026-01-02}")
    assert obj["data"] == {"day": "2026-01-02"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([{"kind": "ConfigMap", "metadata": {"name": "a"}}], ["manifests[0] (ConfigMap a)", "apiVersion is missing"]),
        ([{"apiVersion": "v1", "metadata": {"name": "a"}}], ["manifests[0] (a)", "kind is missing"]),
        ([config_map(), {"apiVersion": "v1", "kind": "Secret"}], ["manifests[1] (Secret)", "metadata.name is missing"]),
        ([{"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "a-"}}], ["metadata.name is missing", "generateName"]),
        ([config_map(name=12)], ["metadata.name must be a text, not 12"]),
        ([config_map(namespace=12)], ["metadata.namespace must be a text, not 12"]),
        ([["text"]], ["manifests[0][0]", "mapping"]),
        (["a: b\n c: d"], ["manifests[0]", "line 2, column 3"]),
        ("a: 1\n---\n- b: [\n", ["manifests: YAML syntax error", "line 4"]),
        ("text", ["manifests, document at line 1", "is"]),
        ([config_map(), config_map(data={})], ["manifests[0] and manifests[1]", "ConfigMap b/a"]),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\nkind: ConfigMap\nmetadata: {name: b}",
            ["document at line 5 (ConfigMap b)"],
        ),
    ],
)
def test_an_invalid_manifest_is_rejected_with_its_position(given, words):
    with pytest.raises(InputError) as raised:
        read(given)
    for word in words:
        assert word in raised.value.message


def test_one_object_in_two_versions_of_its_group_is_a_duplicate():
    objects = [
        {"apiVersion": "autoscaling/" + version, "kind": "HorizontalPodAutoscaler", "metadata": {"name": "a"}} for version in ("v1", "v2")
    ]
    with pytest.raises(InputError, match="same object"):
        read(objects)


def test_secret_values_must_be_texts_and_are_not_shown():
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"pin": 8412}}
    with pytest.raises(InputError) as raised:
        read([secret])
    assert "stringData.pin must be a text, not a number" in raised.value.message
    assert "8412" not in raised.value.message


@pytest.mark.parametrize(("value", "what"), [(["dG9rZW4="], "a list"), ("dG9rZW4=", "a text"), (12, "a number")])
@pytest.mark.parametrize("field", ["Secret.data", "Secret.stringData", "ConfigMap.binaryData", "ConfigMap.metadata.labels"])
def test_names_and_texts_are_a_mapping(field, value, what):
    kind, _dot, path = field.partition(".")
    obj = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "one"}}
    part = obj["metadata"] if path.startswith("metadata.") else obj
    part[path.rpartition(".")[2]] = value
    with pytest.raises(InputError) as raised:
        read(obj)
    assert raised.value.message == f"manifests ({kind} one): {path} must be a mapping of names to texts, not {what}."


def test_desired_drops_nulls_and_fields_that_the_server_sets():
    obj = config_map(data={"a": None, "b": "1"}, status={"x": 1})
    obj["metadata"].update(creationTimestamp=None, uid="u", resourceVersion="1", managedFields=[], generation=2, annotations=None)
    assert desired(obj) == config_map(data={"b": "1"})


def test_desired_keeps_the_status_of_kinds_that_may_have_none_as_subresource():
    obj = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "status": {"x": 1}}
    assert desired(obj)["status"] == {"x": 1}


def test_desired_status_is_nothing_but_the_status():
    obj = config_map(data={"a": "b"}, status={"x": 1})
    obj["metadata"]["labels"] = {"a": "b"}
    assert desired(obj, subresource="status") == config_map(status={"x": 1})


def test_desired_puts_string_data_over_data_and_normalises_base64():
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "a"},
        "data": {"a": "b2xk", "b": "YWJj\nZGVm\n", "no-base64": "!"},
        "stringData": {"a": "new"},
    }
    data = {"a": "bmV3", "b": "YWJjZGVm", "no-base64": "!"}
    assert desired(secret) == {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": data}


def test_desired_does_not_change_the_manifest():
    obj = config_map(data={"a": None})
    desired(obj, set_name="s")
    assert obj == config_map(data={"a": None})


def test_desired_labels_members_of_a_set():
    obj = config_map()
    obj["metadata"]["labels"] = {"a": "b"}
    assert desired(obj, set_name="mine", set_namespace="home")["metadata"]["labels"] == {
        "a": "b",
        "osso.scheduler/set": "mine",
        "osso.scheduler/set-namespace": "home",
    }


def test_owner_references_stay_within_the_namespace():
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "o", "namespace": "b", "uid": "1"}
    reference = {"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "1", "controller": True}
    assert desired(config_map(namespace="b"), owner=owner)["metadata"]["ownerReferences"] == [reference]
    assert "ownerReferences" not in desired(config_map(namespace="c"), owner=owner)["metadata"]
    cluster_scoped = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "b"}}
    assert "ownerReferences" not in desired(cluster_scoped, owner=owner)["metadata"]


def test_identity_names_the_object_for_a_person():
    assert str(Identity("v1", "ConfigMap", "b", "a")) == "ConfigMap b/a"
    assert str(Identity("v1", "Namespace", None, "a")) == "Namespace a"


def test_characters_beyond_the_basic_plane_are_one_however_they_are_written():
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    texts = [
        head + "data: {a: 😀}",
        head + r'data: {"a": "\U0001F600"}',
        # The filter to_json, and JSON itself
        head + r'data: {"a": "\ud83d\ude00"}',
        r'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "\uD83D\uDE00"}}',
    ]
    for given in [*texts, [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "\ud83d\ude00"}}]]:
        (obj,) = read(given)
        assert obj["data"] == {"a": "😀"}
    (obj,) = read(head + "data:\n  a: |\n" + r'    {"b": "\ud83d\ude00"}')
    assert obj["data"] == {"a": r'{"b": "\ud83d\ude00"}'}, "what is no escape in YAML stays"


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ([config_map(data={"a": "\ud83d"})], r"manifests[0] (ConfigMap a).data.a contains \ud83d"),
        ([config_map(data={"\ude00": "a"})], r"manifests[0] (ConfigMap a).data, a key contains \ude00"),
        ([config_map(name="a\ud83d")], r"manifests[0] (ConfigMap a�).metadata.name contains \ud83d"),
        ('apiVersion: v1\nkind: A\nmetadata: {"name": "\\ud83da"}', r"manifests, document at line 1"),
    ],
)
def test_an_unpaired_surrogate_is_rejected_with_its_place(given, place):
    with pytest.raises(InputError) as raised:
        read(given)
    assert place in raised.value.message
