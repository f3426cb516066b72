# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kube_scheduler_config where the image itself answers, in a pod. What needs no node: tests/api/test_kube_scheduler_config.py."""

from __future__ import annotations

import pytest
from support.access import service_account
from support.direct_module import run_directly
from support.scheduler import IMAGE, eventually

MODULE = "kube_scheduler_config"
V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}\n"
PROFILE = (
    V1.replace("{", "{{").replace("}", "}}") + "profiles:\n- schedulerName: a\n  plugins:\n    score:\n      enabled:\n      - name: {0}\n"
)
TOKEN = "open-sesame"
WITH_TOKEN = (
    PROFILE.format("TargetLoadPacking")
    + f"  pluginConfig:\n  - name: TargetLoadPacking\n    args: {{metricProvider: {{type: Prometheus, address: 'http://p', token: {TOKEN}}}}}\n"
)
ASKING = (
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "delete"]},
    {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "delete"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]},
    {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
)


def left_over(kubectl, namespace) -> list[str]:
    """What a question has made in the namespace and is still there; pods go with their Job, a moment later."""
    selector = "--selector=osso.scheduler/image-answer"
    return kubectl("get", "jobs,secrets", f"--namespace={namespace}", selector, "--output=name").stdout.split()


@pytest.fixture
def ask(kubeconfig, kubectl, namespace):
    """Ask the image in a namespace that enforces Pod Security `restricted`; nothing may be left there afterwards."""
    kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")

    def run(content, succeed=True, **options):
        options = {"image": IMAGE, "ask_image": True, "ask_namespace": namespace, "kubeconfig": str(kubeconfig), **options}
        run = run_directly(MODULE, content=content, succeed=succeed, **options)
        assert left_over(kubectl, namespace) == []
        return run

    return run


@pytest.fixture(scope="module")
def unknown_image(kubectl):
    """The scheduler's image by its digest, which tells nobody what it holds."""
    kubectl("run", "digest", f"--image={IMAGE}", "--restart=Never", "--command", "--", "/bin/kube-scheduler", "--version")
    try:
        found = eventually(lambda: kubectl("get", "pod", "digest", "--output=jsonpath={.status.containerStatuses[0].imageID}").stdout)
    finally:
        kubectl("delete", "pod", "digest", "--grace-period=0", "--force")
    assert "@sha256:" in found
    return IMAGE.rpartition(":")[0] + "@" + found.rpartition("@")[2]


def test_the_image_accepts_a_valid_configuration(ask):
    result = ask(V1).result
    assert (result["valid"], result["image_answer"]) == (True, {"valid": True, "error": ""})
    assert result["completed"]["parallelism"] == 16
    assert result["completed"] == run_directly(MODULE, content=V1, image=IMAGE).result["completed"], "the tables say what the image says"


def test_the_image_rejects_an_unknown_plugin(ask):
    run = ask(PROFILE.format("NodeResourceFit"), succeed=False)
    assert run.result["valid"] is False
    assert 'ScorePlugin "NodeResourceFit" does not exist' in run.result["image_answer"]["error"]
    assert "content:9:15: profiles[0].plugins.score.enabled[0].name: " in run.message


def test_an_unknown_image_validates_the_configuration_itself(ask, unknown_image):
    accepted = ask(WITH_TOKEN, image=unknown_image).result
    assert (accepted["valid"], accepted["target"]["kubernetes_version"]) == (True, None)
    refused = ask(V1 + "parallelism: -1\n", image=unknown_image, succeed=False)
    assert refused.result["valid"] is False
    assert "parallelism: Invalid value: -1: should be an integer value greater than zero" in refused.message


def test_the_verdict_of_the_image_overrules_the_tables(ask):
    """an image with more in it than the tables know, here because they are told of an older release"""
    result = ask(V1.replace("{leaderElect: false}", "{leaderElect: false}\ndelayCacheUntilActive: true"), kubernetes_version="1.25").result
    assert result["valid"] is True
    assert ("warning", "delayCacheUntilActive") in [(finding["severity"], finding["path"]) for finding in result["findings"]]


def test_flags_reach_the_image(ask):
    assert "--nonsense" in ask(V1, flags=["--nonsense=1"], succeed=False).message


@pytest.mark.parametrize("content", [WITH_TOKEN, WITH_TOKEN + "nonsense: 1\n"], ids=["accepted", "refused"])
def test_a_token_in_the_configuration_is_not_in_the_result(ask, content):
    run = ask(content, succeed=None)
    assert run.result["image_answer"]["valid"] is ("nonsense" not in content)
    del run.result["invocation"], run.result["text"], run.result["completed"]
    assert TOKEN not in str(run.result)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"image": "registry.k8s.io/pause:3.10"}, "has no usable /bin/kube-scheduler"),
        pytest.param({"image": "registry.k8s.io/no-such-image:1"}, "cannot be pulled", marks=pytest.mark.long),
        pytest.param({"ask_service_account": "nobody", "ask_timeout": 8}, 'serviceaccount "nobody" not found', marks=pytest.mark.long),
        pytest.param({"ask_timeout": 1, "flags": ["--v=0"]}, "within 1 s", marks=pytest.mark.long),
    ],
    ids=["no scheduler", "no image", "no pod", "too slow"],
)
def test_an_image_that_gives_no_answer_is_reported_with_the_reason(ask, options, said):
    if said == "within 1 s":
        options = {**options, "image": "registry.k8s.io/no-such-image:2"}
    run = ask(V1, succeed=False, **options)
    assert said in run.message


def test_the_minimal_permissions_suffice_and_a_missing_one_is_reported(ask, kubectl, namespace):
    with service_account(kubectl, namespace, *ASKING) as somebody:
        assert ask(V1, **somebody).result["valid"] is True
    with service_account(kubectl, namespace, *ASKING[:2]) as somebody:
        assert "pods" in ask(V1, succeed=False, **somebody).message
