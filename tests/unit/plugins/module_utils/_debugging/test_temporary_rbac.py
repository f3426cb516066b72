# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The temporary permission to read profiles: what is created, in which order, and what is deleted again."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import temporary_rbac
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.temporary_rbac import ANONYMOUS, TOKEN, Access
from support.api_server import ApiServer, connect, status

CREATED = (201, {"metadata": {"name": "x"}})
ISSUED = (201, {"status": {"token": "issued", "expirationTimestamp": "2026-11-25T10:00:00Z"}})
DELETED = (200, {"kind": "Status", "status": "Success"})
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
ACCOUNTS = "/api/v1/namespaces/n/serviceaccounts"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@pytest.fixture
def server():
    with ApiServer.running() as server:
        yield server


def reviewed(allowed):
    return (201, {"status": {"allowed": allowed}})


def requests(server):
    return [(one.method, one.path) for one in server.seen]


def test_the_objects_grant_get_of_profiles_to_one_account():
    access = Access(None, "n", TOKEN)
    about = {"name": access.name, "labels": {"app.kubernetes.io/managed-by": "osso.scheduler", "osso.scheduler/profiling": "true"}}
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": about,
        "rules": [{"nonResourceURLs": ["/debug/pprof/*"], "verbs": ["get"]}],
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": about,
        "roleRef": {"kind": "ClusterRole", "apiGroup": "rbac.authorization.k8s.io", "name": access.name},
        "subjects": [{"kind": "ServiceAccount", "name": access.name, "namespace": "n"}],
    }
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {**about, "namespace": "n"},
        "automountServiceAccountToken": False,
    }
    assert access.manifests() == [account, role, binding]
    anonymous = Access(None, "n", ANONYMOUS)
    assert anonymous.name != access.name
    about["name"] = role["metadata"]["name"] = binding["roleRef"]["name"] = anonymous.name
    binding["subjects"] = [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "system:anonymous"}]
    assert anonymous.manifests() == [role, binding]


@pytest.mark.parametrize("before", [[], [reviewed(False)], [(401, status(401, "Unauthorized"))], [(403, status(403, "Forbidden"))]])
def test_the_token_is_returned_when_its_holder_has_the_right(server, before):
    access = Access(connect(server.url), "n", TOKEN)
    server.answers = [CREATED, CREATED, CREATED, ISSUED, *before, reviewed(True)]
    assert access.open() == "issued"
    asked = requests(server)
    assert asked == [
        ("POST", ACCOUNTS),
        ("POST", ROLES),
        ("POST", BINDINGS),
        ("POST", f"{ACCOUNTS}/{access.name}/token"),
        *[("POST", REVIEWS)] * (len(before) + 1),
    ]
    assert json.loads(server.seen[3].body)["spec"] == {"expirationSeconds": 600}
    assert json.loads(server.seen[-1].body) == {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"nonResourceAttributes": {"path": "/debug/pprof/heap", "verb": "get"}},
    }
    assert {one.headers["Authorization"] for one in server.seen[:4]} == {"Bearer token"}
    assert {one.headers["Authorization"] for one in server.seen[4:]} == {"Bearer issued"}
    server.seen.clear()
    server.answers = [DELETED] * 3
    assert access.close() == ""
    assert requests(server) == [
        ("DELETE", f"{BINDINGS}/{access.name}"),
        ("DELETE", f"{ROLES}/{access.name}"),
        ("DELETE", f"{ACCOUNTS}/{access.name}"),
    ]


def test_the_holder_of_the_token_reaches_the_server_in_the_same_way():
    """As the user did, through the same proxy and with the same authorities"""
    values = {
        "host": "https://api.example.com:6443",
        "ssl_ca_cert": "/ca.crt",
        "verify_ssl": False,
        "assert_hostname": "name",
        "tls_server_name": "other",
        "proxy": "http://192.0.2.1:3128",
        "proxy_headers": {"a": "b"},
        "no_proxy": "example.org",
    }
    user = SimpleNamespace(api_client=SimpleNamespace(configuration=SimpleNamespace(**values)))
    own = temporary_rbac._as(user, "issued").api_client.configuration
    assert {name: getattr(own, name) for name in values} == values
    assert own.get_api_key_with_prefix("authorization") == "Bearer issued"


def test_a_right_that_the_api_server_never_confirms_is_tried(server, monkeypatch):
    """The scheduler decides. Its answer has the better message."""
    monkeypatch.setattr(temporary_rbac, "_GRANT_SECONDS", 0)
    server.answers = [CREATED, CREATED, CREATED, ISSUED]
    assert Access(connect(server.url), "n", TOKEN).open() == "issued"
    assert server.answers == []


def test_a_review_that_fails_for_another_reason_is_an_error(server):
    server.answers = [CREATED, CREATED, CREATED, ISSUED, (404, status(404, "NotFound", "no reviews here"))]
    with pytest.raises(ApiError, match="no reviews here"):
        Access(connect(server.url), "n", TOKEN).open()


def test_anonymous_access_has_no_account_and_no_token(server):
    server.answers = [CREATED, CREATED]
    assert Access(connect(server.url), "n", ANONYMOUS).open() == ""
    assert requests(server) == [("POST", ROLES), ("POST", BINDINGS)]


def test_without_a_token_the_reason_is_the_message(server):
    access = Access(connect(server.url), "n", TOKEN)
    server.answers = [CREATED, CREATED, CREATED, (403, status(403, "Forbidden"))]
    with pytest.raises(ClusterError, match=rf"The user is not allowed to request a token of the ServiceAccount n/{access.name}.*\.$"):
        access.open()


class Broken:
    """A client whose server fails for one kind of object, and notes what is deleted."""

    def __init__(self, kind, code, leaves=()):
        self.kind, self.code, self.leaves, self.deleted = kind, code, leaves, []

    def resource(self, api_version, kind):
        return SimpleNamespace(kind=kind)

    def create(self, resource, manifest):
        if resource.kind == self.kind:
            raise ApiError(self.code, "Reason", "no")

    def delete(self, resource, name, namespace):
        self.deleted.append((resource.kind, namespace))
        if resource.kind in self.leaves:
            raise ApiError(500, "InternalError", "etcd is gone")


@pytest.mark.parametrize(
    ("code", "deleted"),
    [
        (400, [("ServiceAccount", "n")]),
        (403, [("ServiceAccount", "n")]),
        (499, [("ServiceAccount", "n")]),
        # The server may have created it.
        (0, [("ClusterRole", None), ("ServiceAccount", "n")]),
        (500, [("ClusterRole", None), ("ServiceAccount", "n")]),
    ],
)
def test_after_a_failure_everything_is_deleted_that_may_exist(code, deleted):
    server = Broken("ClusterRole", code)
    access = Access(server, "n", TOKEN)
    with pytest.raises(ApiError) as error:
        access.open()
    assert error.value.message == f"The ClusterRole {access.name} for reading profiles could not be created: no"
    assert access.close() == ""
    assert server.deleted == deleted


def test_objects_that_cannot_be_deleted_are_named_with_the_command():
    access = Access(Broken("ClusterRoleBinding", 500, leaves=("ClusterRole", "ServiceAccount")), "n", TOKEN)
    with pytest.raises(ApiError):
        access.open()
    assert access.close() == (
        f"The ClusterRole {access.name} may be left over (etcd is gone); delete it: kubectl delete clusterrole {access.name}. "
        f"The ServiceAccount {access.name} may be left over (etcd is gone); delete it: "
        f"kubectl delete serviceaccount {access.name} --namespace=n."
    )
