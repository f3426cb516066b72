# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pools: validation of the variable, policies, nodes, and what an API server without policies reports. What admission makes of pods: tests/api."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import pool_items, pool_nodes, pool_policies
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pool_nodes import Marks
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pools import Pools, Settings
from support.api_server import ApiServer, connect, status

ROOT = Path(__file__).resolve().parents[5]
GOOD = {"scheduler_name": "batch", "namespaces": {"match_labels": {"team": "research"}}}
NAMED = {"scheduler_name": "batch", "namespaces": {"names": ["b", "a"]}}
V1 = "admissionregistration.k8s.io/v1"


def complete(*given):
    return pool_items.complete(list(given))


def item(**fields):
    found = complete({**GOOD, **fields})
    assert found["errors"] == []
    return found["items"][0]


@pytest.mark.parametrize(
    ("given", "errors"),
    [
        ([GOOD], []),
        ([{**NAMED, "pods": {"match_labels": {"a": "b", "c": "d"}}},
          {**NAMED, "scheduler_name": "other", "pods": {"match_labels": {"a": "e"}}}], []),
        # A pod without a label, or with both labels, would be in both pools.
        ([NAMED, {**NAMED, "scheduler_name": "other", "pods": {"match_labels": {"a": "b"}}}],
         [f"scheduler_pools[0].namespaces, scheduler_pools[1].namespaces: {name} is listed 2 times: route each namespace to one scheduler, or "
          "set in their pods.match_labels different values of one label." for name in "ba"]),
        ([{**GOOD, "pods": {"match_labels": {"a": "b"}}}, {**GOOD, "scheduler_name": "other", "pods": {"match_labels": {"c": "d"}}},
          {**GOOD, "scheduler_name": "third", "pods": {"match_labels": {"a": "x", "c": "y"}}}],
         ["scheduler_pools[0].namespaces, scheduler_pools[1].namespaces: team=research is listed 2 times"]),
        # A template that results in nothing must not extend the pool to all pods or all nodes; the survey has an empty mapping for no answer.
        ([{**GOOD, "pods": {"match_labels": {}}, "nodes": {"names": [], "match_labels": None}}],
         ["scheduler_pools[0].pods has match_labels: {}: set match_labels, such as {app: batch}, or remove pods.",
          "scheduler_pools[0].nodes has names: []: set match_labels, such as {pool: batch}, or remove nodes."]),
        ([{**GOOD, "pods": {}, "nodes": {"names": ["n"], "match_labels": {}}}], []),
        ([{"scheduler_name": "batch", "state": "absent", "share": 99}], []),
        ([{**GOOD, "nodes": {"match_labels": {"pool": 1}}, "exclusive": True, "pods": None}], []),
        ([{**GOOD, "scheduler_name": "default-scheduler"}], ["scheduler_pools[0].scheduler_name is default-scheduler, which pods have"]),
        ([{**GOOD, "scheduler_name": "a.b"}], ["scheduler_pools[0].scheduler_name is 'a.b': use up to 63 "]),
        ([{"scheduler_name": "batch"}], ["scheduler_pools[0].namespaces selects nothing: set match_labels"]),
        ([{**GOOD, "namespaces": {"names": ["kube-system", "a", "openshift-x", "openshift"]}}],
         ["scheduler_pools[0].namespaces.names has kube-system, openshift-x, openshift: pods of the cluster itself"]),
        ([{**GOOD, "namespaces": {"names": ["a"], "match_labels": {"a": "b"}}}], ["scheduler_pools[0].namespaces has match_labels and names"]),
        ([{**GOOD, "namespaces": {"match_labels": {"a": True}}}], ["scheduler_pools[0].namespaces.match_labels has a: True: put the value"]),
        ([{**GOOD, "pods": {"match_labels": {"a'": 'b" || true'}}}], ["scheduler_pools[0].pods.match_labels has a': 'b\" || true': name part"]),
        ([{**GOOD, "namespaces": {"names": ["A"]}}], ["scheduler_pools[0].namespaces.names has 'A': a lowercase RFC 1123 label"]),
        # A template results in a text.
        ([{**GOOD, "share": "8", "exclusive": "no", "reserved": "True"}], []),
        ([{**GOOD, "exclusive": "nein"}], ["scheduler_pools[0].exclusive is 'nein': set true or false."]),
        ([{**GOOD, "share": " 17 "}], ["scheduler_pools[0].share is 17: set a number of sixteenths from 1 to 16"]),
        ([{**GOOD, "share": 8.5}], ["scheduler_pools[0].share is 8.5: set a number."]),
        ([{**GOOD, "share": "half", "sharee": 1, "exclusive": 1}],
         ["scheduler_pools[0].share is 'half': set a number.", "scheduler_pools[0] has sharee, which is no field of it: use scheduler_name, ",
          "scheduler_pools[0].exclusive is 1: set true or false."]),
        ([{**GOOD, "state": "gone", "namespaces": {"names": [5, {}]}}],
         ["scheduler_pools[0].state is gone: set present or absent.", "scheduler_pools[0].namespaces.names has '{}': a lowercase RFC 1123"]),
        ([{**GOOD, "share": True, "nodes": ["n"]}],
         ["scheduler_pools[0].share is True: set a number.", "scheduler_pools[0].nodes is ['n']: set a mapping."]),
        ([{**GOOD, "namespaces": {"names": "a"}, "pods": {"names": ["p"]}}],
         ["scheduler_pools[0].namespaces.names is 'a': set a list.", "scheduler_pools[0].pods has names, which is no field of it: use match_labels."]),
        ([{**GOOD, "exclusive": True}], ["scheduler_pools[0].exclusive is true without nodes"]),
        ([{**GOOD, "when_unavailable": "never"}], ["scheduler_pools[0].when_unavailable is never: set wait or default."]),
        ([{**GOOD, "share": 0}, {**NAMED, "scheduler_name": "b", "share": 17}],
         ["scheduler_pools[0].share is 0: set a number of sixteenths from 1 to 16", "scheduler_pools[1].share is 17: "]),
        ([GOOD, {"scheduler_name": "batch", "state": "absent"}],
         ["scheduler_pools[0].scheduler_name, scheduler_pools[1].scheduler_name: batch is listed 2 times: give each scheduler one pool"]),
        ([{**GOOD, "nodes": {"names": ["n"]}}, {**NAMED, "scheduler_name": "b", "nodes": {"names": ["n"]}}],
         ["scheduler_pools[0].nodes, scheduler_pools[1].nodes: n is listed 2 times: give each pool its own nodes"]),
        ([NAMED, {"scheduler_name": "c", "namespaces": {"names": ["a"]}}],
         ["scheduler_pools[0].namespaces, scheduler_pools[1].namespaces: a is listed 2 times: route each namespace to one scheduler"]),
    ],
)  # fmt: skip
def test_invalid_pools_are_rejected_with_place_and_remedy(given, errors):
    found = complete(*given)["errors"]
    assert [(error, start) for error, start in zip(found, errors, strict=True) if not error.startswith(start)] == []


