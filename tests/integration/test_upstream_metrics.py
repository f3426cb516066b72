# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Load-aware scheduling where the upstream operator brings the scheduler: what ours keeps in a Secret is in the user's ConfigMap.

The operator is a stand-in; the scheduler, Prometheus and its guard are real. The tests follow each other.
"""

from __future__ import annotations

import pytest
from support import upstream
from support.certificates import Authority
from support.load_aware import place
from support.monitoring import Stack
from support.scheduler import IMAGE, Scheduler, eventually
from support.secrets import decoded, holding
from support.site import NAMESPACE, remove

pytestmark = pytest.mark.long

SCHEDULER = "osso.scheduler.secondary_scheduler"
TOKEN = "metrics-reader-token"
TASKS = (
    {"name": "Check", "ansible.builtin.import_role": {"name": SCHEDULER, "tasks_from": "check"}},
    {
        "name": "See to the metrics",
        "ansible.builtin.import_role": {"name": "osso.scheduler.monitoring"},
        "vars": {"monitoring_plugins": "{{ secondary_scheduler_asking_prometheus }}"},
    },
    {
        "name": "Apply",
        "ansible.builtin.import_role": {"name": SCHEDULER, "tasks_from": "apply"},
        "vars": {"secondary_scheduler_prometheus": "{{ monitoring_prometheus }}"},
    },
)


@pytest.fixture(scope="module")
def upstream_operator(kubectl, root):
    """The upstream operator, with nothing to do yet."""
    remove()
    upstream.uninstall(kubectl)
    upstream.install(kubectl, root / "roles/operator/files/secondaryschedulers.crd.yaml")
    yield upstream.Upstream(kubectl, user=65532, delay=5)
    kubectl("delete", upstream.RESOURCE, "--all", f"--namespace={NAMESPACE}")
    upstream.uninstall(kubectl)


@pytest.fixture(scope="module")
def stack(upstream_operator, own_cluster, kubectl, tmp_path_factory):
    """Its certificate is by the authority that pods know from their ServiceAccount, which upstream's scheduler trusts alone."""
    folder = tmp_path_factory.mktemp("authority")
    with (
        Stack.of(own_cluster, kubectl, tmp_path_factory.mktemp("monitoring")) as stack,
        stack.guarded_otherwise(Authority(folder, of=own_cluster / "pki")),
    ):
        yield stack


@pytest.fixture(scope="module")
def bring(stack, own_cluster, play):
    """Run what site.yml does beside the installation of an operator; `scheduler` is an entry of secondary_schedulers."""

    def run(scheduler=(), tasks=TASKS, variables=(), **options):
        entry = {"image": IMAGE, "preset": "trimaran_target_load_packing", **dict(scheduler)}
        fixed = {
            "operator_variant": "upstream",
            "secondary_schedulers": [entry],
            "monitoring_prometheus_ca": str(own_cluster / "pki/ca.crt"),
        }
        return play(tasks, variables={**fixed, **dict(variables)}, **options)

    yield run
    play(TASKS[1:2], variables={"monitoring_state": "absent", "secondary_scheduler_asking_prometheus": []})


@pytest.fixture(scope="module")
def upstream_scheduler(kubectl):
    return Scheduler(kubectl, "cluster", scheduler_name="secondary-scheduler")


def config_map(scheduler):
    return scheduler.get("configmap", "secondary-scheduler-config")


def test_options_that_upstream_cannot_honour_are_rejected(bring):
    entry = {
        "name": "other",
        "namespace": "default",
        "overrides": {"args": ["-v=5"]},
        "annotations": {"a": "b", "osso.scheduler/retry": "1"},
    }
    (failure,) = bring(entry, tasks=TASKS[:1], succeed=False).failures
    assert failure.task.endswith("Validate the variables")
    for message in (
        "name is other, but upstream's operator reconciles the resource cluster alone. Name it cluster, or",
        "namespace is default, but upstream's operator works in openshift-secondary-scheduler-operator alone",
        "overrides has args, but upstream's operator ignores unsupportedConfigOverrides",
        "annotations has osso.scheduler/retry, which upstream's operator does not know",
    ):
        assert message in failure.result["msg"]


