# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What others add to pod templates; that a real API server agrees is for the API tests."""

from __future__ import annotations

import copy
import hashlib
import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import additions
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.additions import Addition, Replacement, Verdict
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.ownership import TakeOver

OURS = "osso.scheduler"
APPLIED = "2026-01-01T00:10:00Z"
MAIN = 'k:{"name":"main"}'
PORT = 'k:{"containerPort":1,"protocol":"TCP"}'
WANTED_POD = {"containers": [{"name": "main", "image": "x:1", "ports": [{"containerPort": 1}]}], "securityContext": {"runAsNonRoot": True}}
OWN_POD = {
    "f:containers": {MAIN: {".": {}, "f:name": {}, "f:image": {}, "f:ports": {PORT: {".": {}, "f:containerPort": {}}}}},
    "f:securityContext": {"f:runAsNonRoot": {}},
}


def entry(manager, fields, operation="Update", time="", **more):
    return {"manager": manager, "operation": operation, "fieldsV1": fields, **({"time": time} if time else {}), **more}


def template(pod, **metadata):
    return {"metadata": {"labels": {"app": "a"}, **metadata}, "spec": pod}


def nested(fields):
    return {"f:spec": {"f:template": fields}}


OWN = entry(OURS, nested({"f:metadata": {"f:labels": {"f:app": {}}}, "f:spec": OWN_POD}), "Apply", APPLIED)


def live(pod, *entries, annotations=None, **metadata):
    return {
        "metadata": {"annotations": annotations, "managedFields": [OWN, *entries]},
        "spec": {"replicas": 1, "template": template(pod, **metadata)},
    }


WANTED = {"metadata": {"name": "app"}, "spec": {"template": template(WANTED_POD)}}


def changed(**container):
    """The live pod with more in its container."""
    pod = copy.deepcopy(WANTED_POD)
    pod["containers"][0] |= container
    return pod


def paths(present, wanted=None):
    return [one.field for one in additions.evaluate(present, wanted or WANTED, OURS).fresh]


CONTAINER = "spec.template.spec.containers[name=main]"


@pytest.mark.parametrize(
    ("pod", "fields"),
    [
        pytest.param(WANTED_POD, [], id="nothing"),
        pytest.param(
            changed(
                imagePullPolicy="IfNotPresent",
                terminationMessagePath="/dev/termination-log",
                terminationMessagePolicy="File",
                resources={},
                env=[],
                workingDir="",
                stdin=None,
                ports=[{"containerPort": 1, "protocol": "TCP", "hostPort": 1}],
            )
            | {
                "dnsPolicy": "ClusterFirst",
                "restartPolicy": "Always",
                "schedulerName": "default-scheduler",
                "terminationGracePeriodSeconds": 30,
                "serviceAccount": None,
            },
            [],
            id="defaults",
        ),
        pytest.param(
            {**WANTED_POD, "serviceAccountName": "sa", "serviceAccount": "sa"}, ["spec.template.spec.serviceAccountName"], id="an account"
        ),
        pytest.param({**WANTED_POD, "serviceAccount": "sa"}, ["spec.template.spec.serviceAccount"], id="an account of another name"),
        pytest.param(changed(imagePullPolicy="Always"), [f"{CONTAINER}.imagePullPolicy"], id="another pull policy"),
        pytest.param(changed(image="x", imagePullPolicy="Always"), [], id="the pull policy of an image without a tag"),
        pytest.param(changed(image="h:5000/x", imagePullPolicy="Always"), [], id="the port of a registry is no tag"),
        pytest.param(changed(image="x:latest", imagePullPolicy="Always"), [], id="the pull policy of latest"),
        pytest.param(changed(image=f"x@sha256:{64 * '1'}", imagePullPolicy="IfNotPresent"), [], id="the pull policy of a digest"),
        *(
            pytest.param(
                changed(image=image, imagePullPolicy="IfNotPresent"), [], id=f"the pull policy of {image[:12]!r}, no image reference"
            )
            for image in ("quay.io/Team/x", "quay.io/Team/x:latest", "h:1/x:", "$IMAGE", "{{ 1 }}", 64 * "a", 300 * "x", "x@sha256:1", "")
        ),
        pytest.param(
            changed(ports=[{"containerPort": 1, "protocol": "TCP", "hostPort": 2}]),
            [f"{CONTAINER}.ports[containerPort=1,protocol=TCP].hostPort"],
            id="a host port",
        ),
        pytest.param(
            changed(ports=[{"containerPort": 1}, {"containerPort": 2}]), [f"{CONTAINER}.ports[containerPort=2,protocol=TCP]"], id="a port"
        ),
        pytest.param(
            changed(env=[{"name": "A", "value": "1"}, {"name": "B"}]),
            [f"{CONTAINER}.env[name=A]", f"{CONTAINER}.env[name=B]"],
            id="variables",
        ),
        pytest.param(changed(tty=True), [f"{CONTAINER}.tty"], id="a truth value is no default number"),
        pytest.param(changed(successThreshold=True), [f"{CONTAINER}.successThreshold"], id="true is not the default 1"),
        pytest.param({**WANTED_POD, "dnsPolicy": "Default"}, ["spec.template.spec.dnsPolicy"], id="no default"),
        pytest.param(
            {**WANTED_POD, "containers": [*WANTED_POD["containers"], {"name": "side"}]},
            ["spec.template.spec.containers[name=side]"],
            id="a container",
        ),
        pytest.param(
            {**WANTED_POD, "securityContext": {"runAsNonRoot": True, "runAsUser": 1}},
            ["spec.template.spec.securityContext.runAsUser"],
            id="a part",
        ),
        pytest.param({**WANTED_POD, "tolerations": [{"operator": "Exists"}]}, ["spec.template.spec.tolerations"], id="a list without keys"),
    ],
)
def test_additions_are_fields_that_are_neither_applied_nor_defaults(pod, fields):
    assert paths(live(pod)) == fields


