# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Presets: the real kube-scheduler accepts each, and a user's few words become a scheduler that works by one."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.tables.presets import PRESETS
from support.direct_module import run_directly
from support.scheduler import IMAGE, Scheduler
from support.site import installed, site

NEEDED = {
    "peaks": {
        "watcher_address": "http://load-watcher.invalid:2020",
        "node_power_model": {"node-1": {"k0": 300.5, "k1": -100.25, "k2": -0.03}},
    },
}


@pytest.fixture(scope="module")
def operator():
    """The demo's installation, with what every plugin needs besides."""
    installed()


@pytest.fixture
def mighty(kubectl, namespace):
    """A namespace whose default account may do all, as plugins ask the API server when they are built."""
    subject = f"--serviceaccount={namespace}:default"
    kubectl("create", "clusterrolebinding", namespace, "--clusterrole=cluster-admin", subject)
    yield namespace
    kubectl("delete", "clusterrolebinding", namespace)


@pytest.mark.parametrize("name", PRESETS)
def test_the_real_kube_scheduler_accepts_it(operator, kubeconfig, mighty, name):
    options = {"image": IMAGE, "ask_image": True, "ask_namespace": mighty, "kubeconfig": str(kubeconfig)}
    run = run_directly("kube_scheduler_config", preset=name, preset_parameters=NEEDED.get(name, {}), succeed=None, **options)
    assert run.result["image_answer"] == {"valid": True, "error": ""}, run.output
    assert run.result["valid"] is True


def test_a_name_and_a_preset_are_all_that_a_user_writes(operator, kubectl, run_module):
    name = "packed"
    item = {"name": name, "image": IMAGE, "preset": "high_node_utilization"}
    try:
        run = site(variables={"secondary_schedulers": [item], "probe": "always"})
        assert run.task("Prove each scheduler with a pod").result["results"][0]["scheduler"] == name
        again = site(variables={"secondary_schedulers": [item]})
        assert again.changed == []
    finally:
        site(variables={"secondary_schedulers": [{**item, "state": "absent"}], "probe": "never"})
    assert Scheduler(kubectl, name).resource is None


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ({"preset": "no_scorin"}, "no_scoring"),
        (
            {"preset": "no_scoring", "preset_parameters": {"weight": 1}},
            "preset_parameters.weight: the preset no_scoring has no such parameter",
        ),
        ({"preset": "no_scoring", "config_text": "{}"}, "one of config, config_text, config_file and preset"),
        ({"preset": "peaks", "preset_parameters": NEEDED["peaks"], "image": IMAGE.replace("0.34.7", "0.30.12")}, "Peaks"),
    ],
    ids=["no such preset", "no such parameter", "two configurations", "too old"],
)
def test_what_cannot_work_is_refused_before_anything_is_written(kubeconfig, audit, item, said):
    with audit:
        run = site(variables={"secondary_schedulers": [{"name": "wrong", "image": IMAGE, **item}]}, succeed=False)
    (failure,) = run.failures
    assert said in str(failure.result), failure.result
    assert audit.writes() == []
