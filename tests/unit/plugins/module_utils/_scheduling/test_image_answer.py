# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an image's answer means, and the Job that asks it (scheduling/image_answer.py). The Job itself runs in the integration tests."""

from __future__ import annotations

import base64
import re

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import job_pods
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.image_answer import (
    Answer,
    Question,
    ask,
    ask_without_waiting,
    interpret,
    job,
)
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import SchedulerDiscovery

CONFIG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
WARNING = "W1120 21:32:19.427903       1 client_config.go:667] Neither --kubeconfig nor --master was specified.\n"
WROTE = 'I1120 21:32:19.505310       1 configfile.go:106] "Wrote configuration" file="/dev/stdout"\n'
FAILED = 'E1120 21:32:04.268985       1 run.go:72] "command failed" err='


@pytest.mark.parametrize(
    ("exit_code", "log", "answer"),
    [
        (0, WARNING + CONFIG + WROTE, Answer(True, "", CONFIG)),
        (0, WARNING + WROTE, Answer(True)),
        (0, CONFIG + "I1120 21:32:19.505310       1 configfile.go:84] Wrote configuration to: /dev/stdout\n", Answer(True, "", CONFIG)),
        (1, WARNING + FAILED + '"ScorePlugin \\"X\\" does not exist"\n', Answer(False, 'ScorePlugin "X" does not exist')),
        (1, FAILED + "<\n\tfirst\n\t second\n >\n", Answer(False, "first\n second")),
        (1, FAILED + '"bell \\a"\n', Answer(False, "bell \\x07")),
        (2, WARNING + "panic: runtime error: nil\n\ngoroutine 1 [running]:\n", Answer(False, "panic: runtime error: nil")),
        (255, "F1120 21:32:04.268985       1 watcher.go:1] port 2020 is in use\n", Answer(False, "port 2020 is in use")),
        (1, "strict decoder error for x: unknown field\n", Answer(False, "strict decoder error for x: unknown field")),
    ],
    ids=["accepted", "accepted, written elsewhere", "1.21", "refused", "several lines", "escape of Go", "panic", "fatal", "1.22"],
)
def test_exit_code_and_log_of_the_image_yield_a_verdict(exit_code, log, answer):
    assert interpret("image:1", exit_code, log) == answer


@pytest.mark.parametrize(
    ("exit_code", "log", "said"),
    [
        (0, "hello\n", "hello"),
        (1, "Error: unknown flag: --write-config-to\n", "unknown flag"),
        (137, "", "it wrote nothing"),
    ],
)
def test_output_without_a_verdict_is_an_error(exit_code, log, said):
    with pytest.raises(ClusterError, match=f"image:1 gave no verdict.* {exit_code}: .*{said}"):
        interpret("image:1", exit_code, log)


def container(**question):
    spec = job(Question("image:1", CONFIG, **question), "osso-ask-1", {})["spec"]["template"]["spec"]
    return spec["containers"][0]


def test_the_job_runs_the_given_command_with_the_given_pull_secrets():
    spec = job(Question("image:1", CONFIG, command=("/scheduler", "-x"), pull_secrets=("a", "b")), "osso-ask-1", {})["spec"]["template"][
        "spec"
    ]
    assert spec["containers"][0]["command"] == ["/scheduler", "-x"]
    assert spec["imagePullSecrets"] == [{"name": "a"}, {"name": "b"}]


def test_the_flags_of_the_job_come_after_given_flags():
    args = container(flags=("-v=8", "--secure-port=10259"))["args"]
    assert args.index("-v=8") < args.index("-v=0")
    assert args.index("--secure-port=10259") < args.index("--secure-port=0")


def test_configuration_with_a_credential_gets_into_no_log():
    assert "--write-config-to=/dev/stdout" in container()["args"]
    assert "--write-config-to=/tmp/completed.yaml" in container(secrets=("open-sesame",))["args"]


def test_configuration_is_not_in_the_job():
    assert "open-sesame" not in str(job(Question("image:1", "token: open-sesame", secrets=("open-sesame",)), "osso-ask-1", {}))


def test_openshift_chooses_the_user_of_the_pod(monkeypatch):
    for openshift in (True, False):
        monkeypatch.setattr(SchedulerDiscovery, "openshift", lambda discovery, is_so=openshift: is_so)
        security = job_pods.pod_security(None)
        assert security["runAsNonRoot"] is True
        assert ("runAsUser" in security) is not openshift


def test_a_timeout_of_zero_is_rejected():
    with pytest.raises(InputError, match="ask_timeout is 0"):
        Question("image:1", CONFIG, timeout=0)


