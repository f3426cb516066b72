# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Unchanged or not, decided from managedFields; the pairs are as a real API server writes them."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.object_comparison import applied, is_applied, owns

MANAGER = "osso.scheduler"


def live(content, fields, *, api_version="apps/v1", kind="Deployment", subresource=None, **entry):
    entry = {"manager": MANAGER, "operation": "Apply", "apiVersion": api_version, "fieldsV1": fields, **entry}
    if subresource:
        entry["subresource"] = subresource
    others = {"manager": "kubectl", "operation": "Update", "apiVersion": api_version, "fieldsV1": {"f:spec": {"f:paused": {}}}}
    metadata = {"name": "a", "namespace": "b", "managedFields": [others, entry], **content.get("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, **content, "metadata": metadata}


def wanted(content, api_version="apps/v1", kind="Deployment"):
    return {"apiVersion": api_version, "kind": kind, **content, "metadata": {"name": "a", "namespace": "b", **content.get("metadata", {})}}


CONTAINER = {
    "name": "main",
    "image": "x",
    "args": ["a", "b"],
    "ports": [{"containerPort": 80}],
    "resources": {"requests": {"cpu": "1000m"}},
}
SPEC = {
    "metadata": {"labels": {"l": "1"}, "finalizers": ["example.com/f"]},
    "spec": {
        "replicas": 1,
        "hostNetwork": False,
        "nodeSelector": {"n": "1"},
        "containers": [CONTAINER],
        "volumes": [{"name": "v", "emptyDir": {}}],
    },
}
LIVE = {
    "metadata": {"labels": {"l": "1", "foreign": "2"}, "finalizers": ["other.com/f", "example.com/f"], "uid": "u", "generation": 3},
    "spec": {
        "replicas": 1,
        "nodeSelector": {"n": "1"},
        "strategy": {"type": "RollingUpdate"},
        "containers": [
            {"name": "sidecar", "image": "s"},
            {
                "name": "main",
                "image": "x",
                "args": ["a", "b"],
                "imagePullPolicy": "Always",
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "resources": {"requests": {"cpu": "1"}},
            },
        ],
        "volumes": [{"name": "v", "emptyDir": {}}],
    },
    "status": {"replicas": 1},
}
FIELDS = {
    "f:metadata": {"f:labels": {"f:l": {}}, "f:finalizers": {'v:"example.com/f"': {}}},
    "f:spec": {
        "f:replicas": {},
        "f:hostNetwork": {},
        "f:nodeSelector": {},
        "f:containers": {
            'k:{"name":"main"}': {
                ".": {},
                "f:name": {},
                "f:image": {},
                "f:args": {},
                "f:ports": {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}},
                "f:resources": {"f:requests": {"f:cpu": {}}},
            }
        },
        "f:volumes": {'k:{"name":"v"}': {".": {}, "f:name": {}, "f:emptyDir": {}}},
    },
}


def changed(tree, path, value=None, remove=False):
    """A copy of `tree` with one value changed."""
    tree = copy.deepcopy(tree)
    at = tree
    for step in path[:-1]:
        at = at[step]
    if remove:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return tree


def test_defaults_foreign_fields_and_normalised_values_are_no_difference():
    assert is_applied(wanted(SPEC), live(LIVE, FIELDS), MANAGER)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["spec", "replicas"], 2),
        (["spec", "replicas"], True),
        (["spec", "hostNetwork"], True),
        (["spec", "nodeSelector"], {"n": "1", "m": "2"}),
        (["spec", "nodeSelector"], {}),
        (["spec", "containers", 0, "args"], ["b", "a"]),
        (["spec", "containers", 0, "args"], ["a"]),
        (["spec", "containers", 0, "image"], "y"),
        (["spec", "containers", 0, "ports"], [{"containerPort": 80, "protocol": "UDP"}]),
        (["spec", "containers", 0, "ports"], [{"containerPort": 80}, {"containerPort": 81}]),
        (["spec", "containers", 0, "resources", "requests", "cpu"], "1001m"),
        (["spec", "containers", 0, "resources", "requests", "cpu"], "nonsense"),
        (["spec", "containers", 0, "name"], "other"),
        (["spec", "volumes", 0], {"name": "v", "configMap": {"name": "c"}}),
        (["spec", "paused"], True),
        (["metadata", "labels", "l"], "2"),
        (["metadata", "labels", "new"], "2"),
        (["metadata", "finalizers"], ["example.com/f", "example.com/g"]),
        (["metadata", "annotations"], {"a": "b"}),
    ],
)
def test_an_object_with_a_changed_manifest_is_not_applied(path, value):
    assert not is_applied(wanted(changed(SPEC, path, value)), live(LIVE, FIELDS), MANAGER)


