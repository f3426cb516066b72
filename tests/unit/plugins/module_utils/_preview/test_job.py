# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Job of a preview, its question and its answer. With real nodes: tests/integration/test_preview_job.py."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Resource
from ansible_collections.osso.scheduler.plugins.module_utils._preview import explanation, in_pod, job
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import Options
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import parse
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import job_pods
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import SchedulerDiscovery
from support.preview import CONFIG, listed, node

IMAGE, OTHER = "registry.example.com/kube-scheduler:v1.34.4", "registry.example.com/kube-scheduler:v1.35.1"
SCHEDULER = job.Program(IMAGE, "/usr/local/bin/kube-scheduler")
ANSWER = {"result": {"msg": random.Random(1).randbytes(30_000).hex()}}


def test_an_answer_in_several_lines_is_read_from_a_log():
    """The lines are in any order, among others."""
    lines = list(in_pod.written(ANSWER))
    assert len(lines) > 3
    assert max(map(len, lines)) < 10_000
    assert in_pod.read("\n".join(["a warning", *reversed(lines), "osso-preview is done", ""])) == ANSWER


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda lines: [], "the log has 0 of an unknown number of parts of the result"),
        (lambda lines: lines[1:], f"the log has {len(list(in_pod.written(ANSWER))) - 1} of {len(list(in_pod.written(ANSWER)))} parts"),
        (lambda lines: [lines[0][:-1] + "+", *lines[1:]], "the log has . of "),
        (lambda lines: ["osso-preview 1/1 352441c2 abc"], "the log contains a damaged result"),
        (lambda lines: list(in_pod.written([])), "the log contains a damaged result"),
    ],
    ids=["empty", "part lost", "part changed", "no base64", "no mapping"],
)
def test_an_incomplete_log_is_an_error(damage, why):
    with pytest.raises(ClusterError, match=why):
        in_pod.read("\n".join(damage(list(in_pod.written(ANSWER)))))


def for_the_pod(candidate, baseline=None):
    return job._for_the_pod(Options(candidate, "replace", baseline))


def test_each_image_is_a_container():
    """Without what only the host of the task has; a baseline without a program, or with the same image, runs with that of the candidate."""
    side = {"image": IMAGE, "config": CONFIG, "auth_file": "/a", "skopeo": "skopeo", "validate_certs": True, "flags": ["--x=1"]}
    programs, given = for_the_pod(side, {"config_text": "text", "may_be_broken": True})
    assert programs == {"candidate": SCHEDULER}
    assert sorted(given["candidate"]) == ["binary", "config_text", "flags", "image", "source"]
    assert given["baseline"] == {"config_text": "text", "source": "baseline.config_text", "may_be_broken": True}
    assert for_the_pod(side, {"image": IMAGE, "config_text": "text"})[0] == {"candidate": SCHEDULER}
    programs, given = for_the_pod({**side, "plugins": "scheduler-plugins"}, {"image": OTHER, "config_text": "text"})
    assert programs == {"candidate": (IMAGE, "/bin/kube-scheduler"), "baseline": (OTHER, "/usr/local/bin/kube-scheduler")}
    assert given["baseline"]["binary"]


@pytest.mark.parametrize(
    ("candidate", "baseline", "why"),
    [
        ({"config": CONFIG}, None, "candidate: set candidate.image, whose kube-scheduler the Job uses"),
        ({"image": IMAGE}, None, "candidate: set one of candidate.config, candidate.config_text"),
        (
            {"image": IMAGE, "config": CONFIG},
            {"binary": "/x", "config": CONFIG},
            "baseline.binary is a file of this host.*set baseline.image",
        ),
    ],
)
def test_sides_that_a_job_cannot_run_are_rejected(candidate, baseline, why):
    with pytest.raises(InputError, match=why):
        for_the_pod(candidate, baseline)


def test_a_configuration_file_that_is_no_text_is_an_error(tmp_path):
    (tmp_path / "config").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"candidate\.config_file: .*/config is no UTF-8"):
        for_the_pod({"image": IMAGE, "config_file": str(tmp_path / "config")})


