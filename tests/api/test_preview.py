# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Previews with a real kube-scheduler: the one of the throwaway cluster, as a process of this host. They send no request to the API server."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._preview import explanation, sandbox, scheduler_process, simulation
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import Options, preview
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import parse
from oracle.programs import number as minor
from support.access import service_account
from support.direct_module import COLLECTIONS, run_directly
from support.examples import PLUGINS, run_examples
from support.pages import Page, assert_whole
from support.preview import CONFIG, SECRET, listed, node, pod
from support.scheduler import eventually, oracle_program, oracle_programs, program_with_plugins

PACKING = {
    **CONFIG,
    "profiles": [
        {
            "schedulerName": "second",
            "plugins": {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit"}]}},
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}},
                }
            ],
        }
    ],
}
# No pod fits: nodes need a label that none has.
NOWHERE = {
    **CONFIG,
    "profiles": [
        {
            "schedulerName": "second",
            "pluginConfig": [
                {
                    "name": "NodeAffinity",
                    "args": {
                        "addedAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": {
                                "nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "Exists"}]}]
                            }
                        }
                    },
                }
            ],
        }
    ],
}
NONE = {"disabled": [{"name": "*"}]}
THREE = [node("a"), node("b"), node("c")]
# A preview of a scheduler that writes nothing, and so does not notice that nobody reads its log.
KILLED = """
import sys
from ansible_collections.osso.scheduler.plugins.module_utils._preview import sandbox, scheduler_process
silent = scheduler_process.Candidate("candidate", sys.argv[1], "1.34", {"profiles": []}, ("second",))
with scheduler_process.running(silent, sandbox.Sandbox([]), scheduler_process.ATTEMPTS):
    pass
"""


@pytest.fixture(scope="module")
def binary() -> str:
    subprocess.run(["tests/cluster/cluster", "build", "kubernetes"], cwd=Path(__file__).parents[2], check=True, stdout=subprocess.DEVNULL)
    return str(Path(os.environ["CLUSTER_DIR"], "bin/kube-scheduler").resolve().with_name("kube-scheduler"))


@pytest.fixture
def ask(binary):
    """The result of a preview of objects, with the configuration of the candidate and perhaps of the baseline."""

    def result(objects, config=None, baseline=None, **options):
        def side(text):
            return {"binary": binary, "config": text}

        given = Options(candidate=side(config or CONFIG), baseline=baseline and side(baseline), **options)
        return preview(given, parse(listed(*objects), "list"), None, lambda text: None)

    yield result
    assert not children(os.getpid())


