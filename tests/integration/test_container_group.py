# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Jobs in a container group in the cluster that they change: pods of the execution environment with account and rights of docs/container-group, and no
credential. Automation Platform streams the job to its stdin, and reads events and artifacts from its stdout."""

from __future__ import annotations

import os

import pytest
import yaml
from support import site
from support.platform_jobs import ROOT, TEMPLATES, ExecutionEnvironment, answers, build, finished
from support.scheduler import Scheduler, eventually

pytestmark = pytest.mark.long

FOLDER = ROOT / "docs/container-group"
ACCESS = yaml.safe_load((FOLDER / "access.yml").read_text())["items"]
POD = yaml.safe_load((FOLDER / "pod.yml").read_text())
INSTALL, CONFIGURE, PROBE = "Install schedulers", "Configure a secondary scheduler", "Probe a scheduler"


@pytest.fixture(scope="module")
def image(own_cluster):
    """As the nodes pull it"""
    return build(REGISTRY=os.environ["REGISTRY"])


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    return ExecutionEnvironment(tmp_path_factory.mktemp("jobs"))


@pytest.fixture(scope="module")
def access(kubectl):
    """The namespace of the operator is there before its roles are."""
    site.installed()
    kubectl.apply(*ACCESS)
    yield
    if (left := Scheduler(kubectl, "inside")).resource:
        left.delete()
    for item in reversed(ACCESS):
        place = [f"--namespace={item['metadata']['namespace']}"] if "namespace" in item["metadata"] else []
        kubectl("delete", item["kind"], item["metadata"]["name"], *place, "--ignore-not-found")


@pytest.fixture
def job(access, environment, image, kubectl):
    """Runs a job template's job in a pod of its own."""

    def run(template, variables, spec=POD["spec"]):
        folder = environment.prepare(template, variables)
        playbook = TEMPLATES[template]["playbook"]
        stream = environment.run(folder, f"ansible-runner transmit /runner --ident job --playbook {playbook}")
        (worker,) = spec["containers"]
        pod = {
            **POD,
            "metadata": {**POD["metadata"], "name": folder.name},
            "spec": {**spec, "restartPolicy": "Never", "containers": [{**worker, "image": image, "stdin": True, "stdinOnce": True}]},
        }
        kubectl.apply(pod)
        place = f"--namespace={POD['metadata']['namespace']}"

        def phase():
            return kubectl.get("pod", folder.name, POD["metadata"]["namespace"])["status"]["phase"]

        eventually(lambda: phase() != "Pending")
        kubectl("attach", folder.name, place, "--stdin", "--quiet", stdin=stream, timeout=600)
        eventually(lambda: phase() in ("Succeeded", "Failed"))
        (folder / "answer").write_text(kubectl("logs", folder.name, place).stdout)
        environment.run(folder, "ansible-runner process /runner --ident job < /runner/answer || :")
        token = kubectl("create", "token", "scheduler-jobs", place).stdout.strip()
        kubectl("delete", "pod", folder.name, place)
        done = finished(folder)
        # Tokens of an account begin alike: algorithm and key.
        head = token.partition(".")[0]
        assert [name for name, text in done.files.items() if head in text] == []
        return done

    return run


def test_a_scheduler_is_configured_and_probed_without_a_credential(job):
    given = answers(TEMPLATES[CONFIGURE], scheduler_name="inside", scheduler_preset="no_scoring")
    first = job(CONFIGURE, given)
    assert first.rc == 0, first.stdout
    (row,) = first.handed_on["osso_configure"]["clusters"].values()
    assert (row["schedulers"], row["changed"]) == (["inside"], ["schedulers"])
    again = job(CONFIGURE, given)
    assert (again.rc, again.recap()["changed"]) == (0, 0), again.stdout
    probe = job(PROBE, answers(TEMPLATES[PROBE], probe_scheduler_name="inside"))
    assert probe.rc == 0, probe.stdout
    (placed,) = probe.handed_on["osso_probe"]["clusters"].values()
    assert (placed["outcome"], placed["scheduler"]) == ("done", "inside")
    away = job(CONFIGURE, {**given, "scheduler_state": "absent"})
    assert (away.rc, away.recap()["changed"]) == (0, 1), away.stdout


def test_a_job_beyond_the_documented_permissions_is_reported_as_forbidden(job):
    """Definitions and roles of an installation are beyond them."""
    refused = job(INSTALL, answers(TEMPLATES[INSTALL], operator_image=f"registry.example.com/operator@sha256:{'a' * 64}"))
    assert refused.rc == 2
    assert "system:serviceaccount:scheduler-jobs:scheduler-jobs" in refused.stdout
    assert "forbidden" in refused.stdout


def test_a_missing_variable_is_one_error_of_the_job_without_a_traceback(job):
    """ansible-core before 2.19, which this image has, adds a traceback to errors of actions."""
    refused = job(INSTALL, answers(TEMPLATES[INSTALL]))
    assert refused.rc == 2
    assert "operator_image is missing" in refused.stdout
    assert "exception" not in refused.stdout


def test_a_job_without_the_accounts_token_fails_and_uses_no_other_access(job):
    """As container groups have it where nobody says otherwise."""
    refused = job(PROBE, answers(TEMPLATES[PROBE]), {**POD["spec"], "automountServiceAccountToken": False})
    assert refused.rc == 2
    assert "automountServiceAccountToken" in refused.stdout
