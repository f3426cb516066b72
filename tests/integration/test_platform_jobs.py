# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Job templates of playbooks/aap/vars.yml as Automation Platform runs them: a container of the execution environment, what the credential type injects,
answers of the survey. All of them in both modes, and the workflow, are marked long."""

from __future__ import annotations

import json
import shutil
import tarfile
from typing import NamedTuple

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.openshift import rendered
from support.bare_cluster import bare_clusters
from support.fleet import VARIABLES as FLEET
from support.monitoring import Stack
from support.openshift import openshift
from support.platform_jobs import TEMPLATES, Credential, ExecutionEnvironment, answers, inventory
from support.platform_jobs import VARIABLES as PLATFORM
from support.platform_jobs import credential as credential_of
from support.site import VARIABLES, gone, remove

# The state after one test is where the next one begins.
pytestmark = pytest.mark.in_order

INSTALL, CONFIGURE, PROBE, REMOVE = "Install schedulers", "Configure a secondary scheduler", "Probe a scheduler", "Remove schedulers"
TOKEN = "sha256~planted"
TEXT = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: by-text
"""


class Case(NamedTuple):
    """What a job template is run with, answers, and the fixture of what has to be there, which yields more of them; what it hands on; what it changes:
    the cluster, a file or nothing."""

    given: dict
    hands_on: str
    changes: str = ""
    ground: str = ""


# In the order in which a cluster gets and loses what they bring
CASES = {
    INSTALL: Case({}, "osso_site", changes="cluster", ground="operator_image"),
    CONFIGURE: Case({"scheduler_config_text": TEXT}, "osso_configure", changes="cluster"),
    "Schedule by measured load": Case({"monitoring_wait_timeout": 120}, "osso_configure", changes="cluster", ground="prometheus"),
    "Route namespaces to a scheduler": Case(
        {"pool_scheduler_name": "by-text", "pool_namespaces": "match_labels: {team: by-text}"},
        "osso_pools",
        changes="cluster",
        ground="pool",
    ),
    PROBE: Case({"probe_scheduler_name": "by-text"}, "osso_probe"),
    "Report on schedulers": Case({"report_dest": "/runner"}, "osso_report", changes="file"),
    "Preview a configuration": Case(
        {"preview_config_text": TEXT, "preview_dest": "/runner"}, "osso_preview", changes="file", ground="program"
    ),
    "Gather a support bundle": Case({"gather_dest": "/runner", "gather_log_lines": 100}, "osso_gather", changes="file"),
    "Change the default scheduler's profile": Case(
        {"default_scheduler_profile": "HighNodeUtilization", "default_scheduler_wait_timeout": 120},
        "osso_default_scheduler",
        changes="cluster",
        ground="default_scheduler",
    ),
    REMOVE: Case({}, "osso_remove", changes="cluster"),
}
CLUSTERS = ["berlin", "lisbon", "oslo"]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    return ExecutionEnvironment(tmp_path_factory.mktemp("jobs"))


@pytest.fixture(scope="module")
def credential(kubectl):
    with credential_of(kubectl) as made:
        yield made


@pytest.fixture(scope="module")
def operator_image(play):
    """As pushed to the cluster's registry"""
    said = play([{"name": "Say", "ansible.builtin.debug": {"msg": VARIABLES["operator_image"]}}]).tasks[0].result["msg"]
    return {"operator_image": said}


@pytest.fixture(scope="module")
def program(environment, own_cluster):
    """The execution environment has no skopeo, so the program is a file of the project."""
    shutil.copy(own_cluster / "bin/kube-scheduler", environment.project)
    return {"preview_binary": "/runner/project/kube-scheduler"}


@pytest.fixture(scope="module")
def removed(kubectl):
    """A cluster without the operator, before and after."""
    remove()
    yield
    remove()
    assert gone(kubectl)


@pytest.fixture(scope="module")
def installed(removed, environment, credential, operator_image):
    """The job that installs the operator."""
    return environment.job(INSTALL, answers(TEMPLATES[INSTALL], **operator_image), credential)


@pytest.fixture(scope="module")
def prometheus(own_cluster, kubectl, tmp_path_factory):
    """Of a cluster that is no OpenShift: it asks nobody for a token."""
    with Stack.of(own_cluster, kubectl, tmp_path_factory.mktemp("prometheus"), openshift=False) as stack:
        stack.wait_for("instance:node_cpu:ratio", *stack.nodes)
        yield {"monitoring_url": stack.url, "scheduler_preset_parameters": json.dumps({"address": stack.url, "token": ""})}