def test_labels_and_annotations_are_additions_one_by_one():
    present = live(WANTED_POD, labels={"app": "a", "example.com/x": "1"}, annotations={"kubectl.kubernetes.io/restartedAt": "t", "b": "1"})
    present["spec"]["template"]["metadata"]["annotations"] = {"kubectl.kubernetes.io/restartedAt": "t", "b": "1"}
    assert paths(present) == ["spec.template.metadata.labels['example.com/x']", "spec.template.metadata.annotations.b"]


def test_fields_that_were_applied_as_a_whole_have_no_additions():
    own = entry(OURS, nested({"f:spec": {"f:nodeSelector": {}, "f:command": {}}}), "Apply", APPLIED)
    pod = {"nodeSelector": {"a": "1", "b": "2"}, "command": ["a", "b"]}
    present = {"metadata": {"managedFields": [own]}, "spec": {"template": {"spec": pod}}}
    assert paths(present, {"spec": {"template": {"spec": {"nodeSelector": {"a": "1"}, "command": ["a"]}}}}) == []


def test_an_empty_mapping_that_was_applied_can_have_additions():
    own = entry(OURS, nested({"f:spec": {"f:resources": {}}}), "Apply", APPLIED)
    present = {"metadata": {"managedFields": [own]}, "spec": {"template": {"spec": {"resources": {"limits": {"cpu": "1"}}}}}}
    assert paths(present, {"spec": {"template": {"spec": {"resources": {}}}}}) == ["spec.template.spec.resources.limits"]


def test_items_of_a_set_of_values_are_additions_by_their_value():
    own = entry(OURS, nested({"f:spec": {"f:names": {".": {}, 'v:"a"': {}}}}), "Apply", APPLIED)
    present = {"metadata": {"managedFields": [own]}, "spec": {"template": {"spec": {"names": ["a", "b", {"k": 1, "j": 2}]}}}}
    wanted = {"spec": {"template": {"spec": {"names": ["a"]}}}}
    assert [one.path[-1] for one in additions.evaluate(present, wanted, OURS).fresh] == ['v:"b"', 'v:{"j":2,"k":1}']
    assert paths(present, wanted)[0] == 'spec.template.spec.names["b"]'