def test_the_image_of_the_sandbox_is_that_of_the_operator(monkeypatch):
    """Not that of the upstream operator, which does not contain the collection."""
    found = [{"variant": "upstream", "image": "upstream:1"}]
    monkeypatch.setattr(SchedulerDiscovery, "operators", lambda discovery: found)
    with pytest.raises(InputError, match=r"job\.image: there is no operator of the collection"):
        job._of_the_operator(None)
    found.append({"variant": "osso", "image": "operator:1"})
    assert job._of_the_operator(None) == "operator:1"


def test_the_pod_has_no_rights():
    made = job.manifest(
        "n", job.Place("ns", "operator:1"), {"candidate": SCHEDULER, "baseline": SCHEDULER}, ["n-0", "n-1"], 60, 700, {"runAsNonRoot": True}
    )
    spec = made["spec"]["template"]["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert "serviceAccountName" not in spec
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert [container["name"] for container in spec["containers"]] == ["candidate", "baseline", "preview"]
    assert {str(container["securityContext"]) for container in spec["containers"]} == {str(job_pods.CONTAINER_SECURITY)}
    # A ResourceQuota on limits rejects pods without them.
    assert all(set(container["resources"]["limits"]) == {"cpu", "memory"} for container in spec["containers"])
    assert spec["containers"][-1]["resources"]["limits"]["memory"] == "700Mi"
    (question, _tmp) = spec["volumes"]
    assert [source["secret"]["name"] for source in question["projected"]["sources"]] == ["n-0", "n-1"]
    # Should the module be killed
    assert (made["spec"]["activeDeadlineSeconds"], made["spec"]["ttlSecondsAfterFinished"]) == (60, 60)


def test_the_pod_of_a_preview_has_all_its_fields():
    made = job.manifest("n", job.Place("ns", "operator:1"), {"candidate": SCHEDULER}, ["n-0", "n-1"], 60, 700, {"runAsNonRoot": True})
    spec = made["spec"]["template"]["spec"]
    (scheduler, sandbox), (question, tmp) = spec.pop("containers"), spec.pop("volumes")
    assert spec.pop("securityContext") == {"runAsNonRoot": True, "runAsGroup": job_pods.USER}
    assert spec == {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 0,
        "enableServiceLinks": False,
        "shareProcessNamespace": True,
    }
    assert made["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "osso.scheduler", job.LABEL: "n"}
    assert (scheduler["name"], scheduler["image"], scheduler["env"]) == ("candidate", IMAGE, [{"name": in_pod.SIDE, "value": "candidate"}])
    assert scheduler["command"] == ["/usr/local/bin/kube-scheduler"]
    assert sandbox == {
        "name": "preview",
        "image": "operator:1",
        "command": ["python3", "-m", in_pod.__name__],
        "env": [{"name": "PYTHONPATH", "value": "/opt/ansible/python:/usr/share/ansible/collections"}, {"name": "HOME", "value": "/tmp"}],
        "resources": {"requests": {"cpu": "100m", "memory": "300Mi"}, "limits": {"cpu": "2", "memory": "700Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "question", "mountPath": in_pod.FOLDER, "readOnly": True}, {"name": "tmp", "mountPath": "/tmp"}],
    }
    sources = [{"secret": {"name": f"n-{number}", "items": [{"key": "part", "path": f"000{number}"}]}} for number in range(2)]
    assert (question, tmp) == ({"name": "question", "projected": {"sources": sources}}, {"name": "tmp", "emptyDir": {}})


@pytest.fixture
def answered(tmp_path):
    """The answer to a question in several files."""

    def run(options, snapshot, work=in_pod.PREVIEW):
        for path in tmp_path.iterdir():
            path.rmdir() if path.is_dir() else path.unlink()
        content = in_pod.question(options, snapshot, work)
        for number in range(0, len(content), 100):
            (tmp_path / f"{number // 100:04}").write_bytes(content[number : number + 100])
        (tmp_path / "..data").mkdir()
        return in_pod.answer(str(tmp_path))

    return run


def test_bad_questions_have_an_error_as_their_answer(answered, monkeypatch):
    whole = parse(listed(node("a")), "list").write()
    monkeypatch.setattr(in_pod, "PROGRAM_SECONDS", 0)
    candidate = {"image": IMAGE, "binary": "kube-scheduler", "config_text": "x"}
    missing = "candidate.image: the program of the image was not found within 0 s: its container runs no process."
    assert answered({"candidate": candidate, "mode": "replace"}, whole)["error"] == missing
    assert answered({"candidate": candidate, "name": "p"}, whole, in_pod.EXPLAIN)["error"] == missing
    other = answered({"candidate": candidate, "mode": "replace"}, whole, in_pod.EXPLAIN)["error"]
    assert other.startswith("job.image: the image contains another version of the collection")


@pytest.mark.parametrize(
    ("options", "cut", "why"),
    [
        ({"new_option": 1}, 0, "job.image: the image contains another version of the collection: .*new_option"),
        ({}, 9, "the snapshot is truncated or damaged"),
        ({"nodes": ["b"]}, 0, "nodes: b: there is no such node"),
        ({"limit": "x"}, 0, r"A bug of osso\.scheduler"),
    ],
)
def test_errors_in_the_job_are_raised_with_their_messages(answered, options, cut, why):
    whole = parse(listed(node("a")), "list").write()
    found = answered({"candidate": {"image": IMAGE, "config_text": "x"}, "mode": "replace", **options}, whole[: len(whole) - cut])
    with pytest.raises(ClusterError, match=why):
        job._result("\n".join(in_pod.written(found)), "operator:1")


def pod(**states):
    containers = [{"name": "candidate", "image": IMAGE, "command": [SCHEDULER.path]}, {"name": "preview", "image": "operator:1"}]
    return {
        "spec": {"containers": containers, "nodeName": "n-1"},
        "status": {"phase": "Running", "containerStatuses": [{"name": name, "state": state} for name, state in states.items()]},
    }


def ended(code, **more):
    return {"terminated": {"exitCode": code, **more}}


def test_a_program_that_was_copied_has_ended():
    assert job_pods.state(pod(candidate=ended(137), preview={"running": {}}), "preview") == (None, "")
    assert job_pods.state(pod(candidate=ended(137), preview=ended(0)), "preview") == ({"exitCode": 0}, "")


@pytest.mark.parametrize(
    ("states", "why"),
    [
        (
            {"candidate": ended(1), "preview": {"running": {}}},
            f"{IMAGE} has no usable /usr/local/bin/kube-scheduler: it ended with status 1",
        ),
        (
            {"candidate": ended(128, reason="StartError", message="no such file")},
            f"{IMAGE} has no usable /usr/local/bin/kube-scheduler: no such file",
        ),
        ({"preview": ended(128, reason="StartError", message="no python3")}, "operator:1 cannot be started: no python3"),
        ({"preview": {"waiting": {"reason": "ImagePullBackOff"}}}, "operator:1 cannot be pulled: ImagePullBackOff: no further details"),
    ],
)
def test_a_pod_that_cannot_run_is_an_error_that_names_its_image(states, why):
    with pytest.raises(ClusterError, match=why):
        job_pods.state(pod(**states), "preview")


QUOTA = "is forbidden: failed quota: q: must specify limits.cpu for: candidate; limits.memory for: candidate"


def warning(attempt, why):
    return {"message": f'Error creating: pods "{attempt}" {why}'}


class Cluster:
    """A client of a cluster with a Job whose pod has one state. Each watch takes a second of a clock of its own."""

    def __init__(self, monkeypatch, events=(), states=None, log="", namespace=None, forbidden=()):
        self.events, self.states, self.logs, self.namespace, self.forbidden = events, states, log, namespace, forbidden
        self.now, self.created, self.ready = 0.0, [], "True"
        monkeypatch.setattr(job_pods.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(SchedulerDiscovery, "openshift", lambda discovery: False)

    def resource(self, api_version, kind):
        return Resource(api_version, kind, kind.lower() + "s", kind != "Namespace")

    def _check(self, verb, resource):
        if (verb, resource.kind) in self.forbidden:
            message = f'{resource.plural} is forbidden: User "robot" cannot {verb} resource'
            raise ApiError(403, "Forbidden", message, {}, "DELETE" if verb == "delete" else "GET", "/")

    def create(self, resource, obj):
        self._check("create", resource)
        self.created.append(obj)
        return {**obj, "metadata": {**obj["metadata"], "uid": "u"}}

    def delete(self, resource, name, namespace):
        self._check("delete", resource)

    def get(self, resource, name, namespace=None):
        self._check("get", resource)
        return self.namespace if resource.kind == "Namespace" else {"status": {"conditions": [{"type": "Ready", "status": self.ready}]}}

    def list(self, resource, namespace, field_selector):
        self._check("list", resource)
        (name,) = {one["metadata"]["name"] for one in self.created if one["kind"] == "Job"}
        return [{**event, "message": event["message"].replace("NAME", name)} for event in self.events]

    def watch(self, resource, namespace, label_selector, timeout):
        self.now += max(1.0, timeout)
        if self.states:
            yield "ADDED", {"metadata": {"name": "p"}, **pod(**self.states)}

    def text(self, path, query):
        return self.logs if "tailLines" not in query else self.logs[-100:]

    def preview(self, timeout=20, warn=None):
        options = Options({"image": IMAGE, "config": CONFIG}, "replace", timeout=timeout)
        return job.carry_out(
            job.PREVIEW, self, options, parse(listed(node("a")), "list"), job.Place("ns", "operator:1"), self.seen.append, warn
        )

    @property
    def seen(self):
        return self.__dict__.setdefault("sentences", [])


HERE = {"metadata": {"name": "ns"}}


@pytest.mark.parametrize("why", [QUOTA, "is forbidden: maximum memory usage per Container is 100Mi, but limit is 512Mi"])
def test_a_rejected_pod_is_named_at_once_and_once(monkeypatch, why):
    events = [warning(f"NAME-{suffix}", why) for suffix in ("abcde", "fghij", "klmno")]
    cluster = Cluster(monkeypatch, events, namespace=HERE)
    with pytest.raises(ClusterError) as caught:
        cluster.preview()
    assert cluster.now < 10
    assert caught.value.message.count("forbidden") == 1
    assert re.fullmatch(rf'The Job ns/(\S+) has no pod: Error creating: pods "\1" {why}\. Use a namespace whose .*', caught.value.message)


@pytest.mark.parametrize("why", ["is forbidden: error looking up service account", "is forbidden: status unknown for quota: q"])
def test_a_lasting_rejection_of_the_pod_is_an_error(monkeypatch, why):
    cluster = Cluster(monkeypatch, [warning("NAME-abcde", why)], namespace=HERE)
    with pytest.raises(ClusterError, match=f"has no pod: .*{why}"):
        cluster.preview()
    assert cluster.now > 60


def test_a_rejection_that_ends_by_itself_is_waited_for(monkeypatch):
    """An API server rejects pods of a new namespace until that has its ServiceAccount."""
    cluster = Cluster(monkeypatch, [warning("NAME-abcde", 'is forbidden: serviceaccount "default" not found')], namespace=HERE, log=WHOLE)

    def look(sentence):
        cluster.states = {"preview": ended(0)}

    monkeypatch.setattr(Cluster, "seen", type("", (), {"append": staticmethod(look)}))
    assert cluster.preview()["msg"] == "replace"


def test_a_job_without_a_pod_names_the_command_to_read_its_events(monkeypatch):
    cluster = Cluster(monkeypatch, forbidden={("list", "Event")}, namespace=HERE)
    with pytest.raises(
        ClusterError, match=r"has no pod: its events, which have the reason, cannot be read .* kubectl -n ns get events --f"
    ):
        cluster.preview()
    assert cluster.now < 70


MISSING = 'namespaces "ns" not found'


@pytest.mark.parametrize(
    ("namespace", "why"),
    [
        (None, "job.namespace: the namespace ns does not exist. Create it, or set another namespace."),
        (
            {"metadata": {"name": "ns", "deletionTimestamp": "2026-11-23T20:00:00Z"}},
            "job.namespace: the namespace ns is being deleted. Set another namespace, or wait until it is deleted and create it.",
        ),
    ],
)
def test_a_namespace_that_is_deleted_meanwhile_is_named_as_the_cause(monkeypatch, namespace, why):
    """The images are not the reason, although their containers do not start."""
    cluster = Cluster(monkeypatch, states={"preview": {"waiting": {"reason": "CreateContainerConfigError"}}}, namespace=namespace)
    with pytest.raises(ClusterError) as caught:
        cluster.preview()
    assert caught.value.message == why


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (MISSING, "job.namespace: the namespace ns does not exist"),
        ("unable to create new content in namespace ns because it is being terminated", "job.namespace: the namespace ns is being deleted"),
        ("quota", "quota"),
    ],
)
def test_the_error_names_the_namespace_although_it_cannot_be_read(monkeypatch, message, why):
    cluster = Cluster(monkeypatch, forbidden={("get", "Namespace")})
    assert job_pods.unusable_namespace(cluster, "ns", "job.namespace", ClusterError(message)).startswith(why if why != "quota" else "")


AMOUNTS = {"pods": 0, "cpu_millis": 0, "memory": 0}
SHARES = {"empty_nodes": 1, **{f"{of}_percent_{what}": 0.0 for of in ("cpu", "memory") for what in ("mean", "deviation")}}


def a_result():
    """As `preview.preview` makes it."""
    row = {"namespace": "n", "name": "p", "current": "", "before": "", "node": "", "status": "same", "reason": "", "ties": [], "scores": {}}
    node_row = {"name": "a", "allocatable": AMOUNTS, "before": AMOUNTS, "after": AMOUNTS}
    counts = ("pods", "same", "tie", "moved", "unschedulable", "preempts", "not_compared", "newly_unschedulable", "newly_schedulable")
    summary = {
        **dict.fromkeys(counts, 0),
        "moved_percent": 0.0,
        **{key: [] for key in ("preempted", "lost")},
        **{when: {**SHARES, "load": None} for when in ("before", "after")},
    }
    more = {key: [] for key in ("exceeded", "assumptions", "missing", "scheduler_names")}
    about = {"pods": [row], "nodes": [node_row], "summary": summary, "headroom": None}
    return {"changed": False, **about, **more, "kubernetes_version": "1.34", "msg": "replace"}


WHOLE = "\n".join(in_pod.written({"result": a_result()}))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"pods": None}, "result.pods is missing, not a list"),
        ({"pods": [{"name": "p"}]}, r"result.pods\[0\].namespace is missing, not a str"),
        ({"summary": {"pods": "3"}}, "result.summary.pods is a str, not a int"),
        ({"nodes": [7]}, r"result.nodes\[0\] is a int, not a dict"),
        ({"headroom": {"pods": 1}}, "result.headroom.stopped_by is missing"),
        ({"summary": {**a_result()["summary"], "after": {**SHARES, "load": 7}}}, "result.summary.after.load is a int, not a dict"),
    ],
)
def test_a_result_with_another_structure_is_an_error(change, why):
    log = "\n".join(in_pod.written({"result": {**a_result(), **change}}))
    with pytest.raises(
        ClusterError, match=rf"job\.image: the container of operator:1 wrote a result of another version: {why}.*must contain this"
    ):
        job._result(log, "operator:1")