@pytest.fixture
def pool(play):
    """Of the scheduler by-text, which cannot be removed before its pool."""
    yield {}
    play("osso.scheduler.pools", variables={"scheduler_pools": [{"scheduler_name": "by-text", "state": "absent"}]})


@pytest.fixture(scope="module")
def default_scheduler(kubectl):
    """OpenShift's, by its resources and a stand-in for its operator"""
    with openshift(kubectl, {profile: json.dumps(rendered("4.18", profile)) for profile in ("LowNodeUtilization", "HighNodeUtilization")}):
        yield {}


@pytest.mark.long
def test_a_job_that_cannot_work_reports_why_and_that_no_certificate_is_verified(environment):
    """Without a certificate authority the credential type has nothing verified, and nothing is at that address."""
    hosts = inventory()
    hosts["_meta"]["hostvars"]["localhost"]["cluster_access"] = {"retry_seconds": 1}
    job = environment.job(INSTALL, answers(TEMPLATES[INSTALL]), Credential("https://127.0.0.1:9", TOKEN), hosts=hosts)
    said = " ".join(job.stdout.split())
    assert job.rc == 2
    assert said.count("the API server https://127.0.0.1:9 cannot be reached") == 1
    assert said.count("The certificate of https://127.0.0.1:9 is not verified") == 1
    assert "certificate authority data of Automation Platform's credential" in said
    assert job.holding(TOKEN) == []
    assert job.handed_on == {}


@pytest.mark.long
def test_check_of_an_installation_predicts_and_writes_nothing(removed, environment, credential, operator_image, audit):
    with audit:
        job = environment.job(INSTALL, answers(TEMPLATES[INSTALL], blanks=False, **operator_image), credential, check=True)
    assert job.rc == 0, job.stdout
    assert job.recap()["changed"] > 0
    assert audit.requests(credential.user), "this would not see a write"
    assert audit.writes(credential.user) == []
    assert job.holding(credential.token) == []
    told = job.handed_on["osso_site"]
    assert (told["check"], told["clusters"]["localhost"]["changed"]) == (True, ["operator"])


@pytest.mark.long
def test_the_installation_job_installs_the_operator_and_outputs_no_token(installed, credential):
    assert installed.rc == 0, installed.stdout
    assert "is not verified" not in installed.stdout
    assert installed.holding(credential.token) == []
    told = installed.handed_on["osso_site"]
    assert not told["check"]
    assert told["clusters"]["localhost"] == {
        "cluster": "localhost",
        "id": "",
        "outcome": "done",
        "version": told["clusters"]["localhost"]["version"],
        "operator": told["clusters"]["localhost"]["operator"],
        "schedulers": [],
        "changed": ["operator"],
        "reason": "",
    }


@pytest.mark.long
def test_second_installation_changes_nothing(installed, environment, credential, operator_image, audit):
    """What the first job handed on is an extra variable of this one, as in a workflow."""
    given = {**answers(TEMPLATES[INSTALL], **operator_image), **installed.handed_on}
    with audit:
        job = environment.job(INSTALL, given, credential)
    assert (job.rc, job.recap()["changed"]) == (0, 0), job.stdout
    assert audit.requests(credential.user), "this would not see a write"
    assert audit.writes(credential.user) == []
    assert job.handed_on["osso_site"]["clusters"]["localhost"]["changed"] == []


@pytest.mark.long
def test_a_scheduler_is_configured_and_probed(installed, environment, credential):
    given = answers(TEMPLATES[CONFIGURE], scheduler_preset="high_node_utilization", scheduler_preset_parameters="scheduler_name: packing")
    job = environment.job(CONFIGURE, given, credential)
    assert job.rc == 0, job.stdout
    row = job.handed_on["osso_configure"]["clusters"]["localhost"]
    assert (row["outcome"], row["schedulers"], row["changed"]) == ("done", ["packing"], ["schedulers"])

    (name,) = row["schedulers"]
    probe = environment.job(PROBE, {**answers(TEMPLATES[PROBE], probe_scheduler_name=name), **job.handed_on}, credential)
    assert (probe.rc, probe.recap()["changed"]) == (0, 0), probe.stdout
    placed = probe.handed_on["osso_probe"]["clusters"]["localhost"]
    assert (placed["outcome"], placed["placed"], placed["scheduler"], placed["reason"]) == ("done", True, "packing", "")
    assert placed["node"]
    assert placed["seconds"] > 0
    assert job.holding(credential.token) == probe.holding(credential.token) == []