def children(parent: int) -> set[str]:
    """The schedulers, and what a test takes for one, that a process has started."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, fields = path.read_text().rpartition(")")[::2]
        except OSError:  # it has ended
            continue
        if name.endswith(("(kube-scheduler", "(sleep")) and int(fields.split()[1]) == parent:
            found.add(path.parent.name)
    return found


def rows(result) -> dict:
    return {row["name"]: row for row in result["pods"]}


def statuses(result) -> dict:
    return {row["name"]: row["status"] for row in result["pods"]}


@pytest.mark.parametrize("mode", ["replace", "drain"])
def test_the_same_configuration_moves_nothing(ask, mode):
    pods = [pod(f"p{number}", on="abc"[number % 3], cpu=f"{100 + 50 * (number % 4)}m") for number in range(20)]
    result = ask([*THREE, *pods], baseline=CONFIG, mode=mode)
    assert set(statuses(result).values()) <= {"same", "tie"}
    assert result["summary"]["pods"] == 20


def on_300_nodes() -> list[dict]:
    nodes = [node(f"n{number:03}", cpu=str(4 + number % 5)) for number in range(300)]
    return nodes + [pod(f"p{number}", on=f"n{number % 300:03}", cpu=f"{100 + 50 * (number % 9)}m") for number in range(120)]


@pytest.mark.long
def test_the_same_configuration_moves_nothing_on_300_nodes(ask):
    result = ask(on_300_nodes(), baseline=CONFIG, mode="drain")
    # Which of equal nodes a pod gets is random.
    assert set(statuses(result).values()) <= {"same", "tie"}
    assert result["summary"]["tie"] > 50


@pytest.mark.long
@pytest.mark.parametrize("program", [pytest.param(one, id=one.path.name) for one in oracle_programs()])
def test_the_same_configuration_moves_nothing_with_any_release(program, tmp_path, record_property):
    side = {"binary": oracle_program(program, tmp_path), "release": program.minor, "plugins": program.plugins, "config": CONFIG}
    if program.plugins == "scheduler-plugins":
        side.update(config=None, preset="coscheduling")
    small = [*THREE, *(pod(f"p{number}", on="abc"[number % 3], cpu=f"{100 + 50 * (number % 4)}m") for number in range(20))]
    for objects, mode in ((small, "replace"), (small, "drain"), (on_300_nodes(), "drain")):
        result = preview(Options(side, mode, side), parse(listed(*objects), "list"), None, lambda text: None)
        assert set(statuses(result).values()) <= {"same", "tie"}, result["summary"]
        assert result["summary"]["pods"] in (20, 120)
    assert result["summary"]["tie"] > 20
    record_property("same and ties of 120 pods on 300 nodes", "{same} and {tie}".format(**result["summary"]))


@pytest.mark.long
@pytest.mark.parametrize("program", [pytest.param(one, id=one.path.name) for one in oracle_programs() if minor(one.minor) < 28])
def test_releases_that_start_early_place_pods_only_when_all_nodes_are_known(program, tmp_path):
    """It prefers the last of the nodes that it reads."""
    side = {"binary": oracle_program(program, tmp_path), "release": program.minor, "plugins": program.plugins, "config": CONFIG}
    nodes = [node(f"n{count:04}", cpu="1") for count in range(2000)]
    snapshot = parse(listed(*nodes, node("the-last", cpu="64"), pod("p", cpu="500m")), "list")
    for _time in range(3):
        assert rows(preview(Options(side, "pending"), snapshot, None, lambda text: None))["p"]["node"] == "the-last"


def test_without_scores_all_nodes_that_fit_are_equal(ask):
    """Without scores, all nodes that fit are equal."""
    config = {**CONFIG, "profiles": [{"schedulerName": "second", "plugins": {"preScore": NONE, "score": NONE}}]}
    pods = [pod(f"p{number}", on="abc"[number % 3]) for number in range(9)]
    full = pod("full", on="b", cpu="3900m")
    result = ask([*THREE, full, *pods], config=config, baseline=config, mode="drain")
    assert set(statuses(result).values()) <= {"same", "tie"}
    pending = ask([*THREE, full, pod("p", cpu="200m")], config=config, mode="pending")
    assert rows(pending)["p"]["ties"] == ["a", "c"]
    assert rows(pending)["p"]["reason"] == "it had no node; 2 nodes have the same score"


def test_a_gang_with_room_for_all_its_pods_is_placed_and_explained(own_cluster):
    """A pod of a gang waits until the others have nodes; its scores are those that the others left to it."""
    group = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "gang", "namespace": "shop"}}
    group["spec"] = {"minMember": 6}
    labels = {"app": "shop", "scheduling.x-k8s.io/pod-group": "gang"}
    pods = [pod(f"p{number}", on="abc"[number % 3], labels=labels) for number in range(6)]
    side = {"binary": str(program_with_plugins(own_cluster)), "plugins": "scheduler-plugins", "preset": "coscheduling"}
    given = Options(side, "drain", side)
    result = preview(given, parse(listed(*THREE, group, *pods), "list"), None, lambda text: None)
    assert set(statuses(result).values()) <= {"same", "tie"}
    # A pending pod of a gang whose other pods are placed already, and an explanation among pending ones
    for member in pods:
        del member["spec"]["nodeName"]
        member["status"] = {"phase": "Pending"}
    found = explanation.explain(
        explanation.Options(side, "p0", "shop"), parse(listed(*THREE, group, *pods), "list"), None, lambda text: None
    )
    assert found["ties"] == ["a", "b", "c"]


def test_a_packing_profile_moves_all_pods_to_one_node(ask):
    pods = [pod(f"p{number}", on="abc"[number % 3]) for number in range(9)]
    result = ask([*THREE, *pods], config=PACKING, mode="drain")
    used = {row["node"] for row in result["pods"]}
    assert len(used) == 1
    assert result["summary"]["before"]["empty_nodes"] == 0
    assert result["summary"]["after"]["empty_nodes"] == 2
    (full,) = used
    after = {entry["name"]: entry["after"] for entry in result["nodes"]}
    assert after[full] == {"pods": 9, "cpu_millis": 900, "memory": 9 * 100 * 2**20}
    assert result["summary"]["after"]["cpu_percent_deviation"] > result["summary"]["before"]["cpu_percent_deviation"]


def test_a_moved_pod_has_a_better_score_on_its_new_node(ask):
    """`small` is pinned to no node: with packing it belongs to the node that is fuller, and only there."""
    result = ask([*THREE, pod("big", on="a", cpu="2"), pod("small", on="b")], config=PACKING, mode="replace")
    assert rows(result)["small"]["node"] == "a"
    assert rows(result)["small"]["status"] == "moved"
    scores = rows(result)["small"]["scores"]
    assert sorted(scores) == ["a", "b"]
    assert scores["a"]["total"] > scores["b"]["total"] == scores["b"]["plugins"]["NodeResourcesFit"]
    # Both of the other nodes are as good for the big one as its own: each is empty but for the small one's.
    assert rows(result)["big"]["status"] in ("same", "moved")


def test_scores_are_returned_also_for_pods_that_stay_where_they_are(ask):
    """Also of pods that stay where they are."""
    objects = [node("a", cpu="64"), node("b", cpu="1"), *(pod(f"p{number}", on="a") for number in range(3))]
    for mode in ("replace", "drain"):
        assert [row["scores"] for row in ask(objects, mode=mode)["pods"]] == [{}, {}, {}]
        found = ask(objects, mode=mode, scores="all")
        assert set(statuses(found).values()) == {"same"}
        for row in found["pods"]:
            (scores,) = row["scores"].values()
            assert scores["total"] == sum(scores["plugins"].values()) > 0
            assert row["ties"] == ["a"]


def test_pods_that_fit_nowhere_are_reported_and_exceed_the_limit(ask):
    result = ask([*THREE, pod("p1", on="a"), pod("p2", on="b")], config=NOWHERE, mode="replace", max_unschedulable=1)
    assert statuses(result) == {"p1": "unschedulable", "p2": "unschedulable"}
    assert "didn't match scheduler-enforced node affinity" in rows(result)["p1"]["reason"]
    assert result["summary"]["newly_unschedulable"] == 2
    (beyond,) = result["exceeded"]
    assert beyond == "2 pods would have no node, the limit is 1: shop/p1, shop/p2."


def test_only_a_pod_with_the_toleration_fits_on_tainted_nodes(ask):
    tainted = [node(name, taints=[{"key": "only", "value": "gpu", "effect": "NoSchedule"}]) for name in "ab"]
    tolerant = pod("tolerant", tolerations=[{"key": "only", "operator": "Exists"}], nodeSelector={"kubernetes.io/hostname": "a"})
    result = ask([*tainted, pod("plain"), tolerant], mode="pending")
    assert statuses(result) == {"plain": "unschedulable", "tolerant": "moved"}
    assert "untolerated taint" in rows(result)["plain"]["reason"]
    assert result["summary"]["newly_schedulable"] == 1


def test_an_important_pod_preempts_and_the_victim_is_reported(ask):
    important = pod("important", cpu="3500m", priority=1000)
    result = ask([node("a"), pod("victim", on="a", cpu="3500m"), important], mode="pending")
    assert rows(result)["important"]["status"] == "preempts"
    assert rows(result)["important"]["node"] == "a"
    assert result["summary"]["preempted"] == ["shop/victim"]
    (after,) = result["nodes"]
    assert after["after"]["pods"] == 1


def test_replacing_a_pod_restores_the_pods_that_it_preempted(ask):
    """`second` would find a full node if the victim of `first` had not come back."""
    pods = [pod("first", on="b", cpu="3500m", priority=1000), pod("victim", on="a", cpu="3500m"), pod("other", on="a")]
    selector = {"nodeSelector": {"kubernetes.io/hostname": "a"}}
    pods[0]["spec"].update(selector)
    result = ask([node("a"), node("b", unschedulable=True), *pods], mode="replace")
    assert statuses(result) == {"first": "preempts", "victim": "same", "other": "same"}


def test_pods_with_a_scheduling_gate_or_a_device_claim_are_not_compared(ask):
    gated = pod("gated", schedulingGates=[{"name": "example.com/quota"}])
    device = pod("device", resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}])
    result = ask([*THREE, gated, device, pod("plain")], mode="pending")
    assert statuses(result) == {"gated": "not compared", "device": "not compared", "plain": "moved"}
    assert rows(result)["gated"]["reason"] == "it waits at the scheduling gates example.com/quota"


def test_a_pod_whose_volume_waits_for_its_first_consumer_is_placed(ask):
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "late"},
        "provisioner": "csi.example.com",
        "parameters": {"password": SECRET},
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "shop"},
        "spec": {"storageClassName": "late", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Pending"},
    }
    waiting = pod("waiting", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
    result = ask([*THREE, storage, claim, waiting], mode="pending")
    assert statuses(result) == {"waiting": "moved"}
    assert any("shop/data is invented" in text for text in result["assumptions"])


def test_headroom_counts_pods_until_the_nodes_are_full_or_the_limit_is_reached(ask):
    template = {"metadata": {"labels": {"app": "new"}}, "spec": pod("x", cpu="1")["spec"]}
    result = ask([*THREE, pod("old", on="a", cpu="3500m")], mode="headroom", template=template)
    assert result["headroom"]["pods"] == 8
    assert "Insufficient cpu" in result["headroom"]["stopped_by"]
    assert ask(THREE, mode="headroom", template=template, limit=2)["headroom"]["stopped_by"] == "the limit of 2 pods"


def test_full_nodes_reject_a_pod_for_cpu_and_for_the_number_of_pods(ask):
    """By their number of pods, and by what was requested."""
    nodes = [node("a", pods="1"), node("b")]
    result = ask([*nodes, pod("one", on="a"), pod("two", on="b", cpu="3950m"), pod("p")], mode="pending")
    assert statuses(result) == {"p": "unschedulable"}
    assert "Insufficient cpu" in rows(result)["p"]["reason"]
    assert "Too many pods" in rows(result)["p"]["reason"]
    assert result["summary"]["newly_unschedulable"] == 0


def test_draining_one_node_moves_only_its_pods_without_those_of_daemon_sets(ask):
    pods = [pod("one", on="a"), pod("agent", on="a", owner="DaemonSet"), pod("two", on="b")]
    result = ask([*THREE, *pods], mode="drain", nodes=["a"])
    assert set(statuses(result)) == {"one"}
    assert rows(result)["one"]["node"] in ("b", "c")
    after = {entry["name"]: entry["after"]["pods"] for entry in result["nodes"]}
    assert after["a"] == 1
    assert sum(after.values()) == 3


@pytest.mark.parametrize(
    ("candidate", "error", "why"),
    [
        (
            {"config": {**CONFIG, "profiles": [{"schedulerNam": "x"}]}},
            InputError,
            r"candidate.config: this is no usable (?s:.*)\(did you mean schedulerName",
        ),
        ({"binary": "/bin/true"}, InputError, "does not print the release of a kube-scheduler: set candidate.release"),
        ({"binary": "/nowhere/kube-scheduler"}, InputError, "/nowhere/kube-scheduler could not be started: No such file"),
        ({"binary": "/bin/false", "release": "1.34", "plugins": "in-tree"}, ClusterError, "ended with status 1. Its last error: none"),
        (
            {"config": None},
            InputError,
            "candidate: set one of candidate.config, candidate.config_text, candidate.config_file, candidate.preset; set are: none",
        ),
        ({"as_scheduler": "third"}, InputError, "as_scheduler: no profile is named third: set one of second"),
        ({"config": {**CONFIG, "extenders": [{"urlPrefix": "http://x"}]}}, InputError, "a preview does not call extenders"),
    ],
)
def test_a_candidate_that_cannot_run_is_one_error(binary, candidate, error, why):
    given = Options(candidate={"binary": binary, "config": CONFIG, **candidate}, mode="replace")
    with pytest.raises(error, match=why):
        preview(given, parse(listed(*THREE, pod("p", on="a")), "list"), None, lambda text: None)
    assert not children(os.getpid())


def test_a_broken_present_configuration_is_an_assumption_and_not_an_error(binary):
    """The candidate corrects it perhaps, so it is not an error."""
    given = Options({"binary": binary, "config": CONFIG}, "replace", {"config_text": "kind: Nothing", "may_be_broken": True})
    result = preview(given, parse(listed(node("a"), pod("p", on="a")), "list"), None, lambda text: None)
    assert statuses(result) == {"p": "same"}
    assert result["assumptions"][-1].startswith(
        "The present configuration cannot be run, so each pod is compared with its present node. baseline.config_text: "
    )
    with pytest.raises(InputError, match=r"baseline\.config_text: this is no usable KubeSchedulerConfiguration"):
        preview(given._replace(baseline={"config_text": "kind: Nothing"}), parse(listed(node("a")), "list"), None, lambda text: None)


@pytest.fixture
def default_scheduler(kubectl):
    """default_scheduler(*flags) is the static pod of a control plane, as the API server sees it."""

    def create(*flags):
        container = {"name": "kube-scheduler", "image": "registry.k8s.io/kube-scheduler:v1.34.4", "command": ["kube-scheduler", *flags]}
        about = {"labels": {"component": "kube-scheduler"}, "annotations": {"kubernetes.io/config.mirror": "x"}}
        metadata = {"name": "kube-scheduler-cp", "namespace": "kube-system", **about}
        kubectl.apply({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"nodeName": "cp", "containers": [container]}})

    yield create
    kubectl("delete", "pod", "kube-scheduler-cp", "--namespace=kube-system", "--force", "--grace-period=0")


@pytest.fixture
def second_scheduler(kubectl, namespace):
    """A Deployment with the scheduler `second`, which packs."""
    about = {"name": "second", "namespace": namespace}
    kubectl.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": {"config.yaml": json.dumps(PACKING)}})
    container = {
        "name": "main",
        "image": "registry.k8s.io/kube-scheduler:v1.34.4",
        "command": ["kube-scheduler", "--config=/etc/s/config.yaml"],
    }
    container["volumeMounts"] = [{"name": "config", "mountPath": "/etc/s"}]
    template = {"metadata": {"labels": {"app": "second"}}, "spec": {"containers": [container]}}
    template["spec"]["volumes"] = [{"name": "config", "configMap": {"name": "second"}}]
    spec = {"selector": {"matchLabels": {"app": "second"}}, "replicas": 0, "template": template}
    kubectl.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": about, "spec": spec})


def test_the_baseline_can_be_a_scheduler_that_runs_in_the_cluster(binary, default_scheduler, second_scheduler, namespace, tmp_path):
    """The default scheduler, or the one of a Deployment. The pod would be on the node that is fuller, as only the second one packs."""
    file = tmp_path / "list.json"
    file.write_bytes(listed(node("a"), node("b"), pod("other", on="a"), pod("p")))
    given = {"snapshot": str(file), "candidate": {"binary": binary, "config": PACKING}}

    def previewed(name, succeed=True):
        return run_directly("scheduler_preview", succeed=succeed, **given, baseline={"scheduler_name": name})

    default_scheduler("--feature-gates=SchedulerQueueingHints=true")
    (row,) = previewed("default-scheduler").result["pods"]
    assert (row["before"], row["node"], row["status"]) == ("b", "a", "moved")
    (row,) = previewed("second").result["pods"]
    assert (row["before"], row["node"], row["status"]) == ("a", "a", "same")
    unknown = previewed("third", succeed=False).message
    assert unknown.startswith(
        "baseline.scheduler_name: third: no scheduler of the cluster has this schedulerName. Known are: default-scheduler"
    )
    both = run_directly(
        "scheduler_preview", succeed=False, **given, baseline={"scheduler_name": "second", "secondary_scheduler": {"name": "cluster"}}
    )
    assert "mutually exclusive" in both.message


def test_a_baseline_whose_configuration_is_a_file_of_its_node_is_rejected(binary, default_scheduler, tmp_path):
    file = tmp_path / "list.json"
    file.write_bytes(listed(node("a"), pod("p")))
    default_scheduler("--config=/etc/kubernetes/scheduler.yaml")
    candidate, baseline = {"binary": binary, "config": CONFIG}, {"scheduler_name": "default-scheduler"}
    refused = run_directly("scheduler_preview", succeed=False, snapshot=str(file), candidate=candidate, baseline=baseline)
    assert (
        "it is the file /etc/kubernetes/scheduler.yaml of its node, or cannot be read. In the place of scheduler_name, set"
        in refused.message
    )


def test_extenders_that_are_allowed_are_called(binary):
    """They are called: this one cannot be reached, and is ignorable."""
    config = {**CONFIG, "extenders": [{"urlPrefix": "http://127.0.0.1:9", "filterVerb": "filter", "ignorable": True}]}
    given = Options(candidate={"binary": binary, "config": config, "allow_extenders": True}, mode="pending")
    result = preview(given, parse(listed(*THREE, pod("p")), "list"), None, lambda text: None)
    assert rows(result)["p"]["node"]
    assert "Extenders were called: http://127.0.0.1:9." in result["assumptions"]


@pytest.fixture
def skopeo(tmp_path):
    """skopeo(text) is a program that copies an image whose kube-scheduler is this script."""

    def make(text):
        image = tmp_path / "image"
        image.mkdir()
        with tarfile.open(image / "layer", "w:gz") as archive:
            member = tarfile.TarInfo("bin/kube-scheduler")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
        (image / "manifest.json").write_text(json.dumps({"layers": [{"digest": "sha256:layer"}]}))
        program = tmp_path / "skopeo"
        program.write_text(f'#!/bin/sh\nfor target; do :; done\ncp {image}/* "${{target#dir:}}"\n')
        program.chmod(0o755)
        return str(program)

    return make


WHOLE = parse(listed(*THREE, pod("p", on="a")), "list").write()
BROKEN = {**CONFIG, "profiles": [{"schedulerName": "second", "percentageOfNodesToScore": 200}]}


@pytest.mark.parametrize(
    ("snapshot", "script", "config", "why"),
    [
        (WHOLE[:-20], "", CONFIG, "cluster.json.gz is truncated or damaged: it is no complete JSON document. Take the snapshot again."),
        (
            WHOLE[:-20] + b"x" * 20,
            "",
            CONFIG,
            "cluster.json.gz is truncated or damaged: it is no complete JSON document. Take the snapshot again.",
        ),
        (gzip.compress(gzip.decompress(WHOLE).replace(b'"version":1', b'"version":2')), "", CONFIG, "has version 2 of the format;"),
        (WHOLE, "echo 'exec format error' >&2; exit 2", CONFIG, "ended with status 2. Its last error: exec format error"),
        (WHOLE, "kill -9 $$", CONFIG, "was ended by signal 9. Its last error: none"),
        (WHOLE, "exec sleep 300", CONFIG, "did not read the pods within 1 s. Its last error: none"),
        (WHOLE, 'exec PROGRAM "$@"', BROKEN, "profiles[0].percentageOfNodesToScore: 200 not in valid range"),
        (WHOLE, 'exec PROGRAM "$@"', CONFIG, "the sandbox does not serve what it requests: GET v1 services"),
    ],
    ids=["truncated", "damaged", "another version", "ends", "killed", "silent", "rejected", "unknown requests"],
)
def test_bad_input_is_one_error_and_leaves_nothing(binary, skopeo, tmp_path, monkeypatch, snapshot, script, config, why):
    """The kube-scheduler is that of an image."""
    monkeypatch.setattr(sandbox, "RESOURCES", [one for one in sandbox.RESOURCES if one.kind != "Service"])
    monkeypatch.setattr(scheduler_process, "START_SECONDS", 1 if "sleep" in script else 60)
    monkeypatch.setattr(simulation, "START_SECONDS", 2)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    (tmp_path / "cluster.json.gz").write_bytes(snapshot)
    image = {"image": "registry.example.com/kube-scheduler:v1.34.4", "release": "1.34", "plugins": "in-tree"}
    candidate = {**image, "skopeo": skopeo("#!/bin/sh\n" + script.replace("PROGRAM", binary) + "\n"), "config": config}
    given = {"snapshot": str(tmp_path / "cluster.json.gz"), "mode": "drain", "candidate": candidate}
    done = run_directly("scheduler_preview", succeed=False, **given)
    assert why in done.message
    assert "candidate.binary: " not in done.message
    assert "Traceback" not in done.output
    assert list(temporary.iterdir()) == []
    assert not processes_of(str(temporary))


def processes_of(text: str) -> list[str]:
    """The processes whose command line contains a text."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            found += [path.parent.name] if text.encode() in path.read_bytes() else []
    return found