def test_texts_are_read_as_numbers_and_booleans():
    assert {key: item(share="8", exclusive="off", reserved="yes")[key] for key in ("share", "exclusive", "reserved")} == {
        "share": 8,
        "exclusive": False,
        "reserved": True,
    }


def test_a_namespace_in_two_pools_is_an_error():
    def namespace(name, **labels):
        return {"metadata": {"name": name, "labels": labels}}

    research, prod = item(), item(scheduler_name="prod", namespaces={"match_labels": {"env": "prod"}})
    some = item(scheduler_name="some", namespaces={"names": ["z"]}, pods={"match_labels": {"a": "b"}})
    others_of_z = item(scheduler_name="others", namespaces={"match_labels": {"team": "z"}}, pods={"match_labels": {"a": "c"}})
    named = complete(NAMED)["items"][0]
    both, z = namespace("both", team="research", env="prod"), namespace("z", team="z")
    others = [namespace("x", team="research"), namespace("kube-x", team="research", env="prod"), {"metadata": {"name": "y"}}]
    (error,) = pool_items.shared_namespaces([research, prod, some], [both, *others])
    assert error.startswith("The namespace both is in scheduler_pools[0] (batch) and scheduler_pools[0] (prod): change their namespaces")
    assert len(pool_items.shared_namespaces([prod, named], [namespace("a", env="prod")])) == 1
    assert pool_items.shared_namespaces([research, some, named, others_of_z], [*others, namespace("a"), z]) == []
    tagged = {**others_of_z, "pods": {"match_labels": {"tag": "c"}}}
    (error,) = pool_items.shared_namespaces([some, tagged], [z])
    assert error.endswith("so that it is in one pool, or set in their pods.match_labels different values of one label.")