AN_EXPLANATION = {
    "changed": False,
    "pod": {"namespace": "n", "name": "p", "current": ""},
    "nodes": [{"name": "a", "fits": True, "score": None, "plugins": {}, "filters": [], "reason": ""}],
    "attempts": [{"change": "10 % smaller requests", "fits": False, "node": "", "reason": "no"}],
    **{key: [] for key in ("ties", "preempted", "assumptions", "missing")},
    **dict.fromkeys(("node", "reason", "kubernetes_version", "msg"), ""),
}


def test_an_explanation_by_a_job_has_its_own_structure_and_options():
    """Has a structure of its own; its options are those of an explanation."""
    assert job._result("\n".join(in_pod.written({"result": AN_EXPLANATION})), "operator:1", job.EXPLAIN) == AN_EXPLANATION
    with pytest.raises(ClusterError, match=r"wrote a result of another version: result\.nodes\[0\]\.fits is missing, not a bool"):
        job._result("\n".join(in_pod.written({"result": {**AN_EXPLANATION, "nodes": [{"name": "a"}]}})), "operator:1", job.EXPLAIN)
    programs, given = job._for_the_pod(explanation.Options({"image": IMAGE, "config": CONFIG}, "p"))
    assert (programs, given["name"]) == ({"candidate": SCHEDULER}, "p")
    snapshot = parse(listed(node("a")), "list")
    with pytest.raises(InputError, match="there is no pod default/p"):
        job.carry_out(job.EXPLAIN, None, explanation.Options({"image": IMAGE}, "p"), snapshot, job.Place("ns"), print, print)


