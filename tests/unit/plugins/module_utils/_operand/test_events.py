# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Events of a reconcile."""

from __future__ import annotations

import re

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._operand import events
from ansible_collections.osso.scheduler.plugins.module_utils._operand.events import NORMAL, WARNING, Event

RESOURCE = {
    "apiVersion": "operator.openshift.io/v1",
    "kind": "SecondaryScheduler",
    "metadata": {"name": "cluster", "namespace": "ns", "uid": "u"},
}
NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:00:10Z"


def entry(action, kind="Deployment", namespace="ns", name="a"):
    return {"apiVersion": "v1", "kind": kind, "namespace": namespace, "name": name, "action": action}


def status(*conditions):
    return {"conditions": [dict(zip(("type", "status", "reason", "message"), one, strict=True)) for one in conditions]}


def of(before=None, after=None, applied=(), action="apply"):
    return events.of_reconcile(list(applied), before, after, action)


@pytest.mark.parametrize(
    ("applied", "wanted"),
    [
        (entry("created"), Event(NORMAL, "DeploymentCreated", "Created Deployment ns/a.")),
        (entry("updated", "Service"), Event(NORMAL, "ServiceUpdated", "Updated Service ns/a.")),
        (entry("deleted", "Secret"), Event(NORMAL, "SecretDeleted", "Deleted Secret ns/a.")),
        (
            entry("created", "ClusterRoleBinding", None, "osso:ns:a"),
            Event(NORMAL, "ClusterRoleBindingCreated", "Created ClusterRoleBinding osso:ns:a."),
        ),
        (entry("unchanged"), None),
        (entry("absent"), None),
    ],
)
def test_every_changed_object_gets_an_event(applied, wanted):
    assert of(applied=[applied]) == ([wanted] if wanted else [])


def test_events_follow_the_order_of_the_objects():
    found = of(applied=[entry("created", "ServiceAccount"), entry("unchanged", "Role"), entry("updated")])
    assert [event.reason for event in found] == ["ServiceAccountCreated", "DeploymentUpdated"]


FINE = ("Degraded", "False", "AsExpected", "")
MISSING = ("Degraded", "True", "ConfigMapMissing", "ConfigMap ns/a is missing.")
INVALID = ("Degraded", "True", "ConfigInvalid", "line 3: no.")
REFUSED = ("ConfigValid", "False", "ConfigInvalid", "ConfigMap ns/a: line 3: no.")
VALID = ("ConfigValid", "True", "AsExpected", "Checked for Kubernetes 1.34.")
UNKNOWN = ("ConfigValid", "Unknown", "ImageUnknown", "Nobody knows.")
UP = ("Available", "True", "AsExpected", "1 of 1 replicas are available.")
STARTING = ("Available", "False", "NoReplicaAvailable", "Not ready yet.")
TAKEN = ("SchedulerNamesUnique", "False", "SchedulerNameTaken", "a is taken by b.")
UNIQUE = ("SchedulerNamesUnique", "True", "AsExpected", "")
LACKING = ("PluginsReady", "False", "CRDMissing", "podgroups.")

