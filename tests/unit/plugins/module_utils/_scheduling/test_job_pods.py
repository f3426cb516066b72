# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pod of a short Job: how it ends, and what remains of it."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import job_pods

IMAGE = "example.com/scheduler:1"


def pod(*statuses, command=("/bin/kube-scheduler",), phase="Running", **status):
    containers = [{"name": "main", "image": IMAGE, "command": list(command)}, {"name": "other", "image": "o:1"}]
    return {
        "metadata": {"name": "p"},
        "spec": {"containers": containers},
        "status": {"phase": phase, "containerStatuses": statuses, **status},
    }


def waiting(reason, message="", name="main"):
    return {"name": name, "image": "resolved:1", "state": {"waiting": {"reason": reason, "message": message}}}


def ended(code, name="main", **more):
    return {"name": name, "image": "resolved:1", "state": {"terminated": {"exitCode": code, **more}}}


UNPLACED = {"conditions": [{"type": "PodScheduled", "status": "False", "message": "no room"}]}


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        ({"spec": {"containers": []}, "status": None}, (None, "")),
        (pod(ended(1, message="m")), ({"exitCode": 1, "message": "m"}, "")),
        (pod({"name": "main", "state": None}), (None, "")),
        (pod(waiting("ContainerCreating")), (None, "")),
        (pod(waiting("PodInitializing")), (None, "")),
        (pod(waiting("ErrImagePull", "gone")), (None, "ErrImagePull: gone")),
        (pod(ended(1, name="other"), waiting("ErrImagePull", "gone")), (None, "ErrImagePull: gone")),
        (pod(ended(1, name="sidecar"), ended(0)), ({"exitCode": 0}, "")),
        (pod(**UNPLACED), (None, "its pod is not placed: no room")),
    ],
)
def test_the_state_of_a_pod_shows_how_it_ended_or_why_it_does_not_start(live, expected):
    assert job_pods.state(live, "main") == expected


@pytest.mark.parametrize(
    ("live", "message"),
    [
        (pod(waiting("ImagePullBackOff", "gone")), f"The image {IMAGE} cannot be pulled: ImagePullBackOff: gone"),
        (pod(waiting("InvalidImageName")), f"The image {IMAGE} cannot be pulled: InvalidImageName: no further details"),
        (pod(waiting("ErrImageNeverPull", "x")), f"The image {IMAGE} cannot be pulled: ErrImageNeverPull: x"),
        (pod(waiting("CreateContainerError", "x")), f"The image {IMAGE} cannot be started: CreateContainerError: x"),
        (pod(waiting("CreateContainerConfigError", "x")), f"The image {IMAGE} cannot be started: CreateContainerConfigError: x"),
        (pod(waiting("RunContainerError", "x")), f"The image {IMAGE} cannot be started: RunContainerError: x"),
        (pod(waiting("ImagePullBackOff", "gone", name="injected")), "The image resolved:1 cannot be pulled: ImagePullBackOff: gone"),
        (
            pod(ended(127, reason="StartError", message=" no such file \n")),
            f"The image {IMAGE} has no usable /bin/kube-scheduler: no such file",
        ),
        (
            pod(ended(127, reason="StartError", message="no such file"), command=["/usr/local/bin/kube-scheduler"]),
            f"The image {IMAGE} has no usable /usr/local/bin/kube-scheduler: no such file",
        ),
        (pod(ended(127, reason="ContainerCannotRun"), command=["/bin/sh"]), f"The image {IMAGE} cannot be started: "),
        (pod(phase="Failed", reason="Evicted", message="disk"), f"The pod for the image {IMAGE} failed: Evicted disk"),
        (pod(phase="Failed"), f"The pod for the image {IMAGE} failed:"),
    ],
)
def test_a_pod_that_can_never_run_is_an_error(live, message):
    with pytest.raises(ClusterError) as failure:
        job_pods.state(live, "main")
    assert failure.value.message == message


@pytest.mark.parametrize(
    ("trouble", "is_final"),
    [
        ('Error creating: pods "x" is forbidden: exceeded quota', True),
        ('Error creating: admission webhook "w" denied the request: no', True),
        ("Error creating: Internal error occurred", False),
        ('pods "x" is forbidden: exceeded quota', False),
        ('Error creating: pods "x" is forbidden: error looking up service account n/default', False),
        ('Error creating: pods "x" is forbidden: status unknown for quota: q', False),
        ('Error creating: pods "x" is forbidden: unable to find annotation openshift.io/sa.scc.uid-range', False),
        ("", False),
    ],
)
def test_only_some_rejections_are_final(trouble, is_final):
    assert job_pods.is_final(trouble) is is_final


def test_a_job_without_a_pod_is_reported_with_the_reason():
    final = 'Error creating: pods "x" is forbidden: exceeded quota'
    assert job_pods.without_pod("n", "j", final) == (
        f"The Job n/j has no pod: {final}. Use a namespace whose ResourceQuota, LimitRange and policies allow this pod, or change them."
    )
    assert job_pods.without_pod("n", "j", "") == "The Job n/j has no pod: it has no events."