@pytest.mark.parametrize("answer", [{}, {"result": 7}, {"error": 7}, {"answer": "x"}])
def test_an_answer_without_a_result_is_an_error(answer):
    with pytest.raises(ClusterError, match=r"job\.image: the container of operator:1 wrote a result of another version: result is "):
        job._result("\n".join(in_pod.written(answer)), "operator:1")


def test_a_log_without_a_result_names_the_image():
    with pytest.raises(
        ClusterError, match=r"job\.image: the container of operator:1 wrote no complete result: the log has 0 of an unknown"
    ):
        job._result("Welcome!", "operator:1")


def test_only_what_belongs_to_a_result_is_returned():
    """The image is not trusted: Ansible acts on other keys."""
    log = "\n".join(in_pod.written({"result": {**a_result(), "ansible_facts": {"x": 1}, "changed": True}}))
    assert job._result(log, "operator:1") == a_result()


def test_a_sandbox_without_progress_ends_with_an_error(monkeypatch):
    cluster = Cluster(monkeypatch, states={"preview": {"running": {}}}, namespace=HERE)
    with pytest.raises(
        ClusterError, match=r"job\.image: the container of operator:1 on the node n-1 has shown no progress for 120 s\. .* raise timeout"
    ):
        cluster.preview()
    assert cluster.now < 150


