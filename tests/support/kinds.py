# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kinds of OpenShift and of prometheus-operator that the cluster does not have, by their real definitions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from .go_modules import folder
from .scheduler import eventually

PINS = Path(__file__).parents[1] / "conformance/operator/crds"
OPENSHIFT_API = "github.com/openshift/api"
PROMETHEUS_OPERATOR = "github.com/prometheus-operator/prometheus-operator"
_CONFIG = "config/v1/zz_generated.crd-manifests"

DEFINITIONS = {
    # name of the definition: Go module that publishes it, path inside
    "routes.route.openshift.io": (OPENSHIFT_API, "route/v1/zz_generated.crd-manifests/routes.crd.yaml"),
    "clusteroperators.config.openshift.io": (OPENSHIFT_API, f"{_CONFIG}/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml"),
    "clusterversions.config.openshift.io": (
        OPENSHIFT_API,
        f"{_CONFIG}/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml",
    ),
    "infrastructures.config.openshift.io": (OPENSHIFT_API, f"{_CONFIG}/0000_10_config-operator_01_infrastructures-Default.crd.yaml"),
    # With all fields, also those of a technology preview
    "schedulers.config.openshift.io": (OPENSHIFT_API, f"{_CONFIG}/0000_10_config-operator_01_schedulers-CustomNoUpgrade.crd.yaml"),
    "kubeschedulers.operator.openshift.io": (
        OPENSHIFT_API,
        "operator/v1/zz_generated.crd-manifests/0000_25_kube-scheduler_01_kubeschedulers.crd.yaml",
    ),
    **{
        f"{plural}.{group}": (OPENSHIFT_API, f"{folder}/zz_generated.crd-manifests/0000_10_config-operator_01_{plural}.crd.yaml")
        for plural, group, folder in (
            ("imagedigestmirrorsets", "config.openshift.io", "config/v1"),
            ("imagecontentsourcepolicies", "operator.openshift.io", "operator/v1alpha1"),
        )
    },
    **{
        f"{plural}.monitoring.coreos.com": (PROMETHEUS_OPERATOR, f"example/prometheus-operator-crd/monitoring.coreos.com_{plural}.yaml")
        for plural in ("podmonitors", "probes", "prometheuses", "prometheusrules", "servicemonitors")
    },
}


@contextmanager
def served(kubectl, *names: str) -> Iterator[None]:
    """Have the cluster serve these kinds of DEFINITIONS; those that it did not serve before go again."""
    made = []
    try:
        for name in names:
            if not kubectl.json("get", "customresourcedefinition", name, "--ignore-not-found"):
                module, path = DEFINITIONS[name]
                # Too big for the annotation of a client-side apply.
                kubectl("create", "--filename=-", stdin=yaml.safe_load((folder(PINS, module) / path).read_text()))
                made.append(name)
        established(kubectl, *made)
        yield
    finally:
        delete_kinds(kubectl, *made)


def delete_kinds(kubectl, *names: str) -> None:
    """Delete those of these CRDs that exist, with all objects of the kinds, and wait for it.

    Each kind is listed first. If nobody has requested a kind before, the API server begins to watch it while it deletes the objects, which fails;
    one of the next attempts may meet a conflict (409) in its own status update, and is then the last one (crd_finalizer.go, 1.34).
    """
    existing = [found for name in names if (found := kubectl.get("customresourcedefinition", name))]
    for found in existing:
        spec = found["spec"]
        version = next(version["name"] for version in spec["versions"] if version["served"])
        path = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"
        eventually(lambda path=path: kubectl("get", f"--raw={path}", check=False).returncode == 0)
    if existing:
        kubectl("delete", "customresourcedefinition", *(found["metadata"]["name"] for found in existing), "--timeout=120s", timeout=130)


def established(kubectl, *names: str) -> None:
    """Wait until the API server serves the kinds of these definitions, and lists them among its groups."""
    for name in names:
        eventually(lambda name=name: _is_established(kubectl, name))


def _is_established(kubectl, name: str) -> bool:
    """the API server serves the kind, and lists it"""
    # `kubectl wait` fails on a definition that has no conditions yet.
    live = kubectl.json("get", "customresourcedefinition", name)
    conditions = (live.get("status") or {}).get("conditions") or []
    if not any((condition["type"], condition["status"]) == ("Established", "True") for condition in conditions):
        return False
    # A moment later, and what the operator goes by
    group, plural = live["spec"]["group"], live["spec"]["names"]["plural"]
    groups = json.loads(kubectl("get", "--raw=/apis").stdout)["groups"]
    versions = [version["groupVersion"] for entry in groups if entry["name"] == group for version in entry["versions"]]
    # A group can be listed a moment longer or earlier than it is served.
    served = [found for version in versions if (found := kubectl("get", f"--raw=/apis/{version}", check=False)).returncode == 0]
    return any(resource["name"] == plural for found in served for resource in json.loads(found.stdout)["resources"])
