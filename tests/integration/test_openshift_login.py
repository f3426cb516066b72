# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""docs/plays/openshift_user.yml: login with user and password by community.okd.openshift_auth, and the end of the token, whatever happened between."""

from __future__ import annotations

import pytest
from support import site
from support.openshift_login import OpenShiftLogin
from support.platform_jobs import ROOT, TEMPLATES, Credential, ExecutionEnvironment
from support.platform_jobs import credential as credential_of
from support.scheduler import IMAGE
from support.secrets import holding

PLAY = ROOT / "docs/plays/openshift_user.yml"
USER, PASSWORD = "developer", "pass:word of the tests"
SCHEDULER = {"name": "by-user", "image": IMAGE, "preset": "no_scoring"}


@pytest.fixture(scope="module")
def credential(kubectl) -> Credential:
    with credential_of(kubectl, name="openshift-user") as made:
        yield made


@pytest.fixture
def login(own_cluster, kubectl, credential):
    def new_token():
        return kubectl("create", "token", "openshift-user").stdout.strip()

    with OpenShiftLogin(own_cluster, USER, PASSWORD, new_token) as server:
        yield server


@pytest.fixture
def as_user(login, play, own_cluster):
    """Runs the play with all that it can say, and looks for password and tokens in it. `env` has nothing of the cluster."""

    def run(scheduler=None, password=PASSWORD, **options):
        access = {"cluster_host": login.url, "cluster_ca_file": str(own_cluster / "pki/ca.crt")}
        variables = {**access, "cluster_user": USER, "cluster_password": password, "secondary_schedulers": [scheduler or SCHEDULER]}
        done = play(PLAY, variables=variables, args=["-vvv"], env={"KUBECONFIG": "/dev/null"}, diff=True, **options)
        assert "Log in" in done.output(), "this would not see a secret"
        for secret in (password, *login.given):
            assert holding(secret, {"output": done.output()}) == []
        return done

    return run


@pytest.mark.long
def test_the_play_logs_in_applies_schedulers_and_ends_the_token(login, as_user, kubectl, audit):
    site.installed()
    with audit:
        run = as_user()
    assert run.task("Apply schedulers").changed
    assert [name for name in run.changed if "Log" in name] == []
    assert login.given == login.ended
    assert len(login.given) == 1
    assert audit.writes("system:serviceaccount:default:openshift-user")
    assert kubectl.get("secondaryscheduler", "by-user", site.NAMESPACE)
    check = as_user({**SCHEDULER, "state": "absent"}, check=True)
    assert check.changed
    assert len(login.ended) == len(login.given) == 2
    as_user({**SCHEDULER, "state": "absent"})
    assert kubectl.get("secondaryscheduler", "by-user", site.NAMESPACE) is None


def test_the_token_ends_when_the_play_fails(login, as_user, audit):
    with audit:
        run = as_user({**SCHEDULER, "namespace": "there-is-none"}, succeed=False)
    assert audit.requests("system:serviceaccount:default:openshift-user"), "it failed before it used the token"
    assert [failure.task.rpartition(" : ")[2] for failure in run.failures] == ["Apply schedulers"]
    assert login.given == login.ended
    assert len(login.given) == 1


def test_a_failed_login_is_reported_with_user_and_cluster(login, as_user):
    run = as_user(password="wrong-password-of-the-tests", succeed=False)
    (failure,) = run.failures
    assert f"{USER} cannot log in to {login.url}: Authorization failed. Unauthorized" in failure.result["msg"]
    assert login.given == []


@pytest.mark.long
def test_the_play_runs_in_the_execution_environment(login, own_cluster, audit, tmp_path):
    """With community.okd, as a project brings it, and the Ansible that is there."""
    environment = ExecutionEnvironment(tmp_path)
    access = {"cluster_host": login.url, "cluster_ca_file": "/runner/env/ca.crt", "cluster_user": USER, "cluster_password": PASSWORD}
    given = {**access, "secondary_schedulers": [{**SCHEDULER, "namespace": "there-is-none"}]}
    files = {"env/ca.crt": (own_cluster / "pki/ca.crt").read_text(), "env/play.yml": PLAY.read_text()}
    folder = environment.prepare(next(iter(TEMPLATES)), given, files=files)
    collection = "ansible_collections/community/okd"
    with audit:
        said = environment.run(
            folder,
            "ansible-playbook /runner/env/play.yml --extra-vars=@/runner/env/extravars -vvv 2>&1 || echo ended with $?",
            f"{ROOT}/.cache/collections/{collection}:/usr/share/ansible/collections/{collection}:ro",
        )
    assert "ended with 2" in said
    assert "there-is-none" in said
    assert audit.requests("system:serviceaccount:default:openshift-user"), "it failed before it used the token"
    assert login.given == login.ended
    assert len(login.given) == 1
    for secret in (PASSWORD, *login.given):
        assert holding(secret, {"output": said}) == []