@pytest.fixture
def silent(tmp_path) -> str:
    """A program that does nothing."""
    program = tmp_path / "kube-scheduler"
    program.write_text("#!/bin/sh\nexec sleep 300\n")
    program.chmod(0o755)
    return str(program)


def test_a_scheduler_that_never_reads_the_pods_is_reported_and_ended(silent, monkeypatch):
    monkeypatch.setattr(scheduler_process, "START_SECONDS", 1)
    given = Options(candidate={"binary": silent, "config": CONFIG, "release": "1.34", "plugins": "in-tree"}, mode="replace")
    with pytest.raises(ClusterError, match="did not read the pods within 1 s"):
        preview(given, parse(listed(*THREE, pod("p", on="a")), "list"), None, lambda text: None)
    assert not children(os.getpid())


def test_the_scheduler_process_ends_when_its_preview_is_killed(silent):
    process = subprocess.Popen([sys.executable, "-c", KILLED, silent], env={**os.environ, "PYTHONPATH": str(COLLECTIONS)})
    (started,) = eventually(lambda: children(process.pid), within=60)
    process.kill()
    process.wait()
    eventually(lambda: not Path("/proc", started).exists())


def test_the_error_names_a_request_that_the_sandbox_does_not_serve(ask, monkeypatch):
    monkeypatch.setattr(sandbox, "RESOURCES", [one for one in sandbox.RESOURCES if one.kind != "Service"])
    monkeypatch.setattr(simulation, "START_SECONDS", 2)
    with pytest.raises(ClusterError, match="processes no pod; the sandbox does not serve what it requests: GET v1 services"):
        ask([*THREE, pod("p", on="a")], mode="drain")