CHANGES = {
    "a problem": (status(FINE), status(MISSING), [Event(WARNING, "ConfigMapMissing", MISSING[3])]),
    "a problem at first": (None, status(MISSING), [Event(WARNING, "ConfigMapMissing", MISSING[3])]),
    "another problem": (status(MISSING), status(INVALID), [Event(WARNING, "ConfigInvalid", INVALID[3])]),
    "the end of a problem": (status(MISSING), status(FINE), [Event(NORMAL, "Recovered", "Degraded is False.")]),
    "two conditions with one reason": (status(FINE, VALID), status(INVALID, REFUSED), [Event(WARNING, "ConfigInvalid", INVALID[3])]),
    "a configuration that becomes valid": (
        status(INVALID, REFUSED),
        status(FINE, VALID),
        [Event(NORMAL, "Recovered", "Degraded is False."), Event(NORMAL, "ConfigValid", VALID[3])],
    ),
    "what nobody can judge": (status(FINE, VALID), status(FINE, UNKNOWN), [Event(NORMAL, "ImageUnknown", UNKNOWN[3])]),
    "a start": (None, status(STARTING, FINE, VALID), [Event(NORMAL, "NoReplicaAvailable", STARTING[3])]),
    "a scheduler that serves": (status(STARTING), status(UP), [Event(NORMAL, "Available", UP[3])]),
    "a scheduler that serves no more": (status(UP), status(STARTING), [Event(WARNING, "NoReplicaAvailable", STARTING[3])]),
    "names that are taken": (status(UNIQUE), status(TAKEN), [Event(WARNING, "SchedulerNameTaken", TAKEN[3])]),
    "names that are free again": (status(TAKEN), status(UNIQUE), [Event(NORMAL, "SchedulerNamesUnique", "SchedulerNamesUnique is True.")]),
    "plugins that lack something": (status(), status(LACKING), [Event(WARNING, "CRDMissing", LACKING[3])]),
    "plugins that need nothing any more": (status(LACKING), status(), []),
    "all well from the first": (None, status(FINE, VALID, UP, UNIQUE), []),
    "another reason for being well": (status(VALID), status(("ConfigValid", "True", "ImageAccepts", "It accepts it.")), []),
    "another message": (status(MISSING), status((*MISSING[:3], "still")), []),
    "conditions that have no events": (
        status(("Progressing", "False", "AsExpected", ""), ("Upgradeable", "True", "AsExpected", "")),
        status(("Progressing", "True", "RollingOut", ""), ("Upgradeable", "False", "Degraded", "")),
        [],
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_changed_conditions_cause_events_and_unchanged_ones_none(case):
    before, after, wanted = CHANGES[case]
    assert of(before, after) == wanted
    assert of(after, after) == []


def test_a_requested_removal_is_no_warning():
    removed = status(("Available", "False", "Removed", "spec.managementState is Removed."))
    assert of(status(UP), removed, action="remove") == [Event(NORMAL, "Removed", "spec.managementState is Removed.")]


@pytest.mark.parametrize("nothing", [None, {}, {"conditions": None}])
def test_a_reconcile_without_known_conditions_has_no_events(nothing):
    assert events.of_reconcile((), nothing, nothing) == []


def test_an_event_names_its_resource_and_its_source():
    found = events.manifest(RESOURCE, Event(WARNING, "ConfigMapMissing", "gone"), NOW)
    name = found["metadata"].pop("name")
    assert re.fullmatch(r"cluster\.[0-9a-f]{16}", name)
    assert found == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"namespace": "ns"},
        "involvedObject": {
            "apiVersion": "operator.openshift.io/v1",
            "kind": "SecondaryScheduler",
            "name": "cluster",
            "namespace": "ns",
            "uid": "u",
        },
        "type": "Warning",
        "reason": "ConfigMapMissing",
        "message": "gone",
        "source": {"component": "osso-scheduler-operator"},
        "reportingComponent": "osso-scheduler-operator",
        "firstTimestamp": NOW,
        "lastTimestamp": NOW,
        "count": 1,
    }


def name_of(resource=None, type=NORMAL, reason="A", message="m", now=NOW):
    return events.manifest(resource or RESOURCE, Event(type, reason, message), now)["metadata"]["name"]


def test_the_same_event_has_the_same_name_and_no_other_has():
    other = dict(RESOURCE, metadata=dict(RESOURCE["metadata"], uid="v"))
    names = {name_of(), name_of(reason="B"), name_of(message="n"), name_of(other), name_of(reason="Am", message="")}
    assert len(names) == 5
    assert name_of(now=LATER) == name_of()


def test_a_long_message_is_cut_to_what_the_server_takes():
    assert events.manifest(RESOURCE, Event(NORMAL, "A", "x" * 1024), NOW)["message"] == "x" * 1024
    message = events.manifest(RESOURCE, Event(NORMAL, "A", "x" * 1025), NOW)["message"]
    assert message == "x" * 1020 + " ..."


@pytest.mark.parametrize("name", ["a" * 253, "a" * 229 + "." + "b" * 23, "a.b-c"])
def test_the_name_is_valid_for_every_name_of_a_resource(name):
    found = name_of(dict(RESOURCE, metadata=dict(RESOURCE["metadata"], name=name)))
    assert len(found) <= 253
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", found)
