# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which cluster a host of an inventory is, by its variables."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._fleet.cluster_identity import option_names, problems, similar, twins

HOST = {"host": "https://api.example.com:6443", "api_key": "sha256~of-berlin"}


@pytest.fixture
def kubeconfig(tmp_path):
    path = tmp_path / "berlin.kubeconfig"
    path.touch()
    return str(path)


def found(access, environment=None, required=True):
    return problems({"cluster_access": access}, environment or {}, required)


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "cluster_access is missing"),
        ({"cluster_acess": {}}, "cluster_access is missing; the host has cluster_acess"),
        ({"cluster_access": None}, "cluster_access is missing"),
        ({"cluster_access": {}}, "cluster_access names no cluster: kubeconfig, context or host is missing"),
        ({"cluster_access": ""}, "cluster_access is not a mapping"),
        ({"cluster_access": "/etc/kube/berlin"}, "cluster_access is not a mapping"),
        ({"cluster_access": [HOST]}, "cluster_access is not a mapping"),
        ({"cluster_access": {"kubecofig": "/etc/kube/berlin"}}, "cluster_access.kubecofig is not an option; the closest one is kubeconfig"),
        ({"cluster_access": {**HOST, "colour": "red"}}, "cluster_access.colour is not an option; choose from api_key, ca_cert,"),
        ({"cluster_access": {"retry_seconds": 1}}, "names no cluster"),
        ({"cluster_access": {"kubeconfig": ""}}, "names no cluster"),
        ({"cluster_access": {"api_key": "sha256~of-berlin", "ca_cert": "/dev/null"}}, "names no cluster"),
        ({"cluster_access": {"host": HOST["host"]}}, "cluster_access has host without credentials for it"),
        ({"cluster_access": {"host": HOST["host"], "api_key": ""}}, "cluster_access has host without credentials for it"),
        ({"cluster_access": {"host": HOST["host"], "client_cert": "/dev/null"}}, "cluster_access has host without credentials for it"),
        ({"cluster_access": {"kubeconfig": "/nowhere/berlin"}}, "cluster_access.kubeconfig is /nowhere/berlin, which does not exist"),
        ({"cluster_access": {**HOST, "ca_cert": "/nowhere/ca"}}, "cluster_access.ca_cert is /nowhere/ca, which does not exist"),
    ],
)
def test_access_that_does_not_identify_one_cluster_is_rejected(variables, said):
    (problem,) = problems(variables, {}, True)
    assert said in problem
    assert HOST["api_key"] not in problem


def test_an_access_that_is_complete_is_accepted(kubeconfig):
    for access in (
        HOST,
        {"host": HOST["host"], "username": "a", "password": "b"},
        {"host": HOST["host"], "cert_file": kubeconfig, "key_file": kubeconfig},
        {"kubeconfig": kubeconfig},
        {"kubeconfig": f"/nowhere/one:{kubeconfig}", "context": "admin", "retry_seconds": 1},
        {"kubeconfig": {"clusters": []}},
        {"context": "berlin"},
    ):
        assert found(access) == []


def test_one_cluster_without_a_group_is_completed_by_the_environment():
    assert problems({}, {"K8S_AUTH_HOST": "https://x"}, required=False) == []
    assert found({"retry_seconds": 1}, {"K8S_AUTH_HOST": "https://x"}, required=False) == []
    assert "cluster_access.kubecofig is not an option" in found({"kubecofig": "x"}, required=False)[0]


@pytest.mark.parametrize(
    ("access", "variable", "value", "option"),
    [
        ("kubeconfig", "K8S_AUTH_HOST", "https://elsewhere", "host"),
        ("kubeconfig", "K8S_AUTH_API_KEY", "sha256~elsewhere", "api_key"),
        ("kubeconfig", "K8S_AUTH_CONTEXT", "elsewhere", "context"),
        ("kubeconfig", "K8S_AUTH_SSL_CA_CERT", "/elsewhere", "ca_cert"),
        ("kubeconfig", "K8S_AUTH_IMPERSONATE_USER", "elsewhere", "impersonate_user"),
        ("host", "K8S_AUTH_CA_CERT", "/elsewhere", "ca_cert"),
        ("host", "K8S_AUTH_VERIFY_SSL", "False", "validate_certs"),
        ("host", "K8S_AUTH_CERT_FILE", "/elsewhere", "client_cert"),
        ("context", "K8S_AUTH_API_KEY", "sha256~elsewhere", "api_key"),
    ],
)
def test_nothing_of_another_cluster_is_taken_from_the_environment(kubeconfig, access, variable, value, option):
    given = {"kubeconfig": {"kubeconfig": kubeconfig}, "host": HOST, "context": {"context": "berlin"}}[access]
    (problem,) = found(given, {variable: value})
    assert problem == f"{variable} of the environment would be used as its {option}: add {option} to cluster_access, or unset the variable"


