# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The annotations about Prometheus that the role secondary_scheduler gives to a scheduler."""

from __future__ import annotations

import pytest
import yaml
from support.ansible_runs import play

TEMPLATE = "roles/secondary_scheduler/templates/schedulers.yaml.j2"
URL, TOKEN, WATCHER = "${PROM_URL}", "${PROM_TOKEN}", "${LOAD_WATCHER_URL}"
NAME = "osso.scheduler/prometheus-{0}".format
WRITTEN = {NAME("url"): "https://prometheus.example.com", NAME("token"): "serviceaccount/metrics-reader", NAME("ca"): "c-prometheus-ca"}
REQUIRED = {"osso.scheduler/monitoring-required": "true"}


@pytest.mark.parametrize(
    ("text", "asks", "given", "annotations"),
    [
        (f"{URL} {TOKEN}", ["TargetLoadPacking"], {}, {**WRITTEN, **REQUIRED}),
        (URL, ["TargetLoadPacking"], {}, {NAME("url"): WRITTEN[NAME("url")], NAME("ca"): WRITTEN[NAME("ca")], **REQUIRED}),
        (WATCHER, ["TargetLoadPacking"], {}, {**WRITTEN, **REQUIRED}),
        # Not the token of the Prometheus that was found
        (
            WATCHER,
            ["TargetLoadPacking"],
            {NAME("url"): "https://other.example.com"},
            {NAME("url"): "https://other.example.com", **REQUIRED},
        ),
        ("", [], {}, None),
    ],
    ids=["itself", "without a token", "by the operator's load-watcher", "by a load-watcher that asks another", "no load"],
)
def test_a_scheduler_that_needs_prometheus_has_its_annotations(root, tmp_path, text, asks, given, annotations):
    item = {
        "name": "a",
        "namespace": "n",
        "state": "present",
        "config_map": "c",
        "workload": "a",
        "annotations": given,
        "kubernetes_version": "",
        "plugins": "",
        "management_state": "Managed",
        "image": "i",
        "log_level": "Normal",
        "operator_log_level": "Normal",
        "overrides": {},
    }
    prometheus = {"url": WRITTEN[NAME("url")], "service_account": "metrics-reader", "ca": "CERTIFICATE", "required": True}
    variables = {
        "secondary_scheduler_items": [item],
        "secondary_scheduler_is_upstreams": False,
        "secondary_scheduler_prometheus": prometheus,
        "secondary_scheduler_checked": {"results": [{"text": text, "asks_prometheus": asks}]},
    }
    written = tmp_path / "written.yaml"
    task = {"ansible.builtin.template": {"src": str(root / TEMPLATE), "dest": str(written)}}
    play([task], variables=variables)
    resource = list(yaml.safe_load_all(written.read_text()))[-1]
    assert resource["kind"] == "SecondaryScheduler"
    assert resource["metadata"].get("annotations") == annotations
