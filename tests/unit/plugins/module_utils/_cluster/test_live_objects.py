# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finding and reading the objects of a set."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import live_objects
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN, Resource
from support.objects import config_map, things

GROUP = "example.com"


class Client:
    """Has these objects by name, and these errors by verb."""

    def __init__(self, objects=(), **errors):
        self.objects, self.errors, self.learned = dict(objects), errors, []

    def learn(self, resource):
        self.learned.append(resource)

    def resource(self, api_version, kind):
        if "resource" in self.errors:
            raise self.errors["resource"]
        return KNOWN[api_version, kind]

    def get(self, resource, name, namespace):
        if "get" in self.errors:
            raise self.errors["get"]
        return self.objects.get((resource.kind, namespace, name))


def definition(scope="Namespaced", **spec):
    made = things(GROUP)
    made["spec"] |= {"scope": scope, "versions": [{"name": "v1"}, {"name": "v2"}], **spec}
    return made


@pytest.mark.parametrize("scope", ["Namespaced", "Cluster"])
def test_resources_are_learned_from_the_crds_among_the_objects(scope):
    client = Client()
    assert live_objects.learn_definitions(client, [config_map("n"), definition(scope)]) == {(GROUP, "Thing")}
    assert client.learned == [Resource(f"{GROUP}/{version}", "Thing", "things", scope == "Namespaced") for version in ("v1", "v2")]


@pytest.mark.parametrize(
    "broken", [{"spec": {}}, {"spec": None}, {"spec": {"group": "g", "names": {}, "scope": "Cluster", "versions": [{}]}}]
)
def test_a_malformed_crd_is_left_to_the_server(broken):
    assert live_objects.defined_kinds({"kind": "CustomResourceDefinition", **broken}) == set()


CONFIG_MAP, NAMESPACE = Identity("v1", "ConfigMap", "n", "a"), Identity("v1", "Namespace", None, "n")


def test_a_kind_is_located_with_its_scope():
    assert live_objects.locate(Client(), CONFIG_MAP) == KNOWN["v1", "ConfigMap"]
    assert live_objects.locate(Client(), NAMESPACE) == KNOWN["v1", "Namespace"]
    assert live_objects.locate(Client(resource=ApiError(404, "NotServed", "no")), CONFIG_MAP) is None
    with pytest.raises(ClusterError, match=r"^ConfigMap n/a: could not find the kind of it: no$"):
        live_objects.locate(Client(resource=ApiError(403, "Forbidden", "no")), CONFIG_MAP)


@pytest.mark.parametrize(
    ("identity", "message"),
    [
        (CONFIG_MAP._replace(namespace=None), "ConfigMap a: metadata.namespace is missing; ConfigMap objects live in a namespace."),
        (
            NAMESPACE._replace(namespace="x"),
            "Namespace x/n: metadata.namespace is x, but Namespace objects are cluster-scoped; remove it.",
        ),
    ],
)
def test_a_wrong_scope_is_an_error(identity, message):
    with pytest.raises(InputError) as failure:
        live_objects.locate(Client(), identity)
    assert failure.value.message == message


@pytest.mark.parametrize("number", [0, 1, 2, 6])
def test_objects_are_read_by_identity(number):
    names = [f"a{index}" for index in range(number)]
    resources = {CONFIG_MAP._replace(name=name): KNOWN["v1", "ConfigMap"] for name in names}
    unserved = Identity("example.com/v1", "Thing", "n", "t")
    client = Client({("ConfigMap", "n", "a0"): {"first": 1}})
    found = live_objects.read(client, {**resources, unserved: None})
    assert found == {**{one: {"first": 1} if one.name == "a0" else None for one in resources}, unserved: None}


@pytest.mark.parametrize("others", [0, 2])
def test_an_object_that_cannot_be_read_is_an_error(others):
    resources = {CONFIG_MAP._replace(name=f"a{index}"): KNOWN["v1", "ConfigMap"] for index in range(1 + others)}
    with pytest.raises(ClusterError, match=r"^ConfigMap n/a0: could not read it: no$"):
        live_objects.read(Client(get=ApiError(403, "Forbidden", "no")), resources)
