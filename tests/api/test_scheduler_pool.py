# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""scheduler_pool on a real API server: pods are really created, by users and by controllers, and see what admission makes of them."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._variables.custom_scheduler import documented_config
from support.operator_in_process import crashing, ready
from support.scheduler import IMAGE, Scheduler, await_end, eventually
from support.site import NAMESPACE as OPERATOR
from support.site import site

MODULE = "scheduler_pool"
NAME = "pool-batch"
KEY = "osso.scheduler/pool"
HOME = "pool-scheduler"
TAINT = {"key": KEY, "value": NAME, "effect": "NoSchedule"}
OTHER_TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
LABELS = {"app": NAME}
WORKLOAD = {"apiVersion": "apps/v1", "kind": "Deployment"}
AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": KEY, "operator": "In", "values": [NAME]}]}]
    }
}
ABSENT = {"scheduler_name": NAME, "state": "absent"}
POLICIES = ("mutatingadmissionpolicy", "mutatingadmissionpolicybinding")


def pool(namespace, **fields):
    return {"scheduler_name": NAME, "namespaces": {"names": [namespace]}, **fields}


def configuration(*plugin_config):
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "profiles": [{"schedulerName": NAME, "pluginConfig": list(plugin_config)}],
    }


def configure(kubectl, *plugin_config):
    data = {"config.yaml": json.dumps(configuration(*plugin_config))}
    kubectl.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME, "namespace": HOME}, "data": data})


@pytest.fixture(scope="module", autouse=True)
def _scheduler(kubectl):
    """A Deployment of kube-scheduler, of whose pod the test reports that it is ready."""
    # Policies of pools name the homes of all schedulers.
    await_end(kubectl, "deployments")
    kubectl("create", "namespace", HOME)
    configure(kubectl, {"name": "NodeAffinity", "args": {"addedAffinity": AFFINITY}})
    container = {
        "name": "s",
        "image": "registry.example.com/kube-scheduler:v1.34.1",
        "command": ["kube-scheduler", "--config=/etc/s/config.yaml"],
        "volumeMounts": [{"name": "config", "mountPath": "/etc/s"}],
    }
    spec = {"containers": [container], "volumes": [{"name": "config", "configMap": {"name": NAME}}]}
    template = {"metadata": {"labels": LABELS}, "spec": spec}
    about = {"name": NAME, "namespace": HOME}
    kubectl.apply({**WORKLOAD, "metadata": about, "spec": {"selector": {"matchLabels": LABELS}, "template": template}})
    report_readiness(kubectl, ready)
    yield
    kubectl("delete", "namespace", HOME, "--wait=false")


def report_readiness(kubectl, state):
    """Report of the scheduler's pod that it is `ready` or `crashing`, and wait until the Deployment shows it."""
    (pod,) = eventually(lambda: kubectl.list("pod", HOME, f"app={NAME}"))
    kubectl.report("pod", pod["metadata"]["name"], state(pod), HOME)
    wanted = 1 if state is ready else 0
    eventually(lambda: kubectl.json("get", "deployment", NAME, f"--namespace={HOME}")["status"].get("availableReplicas", 0) == wanted)


def start_scheduler(kubectl):
    kubectl("scale", "deployment", NAME, f"--namespace={HOME}", "--replicas=1")
    report_readiness(kubectl, ready)


@pytest.fixture
def pools(module_result):
    """pools(item, ...): the module. The pool is removed at the end."""

    def run(*items, check=False, **options):
        return module_result(MODULE, {"pools": list(items), **options}, check=check)

    yield run
    result = run(ABSENT)
    assert not result["failed"], result


@pytest.fixture
def nodes(kubectl):
    """Two nodes, of which the second has a taint of somebody else."""
    names = ["pool-node-1", "pool-node-2"]
    for name, taints in zip(names, ([], [OTHER_TAINT]), strict=True):
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"zone": "a"}}, "spec": {"taints": taints}}
        kubectl("create", "--filename=-", stdin=node)
    yield names
    kubectl("delete", "node", *names)