def claim(**fields) -> dict:
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "default"}, **fields}


@pytest.mark.parametrize(
    "odd",
    [
        pod("p", tolerations=[{"key": "a", "operator": "Exists", "tolerationSeconds": "soon"}]),
        claim(spec={"resources": {"requests": {"storage": "little"}}}),
        claim(metadata={"name": "c", "namespace": "default", "deletionTimestamp": "tomorrow"}),
    ],
)
def test_an_object_that_the_scheduler_cannot_decode_is_an_error_at_once(ask, monkeypatch, odd):
    monkeypatch.setattr(simulation, "START_SECONDS", 30)
    with pytest.raises(
        ClusterError, match=f"cannot decode an object that it was given. Its last error: .*failed to list .*v1.{odd['kind']}: "
    ):
        ask([*THREE, odd, pod("q")])


def test_the_module_fails_beyond_a_limit_and_outputs_no_secret(binary, tmp_path):
    """The module, and the file that it reads; no planted secret is in any of its output."""
    file = tmp_path / "list.json"
    file.write_bytes(listed(*THREE, pod("p", on="a")))
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps(NOWHERE))
    args = {"snapshot": str(file), "mode": "replace", "candidate": {"binary": binary, "config_file": str(config)}}
    done = run_directly("scheduler_preview", **args)
    assert done.result["summary"]["unschedulable"] == 1
    assert not done.result["changed"]
    beyond = run_directly("scheduler_preview", succeed=False, max_unschedulable=0, **args)
    assert beyond.message == "Beyond the limits: 1 pod would have no node, the limit is 0: shop/p."
    assert beyond.result["pods"][0]["name"] == "p"
    assert SECRET not in done.output + beyond.output


