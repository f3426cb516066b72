# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Job of a preview, its question and its answer. With real nodes: tests/integration/test_preview_job.py."""

from __future__ import annotations

import random

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils.preview import in_pod, job
from ansible_collections.osso.scheduler.plugins.module_utils.preview.preview import Options
from ansible_collections.osso.scheduler.plugins.module_utils.preview.snapshot import parse
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling import job_pods
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.survey import Survey
from support.preview import CONFIG, listed, node

IMAGE, OTHER = "registry.example.com/kube-scheduler:v1.34.4", "registry.example.com/kube-scheduler:v1.35.1"
ANSWER = {"result": {"msg": random.Random(1).randbytes(30_000).hex()}}


def test_an_answer_returns_from_a_log():
    """Of several lines, among others, in any order."""
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
def test_a_log_that_is_not_complete(damage, why):
    with pytest.raises(ClusterError, match=why):
        in_pod.read("\n".join(damage(list(in_pod.written(ANSWER)))))


def for_the_pod(candidate, baseline=None):
    return job._for_the_pod(Options(candidate, "replace", baseline))


def test_each_image_is_a_container():
    """Without what only the host of the task has; a baseline without a program, or with the same image, runs with that of the candidate."""
    side = {"image": IMAGE, "config": CONFIG, "auth_file": "/a", "skopeo": "skopeo", "validate_certs": True, "flags": ["--x=1"]}
    images, given = for_the_pod(side, {"config_text": "text", "may_be_broken": True})
    assert images == {"candidate": IMAGE}
    assert sorted(given["candidate"]) == ["binary", "config_text", "flags", "image"]
    assert given["baseline"] == {"config_text": "text", "may_be_broken": True}
    assert for_the_pod(side, {"image": IMAGE, "config_text": "text"})[0] == {"candidate": IMAGE}
    images, given = for_the_pod(side, {"image": OTHER, "config_text": "text"})
    assert images == {"candidate": IMAGE, "baseline": OTHER}
    assert given["baseline"]["binary"]


@pytest.mark.parametrize(
    ("candidate", "baseline", "why"),
    [
        ({"config": CONFIG}, None, "candidate: set image, whose kube-scheduler the Job uses"),
        ({"image": IMAGE}, None, "candidate: set one of config, config_text"),
        (
            {"image": IMAGE, "config": CONFIG},
            {"binary": "/x", "config": CONFIG},
            "baseline.binary is a file of this host.*set baseline.image",
        ),
    ],
)
def test_what_a_job_cannot_run(candidate, baseline, why):
    with pytest.raises(InputError, match=why):
        for_the_pod(candidate, baseline)


def test_a_configuration_that_is_no_text(tmp_path):
    (tmp_path / "config").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"candidate\.config_file: .*/config is no UTF-8"):
        for_the_pod({"image": IMAGE, "config_file": str(tmp_path / "config")})


def test_the_image_of_the_sandbox_is_that_of_the_operator(monkeypatch):
    """Not that of the upstream operator, which does not contain the collection."""
    found = [{"variant": "upstream", "image": "upstream:1"}]
    monkeypatch.setattr(Survey, "operators", lambda survey: found)
    with pytest.raises(InputError, match=r"job\.image: there is no operator of the collection .* in playbooks preview_job_image"):
        job._of_the_operator(None)
    found.append({"variant": "osso", "image": "operator:1"})
    assert job._of_the_operator(None) == "operator:1"


def test_the_pod_has_no_rights():
    made = job.manifest(
        "n", job.Place("ns", "operator:1"), {"candidate": IMAGE, "baseline": OTHER}, ["n-0", "n-1"], 60, {"runAsNonRoot": True}
    )
    spec = made["spec"]["template"]["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert "serviceAccountName" not in spec
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert [container["name"] for container in spec["containers"]] == ["candidate", "baseline", "preview"]
    assert {str(container["securityContext"]) for container in spec["containers"]} == {str(job_pods.CONTAINER_SECURITY)}
    (question, _tmp) = spec["volumes"]
    assert [source["secret"]["name"] for source in question["projected"]["sources"]] == ["n-0", "n-1"]
    # Should the module be killed
    assert (made["spec"]["activeDeadlineSeconds"], made["spec"]["ttlSecondsAfterFinished"]) == (60, 60)


@pytest.fixture
def answered(tmp_path):
    """The answer to a question in several files."""

    def run(options, snapshot):
        content = in_pod.question(options, snapshot)
        for number in range(0, len(content), 100):
            (tmp_path / f"{number // 100:04}").write_bytes(content[number : number + 100])
        (tmp_path / "..data").mkdir()
        return in_pod.answer(str(tmp_path))

    return run


def test_bad_questions_have_an_error_as_their_answer(answered, monkeypatch):
    whole = parse(listed(node("a")), "list").write()
    monkeypatch.setattr(in_pod, "PROGRAM_SECONDS", 0)
    candidate = {"image": IMAGE, "binary": "kube-scheduler", "config_text": "x"}
    error = answered({"candidate": candidate, "mode": "replace"}, whole)["error"]
    assert error == "candidate.image: the program of the image was not found within 0 s: its container runs no process."


@pytest.mark.parametrize(
    ("options", "cut", "why"),
    [
        ({"new_option": 1}, 0, "job.image: the image contains another version of the collection: .*new_option"),
        ({}, 9, "the snapshot is truncated or damaged"),
        ({"nodes": ["b"]}, 0, "nodes: b: there is no such node"),
        ({"limit": "x"}, 0, r"A bug of osso\.scheduler"),
    ],
)
def test_errors_are_answers(answered, options, cut, why):
    whole = parse(listed(node("a")), "list").write()
    found = answered({"candidate": {"image": IMAGE, "config_text": "x"}, "mode": "replace", **options}, whole[: len(whole) - cut])
    with pytest.raises(ClusterError, match=why):
        job._result("\n".join(in_pod.written(found)))


def pod(**states):
    containers = [{"name": "candidate", "image": IMAGE, "command": [job_pods.PROGRAM]}, {"name": "preview", "image": "operator:1"}]
    return {
        "spec": {"containers": containers},
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
        ({"candidate": ended(1), "preview": {"running": {}}}, f"{IMAGE} has no usable /bin/kube-scheduler: it ended with status 1"),
        (
            {"candidate": ended(128, reason="StartError", message="no such file")},
            f"{IMAGE} has no usable /bin/kube-scheduler: no such file",
        ),
        ({"preview": ended(128, reason="StartError", message="no python3")}, "operator:1 cannot be started: no python3"),
        ({"preview": {"waiting": {"reason": "ImagePullBackOff"}}}, "operator:1 cannot be pulled: ImagePullBackOff: no further details"),
    ],
)
def test_a_pod_that_cannot_run(states, why):
    with pytest.raises(ClusterError, match=why):
        job_pods.state(pod(**states), "preview")
