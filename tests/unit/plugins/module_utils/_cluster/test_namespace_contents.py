# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What keeps a namespace from being deleted (F021, F117)."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import namespace_contents
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.delete import Doomed
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.namespace_contents import described
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.prune import without_nonempty
from support.api_server import ApiServer, connect

OLM = "operators.coreos.com/v1alpha1"


def obj(kind, name="x", version="v1", **metadata):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "n", **metadata}}


@pytest.mark.parametrize(
    "given",
    [
        obj("ConfigMap", "kube-root-ca.crt"),
        obj("ServiceAccount", "default"),
        obj("Secret", annotations={"kubernetes.io/service-account.name": "builder"}),
        obj("ReplicaSet", version="apps/v1", ownerReferences=[{"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}]),
        obj("ConfigMap", labels={"olm.managed": "true"}),
        obj("ClusterServiceVersion", version=OLM, labels={"olm.managed": "true", "olm.copiedFrom": "m"}),
        obj(
            "InstallPlan",
            version=OLM,
            labels={"olm.managed": "true"},
            ownerReferences=[{"apiVersion": OLM, "kind": "Subscription", "name": "x"}],
        ),
        obj("Pod", deletionTimestamp="2026-11-22T00:00:00Z"),
    ],
    ids=lambda given: given["kind"],
)
def test_generated_and_owned_objects_do_not_count_as_contents(given):
    assert namespace_contents._is_given(given)


@pytest.mark.parametrize(
    "found",
    [
        obj("ConfigMap", "mine"),
        obj("Secret", annotations={"kubernetes.io/service-account.name": "mine"}),
        obj("PersistentVolumeClaim"),
        obj("ClusterServiceVersion", version=OLM, labels={"olm.managed": "true"}),
        obj("Subscription", version=OLM, labels={"olm.managed": "true"}),
        obj("Thing", version="example.com/v1"),
    ],
    ids=lambda found: found["kind"],
)
def test_objects_of_others_count_as_contents(found):
    assert not namespace_contents._is_given(found)


def test_kinds_missing_in_the_preferred_version_of_their_group_are_listed_too():
    """as OLM's ClusterServiceVersion, whose group prefers v2"""
    group = "operators.coreos.com"
    versions = [{"groupVersion": f"{group}/{version}"} for version in ("v2", "v1alpha1")]
    groups = [{"preferredVersion": versions[0], "versions": versions}]
    kinds = [{"kind": "OperatorCondition", "name": "operatorconditions", "namespaced": True, "verbs": ["delete", "list"]}]
    old = [*kinds, {"kind": "ClusterServiceVersion", "name": "clusterserviceversions", "namespaced": True, "verbs": ["delete", "list"]}]
    csv = obj("ClusterServiceVersion", "another.v1.0.0", version=OLM, labels={"olm.managed": "true"})
    with ApiServer.running() as server:
        server.answers = [
            (200, {"groups": groups}),
            (200, {"resources": []}),
            (200, {"resources": kinds}),
            (200, {"resources": old}),
            (200, {"items": [csv]}),
        ]
        found = namespace_contents.list_contents(connect(server.url), "n", set())
    assert described(found) == "ClusterServiceVersion another.v1.0.0"


def test_objects_of_a_cluster_scoped_owner_stay_while_it_exists():
    """such as the data of an operator's resource that is in no namespace"""
    owned = obj("PersistentVolumeClaim", ownerReferences=[{"apiVersion": "example.com/v1", "kind": "Database", "name": "one"}])
    outside = {("example.com", "Database")}
    assert not namespace_contents._is_given(owned, outside)
    assert namespace_contents._is_given(owned, outside, {("example.com", "Database", None, "one")})


def test_every_kind_is_listed_and_objects_to_be_deleted_are_not_counted():
    """A group whose definitions were just deleted is listed and no longer served."""
    groups = [{"preferredVersion": {"groupVersion": version}} for version in ("gone.example.com/v1", "metrics.k8s.io/v1beta1")]
    verbs = ["delete", "list"]
    kinds = [
        {"kind": "ConfigMap", "name": "configmaps", "namespaced": True, "verbs": verbs},
        {"kind": "Event", "name": "events", "namespaced": True, "verbs": verbs},
        {"kind": "Node", "name": "nodes", "namespaced": False, "verbs": verbs},
        {"kind": "Pod", "name": "pods/log", "namespaced": True, "verbs": verbs},
        {"kind": "Binding", "name": "bindings", "namespaced": True, "verbs": ["create"]},
    ]
    maps = [obj("ConfigMap", name) for name in ("going", "kube-root-ca.crt", "staying")]
    with ApiServer.running() as server:
        server.answers = [(200, {"groups": groups}), (200, {"resources": kinds}), (404, b"404 page not found"), (200, {"items": maps})]
        found = namespace_contents.list_contents(connect(server.url), "n", {("", "ConfigMap", "n", "going")})
        assert [request.path for request in server.seen] == [
            "/apis",
            "/api/v1",
            "/apis/gone.example.com/v1",
            "/api/v1/namespaces/n/configmaps",
        ]
    assert described(found) == "ConfigMap staying"
    assert described(found * 12).endswith(" and 2 more")


@pytest.mark.parametrize(("others", "left"), [([], ["ConfigMap", "Namespace"]), (["theirs"], ["ConfigMap"])])
def test_a_namespace_is_deleted_only_without_objects_of_others(others, left):
    live = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    doomed = [Doomed(Identity.of(one), None, one) for one in (obj("ConfigMap", "going"), live)]
    kinds = [{"kind": "ConfigMap", "name": "configmaps", "namespaced": True, "verbs": ["delete", "list"]}]
    maps = [obj("ConfigMap", name) for name in ("going", "the-list", *others)]
    warnings = []
    with ApiServer.running() as server:
        server.answers = [(200, {"groups": []}), (200, {"resources": kinds}), (200, {"items": maps})]
        found = without_nonempty(connect(server.url), doomed, {("", "ConfigMap", "n", "the-list")}, warnings.append)
    assert [one.identity.kind for one in found] == left
    assert warnings == ["Namespace n is not deleted: it still contains ConfigMap theirs."] * len(others)


def test_a_long_list_of_contents_is_cut():
    names = [Identity("v1", "ConfigMap", "n", f"a{number}") for number in range(12)]
    shown = ", ".join(f"ConfigMap a{number}" for number in range(10))
    assert (described(names[:10]), described(names[:11]), described(names)) == (shown, f"{shown} and 1 more", f"{shown} and 2 more")
