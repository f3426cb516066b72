# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What objects are called (operand/resource_names.py)."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import target
from ansible_collections.osso.scheduler.plugins.module_utils._operand import resource_names
from support.operand import resource

ROOT = Path(__file__).parents[5]


def test_names_of_the_longest_resource_fit():
    longest = resource_names.names_of(resource("n" * 43))
    assert resource_names.is_usable("n" * 43)
    assert len(longest["service"]) <= 63
    assert len(longest["workload"]) <= 63


def test_names_of_one_resource_are_not_those_of_another():
    names = [resource_names.names_of(resource(name)) for name in ("x", "x-prometheus", "metrics", "cluster")]
    roles = [one[key] for one in names for key in ("workload", "prometheus")]
    assert len(roles) == len(set(roles))


def test_all_files_use_the_same_finalizer():
    """The runner reads it from a file of its own."""
    (watch,) = yaml.safe_load((ROOT / "operator/watches.yaml").read_text())
    assert watch["finalizer"]["name"] == resource_names.FINALIZER


def test_misspelt_annotations_are_found_with_the_one_that_is_meant():
    annotations = {
        **dict.fromkeys(resource_names.KNOWN, "x"),
        "example.com/plugin": "x",
        target.VERBOSITY_ANNOTATION: "1",
        "osso.scheduler/kubernetes-verson": "1.31",
        "osso.scheduler/zzz": "",
    }
    assert resource_names.unknown_annotations(annotations) == [
        "osso.scheduler/kubernetes-verson (did you mean osso.scheduler/kubernetes-version?)",
        "osso.scheduler/zzz",
    ]


def test_all_documented_annotations_of_a_resource_are_known():
    text = (ROOT / "docs/operator.md").read_text()
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `osso.scheduler/")]
    documented = {name for row in rows for name in re.findall(r"`(osso\.scheduler/[a-z-]+)`", row)}
    assert resource_names.RETRY in documented
    assert documented < set(resource_names.KNOWN)


def test_annotations_that_the_role_writes_are_read():
    template = (ROOT / "roles/secondary_scheduler/templates/schedulers.yaml.j2").read_text()
    written = set(re.findall(r"osso\.scheduler/[a-z-]+", template))
    assert len(written) >= 6
    known = [*vars(resource_names).values(), target.VERSION_ANNOTATION, target.PLUGINS_ANNOTATION]
    assert [name for name in written if name not in known] == []


def test_a_watched_object_names_its_resource():
    names = resource_names.names_of(resource("batch"))
    assert resource_names.watch_annotations(names) == {
        "operator-sdk/primary-resource": "ns/batch",
        "operator-sdk/primary-resource-type": "SecondaryScheduler.operator.openshift.io",
    }


def test_every_object_of_a_resource_gets_its_name():
    assert resource_names.names_of(resource("cluster")) == {
        "name": "cluster",
        "namespace": "ns",
        "workload": "secondary-scheduler",
        "set": "operand-cluster",
        "cluster": "osso:ns:cluster",
        "service": "metrics",
        "prometheus": "prometheus-k8s",
        "serving_secret": "secondary-scheduler-serving-cert",
        "controller": "secondary-scheduler-controller",
        "load_watcher": "load-watcher-cluster",
    }
    names = resource_names.names_of(resource("batch"))
    assert names == {
        "name": "batch",
        "namespace": "ns",
        "workload": "secondary-scheduler-batch",
        "set": "operand-batch",
        "cluster": "osso:ns:batch",
        "service": "secondary-scheduler-batch",
        "prometheus": "secondary-scheduler-batch:prometheus",
        "serving_secret": "secondary-scheduler-batch-serving-cert",
        "controller": "secondary-scheduler-batch-controller",
        "load_watcher": "load-watcher-batch",
    }
    assert resource_names.labels(names) == {
        "app": "secondary-scheduler-batch",
        "app.kubernetes.io/name": "secondary-scheduler",
        "app.kubernetes.io/instance": "batch",
        "app.kubernetes.io/managed-by": "osso.scheduler",
    }
    assert resource_names.config_secret(names, "h") == "secondary-scheduler-batch-config-h"
    assert resource_names.owner(resource("batch")) == {
        "apiVersion": "operator.openshift.io/v1",
        "kind": "SecondaryScheduler",
        "name": "batch",
        "namespace": "ns",
        "uid": "u",
    }
    assert resource_names.annotations_of(resource()) == {}


def test_only_short_labels_of_dns_are_usable_as_names():
    assert [resource_names.is_usable(name) for name in ("a", "0-a", "n" * 43)] == [True] * 3
    assert [resource_names.is_usable(name) for name in ("", "-a", "a-", "A", "a.b", "n" * 44)] == [False] * 6