def pod(namespace, labels=None, **fields):
    spec = {"containers": [{"name": "c", "image": "registry.example.com/c:1"}], **fields.pop("spec", {})}
    metadata = {"generateName": "p-", "namespace": namespace, "labels": labels or {}, **fields}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def of(kind, uid):
    """ownerReferences of a pod that this controller has created."""
    return [{"apiVersion": "apps/v1", "kind": kind, "name": "o", "uid": uid, "controller": True}]


def answered(kubectl, manifest, **options):
    """What kubectl says of the creation of a pod; nothing is stored."""
    return kubectl("create", "--dry-run=server", "--filename=-", "--output=json", stdin=manifest, **options)


def admitted(kubectl, manifest):
    """What the API server makes of the spec of a pod; nothing is stored."""
    return json.loads(answered(kubectl, manifest).stdout)["spec"]


def scheduler_of(kubectl, namespace, **fields):
    return admitted(kubectl, pod(namespace, **fields))["schedulerName"]


def await_routing(kubectl, namespace, name=NAME, **fields):
    """Policies are in use about a second after they are stored. The reservation of a test before may reject the pod until then."""

    def is_routed():
        answer = answered(kubectl, pod(namespace, **fields), check=False)
        return answer.returncode == 0 and json.loads(answer.stdout)["spec"]["schedulerName"] == name

    eventually(is_routed)


def rename(policy):
    """The object of another pool, made of one of ours."""
    spec = {**policy["spec"], **({"policyName": "osso-scheduler-pool-earlier"} if "policyName" in policy["spec"] else {})}
    return {**{key: policy[key] for key in ("apiVersion", "kind")}, "metadata": {"name": "osso-scheduler-pool-earlier"}, "spec": spec}


def node(kubectl, name):
    """Its label, and its taints without the one that each new node has."""
    found = kubectl.json("get", "node", name)
    taints = [taint for taint in found["spec"].get("taints", []) if taint["key"] != "node.kubernetes.io/not-ready"]
    return found["metadata"]["labels"].get(KEY), taints


def test_pods_of_users_and_of_controllers_are_routed_and_nothing_else(pools, kubectl, namespace):
    other = f"{namespace}-other"
    kubectl("create", "namespace", other)
    for excluded in ("kube-pool", "openshift-pool"):
        kubectl("create", "namespace", excluded)
    try:
        for each in (namespace, "kube-pool", "openshift-pool", HOME):
            kubectl("label", "namespace", each, "team=research")
        result = pools({"scheduler_name": NAME, "namespaces": {"match_labels": {"team": "research"}}})
        assert (result["failed"], result["changed"]) == (False, True), result
        assert result["pools"] == [{"scheduler_name": NAME, "nodes": [], "daemon_sets_kept_out": []}]
        await_routing(kubectl, namespace)
        assert kubectl.list("pod", namespace) == []
        for each in (other, "kube-pool", "openshift-pool", HOME):
            assert scheduler_of(kubectl, each) == "default-scheduler", each
        untouched = {
            "of a DaemonSet": {"ownerReferences": of("DaemonSet", "a")},
            "on a node": {"spec": {"nodeName": "n"}},
            "with a scheduler": {"spec": {"schedulerName": "other"}},
            "mirror": {"annotations": {"kubernetes.io/config.mirror": "x"}, "spec": {"nodeName": "n"}},
        }
        assert {name: scheduler_of(kubectl, namespace, **fields) for name, fields in untouched.items()} == {
            **dict.fromkeys(untouched, "default-scheduler"),
            "with a scheduler": "other",
        }

        image, place = "--image=registry.example.com/c:1", f"--namespace={namespace}"
        kubectl("create", "deployment", "web", image, place)
        kubectl("create", "job", "once", image, place)
        kubectl("create", "cronjob", "nightly", image, "--schedule=0 3 1 1 *", place)
        kubectl("create", "job", "of-nightly", "--from=cronjob/nightly", place)
        kubectl.create("pod", pod(namespace), namespace)
        found = eventually(lambda: (some := kubectl.list("pod", namespace)) and len(some) == 4 and some)
        assert {one["spec"]["schedulerName"] for one in found} == {NAME}
        owners = sorted(owner["name"].partition("-")[0] for one in found for owner in one["metadata"].get("ownerReferences", []))
        assert owners == ["of", "once", "web"]
        assert scheduler_of(kubectl, namespace, ownerReferences=of("StatefulSet", "a")) == NAME
    finally:
        kubectl("delete", "namespace", other, "kube-pool", "openshift-pool", "--wait=false")


