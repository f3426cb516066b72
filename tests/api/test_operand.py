# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role operand where the operator as a whole cannot be brought to: a clean-up that keeps failing."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from support.access import service_account

# What the clean-up reads, and the event at its end; no permission to delete anything.
RULES = (
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["get", "create", "patch"]},
)


@pytest.fixture
def clean_up(kubectl, namespace, play):
    """clean_up(age) runs the clean-up of a resource that was deleted `age` seconds ago, and may not delete what there is."""
    name = "held"
    member = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "kept", "namespace": namespace}}
    inventory = {"manifests": member, "set_name": f"operand-{name}", "set_namespace": namespace}
    play([{"name": "Make a set", "osso.scheduler.apply": inventory}])

    def run(age, succeed):
        deleted = datetime.now(UTC) - timedelta(seconds=age)
        resource = {
            "apiVersion": "operator.openshift.io/v1",
            "kind": "SecondaryScheduler",
            "metadata": {"name": name, "namespace": namespace, "uid": "1", "deletionTimestamp": deleted.strftime("%Y-%m-%dT%H:%M:%SZ")},
            "spec": {},
        }
        role = {"name": "osso.scheduler.operand"}
        variables = {"operand_resource": resource, "operand_state": "absent"}
        with service_account(kubectl, namespace, *RULES) as somebody:
            defaults = {"group/osso.scheduler.scheduler": somebody}
            tasks = [{"name": "Clean up", "ansible.builtin.include_role": role}]
            plays = [{"name": "Test", "hosts": "localhost", "gather_facts": False, "module_defaults": defaults, "tasks": tasks}]
            return play(plays, variables=variables, succeed=succeed)

    return run


def test_failing_clean_up_is_tried_again(clean_up):
    run = clean_up(age=10, succeed=False)
    assert run.rc != 0
    assert "forbidden" in run.failures[-1].result["msg"].lower(), run.output()


def test_after_the_deadline_it_is_given_up_with_an_event(clean_up, kubectl, namespace):
    clean_up(age=400, succeed=True)
    (event,) = [item for item in kubectl.json("get", "events", f"--namespace={namespace}")["items"] if item["reason"] == "CleanupGivenUp"]
    assert event["type"] == "Warning"
    assert event["involvedObject"]["kind"] == "SecondaryScheduler"
    assert "forbidden" in event["message"].lower(), json.dumps(event)