@pytest.mark.parametrize(
    "path",
    [
        ["spec", "replicas"],
        ["spec", "hostNetwork"],
        ["spec", "nodeSelector"],
        ["spec", "containers"],
        ["spec", "containers", 0, "args"],
        ["spec", "volumes", 0],
        ["metadata", "labels", "l"],
        ["metadata", "labels"],
        ["metadata", "finalizers"],
    ],
)
def test_a_field_that_is_no_longer_in_the_manifest_is_detected(path):
    assert not is_applied(wanted(changed(SPEC, path, remove=True)), live(LIVE, FIELDS), MANAGER)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["spec", "replicas"], 2),
        (["spec", "hostNetwork"], True),
        (["spec", "nodeSelector", "added"], "x"),
        (["spec", "containers", 1, "image"], "y"),
        (["spec", "containers", 1, "args"], ["a", "b", "c"]),
        (["metadata", "labels", "l"], "x"),
        (["metadata", "finalizers"], []),
        (["spec", "containers"], [{"name": "sidecar"}]),
    ],
)
def test_a_foreign_change_is_seen_even_where_ownership_did_not_move(path, value):
    assert not is_applied(wanted(SPEC), live(changed(LIVE, path, value), FIELDS), MANAGER)


@pytest.mark.parametrize(
    "path",
    [
        ["f:spec", "f:replicas"],
        ["f:spec", "f:hostNetwork"],
        ["f:spec", "f:nodeSelector"],
        ["f:spec", "f:containers", 'k:{"name":"main"}'],
        ["f:spec", "f:containers", 'k:{"name":"main"}', "f:args"],
        ["f:metadata", "f:labels"],
        ["f:metadata"],
    ],
)
def test_a_field_that_another_manager_took_is_seen(path):
    assert not is_applied(wanted(SPEC), live(LIVE, changed(FIELDS, path, remove=True)), MANAGER)


def test_only_our_own_apply_counts():
    for entry in ({"manager": "kubectl"}, {"operation": "Update"}, {"subresource": "status"}, {"apiVersion": "apps/v1beta1"}):
        assert not is_applied(wanted(SPEC), live(LIVE, FIELDS, **entry), MANAGER)
    assert is_applied(wanted(SPEC), live(LIVE, FIELDS, manager="other"), "other")
    without = live(LIVE, FIELDS)
    del without["metadata"]["managedFields"]
    assert not is_applied(wanted(SPEC), without, MANAGER)


def test_an_object_with_only_a_name_is_applied_when_it_exists():
    account = wanted({}, "v1", "ServiceAccount")
    existing = {**account, "secrets": [{"name": "token"}]}
    assert is_applied(account, existing, MANAGER)
    assert not is_applied(account, live({}, {"f:metadata": {"f:labels": {"f:l": {}}}}, api_version="v1", kind="ServiceAccount"), MANAGER)


def test_order_of_list_items_matters():
    fields = {"f:spec": {"f:env": {'k:{"name":"a"}': {".": {}, "f:name": {}}, 'k:{"name":"b"}': {".": {}, "f:name": {}}}}}
    there = {"spec": {"env": [{"name": "a"}, {"name": "foreign"}, {"name": "b"}]}}
    assert is_applied(wanted({"spec": {"env": [{"name": "a"}, {"name": "b"}]}}), live(there, fields), MANAGER)
    assert not is_applied(wanted({"spec": {"env": [{"name": "b"}, {"name": "a"}]}}), live(there, fields), MANAGER)


def test_defaults_inside_values_that_are_owned_as_a_whole_are_ignored():
    fields = {"f:spec": {"f:fieldRef": {}}}
    there = live({"spec": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}, fields)
    assert is_applied(wanted({"spec": {"fieldRef": {"fieldPath": "metadata.name"}}}), there, MANAGER)
    there = live({"spec": {"fieldRef": {"apiVersion": "v2", "fieldPath": "metadata.name"}}}, fields)
    assert not is_applied(wanted({"spec": {"fieldRef": {"fieldPath": "metadata.name"}}}), there, MANAGER)