class Cluster:
    """Keeps what is created; the pod of the Job has this state, and its log this text."""

    def __init__(self, monkeypatch, pod=None, log="", errors=(), events=(), created="2026-01-01T00:00:00Z"):
        monkeypatch.setattr(SchedulerDiscovery, "openshift", lambda discovery: True)
        self.pod, self.log, self.errors, self.found, self.created = pod, log, dict(errors), list(events), created
        self.objects, self.seen, self.queries = {}, [], []

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def _see(self, verb, kind):
        self.seen.append(f"{verb} {kind}")
        if (verb, kind) in self.errors:
            raise self.errors[verb, kind]

    def get(self, resource, name, namespace=None):
        return self.objects.get((resource.kind, namespace, name)) or ({"metadata": {}} if resource.kind == "Namespace" else None)

    def create(self, resource, obj):
        self._see("create", resource.kind)
        metadata = {**obj["metadata"], "uid": "u", "creationTimestamp": self.created}
        stored = self.objects[resource.kind, metadata["namespace"], metadata["name"]] = {**obj, "metadata": metadata}
        return stored

    def list(self, resource, namespace, label_selector=None, field_selector=None):
        self.queries.append((resource.kind, namespace, label_selector or field_selector))
        return self.found if resource.kind == "Event" else [self.pod] if self.pod else []

    def watch(self, resource, namespace, label_selector, timeout):
        self.queries.append((resource.kind, namespace, label_selector))
        if self.pod:
            yield "ADDED", self.pod

    def text(self, path, query):
        self.queries.append((path, query))
        return self.log

    def delete(self, resource, name, namespace):
        self._see("delete", resource.kind)
        self.objects.pop((resource.kind, namespace, name), None)


def finished(exit_code=0):
    state = {"terminated": {"exitCode": exit_code}}
    spec = {"containers": [{"name": "kube-scheduler", "image": "image:1"}]}
    return {"metadata": {"name": "p"}, "spec": spec, "status": {"containerStatuses": [{"name": "kube-scheduler", "state": state}]}}


RUNNING = {**finished(), "status": {}}
QUESTION = Question("image:1", CONFIG, namespace="n", secrets=("open-sesame",))
CREATED, DELETED = ["create Job", "create Secret"], ["delete Job", "delete Secret"]
REFUSED_LOG = FAILED + '"token open-sesame is unusable"\n'


def test_the_job_of_a_question_has_all_its_fields():
    made = job(Question("image:1", CONFIG, ("-v=8",), "n", "sa", 120), "osso-ask-1", {"runAsNonRoot": True})
    labels = {"app.kubernetes.io/managed-by": "osso.scheduler", "osso.scheduler/image-answer": "osso-ask-1"}
    assert made["metadata"] == {"name": "osso-ask-1", "namespace": "n", "labels": labels}
    assert made["spec"]["activeDeadlineSeconds"] == 150
    assert made["spec"]["template"]["spec"] == {
        "restartPolicy": "Never",
        "serviceAccountName": "sa",
        "imagePullSecrets": [],
        "terminationGracePeriodSeconds": 0,
        "enableServiceLinks": False,
        "securityContext": {"runAsNonRoot": True},
        "containers": [
            {
                "name": "kube-scheduler",
                "image": "image:1",
                "command": ["/bin/kube-scheduler"],
                "args": ["--config=/etc/kubernetes/config.yaml", "-v=8", "--secure-port=0", "-v=0", "--write-config-to=/dev/stdout"],
                "resources": {"requests": {"cpu": "15m", "memory": "50Mi"}, "limits": {"cpu": "500m", "memory": "200Mi"}},
                "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
                "volumeMounts": [
                    {"name": "config", "mountPath": "/etc/kubernetes", "readOnly": True},
                    {"name": "tmp", "mountPath": "/tmp"},
                ],
            }
        ],
        "volumes": [{"name": "config", "secret": {"secretName": "osso-ask-1"}}, {"name": "tmp", "emptyDir": {"medium": "Memory"}}],
    }


def test_the_answer_is_read_and_everything_deleted(monkeypatch):
    cluster = Cluster(monkeypatch, finished(), CONFIG + WROTE)
    assert ask(cluster, QUESTION) == Answer(True, "", CONFIG)
    assert (cluster.seen, cluster.objects) == ([*CREATED, *DELETED], {})
    (label, (path, query)) = cluster.queries
    assert label[:2] == ("Pod", "n")
    assert label[2].startswith("osso.scheduler/image-answer=osso-ask-")
    assert (path, query) == ("/api/v1/namespaces/n/pods/p/log", {"container": "kube-scheduler"})


def test_a_rejection_does_not_show_secrets(monkeypatch):
    assert ask(Cluster(monkeypatch, finished(1), REFUSED_LOG), QUESTION) == Answer(False, "token ******** is unusable")