@pytest.mark.parametrize(
    "fields",
    [
        {**GOOD, "nodes": {"match_labels": {"pool": "x"}}},
        {**NAMED, "nodes": {"names": ["n1", "n2"]}},
        {**NAMED, "pods": {"match_labels": {"a": "b"}}},
    ],
)
def test_a_pool_is_known_by_its_binding(fields):
    wanted = complete(fields)["items"][0]
    _policy, binding = pool_policies.routing(wanted, V1, [])
    found = pool_policies.item_of(binding)
    assert {**found, "namespaces": {**found["namespaces"], "names": set(found["namespaces"]["names"])}} == {
        "where": "an earlier pool",
        "scheduler_name": "batch",
        "namespaces": {**wanted["namespaces"], "names": set(wanted["namespaces"]["names"])},
        "pods": wanted["pods"],
        "nodes": wanted["nodes"],
    }
    assert pool_policies.item_of({**binding, "metadata": {"name": "other"}}) is None
    assert pool_policies.item_of(pool_policies.tolerating(wanted, V1, [])[1]) is None
    assert pool_policies.item_of({**binding, "spec": {}}) is None


@pytest.mark.parametrize("text", [None, "{", "[" * 100_000, "[]", '{"names": 1, "match_labels": []}', '{"names": [{}, 1]}'])
def test_an_earlier_pool_with_an_unusable_record_of_its_nodes_has_none(text):
    _policy, binding = pool_policies.routing(item(nodes={"names": ["n"]}), V1, [])
    (key,) = binding["metadata"]["annotations"]
    binding["metadata"]["annotations"] = {key: text} if text else None
    assert pool_policies.item_of(binding)["nodes"] == {"names": [], "match_labels": {}}