class Client:
    """Answers with these events, namespace and errors, by verb."""

    def __init__(self, events=(), namespace=None, **errors):
        self.found, self.namespace, self.errors, self.seen = list(events), namespace, errors, []

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def _see(self, verb, *seen):
        self.seen.append((verb, *seen))
        if verb in self.errors:
            raise self.errors[verb]

    def list(self, resource, namespace, field_selector):
        self._see("list", resource.kind, namespace, field_selector)
        return self.found

    def get(self, resource, name):
        self._see("get", resource.kind, name)
        return self.namespace

    def delete(self, resource, name, namespace):
        self._see("delete", resource.api_version, resource.kind, name, namespace)


def test_events_of_a_job_are_its_reasons_each_once():
    events = [{"message": f'Error creating: pods "job-1-{end}" is forbidden. '} for end in ("abcde", "fgh12")]
    client = Client([*events, {"message": None}, {"message": "other"}])
    assert job_pods.events(client, "n", "job-1") == 'Error creating: pods "job-1" is forbidden; other'
    assert client.seen == [("list", "Event", "n", "involvedObject.name=job-1,type=Warning")]


def test_events_that_cannot_be_read_are_shown_with_a_command():
    assert job_pods.events(Client(list=ApiError(403, "Forbidden", "no")), "n", "j") == (
        "its events, which have the reason, cannot be read (no); with the permission to list events: "
        "kubectl -n n get events --field-selector involvedObject.name=j"
    )


MISSING, TERMINATED = 'namespaces "n" not found', "it is forbidden because it is being terminated"
LIVE, DYING = {"metadata": {}}, {"metadata": {"deletionTimestamp": "t"}}
DOES_NOT_EXIST = "ask_namespace: the namespace n does not exist. Create it, or set another namespace."
IS_DELETED = "ask_namespace: the namespace n is being deleted. Set another namespace, or wait until it is deleted and create it."


@pytest.mark.parametrize(
    ("message", "client", "expected"),
    [
        ("other", Client(namespace=None), DOES_NOT_EXIST),
        ("other", Client(namespace=DYING), IS_DELETED),
        (MISSING, Client(namespace=LIVE), ""),
        (MISSING, Client(get=ApiError(403, "Forbidden", "no")), DOES_NOT_EXIST),
        (TERMINATED, Client(get=ApiError(403, "Forbidden", "no")), IS_DELETED),
        ("other", Client(get=ApiError(403, "Forbidden", "no")), ""),
    ],
)
def test_a_missing_or_terminating_namespace_explains_a_failure(message, client, expected):
    assert job_pods.unusable_namespace(client, "n", "ask_namespace", ClusterError(message)) == expected


@pytest.mark.parametrize(
    ("failure", "is_removed"),
    [
        (None, True),
        (ClusterError("x"), True),
        (ApiError(403, "", "", method="POST", path="/apis/batch/v1/namespaces/n/jobs"), False),
        (ApiError(400, "", "", method="POST", path="/apis/batch/v1/namespaces/n/jobs"), False),
        (ApiError(500, "", "", method="POST", path="/apis/batch/v1/namespaces/n/jobs"), True),
        (ApiError(403, "", "", method="POST", path="/api/v1/namespaces/n/secrets"), True),
        (ApiError(403, "", "", method="GET", path="/apis/batch/v1/namespaces/n/jobs"), True),
        (ApiError(0, "", "", method="POST", path="/apis/batch/v1/namespaces/n/jobs"), True),
    ],
)
def test_only_a_job_that_was_never_created_is_not_removed(failure, is_removed):
    client = Client()
    assert job_pods.remove(client, ("Job", "Secret"), "j", "n", failure) == ""
    assert client.seen == ([("delete", "batch/v1", "Job", "j", "n"), ("delete", "v1", "Secret", "j", "n")] if is_removed else [])


def test_a_job_that_cannot_be_removed_is_reported_with_a_command():
    client = Client(delete=ApiError(403, "Forbidden", "no"))
    assert job_pods.remove(client, ("Job", "Secret"), "j", "n", None) == (
        "The Job j may be left over (no); delete it: kubectl -n n delete job,secret j. "
        "Otherwise Kubernetes deletes it, its pod and its Secrets a minute after its end."
    )


def test_the_job_and_its_secret_have_all_their_fields():
    made = job_pods.job("j", "n", {"l": "1"}, 90, {"containers": []})
    assert made == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "namespace": "n", "labels": {"l": "1"}},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": 90,
            "ttlSecondsAfterFinished": 60,
            "template": {"metadata": {"labels": {"l": "1"}}, "spec": {"containers": []}},
        },
    }
    made["metadata"]["uid"] = "u"
    assert job_pods.owned_secret(made, "s", {"k": "dg=="}) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "s",
            "namespace": "n",
            "labels": {"l": "1"},
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u"}],
        },
        "immutable": True,
        "type": "Opaque",
        "data": {"k": "dg=="},
    }