def test_a_workload_that_was_never_applied_has_no_additions():
    present = live(changed(tty=True))
    present["metadata"]["managedFields"] = None
    assert additions.evaluate(present, WANTED, OURS) == Verdict([], [], "")
    assert additions.replaced(present, {"spec": {"template": template(changed(tty=False))}}, OURS) == []


TTY = ("f:spec", "f:template", "f:spec", "f:containers", MAIN, "f:tty")
TTY_FIELDS = nested({"f:spec": {"f:containers": {MAIN: {"f:tty": {}}}}})


@pytest.mark.parametrize(
    ("entries", "manager", "time"),
    [
        ([], "", ""),
        ([entry("a", TTY_FIELDS, time="1"), entry("b", TTY_FIELDS, time="2"), entry("c", TTY_FIELDS)], "b", "2"),
        ([entry("a", nested({"f:spec": {}}), time="1")], "a", "1"),
        ([entry("a", nested({"f:spec": {"f:containers": {MAIN: {"f:stdin": {}}}}}))], "", ""),
        ([entry("a", TTY_FIELDS, subresource="scale")], "", ""),
        ([entry(OURS, TTY_FIELDS, time="3")], OURS, "3"),
        ([{"manager": "a", "operation": "Update"}], "", ""),
    ],
)
def test_the_last_manager_that_wrote_a_field_has_added_it(entries, manager, time):
    assert additions.evaluate(live(changed(tty=True), *entries), WANTED, OURS).fresh == [Addition(TTY, manager, time)]


def digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


TEMPLATE = digest(WANTED["spec"]["template"])


def record(*additions, template=TEMPLATE):
    return json.dumps({"fields": sorted(additions), "template": template}, separators=(",", ":"))


def test_removed_fields_are_recorded_by_the_hash_of_manager_and_field():
    (one,) = additions.evaluate(live(changed(tty=True), entry("a", TTY_FIELDS)), WANTED, OURS).fresh
    assert one.hash == digest(["a", *TTY])
    before = record("0ther")
    found = additions.evaluate(live(changed(tty=True), entry("a", TTY_FIELDS), annotations={additions.RECORD: before}), WANTED, OURS)
    assert found == Verdict([one], [], record("0ther", one.hash))
    assert additions.evaluate(live(WANTED_POD, annotations={additions.RECORD: before}), WANTED, OURS) == Verdict([], [], before)


@pytest.mark.parametrize(
    ("manager", "time", "disputed"),
    [
        pytest.param("a", "2026-01-01T00:19:59Z", True, id="within ten minutes"),
        pytest.param("a", "2026-01-01T00:20:00Z", False, id="after ten minutes"),
        pytest.param("a", "no time", True, id="an unreadable time"),
        pytest.param("", "", True, id="by admission"),
    ],
)
def test_a_field_that_is_added_again_within_ten_minutes_is_disputed(manager, time, disputed):
    entries = [entry(manager, TTY_FIELDS, time=time)] if manager else []
    present = live(changed(tty=True), *entries, annotations={additions.RECORD: record(digest([manager, *TTY]))})
    one = Addition(TTY, manager, time)
    assert additions.evaluate(present, WANTED, OURS) == Verdict(
        [] if disputed else [one], [one] if disputed else [], record(digest([manager, *TTY]))
    )


@pytest.mark.parametrize(
    "broken", ["", "nonsense", "[]", "{}", '{"template": 1}', "[" * 100_000, record(digest(["", *TTY]), template="another")]
)
def test_a_record_that_is_unreadable_or_of_another_template_does_not_count(broken):
    found = additions.evaluate(live(changed(tty=True), annotations={additions.RECORD: broken}), WANTED, OURS)
    assert (len(found.fresh), found.disputed) == (1, [])


