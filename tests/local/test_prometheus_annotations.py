# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The annotations that the role secondary_scheduler gives to a scheduler, with the names by which the operator reads them."""

from __future__ import annotations

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import (
    LOAD_WATCHER_URL,
    PROM_TOKEN,
    PROM_URL,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import PLUGINS_ANNOTATION, VERSION_ANNOTATION
from ansible_collections.osso.scheduler.plugins.module_utils._operand.resource_names import (
    MONITORING_REQUIRED,
    PROMETHEUS_CA,
    PROMETHEUS_TOKEN,
    PROMETHEUS_URL,
)
from support.ansible_runs import play

TEMPLATE = "roles/secondary_scheduler/templates/schedulers.yaml.j2"
WRITTEN = {
    PROMETHEUS_URL: "https://prometheus.example.com",
    PROMETHEUS_TOKEN: "serviceaccount/metrics-reader",
    PROMETHEUS_CA: "c-prometheus-ca",
}
REQUIRED = {MONITORING_REQUIRED: "true"}
OTHER = {PROMETHEUS_URL: "https://other.example.com"}


@pytest.mark.parametrize(
    ("text", "asks", "given", "annotations"),
    [
        (f"{PROM_URL} {PROM_TOKEN}", ["TargetLoadPacking"], {}, {**WRITTEN, **REQUIRED}),
        (PROM_URL, ["TargetLoadPacking"], {}, {**{key: WRITTEN[key] for key in (PROMETHEUS_URL, PROMETHEUS_CA)}, **REQUIRED}),
        (LOAD_WATCHER_URL, ["TargetLoadPacking"], {}, {**WRITTEN, **REQUIRED}),
        # Not the token of the Prometheus that was found
        (LOAD_WATCHER_URL, ["TargetLoadPacking"], {"annotations": OTHER}, {**OTHER, **REQUIRED}),
        ("", [], {}, None),
        ("", [], {"kubernetes_version": "1.34", "plugins": "in-tree"}, {VERSION_ANNOTATION: "1.34", PLUGINS_ANNOTATION: "in-tree"}),
    ],
    ids=["itself", "without a token", "by the operator's load-watcher", "by a load-watcher that asks another", "no load", "its image"],
)
def test_a_scheduler_has_the_annotations_about_prometheus_and_its_image(root, tmp_path, text, asks, given, annotations):
    item = {
        "name": "a",
        "namespace": "n",
        "state": "present",
        "config_map": "c",
        "workload": "a",
        "annotations": {},
        "kubernetes_version": "",
        "plugins": "",
        "management_state": "Managed",
        "image": "i",
        "log_level": "Normal",
        "operator_log_level": "Normal",
        "overrides": {},
        **given,
    }
    prometheus = {"url": WRITTEN[PROMETHEUS_URL], "service_account": "metrics-reader", "ca": "CERTIFICATE", "required": True}
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