def test_a_node_that_is_not_ready_is_named_as_the_cause(monkeypatch):
    """With the permission to read nodes, it is named as the cause."""
    cluster = Cluster(monkeypatch, states={"preview": {"running": {}}}, namespace=HERE)
    cluster.ready = "Unknown"
    with pytest.raises(
        ClusterError, match=r"job: the node n-1, on which the Job ns/osso-preview-\S+ runs, is not ready: there was no progress for 120 s"
    ):
        cluster.preview()


def test_a_sandbox_that_shows_progress_has_more_time(monkeypatch):
    cluster = Cluster(monkeypatch, states={"preview": {"running": {}}}, namespace=HERE)
    monkeypatch.setattr(cluster, "text", lambda path, query: f"2026-11-23T20:00:{cluster.now} progress: 3 of 4 pods\n")
    with pytest.raises(ClusterError, match=r"gave no result within 42\d s: it has not ended; raise timeout"):
        cluster.preview()
    assert cluster.seen[-1] == "3 of 4 pods"


def test_a_job_that_runs_out_of_memory_is_reported_with_the_remedy(monkeypatch):
    cluster = Cluster(monkeypatch, states={"preview": ended(137, reason="OOMKilled")}, namespace=HERE)
    with pytest.raises(ClusterError, match=r"job: the preview needs more than 512 MiB of memory.*set candidate\.binary"):
        cluster.preview()