def test_the_role_has_the_options_of_the_module():
    from ansible_collections.osso.scheduler.plugins.modules import scheduler_pool

    module = yaml.safe_load(scheduler_pool.DOCUMENTATION)["options"]["pools"]["suboptions"]
    role = yaml.safe_load((ROOT / "roles/scheduler_pool/meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    role = role["scheduler_pools"]["options"]
    assert {name: (one["type"], one.get("default"), one.get("choices")) for name, one in role.items()} == {
        name: (one["type"], one.get("default"), one.get("choices")) for name, one in module.items()
    }
    assert {name: one["default"] for name, one in module.items() if "default" in one}.items() <= pool_items.DEFAULTS.items()


def test_the_routing_policy_sets_the_scheduler_of_selected_pods():
    policy, binding = pool_policies.routing(item(pods={"match_labels": {"app": "x"}}), V1, ["s"])
    assert (policy["kind"], policy["spec"]["failurePolicy"]) == ("MutatingAdmissionPolicy", "Ignore")
    assert policy["spec"]["mutations"] == [
        {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'add', path: '/spec/schedulerName', value: \"batch\"}]"}}
    ]
    expressions = {one["name"]: one["expression"] for one in policy["spec"]["matchConditions"]}
    assert expressions["is-in-a-user-namespace"] == (
        '!(request.namespace.startsWith("kube-") || request.namespace.startsWith("openshift-") || request.namespace in ["openshift", "s"])'
    )
    assert "is-in-the-share" not in expressions
    assert binding["spec"] == {
        "policyName": policy["metadata"]["name"],
        "matchResources": {
            "namespaceSelector": {"matchLabels": {"team": "research"}},
            "objectSelector": {"matchLabels": {"app": "x"}},
        },
    }


def test_the_routing_selects_namespaces_by_name():
    _policy, binding = pool_policies.routing(complete(NAMED)["items"][0], V1, [])
    assert binding["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"][0]["values"] == ["a", "b"]


@pytest.mark.parametrize(("share", "digits"), [(1, "['0']"), (8, "['0', '1', '2', '3', '4', '5', '6', '7']")])
def test_a_share_is_selected_by_the_last_digit_of_the_controllers_uid(share, digits):
    assert pool_policies.conditions(item(share=share), [])["is-in-the-share"].endswith(f"in {digits})")


@pytest.mark.parametrize(
    ("fields", "expression"),
    [
        ({}, 'has(LABELS) && "team" in LABELS && LABELS["team"] == "research"'.replace("LABELS", "namespaceObject.metadata.labels")),
        ({"namespaces": {"names": ["b", "a"]}}, 'request.namespace in ["a", "b"]'),
    ],
)
def test_the_reservation_denies_pods_outside_the_namespaces_of_the_pool(fields, expression):
    policy, binding = pool_policies.reservation(item(**fields), [])
    assert (policy["spec"]["failurePolicy"], binding["spec"]["validationActions"]) == ("Fail", ["Deny"])
    assert policy["spec"]["validations"][0]["expression"] == expression


def test_the_lines_for_a_configuration_keep_it_on_its_nodes():
    pool = item(nodes={"match_labels": {"pool": "x", "zone": "a"}})
    entry = pool_policies.plugin_config(pool)
    profile = {"schedulerName": "batch", "pluginConfig": [entry]}
    assert pool_policies.keeps_to_nodes({"profiles": [profile]}, pool)
    assert not pool_policies.keeps_to_nodes({"profiles": [{**profile, "schedulerName": "other"}]}, pool)
    assert not pool_policies.keeps_to_nodes({"profiles": [profile]}, item(nodes={"match_labels": {"pool": "y"}}))
    terms = entry["args"]["addedAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    terms[0]["matchExpressions"].append({"key": "disk", "operator": "Exists"})
    assert pool_policies.keeps_to_nodes({"profiles": [profile]}, pool)
    terms.append({"matchExpressions": [{"key": "pool", "operator": "In", "values": ["x"]}]})
    assert not pool_policies.keeps_to_nodes({"profiles": [profile]}, pool)


NODE_AFFINITY = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
    {"key": "pool", "operator": "In", "values": ["x"]}]}]}}  # fmt: skip


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (None, [{"name": "NodeAffinity", "args": {"addedAffinity": NODE_AFFINITY}}]),
        ([{"name": "A"}], [{"name": "A"}, {"name": "NodeAffinity", "args": {"addedAffinity": NODE_AFFINITY}}]),
        ([{"name": "NodeAffinity", "args": {"kind": "k"}}, {"name": "A"}],
         [{"name": "NodeAffinity", "args": {"kind": "k", "addedAffinity": NODE_AFFINITY}}, {"name": "A"}]),
        ([{"name": "NodeAffinity"}], [{"name": "NodeAffinity", "args": {"addedAffinity": NODE_AFFINITY}}]),
        # The user's own stays.
        ([{"name": "NodeAffinity", "args": {"addedAffinity": {"a": "b"}}}], [{"name": "NodeAffinity", "args": {"addedAffinity": {"a": "b"}}}]),
        ("text", "text"),
    ],
)  # fmt: skip
def test_the_profile_of_a_pool_gets_its_node_affinity(config, expected):
    other = {"schedulerName": "other"}
    profile = {"schedulerName": "batch"} if config is None else {"schedulerName": "batch", "pluginConfig": config}
    given = {"profiles": [other, profile]}
    found = pool_policies.with_nodes(given, item(nodes={"match_labels": {"pool": "x"}}))
    assert found == {"profiles": [other, {"schedulerName": "batch", "pluginConfig": expected}]}
    assert given["profiles"][1] is profile


@pytest.mark.parametrize("tree", [{}, {"profiles": None}, {"profiles": [None, 1]}])
def test_a_configuration_without_profiles_is_left_unchanged(tree):
    assert pool_policies.with_nodes(tree, item(nodes={"names": ["n"]})) == tree


@pytest.mark.parametrize(
    "profiles", [None, 1, [1], [{"schedulerName": "batch", "pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": []}}]}]]
)
def test_a_malformed_configuration_does_not_keep_to_its_nodes(profiles):
    tree = {"profiles": profiles}
    assert not pool_policies.keeps_to_nodes(tree, item(nodes={"names": ["n"]}))