@pytest.mark.parametrize(
    ("preset", "load", "chosen"),
    [
        ("trimaran_target_load_packing", {"a": 95, "b": 30}, "b"),
        ("trimaran_target_load_packing", {"a": 45, "b": 1}, "a"),
        ("trimaran_load_variation_risk_balancing", {"a": 60, "b": 10}, "b"),
    ],
)
def test_load_aware_plugins_use_the_load_of_the_snapshot(own_cluster, preset, load, chosen):
    """Plugins that read the load get that of the metrics API, although their Prometheus cannot be reached."""
    measured = [
        {
            "apiVersion": "metrics.k8s.io/v1beta1",
            "kind": "NodeMetrics",
            "metadata": {"name": name},
            "usage": {"cpu": f"{percent * 40}m", "memory": "1Gi"},
        }
        for name, percent in load.items()
    ]
    given = Options({"binary": str(program_with_plugins(own_cluster)), "plugins": "scheduler-plugins", "preset": preset}, "pending")
    snapshot = parse(listed(node("a"), node("b"), *measured, pod("p")), "list")
    result = preview(given, snapshot, None, lambda text: None)
    assert rows(result)["p"]["node"] == chosen
    assert any("the load that the metrics API measured" in text for text in result["assumptions"])


@pytest.fixture
def why(binary):
    """The explanation of the pod `p` among objects."""

    def result(objects, config=None, **options):
        given = explanation.Options({"binary": binary, "config": config or CONFIG}, "p", "shop", **options)
        return explanation.explain(given, parse(listed(*objects), "list"), None, lambda text: None)

    yield result
    assert not children(os.getpid())


def attempts(result) -> dict:
    return {attempt["change"]: attempt["node"] for attempt in result["attempts"]}


