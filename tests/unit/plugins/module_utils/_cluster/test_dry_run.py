# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What check mode reports of objects whose namespace or kind does not exist (cluster/dry_run.py)."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.dry_run import Forecast
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from support.objects import things

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "namespace": None, "name": "new", "uid": None}
DEFINITION = {**NAMESPACE, "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "name": "things.example.com"}


def missing_namespace():
    raise ApiError(404, "NotFound", "no", {"kind": "namespaces", "name": "new"})


@pytest.mark.parametrize(
    ("created", "warned"),
    [
        ([], 2),
        ([{**NAMESPACE, "action": "created"}, {**DEFINITION, "action": "created"}], 0),
        ([{**NAMESPACE, "action": "unchanged"}, {**DEFINITION, "action": "created"}], 1),
        ([{**NAMESPACE, "name": "other", "action": "created"}], 2),
    ],
)
def test_namespaces_and_crds_that_an_earlier_task_creates_cause_no_warning(created, warned):
    warnings = []
    forecast = Forecast((), warnings.append, created)
    config_map, thing = Identity("v1", "ConfigMap", "new", "a"), Identity("example.com/v1", "Thing", "elsewhere", "a")
    for identity, resource in ((config_map, object()), (thing, None)):
        before, after, obstacle = forecast.ask(identity, {"kind": identity.kind}, None, resource, missing_namespace)
        assert (before, after) == (None, {"kind": identity.kind})
        assert obstacle
    assert len(warnings) == warned, warnings


CONFIG_MAP = Identity("v1", "ConfigMap", "n", "a")
WANTED = MappingProxyType({"kind": "ConfigMap", "from": "manifest"})
LIVE = MappingProxyType({"metadata": {}, "from": "cluster"})


def refused(status, reason="", message="m", **details):
    def dry_run():
        raise ApiError(status, reason, message, details)

    return dry_run


def ask(forecast, dry_run=lambda: {"from": "server"}, live=LIVE, resource=True, identity=CONFIG_MAP, wanted=WANTED, taken=False):
    return forecast.ask(identity, wanted, live, object() if resource else None, dry_run, taken)


def test_the_prediction_is_the_answer_of_the_server():
    assert ask(Forecast(())) == (LIVE, {"from": "server"}, None)
    assert ask(Forecast(()), live=None) == (None, {"from": "server"}, None)


@pytest.mark.parametrize(
    ("dry_run", "options", "obstacle"),
    [
        (refused(400, message="the webhook x does not support dry run"), {}, "an admission webhook does not support dry runs"),
        (refused(422), {"taken": True}, "it is invalid together with fields that are removed first, those of takeover_field_managers"),
        (None, {"live": {"metadata": {"deletionTimestamp": "t"}}}, "it is being deleted"),
    ],
)
def test_objects_that_the_server_cannot_validate_count_as_created(dry_run, options, obstacle):
    assert ask(Forecast((), list), dry_run, **options) == (None, WANTED, obstacle)


@pytest.mark.parametrize(
    ("dry_run", "options"),
    [
        (refused(422), {}),
        (refused(400), {}),
        (refused(404, name="other"), {}),
        (refused(403, message="the webhook does not support dry run"), {}),
        (refused(500), {"taken": True}),
    ],
)
def test_a_rejection_that_no_missing_namespace_explains_is_an_error(dry_run, options):
    with pytest.raises(ClusterError, match=r"^ConfigMap n/a: could not apply it: "):
        ask(Forecast((), list), dry_run, **options)


def test_objects_of_a_new_namespace_are_not_validated():
    forecast = Forecast((), list)
    namespace = Identity("v1", "Namespace", None, "n")
    ask(forecast, live=None, identity=namespace, wanted={"kind": "Namespace"})
    assert ask(forecast) == (None, WANTED, "its namespace is created by this set")
    assert ask(forecast, identity=CONFIG_MAP._replace(namespace="other")) == (LIVE, {"from": "server"}, None)


def test_an_object_that_refers_to_a_new_object_is_not_validated():
    forecast = Forecast((), list)
    ask(forecast, live=None)
    assert ask(forecast, refused(404, name="a"), live=None, identity=CONFIG_MAP._replace(name="b"))[2] == (
        "it refers to ConfigMap n/a, which is created by this set"
    )


@pytest.mark.parametrize(("status", "is_obstacle"), [(400, True), (404, True), (422, True), (500, True), (403, False)])
def test_objects_of_a_changed_crd_are_not_validated(status, is_obstacle):
    forecast = Forecast({("example.com", "Thing")}, list)
    definition = things("example.com")
    ask(forecast, identity=Identity.of(definition), wanted=definition)
    asked = {"identity": Identity("example.com/v1", "Thing", "n", "t"), "live": None}
    if is_obstacle:
        assert ask(forecast, refused(status), **asked)[2] == "the definition of its kind is changed by this set"
    else:
        with pytest.raises(ClusterError):
            ask(forecast, refused(status), **asked)


def test_an_object_of_a_missing_kind_is_predicted_as_created_with_a_warning():
    thing = Identity("example.com/v1", "Thing", "n", "t")
    warnings = []
    assert ask(Forecast({("example.com", "Thing")}, list), resource=False, identity=thing)[2] == "its kind is defined by this set"
    created = [{**DEFINITION, "action": "created"}]
    assert ask(Forecast((), list, created), resource=False, identity=thing)[2] == "its kind is created earlier in the play"
    forecast = Forecast((), warnings.append)
    for _again in range(2):
        assert ask(forecast, resource=False, identity=thing)[2] == "kind example.com/v1 Thing does not exist"
    assert ask(forecast, refused(404, "NotServed"), identity=thing)[2] == "kind example.com/v1 Thing does not exist"
    assert warnings == [
        (
            "Check mode: kind example.com/v1 Thing does not exist and is not part of the manifests. What needs it is predicted as created without "
            "having been validated; a real run fails unless something creates it first."
        )
    ]
    with pytest.raises(ClusterError, match=r"does not serve example\.com/v1 Thing"):
        ask(Forecast(()), refused(404, "NotServed"), identity=thing)


def test_only_one_dry_run_is_sent_for_a_missing_namespace():
    forecast, asked = Forecast((), list), []

    def dry_run():
        asked.append(1)
        return missing_namespace()

    created = Forecast((), list, [{**NAMESPACE, "action": "created"}])
    inside = CONFIG_MAP._replace(namespace="new")
    assert ask(created, dry_run, identity=inside)[2] == "its namespace is created earlier in the play"
    for _again in range(2):
        assert ask(forecast, dry_run, identity=inside)[2] == "namespace new does not exist"
    assert len(asked) == 2