def test_a_result_is_returned_although_the_job_cannot_be_deleted(monkeypatch):
    warnings = []
    cluster = Cluster(monkeypatch, states={"preview": ended(0)}, log=WHOLE, namespace=HERE, forbidden={("delete", "Job")})
    assert cluster.preview(warn=warnings.append)["msg"] == "replace"
    (text,) = warnings
    assert re.fullmatch(
        r"The Job (\S+) may be left over \(.*forbidden.*\); delete it: kubectl -n ns delete job \1\. Otherwise .* a minute .*", text
    )


def test_a_pod_that_does_not_start_in_time_is_an_error(monkeypatch):
    """Whatever keeps the pod from starting."""
    cluster = Cluster(monkeypatch, states={"preview": {"waiting": {"reason": "Other", "message": "why"}}}, namespace=HERE)
    with pytest.raises(ClusterError, match=r"gave no result within 30\d s: Other: why"):
        cluster.preview()


@pytest.fixture
def other_container():
    """A process that another container of the pod runs for a side, under its variable."""
    side = f"candidate-{random.Random().getrandbits(40)}"
    with subprocess.Popen(["sleep", "60"], env={in_pod.SIDE: side}) as process:
        yield side, process
        process.kill()


def test_the_program_of_another_container_is_copied_and_its_process_ended(tmp_path, other_container):
    side, process = other_container
    path = str(tmp_path / "copy")
    assert in_pod._copied(side, path) == path
    assert process.wait(60) == -9
    assert (Path(path).read_bytes(), Path(path).stat().st_mode & 0o777) == (Path(shutil.which("sleep")).resolve().read_bytes(), 0o700)


def test_a_program_that_no_container_runs_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(in_pod, "PROGRAM_SECONDS", 0.05)
    why = r"^side\.image: the program of the image was not found within 0\.05 s: its (container runs no process|process cannot be read)\.$"
    with pytest.raises(ClusterError, match=why):
        in_pod._copied("side", str(tmp_path / "copy"))