@pytest.mark.parametrize(
    ("version", "openshift", "parts", "lacks"),
    [
        ("1.30", False, ["Kubernetes 1.30 serves no", "Upgrade to Kubernetes 1.36 or later."], "feature-gates"),
        (
            "1.33",
            False,
            ["--feature-gates=MutatingAdmissionPolicy=true", "--runtime-config=admissionregistration.k8s.io/v1alpha1=true"],
            "v1beta1",
        ),
        ("1.34", False, ["--runtime-config=admissionregistration.k8s.io/v1beta1=true"], "v1alpha1"),
        ("1.34", True, ["Upgrade OpenShift to a version with Kubernetes 1.36 or later."], "feature-gates"),
        ("", False, ["Upgrade to Kubernetes 1.36 or later."], "feature-gates"),
    ],
)
def test_a_message_explains_how_to_enable_admission_policies(version, openshift, parts, lacks):
    message = pool_policies.unserved(version, openshift)
    assert all(part in message for part in parts)
    assert lacks not in message


def test_the_error_names_the_gate_of_the_server():
    with ApiServer.running() as server:
        missing = (404, status(404, "NotFound"))
        version = (200, {"major": "1", "minor": "34+"})
        server.answers = [(200, {"resources": []}), *[missing] * 6, version]
        with pytest.raises(InputError, match=r"Kubernetes 1\.34 serves no MutatingAdmissionPolicy.*v1beta1=true"):
            Pools(connect(server.url), [item()], Settings(), None, print).apply()
        assert {request.method for request in server.seen} == {"GET"}


def node(name, label=None, taints=(), **labels):
    labels = {**labels, **({pool_policies.POOL_KEY: label} if label else {})}
    return {"metadata": {"name": name, "labels": labels}, "spec": {"taints": list(taints)} if taints else {}}


def taint(pool, effect="NoSchedule"):
    return {"key": pool_policies.POOL_KEY, "value": pool, "effect": effect}


OTHER = {"key": "gpu", "effect": "NoSchedule"}


def test_members_of_pools_are_selected_by_label_or_by_name():
    pools = [
        item(nodes={"match_labels": {"pool": "x"}}),
        item(scheduler_name="b", nodes={"names": ["n2", "gone"]}),
        item(scheduler_name="c"),
    ]
    found, errors = pool_nodes.members(pools, [node("n1", pool="x"), node("n2"), node("n3", pool="y")])
    assert found == {"batch": ["n1"], "b": ["n2"], "c": []}
    assert errors == ["scheduler_pools[0].nodes.names has gone, which do not exist: remove them, or add the nodes."]
    (error,) = pool_nodes.members(pools[:2], [node("n2", pool="x"), node("gone")])[1]
    assert error.startswith("The node n2 is in the pools batch and b")


def test_a_node_of_a_pool_of_an_earlier_run_is_rejected():
    pools, nodes = [item(nodes={"match_labels": {"disk": "ssd"}})], [node("n1", disk="ssd", pool="x"), node("n2", disk="ssd")]
    for earlier in (
        item(scheduler_name="old", nodes={"match_labels": {"pool": "x"}}),
        item(scheduler_name="old", nodes={"names": ["n1", "gone"]}),
    ):
        (error,) = pool_nodes.members(pools, nodes, [earlier])[1]
        assert error.startswith("The node n1 is in the pools batch and old (an earlier pool): change their nodes")


def test_the_label_of_the_pool_can_select_its_nodes():
    """The label that an autoscaler gives to its group of nodes, say."""
    pools = [item(nodes={"match_labels": {pool_policies.POOL_KEY: "batch"}}, exclusive=True)]
    found, errors = pool_nodes.members(pools, [node("n", "batch")])
    assert (pool_nodes.wanted_marks(pools, found), errors) == ({"n": Marks("batch", "batch")}, [])
    (error,) = complete({**GOOD, "nodes": {"match_labels": {pool_policies.POOL_KEY: "other"}}})["errors"]
    assert error == (
        "scheduler_pools[0].nodes.match_labels has osso.scheduler/pool: 'other', which is the label of another pool: set batch, or another label."
    )