def test_an_explanation_lists_scores_by_plugin_and_filters_by_node(why):
    """Scores by plugin, their sum, the order; a node that does not fit has its filter."""
    tainted = node("c", taints=[{"key": "only", "value": "gpu", "effect": "NoSchedule"}])
    found = why([node("a"), node("b", cpu="8"), tainted, pod("other", on="a", cpu="2"), pod("p", on="a", cpu="1")])
    assert (found["node"], found["ties"], found["pod"]["current"], found["attempts"]) == ("b", ["b"], "a", [])
    best, second, third = found["nodes"]
    assert [row["name"] for row in found["nodes"]] == ["b", "a", "c"]
    assert best["score"] == sum(best["plugins"].values()) > second["score"] == sum(second["plugins"].values())
    assert best["plugins"]["NodeResourcesFit"] > second["plugins"]["NodeResourcesFit"]
    assert (third["fits"], third["score"], third["filters"]) == (False, None, ["TaintToleration"])
    assert "untolerated taint" in third["reason"]
    assert found["msg"] == "shop/p: b. 2 of 3 nodes fit."


def test_an_explanation_lists_equal_nodes_as_ties_and_a_single_node_without_score(why):
    assert why([*THREE, pod("p")])["ties"] == ["a", "b", "c"]
    alone = why([node("a"), pod("p")])
    assert (alone["ties"], alone["nodes"][0]["fits"], alone["nodes"][0]["score"]) == (["a"], True, None)


def test_an_explanation_shows_why_no_node_fits_and_which_change_would_help(why):
    """Each filter by its node, and each change by itself."""
    nodes = [
        node("full"),
        node("gpu", taints=[{"key": "only", "value": "gpu", "effect": "NoSchedule"}]),
        node("cordoned", unschedulable=True),
    ]
    objects = [*nodes, pod("other", on="full", cpu="3"), pod("p", cpu="1100m", nodeSelector={"disk": "ssd"})]
    found = why(objects)
    assert found["node"] == ""
    assert {row["name"]: row["filters"] for row in found["nodes"]} == {
        "full": ["NodeAffinity"],
        "gpu": ["TaintToleration"],
        "cordoned": ["NodeUnschedulable"],
    }
    assert {row["reason"] for row in found["nodes"] if row["name"] == "full"} == {"node(s) didn't match Pod's node affinity/selector"}
    assert set(attempts(found).values()) == {""}
    objects[-1]["spec"].pop("nodeSelector")
    found = why(objects)
    assert {row["name"]: row["filters"] for row in found["nodes"]}["full"] == ["NodeResourcesFit"]
    assert attempts(found) == {
        "10 % smaller requests": "full",
        "without the taint only=gpu:NoSchedule of 1 nodes": "gpu",
        "with the 1 cordoned nodes": "cordoned",
        "with one more node like full": "preview-new-1",
    }
    assert "It would fit: 10 % smaller requests; without the taint" in found["msg"]


def test_an_explanation_shows_that_the_pod_fits_without_its_affinity_rules(why):
    here = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "shop"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [here]}}
    found = why([node("a"), pod("other", on="a"), pod("p", affinity=apart)])
    assert found["nodes"][0]["filters"] == ["InterPodAffinity"]
    assert attempts(found)["without required pod anti-affinity"] == "a"
    assert attempts(found)["10 % smaller requests"] == ""
    spread = {**here, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    found = why([node("a"), node("b", unschedulable=True), pod("other", on="a"), pod("p", topologySpreadConstraints=[spread])])
    assert attempts(found)["without required topology spread constraints"] == "a"


def test_an_explanation_names_the_pods_that_would_be_preempted(why):
    found = why([node("a"), pod("victim", on="a", cpu="3500m"), pod("p", cpu="3500m", priority=1000)])
    assert (found["node"], found["preempted"], found["attempts"]) == ("a", ["shop/victim"], [])
    assert (found["nodes"][0]["fits"], found["nodes"][0]["filters"]) == (False, ["NodeResourcesFit"])


def test_an_explanation_of_a_pod_that_does_not_exist_is_an_error(why):
    with pytest.raises(InputError, match="there is no pod shop/p"):
        why(THREE)


def test_the_command_line_exits_with_1_beyond_a_limit_and_with_2_on_an_error(binary, tmp_path):
    file = tmp_path / "list.json"
    file.write_bytes(listed(*THREE, pod("p", on="a")))
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps(NOWHERE))

    def command(*arguments):
        module = "ansible_collections.osso.scheduler.plugins.module_utils.scheduler_preview"
        given = [f"--snapshot={file}", f"--config={config}", f"--binary={binary}", "--mode=replace"]
        environment = {**os.environ, "PYTHONPATH": str(COLLECTIONS)}
        return subprocess.run(
            [sys.executable, "-m", module, *given, *arguments], env=environment, capture_output=True, text=True, check=False
        )

    done = command()
    assert done.returncode == 0, done.stderr
    assert "shop/p" in done.stdout
    assert json.loads(command("--format=json").stdout)["summary"]["unschedulable"] == 1
    beyond = command("--max-unschedulable=0")
    assert (beyond.returncode, beyond.stderr.splitlines()[-1]) == (1, "1 pod would have no node, the limit is 0: shop/p.")
    config.write_text("kind: Nothing")
    rejected = command()
    assert (rejected.returncode, rejected.stderr.splitlines()[0][:40]) == (2, f"error: --config: {config}: this is"[:40])
    config.unlink()
    assert command().stderr == f"error: --config: {config} cannot be read: No such file or directory.\n"
    file.write_bytes(file.read_bytes()[:-10])
    truncated = command()
    assert (truncated.returncode, truncated.stderr.count("\n")) == (2, 1)
    assert truncated.stderr.startswith(f"error: --snapshot: {file} is truncated or damaged")


