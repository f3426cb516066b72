# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects of OLM as a cluster has them, and a cluster that serves their kinds, for tests without OLM."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_result import Report
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import Options
from support.stored_cluster import StoredCluster, resource

GROUP, PACKAGES = "operators.coreos.com", "packages.operators.coreos.com"
KINDS = (
    resource(f"{GROUP}/v1alpha1", "Subscription"),
    resource(f"{GROUP}/v1alpha1", "ClusterServiceVersion"),
    resource(f"{GROUP}/v1alpha1", "InstallPlan"),
    resource(f"{GROUP}/v1alpha1", "CatalogSource"),
    resource(f"{GROUP}/v1", "OperatorGroup"),
    resource(f"{GROUP}/v1", "Operator", namespaced=False),
    resource(f"{PACKAGES}/v1", "PackageManifest"),
)
_VERSIONS = {one.kind: one.api_version for one in KINDS}


def olm_cluster(*objects, kinds=(), controller=None) -> StoredCluster:
    return StoredCluster(*objects, kinds=(*KINDS, *kinds), controller=controller)


def thing(kind, name, namespace="n", **content) -> dict:
    return {"apiVersion": _VERSIONS[kind], "kind": kind, "metadata": {"name": name, "namespace": namespace}, **content}


def namespace(name="n") -> dict:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def group(name="group", namespace="n", targets=("n",)) -> dict:
    return thing("OperatorGroup", name, namespace, spec={"targetNamespaces": list(targets)} if targets else {})


def catalog(name="cat", namespace="n", image="a/b:c", state="READY") -> dict:
    connection = {"lastObservedState": state, "lastConnect": "2020-01-01T00:00:00Z"}
    return thing("CatalogSource", name, namespace, spec={"sourceType": "grpc", "image": image}, status={"connectionState": connection})


def package(name="demo", heads=None, versions=("1.1.0", "1.0.0")) -> dict:
    """The PackageManifest of a package of the catalog ``cat``: the channel stable with these versions, and the channel old with the last one."""
    entries = [{"name": f"{name}.v{version}", "version": version} for version in versions]
    heads = {"stable": f"{name}.v1.1.0", "old": f"{name}.v1.0.0", **(heads or {})}
    channels = [
        {"name": "stable", "currentCSV": heads["stable"], "entries": entries},
        {"name": "old", "currentCSV": heads["old"], "entries": entries[-1:]},
    ]
    status = {
        "packageName": name,
        "catalogSource": "cat",
        "catalogSourceNamespace": "n",
        "defaultChannel": "stable",
        "channels": channels,
    }
    made = thing("PackageManifest", name, status=status)
    made["metadata"]["labels"] = {"catalog": "cat", "catalog-namespace": "n"}
    return made


def csv(version="1.0.0", phase="Succeeded", name="demo", **spec) -> dict:
    told = {"phase": phase, "reason": "InstallSucceeded", "message": "well"}
    install = {"spec": {"deployments": [{"name": name}]}}
    return thing("ClusterServiceVersion", f"{name}.v{version}", spec={"version": version, "install": install, **spec}, status=told)


def plan(version, approved=False, phase="RequiresApproval", name="demo", **status) -> dict:
    spec = {"approved": approved, "clusterServiceVersionNames": [f"{name}.v{version}"], "approval": "Manual", "generation": 1}
    return thing("InstallPlan", f"install-{version}", spec=spec, status={"phase": phase, **status})


def subscription(name="demo", namespace="n", package="demo", approval="Automatic", status=None, **spec) -> dict:
    wanted = {"name": package, "source": "cat", "sourceNamespace": "n", "channel": "stable", "installPlanApproval": approval, **spec}
    return thing("Subscription", name, namespace, spec=wanted, status=status or {})


def deployment(name="demo", available=1) -> dict:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "n", "generation": 1},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "operator", "image": "a/b:c"}]}},
        },
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": available},
    }


class Run:
    """One run of an Install or a Removal: its `result`, `error` and `warnings`, and what it did with which object."""

    def __init__(self, kind, cluster, check=False, **options):
        report, self.warnings, self.error = Report(cluster, check, False), [], ""
        given = {"package": "demo", "namespace": "n", "name": "demo", **options}
        step = kind(cluster, Options(**given), report, self.warnings.append, check)
        try:
            step.run()
        except ClusterError as error:
            self.error = error.message
        self.result = step.result()
        self.message = self.result["msg"]
        self.actions = {f"{one['kind']} {one['name']}": one["action"] for one in report.result()["objects"]}
        self.deleted = [name for name, action in self.actions.items() if action == "deleted"]