@pytest.mark.parametrize(
    ("present", "wanted", "operations"),
    [
        (node("n"), Marks(), []),
        (node("n", "batch", [taint("batch")]), Marks("batch", "batch"), []),
        # In no pool that this run names
        (node("n", "other", [taint("other")]), None, []),
        (node("n", "batch"), None, [("remove", "/metadata/labels/osso.scheduler~1pool", None)]),
        (node("n"), Marks("batch"), [("add", "/metadata/labels/osso.scheduler~1pool", "batch")]),
        (node("n", "batch"), Marks(), [("remove", "/metadata/labels/osso.scheduler~1pool", None)]),
        (node("n"), Marks(None, "batch"), [("test", "/spec/taints", None), ("add", "/spec/taints", [taint("batch")])]),
        (node("n", taints=[OTHER, taint("batch")]), Marks(),
         [("test", "/spec/taints", [OTHER, taint("batch")]), ("add", "/spec/taints", [OTHER])]),
        # What somebody else does with the same key
        (node("n", taints=[taint("x", "NoExecute")]), Marks(), []),
    ],
)  # fmt: skip
def test_node_patches_change_only_the_label_and_taint_of_the_pool(present, wanted, operations):
    found, problem = pool_nodes.patch(present, wanted, ["batch"])
    assert ([(one["op"], one["path"], one.get("value")) for one in found], problem) == (operations, "")


def test_a_node_without_labels_gets_the_label_of_the_pool():
    assert pool_nodes.patch({"metadata": {"name": "n"}, "spec": {}}, Marks("batch"), ["batch"])[0] == [
        {"op": "add", "path": "/metadata/labels", "value": {pool_policies.POOL_KEY: "batch"}}
    ]


@pytest.mark.parametrize("wanted", [Marks(None, "batch"), Marks()])
def test_a_node_of_another_pool_is_not_changed(wanted):
    operations, problem = pool_nodes.patch(node("n", taints=[taint("other")]), wanted, ["batch"])
    assert operations == []
    assert problem.startswith("The node n is in the pool other by its label or taint")


@pytest.mark.parametrize(
    ("present", "wanted", "is_open"),
    [
        (node("n"), Marks("batch", "batch"), False),
        (node("n"), Marks("batch"), True),
        # This run removes the taint.
        (node("n", "batch", [taint("batch")]), Marks(), True),
        (node("n", "other", [taint("other")]), Marks(), False),
        (node("n", taints=[OTHER]), Marks(), False),
        (node("n", taints=[taint("batch", "NoExecute")]), Marks(), False),
        (node("n", taints=[{"key": "gpu", "effect": "PreferNoSchedule"}, {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]), Marks(), True),
    ],
)  # fmt: skip
def test_nodes_that_accept_pods_without_tolerations_are_found(present, wanted, is_open):
    assert pool_nodes.open_to_all([present], {"n": wanted}, ["batch"]) == (["n"] if is_open else [])


@pytest.mark.parametrize(
    ("toleration", "out"),
    [
        ({"operator": "Exists"}, False),
        ({"operator": "Exists", "effect": "NoExecute"}, True),
        ({"key": pool_policies.POOL_KEY, "operator": "Exists", "effect": "NoSchedule"}, False),
        ({"key": pool_policies.POOL_KEY, "value": "batch"}, False),
        ({"key": pool_policies.POOL_KEY, "value": "other"}, True),
        ({"key": "gpu", "operator": "Exists"}, True),
    ],
)
def test_daemon_sets_without_the_toleration_of_the_pool_are_found(toleration, out):
    one = {"metadata": {"namespace": "n", "name": "d"}, "spec": {"template": {"spec": {"tolerations": [toleration]}}}}
    assert pool_nodes.kept_out([one], [node("n1")], "batch") == (["n/d"] if out else [])
    one["spec"]["template"]["spec"] = {"nodeSelector": {"zone": "a"}}
    assert pool_nodes.kept_out([one], [node("n1", zone="b")], "batch") == []
    assert pool_nodes.kept_out([one], [node("n1", zone="b"), node("n2", zone="a")], "batch") == ["n/d"]


PODS = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]}
USER_NAMESPACE = (
    '!(request.namespace.startsWith("kube-") || request.namespace.startsWith("openshift-") || request.namespace in ["openshift", "s"])'
)