@pytest.mark.parametrize(
    ("told", "parameters", "message"),
    [
        ({}, {}, "holds ${PROM_URL}, but no Prometheus is known. Set secondary_scheduler_prometheus.url"),
        (
            {"url": "https://x"},
            {},
            "holds ${PROM_TOKEN}, but there is no token to fill it with. Set secondary_scheduler_prometheus.token_secret",
        ),
        ({"url": "https://x", "token_secret": "no-such"}, {}, f"The Secret {NAMESPACE}/no-such does not exist"),
        ({}, {"watcher_address": "${LOAD_WATCHER_URL}"}, "holds ${LOAD_WATCHER_URL}, but the upstream operator deploys no load-watcher"),
    ],
)
def test_a_configuration_whose_placeholders_cannot_be_filled_is_rejected(bring, upstream_scheduler, told, parameters, message):
    tasks = [TASKS[0], {**TASKS[2], "vars": {"secondary_scheduler_prometheus": told}}]
    (failure,) = bring({"preset_parameters": parameters}, tasks=tasks, succeed=False).failures
    assert message in failure.result["msg"]
    assert config_map(upstream_scheduler) is None


def test_check_mode_before_the_installation_shows_a_placeholder_and_writes_nothing(bring, upstream_scheduler):
    run = bring(check=True, diff=True)
    assert "token: ${PROM_TOKEN}" in run.stdout
    assert config_map(upstream_scheduler) is None


def test_the_scheduler_uses_metrics_and_the_token_appears_in_no_output(
    bring, upstream_scheduler, stack, upstream_operator, kubectl, namespace, audit
):
    """Seen by the guard, which lets nobody pass without a token."""
    before = stack.queries_seen()
    with upstream_operator.at_work():
        run = bring(diff=True, args=["-vvv"])
    token = decoded(upstream_scheduler.get("secret", TOKEN)["data"]["token"])
    text = config_map(upstream_scheduler)["data"]["config.yaml"]
    assert f"address: {stack.guarded_url}\n" in text
    assert holding(token, {"the ConfigMap": text, "output": run.stdout, "errors": run.stderr}) == ["the ConfigMap"]
    assert "token: '********'" in run.stdout, "there is a diff"
    exposed = run.task("Warn about the token in the ConfigMap").result["msg"]
    assert f"{NAMESPACE}/secondary-scheduler-config as it is, so that holds the token of the Secret {TOKEN} now" in exposed
    assert len(place(kubectl, namespace, upstream_scheduler.scheduler_name)[upstream_scheduler.scheduler_name]) == 4
    eventually(lambda: stack.queries_seen() > before + 80, within=100)
    with audit:
        again = bring()
    assert (again.changed, audit.writes()) == ([], [])


def test_the_role_waits_until_upstream_rolls_out_another_configuration(bring, upstream_scheduler, upstream_operator):
    with upstream_operator.at_work():
        run = bring({"preset_parameters": {"target_utilization": 55}})
        template = upstream_scheduler.deployment["spec"]["template"]
    version = config_map(upstream_scheduler)["metadata"]["resourceVersion"]
    assert len(run.changed) == 1
    assert template["metadata"]["annotations"]["configmaps/secondary-scheduler-config"] == version
    (pod,) = upstream_scheduler.serving_pods()
    assert pod["metadata"]["annotations"]["configmaps/secondary-scheduler-config"] == version


def test_an_upstream_operator_that_does_not_react_is_reported(bring):
    run = bring({"preset_parameters": {"target_utilization": 60}}, variables={"secondary_scheduler_wait_timeout": 8}, succeed=False)
    (failure,) = run.failures
    assert failure.task.endswith("Wait for the Deployment of upstream's operator")
    assert "spec.template.metadata.annotations['configmaps/secondary-scheduler-config'] is" in failure.result["msg"]