def test_the_command_line_reports_headroom_for_a_pod_or_workload_template(binary, tmp_path):
    """The template is a Pod, or a workload that has one."""
    file, config, template = tmp_path / "list.json", tmp_path / "config.yaml", tmp_path / "template.yaml"
    file.write_bytes(listed(*THREE))
    config.write_text(json.dumps(CONFIG))
    given = [f"--snapshot={file}", f"--config={config}", f"--binary={binary}", f"--template={template}", "--mode=headroom", "--limit=13"]
    command = [sys.executable, "-m", "ansible_collections.osso.scheduler.plugins.module_utils.scheduler_preview", *given]
    environment = {**os.environ, "PYTHONPATH": str(COLLECTIONS)}

    def run():
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    new = pod("x", cpu="1")
    pod_template = {"metadata": {"labels": {"app": "new"}}, "spec": new["spec"]}
    for text in (new, {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "new"}, "spec": {"template": pod_template}}):
        template.write_text(json.dumps(text))
        done = run()
        assert done.returncode == 0, done.stderr
        assert "12 more pods fit. The next one: 0/3 nodes are available: 3 Insufficient cpu." in done.stdout
    for text, why in (("[1]", "must be a Pod with metadata and spec"), ("a: [", f"{template} is no YAML: ")):
        template.write_text(text)
        assert f"error: --template: {why}" in run().stderr
    template.unlink()
    assert run().stderr == f"error: --template: {template} cannot be read: No such file or directory.\n"


def test_the_playbook_writes_the_page_and_fails_beyond_a_limit(binary, play, tmp_path):
    """The table; answers of a survey; beyond the limits it fails after the table."""
    file = tmp_path / "list.json"
    file.write_bytes(listed(*THREE, pod("p", on="a")))
    survey = {
        "preview_preset": "",
        "preview_preset_parameters": "",
        "preview_baseline": "",
        "preview_namespaces": "",
        "preview_mode": "replace",
    }
    given = {
        **survey,
        "preview_snapshot": str(file),
        "preview_binary": binary,
        "preview_config_text": json.dumps(NOWHERE),
        "preview_dest": str(tmp_path / "new"),
    }
    run = play("osso.scheduler.preview", variables=given)
    assert run.changed == ["Create the folder of the page", "Write the page"]
    page = (tmp_path / "new/preview-localhost.html").read_text()
    assert "shop/p" in Page(page).texts
    assert_whole(page)
    (line,) = [line for line in run.task("Report where the pods would be").result["msg"] if line.startswith("shop/p ")]
    assert line.split()[:4] == ["shop/p", "unschedulable", "a", "-"]
    beyond = play("osso.scheduler.preview", variables={**given, "preview_max_unschedulable": 0}, succeed=False)
    assert beyond.failures[0].result["msg"] == "Beyond the limits: 1 pod would have no node, the limit is 0: shop/p."
    assert SECRET not in run.output() + beyond.output()
    unusable = play("osso.scheduler.preview", variables={**given, "preview_dest": str(file / "new")}, succeed=False)
    assert [one.task for one in unusable.failures] == ["Create the folder of the page"], "before the preview, which takes minutes"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"preview_config_file": "/nowhere/new.yaml"}, "preview_config_file: /nowhere/new.yaml cannot be read: No such file or directory."),
        ({"preview_preset": "packing", "preview_timeout": 0}, "preview_timeout is 0: it must be from 1 to"),
        ({"preview_preset": "packing", "preview_nodes": ["x"]}, "preview_nodes: x: there is no such node"),
        ({"preview_preset": "packing", "preview_feature_gates": "{Nothing: true}"}, "Nothing"),
        *(
            pytest.param({"preview_preset": "packing", **change}, why, marks=pytest.mark.long)
            for change, why in (
                (
                    {"preview_config_text": "kind: Nothing", "preview_preset": ""},
                    "preview_config_text: this is no usable KubeSchedulerConfiguration",
                ),
                ({"preview_binary": ""}, "set preview_binary, the path of a kube-scheduler, or preview_image"),
                ({"preview_max_moved_percent": 200}, "preview_max_moved_percent is 200: it must be from 0 to 100"),
                ({"preview_labels": {"app": "x"}}, 'preview_labels: no pod is selected by labels {"app": "x"}'),
                ({"preview_baseline": {"preset": "no"}}, "preview_baseline.preset"),
                ({"preview_scores": "some"}, "preview_scores"),
                ({"preview_flags": ["--feature-gates=Nothing=true"]}, "Nothing"),
            )
        ),
    ],
)
def test_errors_of_the_playbook_name_its_variables(binary, play, tmp_path, change, why):
    file = tmp_path / "list.json"
    file.write_bytes(listed(*THREE, pod("p", on="a")))
    run = play("osso.scheduler.preview", variables={"preview_snapshot": str(file), "preview_binary": binary, **change}, succeed=False)
    assert why in run.failures[0].result["msg"]
    assert "candidate." not in run.failures[0].result["msg"]


def test_the_error_that_ansible_prints_uses_variable_names_too(tmp_path):
    """Since ansible-core 2.19, it is not the message of the task's result."""
    file = tmp_path / "list.json"
    file.write_bytes(listed(*THREE, pod("p", on="a")))
    given = ["-e", f"preview_snapshot={file}", "-e", "preview_preset=packing", "-e", "preview_binary=/bin/true"]
    done = subprocess.run(["ansible-playbook", "osso.scheduler.preview", *given], capture_output=True, text=True, check=False)
    shown = done.stdout + done.stderr
    assert "preview_binary: /bin/true --version does not print the release of a kube-scheduler" in shown
    assert "candidate." not in shown


def test_the_playbook_in_check_mode_creates_no_job(play, namespace, audit, binary, tmp_path):
    """It previews with a program of the host, or reports why there is no preview."""
    file = tmp_path / "list.json"
    file.write_bytes(listed(*THREE, pod("p", on="a")))
    job = {
        "preview_job_namespace": namespace,
        "preview_job_image": "registry.example.com/operator:1",
        "preview_dest": str(tmp_path / "page"),
    }
    given = {"preview_snapshot": str(file), "preview_image": "127.0.0.1:9/kube-scheduler:v1.34.4", "preview_preset": "packing", **job}
    with audit:
        without = play("osso.scheduler.preview", variables=given, check=True)
        local = play("osso.scheduler.preview", variables={**given, "preview_dest": "", "preview_binary": binary}, check=True)
    report = "Report where the pods would be"
    assert without.task(report).result["msg"] == "In check mode no Job is created, so there was no preview. Set preview_binary to preview."
    assert without.changed == []
    assert any(line.startswith("replace: 1 pod: ") for line in local.task(report).result["msg"])
    assert audit.writes() == []