def test_the_record_is_an_annotation_of_the_manifest():
    wanted = {"metadata": {"name": "n", "annotations": {"own": "1"}}, "spec": {}}
    assert additions.with_record(wanted, "") is wanted
    assert additions.with_record(wanted, "r") == {
        "metadata": {"name": "n", "annotations": {"own": "1", "osso.scheduler/reverted": "r"}},
        "spec": {},
    }
    assert additions.with_record({"metadata": {"annotations": None}}, "r") == {
        "metadata": {"annotations": {"osso.scheduler/reverted": "r"}}
    }


def test_a_claim_moves_fields_to_our_entry():
    others = nested({"f:spec": {"f:containers": {MAIN: {"f:tty": {}, "f:stdin": {}}}}})
    scale = entry("a", {"f:spec": {"f:replicas": {}}}, subresource="scale")
    present = live(changed(tty=True), entry("a", TTY_FIELDS), scale, entry("b", others), {"manager": "empty", "operation": "Update"})
    unchanged = copy.deepcopy(present)
    own_fields = copy.deepcopy(OWN["fieldsV1"])
    own_fields["f:spec"]["f:template"]["f:spec"]["f:containers"][MAIN]["f:tty"] = {}
    left = entry("b", nested({"f:spec": {"f:containers": {MAIN: {"f:stdin": {}}}}}))
    assert additions.claim(present, [Addition(TTY, "a", "")], OURS) == TakeOver([{**OWN, "fieldsV1": own_fields}, scale, left], own_fields)
    assert present == unchanged
    assert additions.claim(present, [], OURS) is None


def test_replaced_fields_have_both_values():
    pod = changed(image="mirror/x:1")
    pod["securityContext"] = {"runAsNonRoot": False}
    pod["containers"][0]["ports"] = []
    at = ("f:spec", "f:template", "f:spec")
    assert additions.replaced(live(pod), WANTED, OURS) == [
        Replacement((*at, "f:containers", MAIN, "f:image"), '"x:1"', '"mirror/x:1"'),
        Replacement((*at, "f:containers", MAIN, "f:ports", PORT), '{"containerPort": 1}', ""),
        Replacement((*at, "f:securityContext", "f:runAsNonRoot"), "true", "false"),
    ]
    assert additions.replaced(live(WANTED_POD), WANTED, OURS) == []


def test_values_of_variables_are_not_shown_and_long_ones_are_cut():
    wanted = changed(env=[{"name": "A", "value": "secret"}], args=["x" * 300])
    own = copy.deepcopy(OWN)
    fields = own["fieldsV1"]["f:spec"]["f:template"]["f:spec"]["f:containers"][MAIN]
    fields |= {"f:env": {'k:{"name":"A"}': {".": {}, "f:name": {}, "f:value": {}}}, "f:args": {}}
    present = live(changed(env=[{"name": "A", "value": "other"}], args=["x" * 195]))
    present["metadata"]["managedFields"] = [own]
    found = additions.replaced(present, {"spec": {"template": template(wanted)}}, OURS)
    assert [(one.field.removeprefix(CONTAINER), one.declared, one.live) for one in found] == [
        (".env[name=A].value", "(not shown)", "(not shown)"),
        (".args", '["' + "x" * 198 + "...", '["' + "x" * 195 + '"]'),
    ]
    present["spec"]["template"]["spec"]["containers"][0]["args"] = ["x" * 196]
    assert additions.replaced(present, {"spec": {"template": template(wanted)}}, OURS)[1].live == '["' + "x" * 196 + '"]'


def test_messages_name_fields_managers_and_values():
    identity = Identity("apps/v1", "Deployment", "n", "app")
    found = [Addition(TTY, "a", ""), Addition(("f:spec", "f:x"), "", "")]
    assert additions.describe(identity, found) == (
        "Deployment n/app: others add to its pod template, and again after the fields were removed: "
        "spec.template.spec.containers[name=main].tty (field manager a); spec.x (mutating admission)"
    )
    replacements = [Replacement(("f:spec", "f:x"), "1", "2"), Replacement(("f:spec", "f:y"), "3", "")]
    assert additions.describe_replaced(identity, replacements) == (
        "Deployment n/app: mutating admission changes its pod template in each write: spec.x (declared 1, live 2); spec.y (declared 3, removed)"
    )
