# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When a reconcile has the operator reconcile again."""

from __future__ import annotations

import pytest
from support.access import service_account
from support.operand import reconcile
from support.operator_in_process import Operator
from support.scheduler import Scheduler

# Enough to report, and too little to read what a reconcile depends on
REPORTS = (
    {"apiGroups": ["operator.openshift.io"], "resources": ["*"], "verbs": ["get", "list", "patch"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["get", "create", "patch"]},
)


@pytest.fixture
def scheduler_without_config(kubectl, namespace, secondary_scheduler_kind):
    scheduler = Scheduler(kubectl, "batch", namespace)
    scheduler.write()
    return scheduler


def look_again(scheduler) -> str:
    return Operator(scheduler.kubectl).reconcile(scheduler).look_again


def seconds(text) -> int:
    """As long as nothing has changed, which a slow machine makes longer."""
    return int(text.removesuffix("s"))


def test_the_operator_polls_only_for_a_missing_config_map(scheduler_without_config, kubectl):
    assert seconds(look_again(scheduler_without_config)) >= 10
    assert scheduler_without_config.condition("ConfigValid")[1] == "ConfigMapMissing"
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": scheduler_without_config.name, "namespace": scheduler_without_config.namespace},
    }
    kubectl.apply({**config_map, "data": {"other": ""}})
    # Once more, so that the operator begins to watch what has just got its annotation.
    assert seconds(look_again(scheduler_without_config)) >= 10
    for data in ({"other": ""}, {"config.yaml": "kind: Pod\n"}):
        kubectl.apply({**config_map, "data": data})
        assert look_again(scheduler_without_config) == ""
    assert scheduler_without_config.condition("ConfigValid")[1] == "ConfigInvalid"


def test_a_failure_is_tried_again_at_once_and_then_ever_more_rarely(scheduler_without_config, kubectl):
    """At once, which the operator does for a failure of the play."""
    with service_account(kubectl, scheduler_without_config.namespace, *REPORTS) as somebody:
        first = reconcile(scheduler_without_config.resource, access=somebody, succeed=False)
        second = reconcile(scheduler_without_config.resource, access=somebody)
    (failed,) = first.failures
    assert "forbidden" in failed.result["msg"].lower()
    assert failed.result["look_again"] == ""
    told = second.task("Reconcile the scheduler").result
    assert "forbidden" in told["failure"].lower()
    assert seconds(told["look_again"]) >= 10
    assert scheduler_without_config.condition("Degraded")[:2] == ("True", "ReadFailed")


def test_the_answer_of_an_image_is_not_waited_for(scheduler_without_config, kubectl):
    """Here no pod ever answers. The Job belongs to the question: the same one is not asked twice at a time."""
    scheduler_without_config.write_config()
    scheduler_without_config.write(schedulerImage="registry.example.com/scheduler:mine")
    place = f"--namespace={scheduler_without_config.namespace}"
    versions = set()
    for _attempt in range(2):
        assert seconds(look_again(scheduler_without_config)) <= 10
        status, reason, message = scheduler_without_config.condition("Progressing")
        assert (status, reason) == ("True", "RollingOut")
        assert "a Job runs the image" in message
        versions.add(scheduler_without_config.resource["metadata"]["resourceVersion"])
        (job,) = kubectl.json("get", "jobs", place)["items"]
        (secret,) = kubectl.json("get", "secrets", place)["items"]
        assert job["metadata"]["name"] == secret["metadata"]["name"]
        assert job["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example.com/scheduler:mine"
        assert not scheduler_without_config.deployment
        assert scheduler_without_config.condition("ConfigValid") == ("", "", "")
    assert len(versions) == 1, "the second look wrote the status again"
    # Its maker ended in between: the question begins again.
    kubectl("delete", "secret", secret["metadata"]["name"], place)
    look_again(scheduler_without_config)
    look_again(scheduler_without_config)
    (again,) = kubectl.json("get", "jobs", place)["items"]
    assert again["metadata"]["uid"] != job["metadata"]["uid"]
