# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""site.yml where nothing has to run: check mode on an empty cluster, and what is refused before anything is written."""

from __future__ import annotations

import json

import pytest
from support.inventory import at_rest, everything
from support.scheduler import IMAGE, Scheduler
from support.site import NAMESPACE, RESOURCE, VARIABLES, remove, site

MISSPELT = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: bad
  plugins:
    score:
      enabled:
      - name: NodeResourceFit
"""


def test_check_on_a_fresh_cluster_predicts_and_writes_nothing(kubectl, audit):
    at_rest(kubectl)
    before = everything(kubectl, version=True)
    with audit:
        run = site(check=True, diff=True)
    assert audit.writes() == []
    assert everything(kubectl, version=True) == before
    assert run.changed, "an empty cluster needs changes"
    applied = run.task("Apply the operator").result
    assert {item["action"] for item in applied["objects"]} == {"created"}
    schedulers = run.task("Apply schedulers").result
    assert {(item["kind"], item["action"]) for item in schedulers["objects"]} == {
        ("ConfigMap", "created"),
        ("SecondaryScheduler", "created"),
    }
    assert schedulers["unvalidated"], "what could not be asked of the server has to be said"
    assert "is not part of the manifests" not in " ".join(run.output().split()), "the role operator creates it in the same play"


OF_A_KUBECONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": "bad"}],
    "clientConnection": {"kubeconfig": "/etc/kube/config"},
}
WRONG = (
    ({"config_text": "a: b: c"}, "1:5"),
    ({"config": {"kind": "KubeSchedulerConfiguration"}}, "apiVersion"),
    ({"config": {"apiVersion": "kubescheduler.config.k8s.io/v1"}}, "kind"),
    ({"config_text": MISSPELT, "image": IMAGE}, "content:8:15: profiles[0].plugins.score.enabled[0].name: "),
    ({"config_text": MISSPELT, "image": "mine", "kubernetes_version": "1.31", "plugins": "in-tree"}, "NodeResourcesFit?"),
    ({"config_text": MISSPELT, "image": "mine", "kubernetes_version": "1.99", "plugins": "in-tree"}, "1.99 is not known here"),
    ({"config": OF_A_KUBECONFIG, "image": IMAGE}, 'clientConnection.kubeconfig: "/etc/kube/config": no volume of'),
)


def test_wrong_configurations_are_rejected_before_anything_is_written(audit):
    schedulers = [{"name": f"bad-{number}", "image": "image", **scheduler} for number, (scheduler, _said) in enumerate(WRONG)]
    with audit:
        run = site(variables={"secondary_schedulers": schedulers}, succeed=False)
    (failure,) = run.failures
    told = [result["msg"] for result in failure.result["results"]]
    assert [said for message, (_scheduler, said) in zip(told, WRONG, strict=True) if said not in message] == [], run.output()
    assert audit.writes(dry_run=True) == []


def test_a_custom_scheduler_with_a_kubeconfig_that_no_volume_contains_is_rejected(play, audit):
    """Before anything is deployed. With the volume it is accepted."""
    scheduler = {"name": "bad", "image": IMAGE, "config": OF_A_KUBECONFIG}
    mounts = {
        "volumes": [{"name": "kube", "secret": {"secretName": "kube"}}],
        "volume_mounts": [{"name": "kube", "mountPath": "/etc/kube"}],
    }
    role = {"ansible.builtin.import_role": {"name": "osso.scheduler.custom_scheduler", "tasks_from": "check"}}
    with audit:
        run = play([role], variables={"custom_schedulers": [scheduler]}, succeed=False)
    (failure,) = run.failures
    assert 'clientConnection.kubeconfig: "/etc/kube/config": no volume of' in failure.result["results"][0]["msg"]
    assert audit.writes(dry_run=True) == []
    assert "no volume of" not in play([role], variables={"custom_schedulers": [{**scheduler, **mounts}]}).output()


TOKEN, PASSWORD = "open-sesame", "correct-horse"
WITH_CREDENTIALS = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "mine",
            "pluginConfig": [
                {
                    "name": "TargetLoadPacking",
                    "args": {
                        "metricProvider": {"type": "Prometheus", "address": f"https://me:{PASSWORD}@prometheus.example.com", "token": TOKEN}
                    },
                }
            ],
        }
    ],
}
UNUSABLE = {**WITH_CREDENTIALS, "nonsense": 1}
SOURCES = {
    "config": ({"config": WITH_CREDENTIALS}, {"config": UNUSABLE}),
    "config_text": ({"config_text": json.dumps(WITH_CREDENTIALS)}, {"config_text": json.dumps(UNUSABLE)}),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("variable", ["secondary_schedulers", "custom_schedulers"])
def test_credentials_of_a_configuration_are_not_printed_even_with_vvv(source, variable, play):
    """Neither where it is usable nor where it is not, of which the reason is printed."""
    role = {"ansible.builtin.import_role": {"name": f"osso.scheduler.{variable[:-1]}"}}
    usable, unusable = ({variable: [{"name": "mine", "image": IMAGE, **config}]} for config in SOURCES[source])
    accepted = play([role], variables=usable, check=True, diff=True, args=["-vvv"], succeed=False)
    rejected = play([role], variables=unusable, check=True, args=["-vvv"], succeed=False)
    # The kind, which is not served here, is the first thing in the way.
    assert accepted.rc == 0 or "Apply" in accepted.failures[0].task, accepted.output()
    assert "unknown field nonsense" in rejected.stdout + rejected.stderr
    for run in (accepted, rejected):
        assert [secret for secret in (TOKEN, PASSWORD) if secret in run.output()] == []


@pytest.mark.parametrize(
    ("scheduler", "said"),
    [({}, "config_file"), ({"config": {"kind": "x"}, "image": ""}, "image"), ({"conifg": {}}, "conifg")],
    ids=["no configuration", "no image", "misspelt"],
)
def test_unusable_variables_are_rejected_before_anything_is_written(scheduler, said, audit):
    with audit:
        run = site(variables={"secondary_schedulers": [{"name": "bad", "image": "image", **scheduler}]}, succeed=False)
    assert run.rc != 0
    assert said in run.stdout, run.output()
    assert audit.writes(dry_run=True) == []


@pytest.mark.parametrize(
    ("run", "variables", "said"),
    [
        (site, {"monitoring_required": "maybe"}, "monitoring_required"),
        (site, {"monitoring_rules_labels": "a=b"}, "monitoring_rules_labels is a text"),
        (site, {"monitoring_rate_window": "garbage"}, "monitoring_rate_window is 'garbage'"),
        (site, {"monitoring_wait_timeout": "-5"}, "monitoring_wait_timeout is -5"),
        (site, {"secondary_scheduler_wait_timeout": -1}, "secondary_scheduler_wait_timeout is -1"),
        (site, {"operator_replicas": "-1"}, "operator_replicas is -1"),
        (remove, {"operator_watch_namespaces": "a"}, "operator_watch_namespaces is a text"),
        (remove, {"operator_wait_timeout": "-1"}, "operator_wait_timeout is -1"),
        (remove, {"operator_wait": "maybe"}, "operator_wait"),
        (remove, {"monitoring_adopt": "maybe"}, "monitoring_adopt"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_variables_of_later_roles_are_checked_before_anything_is_written(run, variables, said, kubectl, audit):
    """And before anything is deleted, such as the rules of schedulers that use Prometheus."""
    load_aware = {"secondary_schedulers": [{"name": "load", "image": IMAGE, "preset": "trimaran_target_load_packing"}]}
    with audit:
        done = run(variables={**variables, **(load_aware if run is site else {})}, succeed=False)
    (failure,) = done.failures
    assert said in str(failure.result), done.output()
    assert done.changed == []
    assert audit.writes(dry_run=True) == []


def test_no_scheduler_is_deployed_without_the_metrics_that_it_requires(kubectl):
    """The playbook remove then deletes the account that was to read them."""
    load_aware = {"name": "load", "image": IMAGE, "preset": "trimaran_target_load_packing"}
    required = {"monitoring_required": True, "monitoring_sources": ["route"], "monitoring_access": "cluster-monitoring-view"}

    def account():
        """With its bindings"""
        label = "--selector=app.kubernetes.io/name=osso-scheduler-monitoring"
        return kubectl.json("get", "serviceaccounts,clusterrolebindings,rolebindings", "--all-namespaces", label)["items"]

    # No node runs the operator.
    waits = {"operator_wait": False, "secondary_scheduler_wait": False}
    run = site(variables={"secondary_schedulers": [load_aware], **required, **waits}, succeed=False)
    try:
        (failure,) = run.failures
        assert failure.result["msg"].startswith("Load-aware scheduling would not work:")
        assert kubectl.json("get", RESOURCE, "--all-namespaces")["items"] == []
        assert account()
    finally:
        remove()
    assert account() == []


@pytest.fixture
def operator_namespace(kubectl):
    kubectl("create", "namespace", NAMESPACE)
    yield
    kubectl("delete", "namespace", NAMESPACE)


def test_a_second_operator_for_the_namespace_is_rejected(operator_namespace, kubectl):
    rival = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "secondary-scheduler-operator", "namespace": NAMESPACE},
        "spec": {
            # One that was scaled to nothing would be none.
            "replicas": 1,
            "selector": {"matchLabels": {"name": "rival"}},
            "template": {"metadata": {"labels": {"name": "rival"}}, "spec": {"containers": [{"name": "rival", "image": "rival"}]}},
        },
    }
    kubectl.apply(rival)
    run = site(succeed=False)
    (failure,) = run.failures
    assert "secondary-scheduler-operator already watches" in failure.result["msg"]
    assert run.changed == []


def test_schedulers_of_others_are_not_deleted(secondary_scheduler_kind, kubectl, namespace):
    foreign = Scheduler(kubectl, "foreign", namespace)
    foreign.write()
    run = remove(succeed=False)
    assert f"{namespace}/foreign" in run.failures[0].result["msg"]
    assert run.changed == []
    assert foreign.resource


def test_without_wait_the_role_does_not_wait_for_the_scheduler(secondary_scheduler_kind, play, kubectl, namespace):
    """There is no operator, so the scheduler never becomes available."""
    never = {**VARIABLES["secondary_schedulers"][0], "name": "never", "namespace": namespace}
    role = [{"name": "Role", "ansible.builtin.include_role": {"name": "osso.scheduler.secondary_scheduler"}}]
    names = {"secondary_schedulers": [never], "secondary_scheduler_wait_timeout": 3}
    run = play(role, variables={**names, "secondary_scheduler_wait": False})
    assert run.task("Apply schedulers").changed
    assert "Not ready after 3 s" in play(role, variables=names, succeed=False).failures[0].result["msg"]
    play(role, variables={**names, "secondary_schedulers": [{**never, "state": "absent"}]})
    assert kubectl.get("secondaryscheduler", "never", namespace) is None


ITEM = {"image": IMAGE, "preset": "no_scoring", "preset_parameters": {"scheduler_name": "same"}}


@pytest.mark.parametrize(
    ("items", "messages"),
    [
        (
            [{"name": "a", **ITEM}, {"name": "b", **ITEM}],
            ["secondary_schedulers[0], secondary_schedulers[1]: the schedulerName same is in the profiles of "],
        ),
        (
            [ITEM, {"name": "Big", **ITEM}, {}],
            [
                "secondary_schedulers[1]: name is Big: ",
                "secondary_schedulers[2]: openshift-secondary-scheduler-operator/cluster needs image, ",
                "secondary_schedulers[0], secondary_schedulers[2]: openshift-secondary-scheduler-operator/cluster is listed 2 times: ",
            ],
        ),
    ],
    ids=["one schedulerName", "several errors"],
)
def test_conflicting_items_are_named_before_anything_is_written(items, messages, audit):
    with audit:
        run = site(variables={"secondary_schedulers": items}, succeed=False)
    (failure,) = run.failures
    assert [line.startswith(start) for line, start in zip(failure.result["msg"].splitlines(), messages, strict=True)] == [True] * len(
        messages
    )
    assert audit.writes(dry_run=True) == []


def test_a_misspelt_variable_causes_a_warning_with_the_right_name(audit):
    """Nothing is left to do then, which is reported, too."""
    with audit:
        run = site(variables={"secondary_schedulers": [], "secondary_scheduler": [ITEM]}, check=True)
    said = " ".join((run.stdout + run.stderr).split())
    assert "secondary_scheduler is not a variable of osso.scheduler and is ignored; did you mean secondary_schedulers?" in said
    assert "secondary_schedulers is empty: no scheduler is configured." in said