def test_a_pool_is_predicted_applied_once_and_removed_without_leftovers(pools, kubectl, namespace, nodes, audit):
    item = pool(namespace, nodes={"names": nodes}, exclusive=True, reserved=True)
    planned = pools(item, check=True)
    assert (planned["failed"], planned["changed"], planned["requests"]["write"]) == (False, True, 0), planned
    assert node(kubectl, nodes[0]) == (None, [])
    result = pools(item)
    assert [(one["kind"], one["name"], one["action"]) for one in result["objects"]] == [
        (one["kind"], one["name"], one["action"]) for one in planned["objects"]
    ]
    assert (node(kubectl, nodes[0]), node(kubectl, nodes[1])) == ((NAME, [TAINT]), (NAME, [OTHER_TAINT, TAINT]))
    with audit:
        again = pools(item)
    assert (again["failed"], again["changed"], audit.writes()) == (False, False, []), again

    await_routing(kubectl, namespace)
    tolerations = admitted(kubectl, pod(namespace))["tolerations"]
    toleration = {**TAINT, "operator": "Equal"}
    assert toleration in tolerations
    # A pod that names the scheduler itself would find no other node.
    assert toleration in admitted(kubectl, pod(namespace, spec={"schedulerName": NAME}))["tolerations"]
    assert toleration not in admitted(kubectl, pod(namespace, spec={"schedulerName": "other"})).get("tolerations", [])
    # What a pod tolerates itself stays.
    own = {"key": "gpu", "operator": "Exists"}
    assert [one for one in admitted(kubectl, pod(namespace, spec={"tolerations": [own]}))["tolerations"] if one in (own, toleration)] == [
        own,
        toleration,
    ]
    elsewhere = pod("default", spec={"schedulerName": NAME})
    # This policy, too, is in use a moment after it is stored.
    rejected = eventually(
        lambda: (one := kubectl("create", "--dry-run=server", "--filename=-", stdin=elsewhere, check=False)).returncode and one
    )
    assert f"schedulerName {NAME} is reserved for the namespaces of its pool" in rejected.stderr
    assert scheduler_of(kubectl, namespace, spec={"schedulerName": NAME}) == NAME
    assert scheduler_of(kubectl, HOME, spec={"schedulerName": NAME}) == NAME

    gone = pools(ABSENT, check=True)
    assert (gone["changed"], gone["counts"]["deleted"], gone["counts"]["updated"], gone["requests"]["write"]) == (True, 6, 2, 0)
    removed = pools(ABSENT)
    assert (removed["failed"], removed["counts"]["deleted"], removed["counts"]["updated"]) == (False, 6, 2)
    assert (node(kubectl, nodes[0]), node(kubectl, nodes[1])) == ((None, []), (None, [OTHER_TAINT]))
    await_routing(kubectl, namespace, "default-scheduler")
    assert pools(ABSENT)["changed"] is False