@pytest.fixture
def live_node(kubectl):
    live = node("preview-node")
    kubectl.apply({**{key: live[key] for key in ("apiVersion", "kind", "spec")}, "metadata": {"name": "preview-node"}})
    kubectl("patch", "node", "preview-node", "--subresource=status", "--type=merge", "--patch", json.dumps({"status": live["status"]}))
    yield
    kubectl("delete", "node", "preview-node")


def test_a_snapshot_of_a_cluster_contains_its_objects_without_secrets(kubectl, namespace, live_node, tmp_path):
    """The module writes it; secrets stay in the cluster."""
    kubectl.apply({**pod("p"), "metadata": {"name": "p", "namespace": namespace, "annotations": {"token": SECRET}}})
    file = tmp_path / "snapshot.json.gz"
    checked = run_directly("scheduler_snapshot", check=True, path=str(file))
    assert not file.exists()
    done = run_directly("scheduler_snapshot", path=str(file))
    assert checked.result["changed"]
    assert done.result["changed"]
    assert done.result["objects"]["Node"] == 1
    assert file.stat().st_mode & 0o777 == 0o600
    snapshot = parse(file.read_bytes(), str(file))
    assert "p" in [found["metadata"]["name"] for found in snapshot.of("Pod")]
    assert snapshot.kubernetes.startswith("v1.")
    assert SECRET not in json.dumps(snapshot.objects)


@pytest.fixture
def placed(kubectl, namespace, live_node):
    """A pod of the scheduler `second`, on the only node."""
    # A node without a kubelet gets taints.
    about = pod("p", on="preview-node", schedulerName="second", tolerations=[{"operator": "Exists"}])
    kubectl.apply({**about, "metadata": {"name": "p", "namespace": namespace}})
    yield f"{namespace}/p"
    kubectl("delete", "pod", "p", f"--namespace={namespace}", "--force", "--grace-period=0")


def test_configure_previews_only_changes_and_writes_nothing_beyond_a_limit(
    binary, play, kubectl, secondary_scheduler_kind, namespace, placed, audit
):
    """configure previews only what changes, before it writes: within the limits, beyond them, without a program. No operator is needed for that."""

    def configure(config, preview="required", succeed=True, check=False, **given):
        scheduler = {"name": "second", "namespace": namespace, "image": "127.0.0.1:9/kube-scheduler:v1.34.7", "config": config}
        fixed = {"secondary_schedulers": [scheduler], "secondary_scheduler_wait": False, "probe": "never", "preview": preview}
        with audit:
            run = play("osso.scheduler.configure", variables={"preview_binary": binary, **fixed, **given}, succeed=succeed, check=check)
        shown = run.task("Report the effect on the pods").result["results"][0]["msg"]
        return run, shown if isinstance(shown, str) else "\n".join(shown)

    # A Job would be a write.
    checked, shown = configure(CONFIG, check=True, preview_binary="", preview_job_namespace=namespace)
    assert shown.startswith("In check mode no Job is created, so there was no preview. Set preview_binary to preview.")
    assert audit.writes(dry_run=False) == []
    checked, shown = configure(CONFIG, check=True)
    assert "replace: 1 pod: 1 same" in shown
    assert checked.task("Apply schedulers").changed
    assert audit.writes() == []
    first, shown = configure(CONFIG)
    assert "replace: 1 pod: 1 same" in shown
    assert first.task("Apply schedulers").changed
    assert audit.writes()
    again, shown = configure(CONFIG)
    assert shown == "The image and the configuration are the present ones: there is nothing to preview."
    assert (again.changed, audit.writes()) == ([], [])
    job = {"preview_binary": "", "preview_job_namespace": namespace, "preview_job_image": "registry.example.com/operator:1"}
    again, shown = configure(CONFIG, **job)
    assert shown == "The image and the configuration are the present ones: there is nothing to preview."
    assert (again.changed, audit.writes()) == ([], [])
    beyond, shown = configure(NOWHERE, succeed=False)
    assert beyond.failures[0].result["msg"] == f"Beyond the limits: 1 pod would have no node, the limit is 0: {placed}."
    assert audit.writes(dry_run=True) == []
    # Without a program the effect is unknown; with `report` the play goes on.
    without, shown = configure(NOWHERE, preview="report", preview_binary="")
    assert "Or set preview_binary to the path of a kube-scheduler on this host" in shown
    assert "candidate." not in shown
    assert without.task("Apply schedulers").changed


def test_a_job_that_may_not_be_created_is_reported_but_not_as_left_over(kubectl, namespace, tmp_path):
    """It is not reported as left over."""
    file = tmp_path / "list.json"
    file.write_bytes(listed(*THREE, pod("p", on="a")))
    given = {
        "snapshot": str(file),
        "candidate": {"image": "registry.example.com/kube-scheduler:v1.34.4", "config": CONFIG},
        "job": {"namespace": namespace, "image": "registry.example.com/operator:1"},
    }
    with service_account(kubectl, namespace) as robot:
        refused = run_directly("scheduler_preview", succeed=False, **given, **robot).message
    assert 'cannot create resource "jobs"' in refused
    assert "left over" not in refused


def test_an_unknown_value_of_preview_is_rejected_with_the_valid_ones(play):
    run = play("osso.scheduler.configure", variables={"preview": "always"}, succeed=False)
    assert run.failures[0].result["msg"] == "preview is always: set never, report or required. Nothing was changed."


@pytest.mark.parametrize("module", ["scheduler_preview", "scheduler_explain"])
def test_examples_run_unchanged_and_write_nothing(api_server, play, live_node, binary, tmp_path, module):
    (tmp_path / "kube-scheduler").symlink_to(binary)
    since = api_server.position()
    run_examples(play, PLUGINS / f"modules/{module}.py", tmp_path)
    assert api_server.requests(since)
    assert api_server.writes(since) == []