def test_a_job_that_cannot_be_deleted_is_a_warning_of_the_answer(monkeypatch):
    cluster = Cluster(monkeypatch, finished(), CONFIG + WROTE, {("delete", "Job"): ApiError(403, "Forbidden", "no open-sesame")})
    answer = ask(cluster, QUESTION)
    assert answer.valid
    assert re.match(r"The Job osso-ask-\w+ may be left over \(no \*{8}\); delete it: kubectl -n n delete job,secret", answer.warning)


def test_an_image_without_a_verdict_is_an_error_and_leaves_nothing(monkeypatch):
    cluster = Cluster(monkeypatch, finished(3), "open-sesame\n")
    with pytest.raises(ClusterError, match=r"^The image image:1 gave no verdict: .* ended with status 3: \*{8}\. "):
        ask(cluster, QUESTION)
    assert cluster.objects == {}


def test_a_question_is_answered_in_several_calls(monkeypatch):
    cluster = Cluster(monkeypatch, RUNNING)

    def call(seconds):
        return ask_without_waiting(cluster, QUESTION, f"2026-01-01T00:{seconds // 60:02}:{seconds % 60:02}Z")

    assert call(0) == 2
    (secret,) = [one for (kind, *_name), one in cluster.objects.items() if kind == "Secret"]
    assert secret["data"] == {"config.yaml": base64.b64encode(CONFIG.encode()).decode()}
    assert secret["metadata"]["name"] == f"osso-ask-{QUESTION.digest}"
    assert [call(seconds) for seconds in (1, 5, 60, 119)] == [2, 5, 10, 10]
    cluster.pod, cluster.log = finished(), CONFIG + WROTE
    assert call(130) == Answer(True, "", CONFIG)
    assert (cluster.seen, cluster.objects) == ([*CREATED, *DELETED], {})


def test_a_question_without_an_answer_ends(monkeypatch):
    cluster = Cluster(monkeypatch, RUNNING)
    assert ask_without_waiting(cluster, QUESTION, "2026-01-01T00:00:00Z") == 2
    with pytest.raises(ClusterError, match=r"^The image image:1 gave no answer within 120 s \(ask_timeout\): it has not ended\.$"):
        ask_without_waiting(cluster, QUESTION, "2026-01-01T00:02:00Z")
    assert cluster.objects == {}


def test_a_job_whose_pod_is_rejected_is_given_up_after_a_moment(monkeypatch):
    rejected = {"message": 'Error creating: pods "x" is forbidden: exceeded quota'}
    cluster = Cluster(monkeypatch, events=[rejected])
    assert ask_without_waiting(cluster, QUESTION, "2026-01-01T00:00:00Z") == 2
    assert ask_without_waiting(cluster, QUESTION, "2026-01-01T00:00:02Z") == 2
    with pytest.raises(
        ClusterError, match=rf"^The Job n/osso-ask-{QUESTION.digest} has no pod: Error creating: .* exceeded quota\. Use a namesp"
    ):
        ask_without_waiting(cluster, QUESTION, "2026-01-01T00:00:03Z")
    assert cluster.objects == {}


def test_a_job_without_its_secret_is_deleted_and_recreated(monkeypatch):
    cluster = Cluster(monkeypatch, errors={("create", "Job"): ApiError(409, "AlreadyExists", "x")})
    assert ask_without_waiting(cluster, QUESTION, "2026-01-01T00:00:00Z") == 2
    assert cluster.seen == ["create Job", "delete Job"]
    cluster = Cluster(monkeypatch, errors={("create", "Job"): ApiError(403, "Forbidden", "no")})
    with pytest.raises(ClusterError, match=r"^no$"):
        ask_without_waiting(cluster, QUESTION, "2026-01-01T00:00:00Z")
    assert "delete Job" in cluster.seen


def test_an_answer_whose_job_cannot_be_deleted_is_no_answer(monkeypatch):
    cluster = Cluster(monkeypatch, finished(), CONFIG + WROTE, {("delete", "Secret"): ApiError(403, "Forbidden", "no")})
    ask_without_waiting(cluster, QUESTION, "2026-01-01T00:00:00Z")
    with pytest.raises(ClusterError, match=r"may be left over \(no\)"):
        ask_without_waiting(cluster, QUESTION, "2026-01-01T00:00:01Z")


def test_equal_questions_have_one_name():
    assert QUESTION.digest == Question("image:1", CONFIG.encode(), namespace="other", timeout=1).digest
    others = [
        Question("image:2", CONFIG),
        Question("image:1", "x"),
        Question("image:1", CONFIG, ("-v=1",)),
        Question("image:1", CONFIG, service_account="x"),
        Question("image:1", CONFIG, command=("x",)),
        Question("image:1", CONFIG, pull_secrets=("x",)),
    ]
    assert len({one.digest for one in [QUESTION, *others]}) == 7
    assert len(Question("image:1", b"\xff").digest) == 10