def test_pods_of_an_exclusive_pool_get_scheduler_and_toleration_or_neither(pools, kubectl, namespace, nodes):
    labels = {"kind": "batch"}
    item = pool(namespace, nodes={"names": nodes}, exclusive=True, when_unavailable="default", pods={"match_labels": labels})
    toleration = {**TAINT, "operator": "Equal"}

    def found(labels, **spec):
        spec = admitted(kubectl, pod(namespace, labels, spec=spec))
        return spec["schedulerName"], [one for one in spec.get("tolerations", []) if one["key"] == KEY]

    kubectl("scale", "deployment", NAME, f"--namespace={HOME}", "--replicas=2")
    try:
        for one in eventually(lambda: len(some := kubectl.list("pod", HOME, f"app={NAME}")) == 2 and some):
            kubectl.report("pod", one["metadata"]["name"], ready(one), HOME)
        eventually(lambda: kubectl.json("get", "deployment", NAME, f"--namespace={HOME}")["status"].get("availableReplicas") == 2)
        pools(item)
        await_routing(kubectl, namespace, labels=labels)
        # The policy is evaluated for each of the two replicas.
        assert found(labels) == (NAME, [toleration])
        # Structured merges reject names that occur twice, which the API server accepts.
        twice = [{"name": "c", "image": "registry.example.com/c:1", "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}]
        assert found(labels, containers=twice) == (NAME, [toleration])
        eventually(lambda: found({}, schedulerName=NAME) == (NAME, [toleration]))
        kubectl("scale", "deployment", NAME, f"--namespace={HOME}", "--replicas=0")
        await_routing(kubectl, namespace, "default-scheduler", labels=labels)
        assert found(labels) == ("default-scheduler", [])
        # It waits for its scheduler, which finds no other nodes.
        assert found(labels, schedulerName=NAME, tolerations=[toleration]) == (NAME, [toleration])
        assert found(labels, schedulerName=NAME) == (NAME, [toleration])
    finally:
        start_scheduler(kubectl)


def test_the_prepare_run_only_labels_nodes_and_removes_former_objects(pools, kubectl, namespace, nodes, audit):
    item = pool(namespace, nodes={"names": nodes[:1]}, exclusive=True)
    first = pools(item, prepare=True)
    assert (first["failed"], first["pools"], first["counts"]["created"], first["counts"]["updated"]) == (False, [], 0, 1), first
    assert node(kubectl, nodes[0]) == (NAME, [])
    pools(item)
    # Nothing is taken from a pool that stays.
    with audit:
        again = pools(pool(namespace), prepare=True)
    assert (again["changed"], audit.writes()) == (False, []), again
    assert node(kubectl, nodes[0]) == (NAME, [TAINT])
    gone = pools(ABSENT, prepare=True)
    assert (gone["counts"]["deleted"], gone["counts"]["updated"], node(kubectl, nodes[0])) == (4, 1, (None, []))


def test_an_option_that_is_no_longer_set_leaves_no_object_label_or_taint(pools, kubectl, namespace, nodes):
    pools(pool(namespace, nodes={"names": nodes}, exclusive=True, reserved=True))
    result = pools(pool(namespace, nodes={"names": nodes[:1]}))
    assert (result["counts"]["deleted"], result["counts"]["updated"]) == (4, 4), result
    assert (node(kubectl, nodes[0]), node(kubectl, nodes[1])) == ((NAME, []), (None, [OTHER_TAINT]))


def test_the_default_scheduler_places_pods_while_the_scheduler_is_unavailable(pools, kubectl, namespace, audit):
    item = pool(namespace, when_unavailable="default")
    planned = pools(item, check=True)
    pools(item)
    with audit:
        again = pools(item)
    assert (planned["changed"], again["changed"], audit.writes()) == (True, False, [])
    await_routing(kubectl, namespace)
    for lose, recover in (
        (lambda: kubectl("scale", "deployment", NAME, f"--namespace={HOME}", "--replicas=0"), start_scheduler),
        (lambda: report_readiness(kubectl, crashing("no configuration")), lambda kubectl: report_readiness(kubectl, ready)),
    ):
        lose()
        await_routing(kubectl, namespace, "default-scheduler")
        recover(kubectl)
        await_routing(kubectl, namespace)
    deployment = kubectl.json("get", "deployment", NAME, f"--namespace={HOME}")
    kubectl("delete", "deployment", NAME, f"--namespace={HOME}")
    try:
        await_routing(kubectl, namespace, "default-scheduler")
    finally:
        # Garbage collection deletes its pod later. Of that one the new Deployment would not become available.
        eventually(lambda: not kubectl.list("pod", HOME, f"app={NAME}"))
        kubectl.apply({**{key: deployment[key] for key in ("apiVersion", "kind", "spec")}, "metadata": {"name": NAME, "namespace": HOME}})
        report_readiness(kubectl, ready)
    await_routing(kubectl, namespace)
    assert pools(pool(namespace))["changed"]
    assert "paramKind" not in kubectl.json("get", "mutatingadmissionpolicy", f"osso-scheduler-pool-{NAME}")["spec"]
    # The API server evaluates no policy with parameters now, as after a removal of the pool. It does not watch these parameters any more.
    kubectl("scale", "deployment", NAME, f"--namespace={HOME}", "--replicas=0")
    eventually(lambda: not kubectl.list("pod", HOME, f"app={NAME}"))
    await_routing(kubectl, namespace)
    start_scheduler(kubectl)
    assert pools(item)["changed"]
    report_readiness(kubectl, crashing("no configuration"))
    await_routing(kubectl, namespace, "default-scheduler")
    report_readiness(kubectl, ready)
    await_routing(kubectl, namespace)


def test_the_last_digit_of_the_controllers_uid_decides_on_the_share(pools, kubectl, namespace):
    pools(pool(namespace, share=8))
    await_routing(kubectl, namespace, ownerReferences=of("ReplicaSet", "x-0"))
    found = {digit: scheduler_of(kubectl, namespace, ownerReferences=of("Job", f"x-{digit}")) == NAME for digit in "0789af"}
    assert found == {"0": True, "7": True, "8": False, "9": False, "a": False, "f": False}
    assert scheduler_of(kubectl, namespace) == "default-scheduler"


def test_pods_without_the_pools_labels_keep_the_default_scheduler(pools, kubectl, namespace):
    pools(pool(namespace, pods={"match_labels": {"kind": "batch"}}))
    await_routing(kubectl, namespace, labels={"kind": "batch"})
    assert scheduler_of(kubectl, namespace, labels={"kind": "web"}) == "default-scheduler"


def test_daemon_sets_without_a_toleration_for_the_taint_are_reported(pools, kubectl, namespace, nodes):
    tolerating = {"tolerations": [{"operator": "Exists"}]}
    for name, fields in {"out": {}, "elsewhere": {"nodeSelector": {"zone": "b"}}, "in": tolerating}.items():
        template = {"metadata": {"labels": {"app": name}}, "spec": {**pod(namespace)["spec"], **fields}}
        spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
        kubectl.apply({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": namespace}, "spec": spec})
    result = pools(pool(namespace, nodes={"names": nodes}, exclusive=True), check=True)
    assert [one for one in result["pools"][0]["daemon_sets_kept_out"] if one.startswith(namespace)] == [f"{namespace}/out"]
    assert any(f"keeps new pods of the DaemonSets {namespace}/out" in warning for warning in result["warnings"])


def test_a_taint_on_every_node_causes_a_warning(pools, kubectl, namespace, nodes):
    every = [one["metadata"]["name"] for one in kubectl.json("get", "nodes")["items"]]
    for names, is_warned in ((every, True), ([nodes[1]], False)):
        result = pools(pool(namespace, nodes={"names": names}, exclusive=True), check=True)
        assert not result["failed"], result
        assert any("Every node has a taint" in warning for warning in result.get("warnings", [])) is is_warned, names


def test_all_contradictions_are_reported_at_once_without_a_write(pools, kubectl, namespace, nodes, audit):
    item = {"scheduler_name": "nobody", "namespaces": {"names": [namespace, HOME]}, "nodes": {"names": [nodes[0], "missing"]}}
    kubectl("label", "node", nodes[0], f"{KEY}=somebody")
    with audit:
        result = pools(item)
    assert (result["failed"], audit.writes()) == (True, [])
    for part in (
        "scheduler_pools[0].scheduler_name is nobody, but no available scheduler has this name",
        f"scheduler_pools[0].namespaces.names has {HOME}, where Deployment {NAME} runs",
        "scheduler_pools[0].nodes.names has missing, which do not exist",
        f"The node {nodes[0]} is in the pool somebody by its label or taint",
    ):
        assert part in result["msg"]
    assert result["msg"].endswith("Nothing was written.")


def test_a_namespace_that_an_earlier_pool_has_is_rejected(pools, kubectl, namespace, audit):
    """The order of two policies for the same pod is not defined."""
    kubectl("label", "namespace", namespace, "team=overlap")
    pools(pool(namespace))
    kubectl.apply(*(rename(kubectl.json("get", kind, f"osso-scheduler-pool-{NAME}")) for kind in POLICIES))
    try:
        with audit:
            result = pools({"scheduler_name": NAME, "namespaces": {"match_labels": {"team": "overlap"}}})
    finally:
        kubectl("delete", ",".join(POLICIES), "osso-scheduler-pool-earlier")
    assert (result["failed"], audit.writes()) == (True, [])
    assert f"The namespace {namespace} is in scheduler_pools[0] ({NAME}) and an earlier pool (earlier): change" in result["msg"]
    assert not pools({"scheduler_name": NAME, "namespaces": {"match_labels": {"team": "overlap"}}})["failed"]


def test_a_node_of_an_earlier_pool_is_rejected(pools, kubectl, namespace, nodes, audit):
    kubectl("label", "node", nodes[0], "disk=ssd", "group=a")
    item = {"scheduler_name": "planned", "namespaces": {"names": [f"{namespace}-other"]}, "nodes": {"match_labels": {"disk": "ssd"}}}
    configs = [json.dumps({"profiles": [{"schedulerName": "planned"}]})]
    for earlier in (pool(namespace, nodes={"names": [nodes[0]]}), pool(namespace, nodes={"names": [nodes[0]]}, exclusive=True)):
        assert not pools(earlier)["failed"]
        with audit:
            result = pools(item, configurations=configs)
        assert (result["failed"], audit.writes()) == (True, [])
        assert f"The node {nodes[0]} is in the pools planned and {NAME} (an earlier pool)" in result["msg"]


def test_the_namespace_of_a_scheduler_that_the_run_deploys_is_rejected(play, namespace, audit):
    scheduler = {"name": "planned", "namespace": namespace, "image": IMAGE}
    variables = {"custom_schedulers": [scheduler], "scheduler_pools": [{"scheduler_name": "planned", "namespaces": {"names": [namespace]}}]}
    with audit:
        failed = play("osso.scheduler.custom_scheduler", variables=variables, check=True, succeed=False)
    assert audit.writes() == []
    assert f"namespaces.names has {namespace}, where this run deploys a scheduler" in failed.failures[0].result["msg"]


def test_a_scheduler_of_an_earlier_pool_is_not_removed(pools, play, namespace, audit):
    pools(pool(namespace))
    expected = f"An earlier pool routes pods to {NAME}, but this run removes Deployment {HOME}/{NAME}"
    variables = {"custom_schedulers": [{"name": NAME, "namespace": HOME, "image": IMAGE, "state": "absent"}]}
    with audit:
        failed = play("osso.scheduler.custom_scheduler", variables=variables, succeed=False)
        every = pools(replaced=["Deployment"])
    assert audit.writes() == []
    assert expected in failed.failures[0].result["msg"]
    assert (every["failed"], expected in every["msg"]) == (True, True), every
    assert not pools(replaced=["SecondaryScheduler"])["changed"]


def test_the_playbook_remove_leaves_no_pool_without_its_scheduler(pools, play, kubectl, namespace, secondary_scheduler_kind, audit):
    pools(pool(namespace))
    kubectl.apply(*(rename(kubectl.json("get", kind, f"osso-scheduler-pool-{NAME}")) for kind in POLICIES))
    scheduler = Scheduler(kubectl, "earlier", namespace, "earlier")
    scheduler.write_config()
    scheduler.write()
    try:
        with audit:
            failed = play("osso.scheduler.remove", succeed=False)
    finally:
        kubectl("delete", ",".join(POLICIES), "osso-scheduler-pool-earlier")
        scheduler.delete()
    assert audit.writes() == []
    expected = f"An earlier pool routes pods to earlier, but this run removes SecondaryScheduler {namespace}/earlier"
    assert expected in failed.failures[0].result["msg"]


@pytest.mark.parametrize("change", [{"state": "absent"}, {"config": {**configuration(), "profiles": [{"schedulerName": "renamed"}]}}])
def test_a_pool_of_a_scheduler_that_the_same_run_removes_or_renames_is_rejected(play, namespace, audit, change):
    scheduler = {"name": NAME, "namespace": HOME, "image": IMAGE, **change}
    variables = {"custom_schedulers": [scheduler], "scheduler_pools": [pool(namespace)]}
    with audit:
        failed = play("osso.scheduler.custom_scheduler", variables=variables, succeed=False)
    assert audit.writes() == []
    assert (
        f"scheduler_name is {NAME}, but this run removes Deployment {HOME}/{NAME}, or gives it another" in failed.failures[0].result["msg"]
    )


def test_a_scheduler_that_also_places_pods_on_other_nodes_is_rejected(pools, kubectl, namespace, nodes):
    configure(kubectl)
    try:
        result = pools(pool(namespace, nodes={"names": nodes}))
    finally:
        configure(kubectl, {"name": "NodeAffinity", "args": {"addedAffinity": AFFINITY}})
    assert result["failed"]
    assert f"Deployment {HOME}/{NAME} also places pods on other nodes. Add these lines" in result["msg"]
    assert "addedAffinity:" in result["msg"]
    # With these lines it does.
    assert not pools(pool(namespace, nodes={"names": nodes}), check=True)["failed"]


def test_the_playbook_is_idempotent_and_rejects_an_invalid_pool(play, pools, namespace):
    variables = {"scheduler_pools": [pool(namespace, share=4)]}
    assert play("osso.scheduler.pools", variables=variables, check=True).changed
    assert play("osso.scheduler.pools", variables=variables).changed
    assert not play("osso.scheduler.pools", variables=variables).changed
    variables["scheduler_pools"][0].update(share=40, exclusive=True)
    (failure,) = play("osso.scheduler.pools", variables=variables, succeed=False).failures
    assert "scheduler_pools[0].share is 40" in failure.result["msg"]
    assert "scheduler_pools[0].exclusive is true without nodes" in failure.result["msg"]


def test_site_routes_to_a_scheduler_that_it_deploys(audit, namespace):
    """Check mode on a cluster without anything: what the play deploys counts."""
    profile = {"schedulerName": "new", "plugins": {"score": {"disabled": [{"name": "*"}]}}}
    scheduler = {"name": "new", "image": IMAGE, "config": {**configuration(), "profiles": [profile]}}
    del scheduler["config"]["leaderElection"]
    item = {"scheduler_name": "new", "namespaces": {"names": [namespace]}, "nodes": {"match_labels": {"pool": "new"}}}
    variables = {"secondary_schedulers": [scheduler], "scheduler_pools": [item]}
    with audit:
        run = site(check=True, diff=True, variables=variables)
    assert audit.writes() == []
    assert {one["kind"] for one in run.task("Apply the pools").result["objects"] if one["action"] == "created"} == {
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
    }
    checked = run.task("Validate the pools").result["invocation"]["module_args"]
    assert checked["replaced"] == [f"SecondaryScheduler {OPERATOR}/new"]
    config_map = next(one for one in run.task("Apply schedulers").result["diff"] if "ConfigMap" in one["after_header"])
    assert "addedAffinity" in config_map["after"]

    with audit:
        failed = site(variables={**variables, "scheduler_pools": [{**item, "scheduler_name": "nobody"}]}, succeed=False)
    assert audit.writes() == []
    assert "scheduler_pools[0].scheduler_name is nobody, but no available" in failed.failures[0].result["msg"]


def test_custom_schedulers_keep_to_the_nodes_of_their_pools(play, audit, namespace):
    scheduler = {"name": "new", "image": IMAGE}
    item = {"scheduler_name": "new", "namespaces": {"names": [namespace]}, "nodes": {"match_labels": {"pool": "new"}}}
    variables = {"custom_schedulers": [scheduler], "scheduler_pools": [item]}
    with audit:
        run = play("osso.scheduler.custom_scheduler", variables=variables, check=True, diff=True)
    assert audit.writes() == []
    (applied,) = run.task("Apply schedulers").result["results"]
    config_map = next(one for one in applied["diff"] if "ConfigMap" in one["after_header"] and "profiles" in one["after"])
    assert "addedAffinity" in config_map["after"]
    assert {one["action"] for one in run.task("Apply the pools").result["objects"]} == {"created", "absent"}

    own = {"name": "NodeAffinity", "args": {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}}
    own["args"]["addedAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] = [
        {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}
    ]
    config = {**configuration(), "profiles": [{"schedulerName": "new", "pluginConfig": [own]}]}
    for source in ({"config": config}, {"config_text": json.dumps(config)}, {"config_text": json.dumps(documented_config("new"))}):
        with audit:
            failed = play(
                "osso.scheduler.custom_scheduler", variables={**variables, "custom_schedulers": [{**scheduler, **source}]}, succeed=False
            )
        assert audit.writes() == []
        message = str(failed.failures[0].result)
        assert "scheduler_pools[0].nodes: the scheduler new also places pods on other nodes. Add these lines to the profile new" in message
        assert "values:" in message