@pytest.mark.long
def test_the_removal_job_deletes_operator_and_schedulers(installed, environment, credential, kubectl):
    job = environment.job(REMOVE, answers(TEMPLATES[REMOVE]), credential)
    assert job.rc == 0, job.stdout
    assert job.recap()["changed"] > 0
    assert gone(kubectl)
    assert job.holding(credential.token) == []
    assert job.handed_on["osso_remove"]["clusters"]["localhost"]["changed"] == ["operator", "schedulers"]


def test_every_job_template_has_a_test_case():
    assert CASES.keys() == TEMPLATES.keys()


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_each_job_template_runs_in_check_mode_and_for_real(removed, environment, credential, request, audit, name):
    """In this order. A second run finds nothing to do."""
    case = CASES[name]
    given = {**case.given, **(request.getfixturevalue(case.ground) if case.ground else {})}

    def run(**options):
        blanks = not options.get("check")
        with audit:
            job = environment.job(name, answers(TEMPLATES[name], blanks=blanks, **given), credential, **options)
        assert job.rc == 0, job.stdout
        assert audit.requests(credential.user), "this would not see a write"
        assert job.holding(credential.token) == []
        assert [*job.handed_on] == [case.hands_on]
        assert [told["check"] for told in job.handed_on.values()] == [bool(options.get("check"))]
        return job, audit.writes(credential.user)

    check, written = run(check=True)
    assert written == []
    assert bool(check.recap()["changed"]) == bool(case.changes)
    job, written = run()
    assert bool(job.recap()["changed"]) == bool(case.changes)
    # A probe's pod comes and goes.
    assert bool(written) == (case.changes == "cluster" or name == PROBE)
    if case.changes == "cluster":
        again, written = run()
        assert (again.recap()["changed"], written) == (0, [])
    for told in job.handed_on.values():
        (row,) = told["clusters"].values()
        if row.get("path"):
            written = texts(job.folder / row["path"].removeprefix("/runner/"))
            assert "by-text" in written
            assert credential.token not in written


def texts(path):
    """Of a page, or of all files of a bundle"""
    if path.suffix == ".html":
        return path.read_text()
    with tarfile.open(path) as bundle:
        return "".join(bundle.extractfile(member).read().decode() for member in bundle if member.isfile())


def nodes(workflow):
    """In the order in which they run"""
    by_name = {node["identifier"]: node for node in workflow["simplified_workflow_nodes"]}
    later = [name for node in by_name.values() for name in node.get("success_nodes", [])]
    (first,) = by_name.keys() - set(later)
    found = [first]
    while following := by_name[found[-1]].get("success_nodes"):
        found += following
    return [by_name[name] for name in found]


@pytest.mark.long
def test_the_workflow_changes_the_canary_first_and_hands_results_on(environment, tmp_path):
    """Two clusters and a canary. Each node gets what those before it handed on."""
    (workflow,) = PLATFORM["controller_workflows"]
    with bare_clusters(tmp_path, CLUSTERS) as fleet:
        access = {name: {"cluster_access": {**cluster.access, "ca_cert": "/runner/env/fleet.crt"}} for name, cluster in fleet.items()}
        hosts, authority = inventory(access, canary=("lisbon",)), {"env/fleet.crt": fleet["oslo"].ca.read_text()}
        given, written = {**answers(workflow), **FLEET}, {}
        for node in nodes(workflow):
            if "approval_node" in node:
                written["approval"] = given["osso_site"]
                continue
            before = {name: cluster.position() for name, cluster in fleet.items()}
            check = node["job_type"] == "check"
            job = environment.job(node["unified_job_template"], given, check=check, limit=node["limit"], hosts=hosts, files=authority)
            assert job.rc == 0, job.stdout
            assert [name for name, cluster in fleet.items() if job.holding(cluster.token)] == []
            told = job.handed_on["osso_site"]
            assert told["check"] == check
            assert {name: (row["outcome"], row["changed"]) for name, row in told["clusters"].items()} == {
                name: ("done", ["operator", "schedulers"]) for name in told["clusters"]
            }
            given |= job.handed_on
            written[node["identifier"]] = (sorted(told["clusters"]), sorted(name for name in fleet if fleet[name].writes(before[name])))
    assert written["approval"]["check"]
    assert {name: told for name, told in written.items() if name != "approval"} == {
        "check": (CLUSTERS, []),
        "canary": (["lisbon"], ["lisbon"]),
        "rest": (["berlin", "oslo"], ["berlin", "oslo"]),
    }