ROUTABLE = {
    "is-in-a-user-namespace": USER_NAMESPACE,
    "has-no-node": "!has(object.spec.nodeName) || object.spec.nodeName == ''",
    "is-no-mirror-pod": "!has(object.metadata.annotations) || !('kubernetes.io/config.mirror' in object.metadata.annotations)",
    "is-of-no-daemon-set": "!has(object.metadata.ownerReferences) || !object.metadata.ownerReferences.exists(o, o.kind == 'DaemonSet')",
}
TOLERATION = (
    "!has(object.spec.tolerations) ? [JSONPatch{op: 'add', path: '/spec/tolerations', value: [VALUE]}]"
    ' : object.spec.tolerations.exists(t, has(t.key) && t.key == "osso.scheduler/pool" && has(t.operator) && t.operator == "Equal"'
    ' && has(t.value) && t.value == "batch" && has(t.effect) && t.effect == "NoSchedule") ? []'
    " : [JSONPatch{op: 'add', path: '/spec/tolerations/-', value: VALUE}]"
).replace("VALUE", 'Object.spec.tolerations{key: "osso.scheduler/pool", operator: "Equal", value: "batch", effect: "NoSchedule"}')
SELECTED = {"namespaceSelector": {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["a", "b"]}]}}


def rendered(name, expressions, operations, **spec):
    """The policy with these conditions and this patch, in full."""
    return {
        "apiVersion": V1,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "Never",
            "matchConstraints": PODS,
            "matchConditions": [{"name": name, "expression": text} for name, text in expressions.items()],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": operations}}],
            **spec,
        },
    }


def test_the_routing_to_available_pods_has_all_its_fields():
    pool = complete({**NAMED, "nodes": {"names": ["n2", "n1"]}, "exclusive": True, "share": 1})["items"][0]
    policy, binding = pool_policies.routing(pool, V1, ["s"], {"namespace": "s", "selector": {"matchLabels": {"app": "d"}}})
    expressions = {
        "names-no-scheduler": 'object.spec.schedulerName == "default-scheduler"',
        **ROUTABLE,
        "is-in-the-share": (
            "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, "
            "has(o.controller) && o.controller && size(o.uid) > 0 && o.uid.substring(size(o.uid) - 1) in ['0'])"
        ),
        "scheduler-is-available": (
            "!has(params.metadata.deletionTimestamp) && has(params.status.conditions)"
            " && params.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')"
        ),
    }
    name = "osso-scheduler-pool-batch"
    operations = f"[JSONPatch{{op: 'add', path: '/spec/schedulerName', value: \"batch\"}}] + ({TOLERATION})"
    assert policy == rendered(name, expressions, operations, paramKind={"apiVersion": "v1", "kind": "Pod"})
    assert binding == {
        "apiVersion": V1,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name, "annotations": {"osso.scheduler/pool-nodes": '{"match_labels": {}, "names": ["n1", "n2"]}'}},
        "spec": {
            "policyName": name,
            "matchResources": SELECTED,
            "paramRef": {"namespace": "s", "selector": {"matchLabels": {"app": "d"}}, "parameterNotFoundAction": "Allow"},
        },
    }


def test_the_toleration_for_pods_that_name_the_scheduler_has_all_its_fields():
    pool = complete({**NAMED, "pods": {"match_labels": {"a": "b"}}, "nodes": {"names": ["n"]}, "exclusive": True, "share": 1})["items"][0]
    policy, binding = pool_policies.tolerating(pool, V1, ["s"])
    name = "osso-scheduler-toleration-batch"
    assert policy == rendered(name, {"names-the-scheduler": 'object.spec.schedulerName == "batch"', **ROUTABLE}, TOLERATION)
    assert binding == {
        "apiVersion": V1,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "matchResources": SELECTED},
    }


def test_the_reservation_of_a_pool_is_rendered_in_full():
    policy, binding = pool_policies.reservation(complete(NAMED)["items"][0], ["s"])
    message = "schedulerName batch is reserved for the namespaces of its pool. Create the pod in one of these namespaces, or remove schedulerName from it."
    about = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "osso-scheduler-pool-batch-reserved"}}
    assert policy == {
        **about,
        "kind": "ValidatingAdmissionPolicy",
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": PODS,
            "matchConditions": [
                {"name": "names-the-scheduler", "expression": 'object.spec.schedulerName == "batch"'},
                {"name": "is-in-a-user-namespace", "expression": USER_NAMESPACE},
            ],
            "validations": [{"expression": 'request.namespace in ["a", "b"]', "message": message}],
        },
    }
    assert binding == {
        **about,
        "kind": "ValidatingAdmissionPolicyBinding",
        "spec": {"policyName": "osso-scheduler-pool-batch-reserved", "validationActions": ["Deny"]},
    }