@pytest.mark.parametrize(
    ("access", "environment"),
    [
        # A credential of Automation Platform beside an access that is complete
        (
            {**HOST, "ca_cert": "/dev/null"},
            {"K8S_AUTH_HOST": "x", "K8S_AUTH_API_KEY": "y", "K8S_AUTH_SSL_CA_CERT": "z", "K8S_AUTH_VERIFY_SSL": "True"},
        ),
        (HOST, {"K8S_AUTH_KUBECONFIG": "/elsewhere", "K8S_AUTH_CONTEXT": "elsewhere"}),
        (HOST, {"K8S_AUTH_PROXY": "http://proxy", "K8S_AUTH_NO_PROXY": "localhost", "K8S_AUTH_API_KEY": ""}),
        ({"context": "berlin"}, {"K8S_AUTH_KUBECONFIG": "/etc/kube/all"}),
    ],
)
def test_environment_variables_that_the_client_does_not_use_are_accepted(access, environment):
    assert found(access, environment) == []


def test_two_names_of_one_cluster_are_found():
    def cluster(uid, server):
        return {"uid": uid, "server": server}

    assert twins({"a": cluster("1", "x"), "b": cluster("2", "y"), "c": cluster("1", "z")}) == [["a", "c"]]
    assert twins({"a": cluster("1", "x"), "b": cluster(None, "y")}) == []
    # Where the uid must not be read
    assert twins({"a": cluster(None, "x"), "b": cluster(None, "x"), "c": cluster(None, "y")}) == [["a", "b"]]
    assert twins({"a": cluster("1", "x"), "b": cluster(None, "x")}) == [["a", "b"]]
    # One address may be a proxy in front of several.
    assert twins({"a": cluster("1", "x"), "b": cluster("2", "x")}) == []


def test_every_name_of_an_option_is_known():
    names = option_names()
    assert {name: names[name] for name in ("kubeconfig", "host", "api_key", "cert_file", "key_file", "verify_ssl", "ssl_ca_cert")} == {
        "kubeconfig": "kubeconfig",
        "host": "host",
        "api_key": "api_key",
        "cert_file": "client_cert",
        "key_file": "client_key",
        "verify_ssl": "validate_certs",
        "ssl_ca_cert": "ca_cert",
    }


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        (["cluster_acces", "other"], "cluster_acces"),
        (["clusteraccess"], "clusteraccess"),
        (["cluster_access"], ""),
        ([7, "cluster"], ""),
        ([], ""),
    ],
)
def test_a_misspelt_variable_is_found(variables, found):
    assert similar(variables) == found


def test_all_problems_of_an_access_are_found_at_once():
    access = {"kubeconfig": "/nowhere/a:/nowhere/b", "client_cert": "/nowhere/c", "client_key": "/nowhere/k", "ca_cert": "relative"}
    assert found(access, {"K8S_AUTH_HOST": "x"}) == [
        "cluster_access.client_cert is /nowhere/c, which does not exist",
        "cluster_access.client_key is /nowhere/k, which does not exist",
        "cluster_access.kubeconfig is /nowhere/a, which does not exist",
        "K8S_AUTH_HOST of the environment would be used as its host: add host to cluster_access, or unset the variable",
    ]
    assert found({"kubecofig": 1, 7: 2}) == [
        "cluster_access.kubecofig is not an option; the closest one is kubeconfig",
        f"cluster_access.7 is not an option; choose from {', '.join(sorted(set(option_names().values())))}",
    ]


def test_a_path_may_begin_at_the_home_directory(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert found({"kubeconfig": "~/config"}) == ["cluster_access.kubeconfig is ~/config, which does not exist"]
    (tmp_path / "config").touch()
    assert found({"kubeconfig": "~/config"}) == []


@pytest.mark.parametrize(("value", "mixed"), [("0", True), ("no", True), ("FALSE", True), ("true", False), ("yes", False), ("1", False)])
def test_only_a_check_of_certificates_that_is_switched_off_is_of_the_environment(value, mixed):
    assert bool(found(HOST, {"K8S_AUTH_VERIFY_SSL": value})) is mixed


def test_a_host_without_credentials_is_incomplete_whatever_the_environment_has():
    access = {"host": HOST["host"], "username": "a"}
    assert found(access, {"K8S_AUTH_PASSWORD": "b"}) == [
        "cluster_access has host without credentials for it: api_key, or client_cert with client_key, is missing"
    ]
    # A context beside the host is enough; what else the client would take is named.
    assert found({**access, "context": "berlin"}, {"K8S_AUTH_PASSWORD": "b", "K8S_AUTH_KUBECONFIG": "c"}) == [
        "K8S_AUTH_PASSWORD of the environment would be used as its password: add password to cluster_access, or unset the variable"
    ]


def test_names_of_one_cluster_are_one_list_for_each_cluster():
    def cluster(uid, server):
        return {"uid": uid, "server": server}

    names = {"a": cluster("1", "x"), "b": cluster("1", "x"), "c": cluster("2", "y"), "d": cluster("2", "z"), "e": cluster(None, "z")}
    assert twins(names) == [["a", "b"], ["c", "d", "e"]]
    assert twins({}) == []