def test_defaults_of_an_admission_policy_are_ignored():
    fields = {"f:spec": {"f:matchConstraints": {}}}
    rule, defaults = {"resources": ["pods"]}, {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
    there = live({"spec": {"matchConstraints": {**defaults, "resourceRules": [{**rule, "scope": "*"}]}}}, fields)
    assert is_applied(wanted({"spec": {"matchConstraints": {"resourceRules": [rule]}}}), there, MANAGER)
    assert not is_applied(wanted({"spec": {"matchConstraints": {"resourceRules": [rule], "matchPolicy": "Exact"}}}), there, MANAGER)
    there = live(
        {"spec": {"matchConstraints": {**defaults, "objectSelector": {"matchLabels": {"a": "b"}}, "resourceRules": [rule]}}}, fields
    )
    assert not is_applied(wanted({"spec": {"matchConstraints": {"resourceRules": [rule]}}}), there, MANAGER)


def test_quantities_are_compared_by_value_only_in_quantity_fields():
    fields = {"f:spec": {"f:hard": {"f:memory": {}}, "f:text": {}}}
    there = live({"spec": {"hard": {"memory": "1Gi"}, "text": "1Gi"}}, fields)
    assert is_applied(wanted({"spec": {"hard": {"memory": "1024Mi"}, "text": "1Gi"}}), there, MANAGER)
    assert not is_applied(wanted({"spec": {"hard": {"memory": "1Gi"}, "text": "1024Mi"}}), there, MANAGER)


def test_the_status_subresource_has_an_entry_of_its_own():
    status = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
    fields = {"f:status": {"f:conditions": {'k:{"type":"Available"}': {".": {}, "f:type": {}, "f:status": {}}}}}
    there = live(status, fields, subresource="status")
    assert is_applied(wanted(status), there, MANAGER, "status")
    assert not is_applied(wanted(status), there, MANAGER)


DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "d",
        "namespace": "n",
        "uid": "u",
        "labels": {"ours": "1", "theirs": "2"},
        "managedFields": [
            {
                "manager": "osso.scheduler",
                "operation": "Apply",
                "apiVersion": "apps/v1",
                "fieldsV1": {
                    "f:metadata": {"f:labels": {"f:ours": {}}},
                    "f:spec": {
                        "f:replicas": {},
                        "f:selector": {},
                        "f:template": {
                            "f:spec": {
                                "f:containers": {'k:{"name":"c"}': {".": {}, "f:name": {}, "f:image": {}, "f:args": {}}},
                                "f:securityContext": {".": {}},
                            }
                        },
                    },
                },
            },
            {"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:metadata": {"f:labels": {"f:theirs": {}}}}},
        ],
    },
    "spec": {
        "replicas": 2,
        "paused": False,
        "selector": {"matchLabels": {"app": "d"}},
        "template": {
            "spec": {
                "containers": [{"name": "c", "image": "i", "args": ["a", "b"], "imagePullPolicy": "Always"}, {"name": "sidecar"}],
                "securityContext": {},
                "restartPolicy": "Always",
            }
        },
    },
    "status": {"replicas": 2},
}


def test_the_applied_manifest_consists_of_the_fields_of_its_manager():
    manifest = applied(DEPLOYMENT, "osso.scheduler")
    assert manifest == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "n", "labels": {"ours": "1"}},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "d"}},
            "template": {"spec": {"containers": [{"name": "c", "image": "i", "args": ["a", "b"]}], "securityContext": {}}},
        },
    }
    assert is_applied(manifest, DEPLOYMENT, "osso.scheduler")


def test_the_manifest_of_a_manager_without_fields_is_the_identity():
    assert applied(DEPLOYMENT, "other") == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "n"},
    }


OWNED = {
    "f:image": {},
    "f:args": {},
    "f:limits": {".": {}},
    "f:finalizers": {".": {}, 'v:"example.com/f"': {}},
    "f:env": {".": {}, 'k:{"name":"A"}': {".": {}, "f:name": {}, "f:valueFrom": {}}},
}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, True),
        ({"image": "x", "args": ["a"], "none": None}, True),
        ({"command": ["x"]}, False),
        ({"limits": {}}, True),
        ({"limits": {"cpu": "1"}}, False),
        ({"finalizers": ["example.com/f"]}, True),
        ({"finalizers": ["example.com/g"]}, False),
        ({"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "f"}}}]}, True),
        ({"env": [{"name": "A", "value": "1"}]}, False),
        ({"env": [{"name": "A"}, {"name": "B"}]}, False),
        ({"env": 1}, False),
    ],
)
def test_a_set_of_fields_owns_a_part_of_a_manifest(value, expected):
    assert owns(OWNED, value) is expected
