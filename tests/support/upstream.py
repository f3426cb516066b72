# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stand-in for the upstream operator 1.6: one reconcile of its one resource, object by object as that operator writes them.

`tests/long/test_upstream_operator.py` compares this with the real one.
"""

from __future__ import annotations

import copy
import hashlib
import json
import subprocess
import threading
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from .kinds import delete_kinds, established
from .site import NAMESPACE, RESOURCE

MANAGER = "secondary-scheduler-operator"
WORKLOAD = "secondary-scheduler"
SPEC_HASH = "operator.openshift.io/spec-hash"
# The field managers of its conditions, each with the one that it applies
CONDITIONS = {
    "secondary-scheduler-ConfigObserver": "ConfigObservationDegraded",
    "SecondarySchedulerOperator-ResourceSync": "ResourceSyncControllerDegraded",
}

# What no object of ours has the name of
ALONE = {
    ("ClusterRoleBinding", "secondary-scheduler-system-kube-scheduler"),
    ("ClusterRoleBinding", "secondary-scheduler-system-volume-scheduler"),
    ("Role", "secondary-scheduler-operand"),
    ("RoleBinding", "secondary-scheduler-operand"),
}

RBAC = "rbac.authorization.k8s.io"
# Seconds of its probes
DELAY = 45
# What OpenShift's cluster version operator reads in some of its manifests
_RELEASE = {f"include.release.openshift.io/{name}": "true" for name in ("self-managed-high-availability", "single-node-developer")}
_HOSTED = {"exclude.release.openshift.io/internal-openshift-hosted": "true"}

# The intermediate profile, which it takes where the cluster has none or does not know the kind
TLS = {
    "cipherSuites": [
        "TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384",
        "TLS_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    ],
    "minTLSVersion": "VersionTLS12",
}
OPEN_KINDS = {
    "apiservers.config.openshift.io": ("APIServer", "v1", "Cluster"),
    "servicemonitors.monitoring.coreos.com": ("ServiceMonitor", "v1", "Namespaced"),
    # It needs none of these, but they come together.
    "prometheusrules.monitoring.coreos.com": ("PrometheusRule", "v1", "Namespaced"),
}


def open_kind(name) -> dict:
    """A definition of one of `OPEN_KINDS`, with any content: enough for who only stores and reads it."""
    plural, _dot, group = name.partition(".")
    kind, version, scope = OPEN_KINDS[name]
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    versions = [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}]
    names = {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": kind + "List"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {"group": group, "names": names, "scope": scope, "versions": versions},
    }


def install(kubectl, crd) -> None:
    """What there is before it starts: the kinds that it needs (`crd` is the path of its own), its namespace, its serving certificate."""
    kubectl("apply", "--server-side", "--field-manager=kubectl-create", f"--filename={crd}")
    kubectl.apply(*map(open_kind, OPEN_KINDS), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    established(kubectl, RESOURCE, *OPEN_KINDS)
    with TemporaryDirectory() as folder:
        key, certificate = f"{folder}/tls.key", f"{folder}/tls.crt"
        request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=metrics", "-days", "2"]
        subprocess.run([*request, "-keyout", key, "-out", certificate], check=True, capture_output=True)
        secret = f"{WORKLOAD}-serving-cert"
        made = kubectl("create", "secret", "tls", secret, f"--cert={certificate}", f"--key={key}", "--dry-run=client", "--output=json")
        obj = json.loads(made.stdout)
        kubectl.apply({**obj, "metadata": {**obj["metadata"], "namespace": NAMESPACE}})


def uninstall(kubectl) -> None:
    """Take away what `install` and the operator leave behind. Resources that someone else is to clean up after have to be gone."""
    kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found")
    delete_kinds(kubectl, RESOURCE, *OPEN_KINDS)
    bindings = [f"secondary-scheduler-system-{role}" for role in ("kube-scheduler", "volume-scheduler")]
    kubectl("delete", "clusterrolebinding", *bindings, "--ignore-not-found")


def objects(resource) -> list[dict]:
    """What it makes for the resource, in its order; the Deployment last, without the resourceVersions of the others."""
    return [*_dependents(resource), _deployment(resource)]


def found(scheduler) -> dict[tuple[str, str], dict]:
    """Those of these objects that exist, by kind and name, whoever manages them by now."""
    existing = {}
    for obj in objects(scheduler.resource):
        metadata = obj["metadata"]
        kind = f"{obj['kind']}.{obj['apiVersion'].rpartition('/')[0]}".rstrip(".")
        where = [f"--namespace={metadata['namespace']}"] if "namespace" in metadata else []
        live = scheduler.kubectl.json("get", kind, metadata["name"], *where, "--ignore-not-found", "--show-managed-fields")
        if live:
            existing[obj["kind"], metadata["name"]] = live
    return existing


def assert_nothing_left(scheduler) -> None:
    """Fail if an object or a field that only this operator makes still exists; its scheduler was moved to ours, with all that they both make."""
    left = found(scheduler)
    assert not ALONE & set(left)
    assert len(left) == 6, sorted(left)
    for name, obj in left.items():
        managers = {entry["manager"] for entry in obj["metadata"]["managedFields"]}
        assert not managers & {MANAGER, *CONDITIONS}, name
        annotations = obj["metadata"].get("annotations") or {}
        assert not [key for key in annotations if "openshift.io" in key and not key.startswith("service.beta")], name
    pod = left["Deployment", WORKLOAD]["spec"]["template"]
    assert {volume["name"] for volume in pod["spec"]["volumes"]} == {"config", "tmp"}
    assert set(pod["metadata"]["annotations"]) == {"openshift.io/required-scc"}
    (container,) = pod["spec"]["containers"]
    assert {mount["name"] for mount in container["volumeMounts"]} == {"config", "tmp"}
    assert not [arg for arg in container["args"] if "certs-dir" in arg]
    assert "initialDelaySeconds" not in container["livenessProbe"]
    conditions = {one["type"] for one in scheduler.resource["status"]["conditions"]}
    assert "Available" in conditions
    assert not conditions & set(CONDITIONS.values())


class Upstream:
    """The operator at work: every call of `reconcile` is one of its.

    `user` is what OpenShift would have the scheduler run as; on Kubernetes its pods start only with one. `delay`: the seconds in which nobody
    asks a new pod whether it is ready.
    """

    def __init__(self, kubectl, user=None, delay=DELAY):
        self._kubectl = kubectl
        self._user = user
        self._delay = delay

    def reconcile(self, observed=None) -> None:
        """Bring the objects of the resource `cluster`, and write its observedConfig and status."""
        resource = self._observe(observed or TLS)
        name = resource["spec"]["schedulerConfig"]
        annotations = {
            "secondaryschedulers.operator.openshift.io/cluster": str(resource["metadata"]["generation"]),
            f"configmaps/{name}": self._get("configmaps", name, NAMESPACE)["metadata"]["resourceVersion"],
        }
        for obj in _dependents(resource):
            live = self._write(obj)
            annotations[f"{obj['kind'].lower()}s/{obj['metadata']['name']}"] = live["metadata"]["resourceVersion"]
        deployment = _deployment(resource, self._user, self._delay)
        deployment["spec"]["template"]["metadata"]["annotations"].update(annotations)
        deployment["metadata"]["annotations"][SPEC_HASH] = _hash(deployment["spec"])
        self._report(resource, self._write(deployment))

    @contextmanager
    def at_work(self, every=3):
        """Have it reconcile every so many seconds, as soon as there are a resource and its ConfigMap."""
        ended = threading.Event()

        def work():
            while not ended.wait(every):
                resource = self._get(RESOURCE, "cluster", NAMESPACE, missing=True)
                if resource and self._get("configmaps", resource["spec"]["schedulerConfig"], NAMESPACE, missing=True):
                    self.reconcile()

        worker = threading.Thread(target=work)
        worker.start()
        try:
            yield
        finally:
            ended.set()
            worker.join()

    def _observe(self, observed) -> dict:
        """Write what it observes into the resource, with all fields that its Go types do not leave out."""
        resource = self._get(RESOURCE, "cluster", NAMESPACE)
        empty = {"unsupportedConfigOverrides": None, "topology": {"mode": "SingleReplica"}}
        spec = {**empty, **resource["spec"], "observedConfig": {"servingInfo": observed}}
        return resource if spec == resource["spec"] else self._send("replace", {**resource, "spec": spec})

    def _write(self, required) -> dict:
        """Create the object, or replace what it prescribes of it; metadata are added to what is there."""
        metadata = required["metadata"]
        kind = required["kind"] if "/" not in required["apiVersion"] else "{1}.{0}".format(*_group(required))
        live = self._get(kind, metadata["name"], metadata.get("namespace"), missing=True)
        if live is None:
            return self._send("create", required)
        wanted = copy.deepcopy(live)
        for field in ("labels", "annotations"):
            if metadata.get(field):
                wanted["metadata"][field] = {**(live["metadata"].get(field) or {}), **metadata[field]}
        uids = {owner["uid"] for owner in metadata["ownerReferences"]}
        others = [owner for owner in live["metadata"].get("ownerReferences") or [] if owner["uid"] not in uids]
        wanted["metadata"]["ownerReferences"] = [*others, *metadata["ownerReferences"]]
        for field in set(required) - {"apiVersion", "kind", "metadata", "spec"}:
            wanted[field] = required[field]
        if required["kind"] == "Service":
            wanted["spec"] = {**live["spec"], **required["spec"]}
        elif "spec" in required:
            wanted["spec"] = required["spec"]
        if wanted == live:
            return live
        del wanted["metadata"]["resourceVersion"]
        return self._send("replace", wanted)

    def _send(self, how, obj) -> dict:
        return json.loads(self._kubectl(how, f"--field-manager={MANAGER}", "--filename=-", "--output=json", stdin=obj).stdout)

    def _get(self, kind, name, namespace=None, missing=False) -> dict | None:
        where = [f"--namespace={namespace}"] if namespace else []
        return self._kubectl.json("get", kind, name, *where, *(["--ignore-not-found"] if missing else []))

    def _report(self, resource, deployment) -> None:
        generation = {
            "group": "apps",
            "resource": "deployments",
            "namespace": NAMESPACE,
            "name": WORKLOAD,
            "lastGeneration": deployment["metadata"]["generation"],
            "hash": "",
        }
        reported = (resource.get("status") or {}).get("conditions") or []
        for manager, condition in CONDITIONS.items():
            if condition not in [one["type"] for one in reported]:
                met = {"type": condition, "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}
                part = {**_part(resource, "apiVersion", "kind"), "metadata": _part(resource["metadata"], "name", "namespace")}
                status = {**part, "status": {"conditions": [met]}}
                self._kubectl(
                    "apply", "--server-side", "--subresource=status", f"--field-manager={manager}", "--filename=-", stdin=status
                )  # fmt: skip
        self._kubectl(
            "patch", RESOURCE, "cluster", f"--namespace={NAMESPACE}", "--subresource=status", "--type=merge",
            f"--field-manager={MANAGER}", "--patch", json.dumps({"status": {"generations": [generation], "readyReplicas": 0}}),
        )  # fmt: skip


def _dependents(resource) -> list[dict]:
    account = {"kind": "ServiceAccount", "name": WORKLOAD, "namespace": NAMESPACE}
    prometheus = {"kind": "ServiceAccount", "name": "prometheus-k8s", "namespace": "openshift-monitoring"}
    app = {"app": WORKLOAD}
    scrape = {"apiGroups": [""], "resources": ["services", "endpoints", "pods"], "verbs": ["get", "list", "watch"]}
    lease = {
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "resourceNames": [WORKLOAD],
        "verbs": ["get", "list", "watch", "create", "update", "patch"],
    }
    service = {
        "ports": [{"name": "https", "port": 10259, "protocol": "TCP", "targetPort": 10259}],
        "selector": app,
        "sessionAffinity": "None",
        "type": "ClusterIP",
    }
    endpoint = {
        "bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
        "interval": "30s",
        "metricRelabelings": [{"action": "replace", "sourceLabels": ["exported_namespace"], "targetLabel": "pod_namespace"}],
        "path": "/metrics",
        "port": "https",
        "scheme": "https",
        "tlsConfig": {
            "caFile": "/etc/prometheus/configmaps/serving-certs-ca-bundle/service-ca.crt",
            "serverName": f"metrics.{NAMESPACE}.svc",
        },
    }
    monitor = {"endpoints": [endpoint], "namespaceSelector": {"matchNames": [NAMESPACE]}, "selector": {"matchLabels": app}}
    serving = {"service.beta.openshift.io/serving-cert-secret-name": f"{WORKLOAD}-serving-cert"}

    def made(api_version, kind, name, namespace=NAMESPACE, labels=None, annotations=None, **content):
        return _made(resource, api_version, kind, name, namespace, labels, annotations, content)

    def bound(kind, name, role, subject, namespace=NAMESPACE, annotations=None):
        reference = {"apiGroup": RBAC, "kind": "ClusterRole" if kind == "ClusterRoleBinding" else "Role", "name": role}
        return made(f"{RBAC}/v1", kind, name, namespace, None, annotations, roleRef=reference, subjects=[subject])

    return [
        made("v1", "ServiceAccount", WORKLOAD),
        *(
            bound("ClusterRoleBinding", f"secondary-scheduler-system-{role}", f"system:{role}", account, None)
            for role in ("kube-scheduler", "volume-scheduler")
        ),
        made(
            "v1", "Service", "metrics", labels=app, annotations={**_RELEASE, **_HOSTED, **serving, SPEC_HASH: _hash(service)}, spec=service
        ),
        made(f"{RBAC}/v1", "Role", "prometheus-k8s", annotations=_RELEASE, rules=[scrape]),
        bound("RoleBinding", "prometheus-k8s", "prometheus-k8s", prometheus, annotations=_RELEASE),
        made(f"{RBAC}/v1", "Role", "secondary-scheduler-operand", annotations=_RELEASE, rules=[lease]),
        bound("RoleBinding", "secondary-scheduler-operand", "secondary-scheduler-operand", account, annotations=_RELEASE),
        made("monitoring.coreos.com/v1", "ServiceMonitor", WORKLOAD, annotations={**_RELEASE, **_HOSTED}, spec=monitor),
    ]


def _deployment(resource, user=None, delay=DELAY) -> dict:
    spec = resource["spec"]
    tls = (spec.get("observedConfig") or {}).get("servingInfo") or {}
    verbosity = {"Debug": 4, "Trace": 6, "TraceAll": 8}.get(spec.get("logLevel"), 2)
    args = [
        "--config=/etc/kubernetes/config.yaml",
        "--tls-cert-file=/certs-dir/tls.crt",
        "--tls-private-key-file=/certs-dir/tls.key",
        "--leader-elect=true",
        "--leader-elect-lease-duration=137s",
        "--leader-elect-renew-deadline=107s",
        "--leader-elect-resource-lock=leases",
        f"--leader-elect-resource-name={WORKLOAD}",
        f"--leader-elect-resource-namespace={NAMESPACE}",
        "--leader-elect-retry-period=26s",
        f"-v={verbosity}",
        *([f"--tls-cipher-suites={','.join(tls['cipherSuites'])}"] if tls.get("cipherSuites") else []),
        *([f"--tls-min-version={tls['minTLSVersion']}"] if tls.get("minTLSVersion") else []),
    ]
    # Its timeout is misspelt there, so it has none: B7.
    probe = {"httpGet": {"path": "healthz", "port": 10259, "scheme": "HTTPS"}, "initialDelaySeconds": delay}
    container = {
        "name": WORKLOAD,
        "image": spec["schedulerImage"],
        "command": ["/bin/kube-scheduler"],
        "args": args,
        "env": [{"name": "ENABLE_OPENSHIFT_AUTH", "value": "true"}],
        "ports": [{"containerPort": 10259}],
        "resources": {"requests": {"cpu": "15m", "memory": "50Mi"}},
        "livenessProbe": probe,
        "readinessProbe": probe,
        "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {"name": "etckubernetes", "mountPath": "/etc/kubernetes"},
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "certs-dir", "mountPath": "/certs-dir"},
        ],
    }
    neighbours = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": WORKLOAD}}}
    topology = spec.get("topology") or {}
    replicas = {"replicas": 1}
    placement = {}
    if topology.get("mode") == "HighlyAvailable":
        wanted = topology.get("highlyAvailableTopology") or {}
        replicas = {"replicas": wanted.get("maxReplicas", 3)}
        placement = {key: wanted[key] for key in ("nodeSelector", "tolerations") if key in wanted}
    pod = {
        "serviceAccountName": WORKLOAD,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}, **({"runAsUser": user} if user else {})},
        "affinity": {
            "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": neighbours}]}
        },
        "containers": [container],
        "volumes": [
            {"name": "etckubernetes", "configMap": {"name": spec["schedulerConfig"]}},
            {"name": "tmp", "emptyDir": {}},
            {"name": "certs-dir", "secret": {"secretName": f"{WORKLOAD}-serving-cert"}},
        ],
        **placement,
    }
    template = {"metadata": {"labels": {"app": WORKLOAD}, "annotations": {"openshift.io/required-scc": "restricted-v2"}}, "spec": pod}
    content = {**replicas, "selector": {"matchLabels": {"app": WORKLOAD}}, "template": template}
    annotations = {SPEC_HASH: _hash(content)}
    return _made(resource, "apps/v1", "Deployment", WORKLOAD, NAMESPACE, {"app": WORKLOAD}, annotations, {"spec": content})


def _made(resource, api_version, kind, name, namespace, labels, annotations, content) -> dict:
    owner = {"apiVersion": "operator.openshift.io/v1", "kind": "SecondaryScheduler", **_part(resource["metadata"], "name", "uid")}
    metadata = {"name": name, "namespace": namespace, "labels": labels, "annotations": annotations and dict(annotations)}
    metadata = {key: value for key, value in metadata.items() if value}
    return {"apiVersion": api_version, "kind": kind, "metadata": {**metadata, "ownerReferences": [owner]}, **copy.deepcopy(content)}


def _part(mapping, *keys):
    return {key: mapping[key] for key in keys}


def _group(obj):
    return obj["apiVersion"].partition("/")[0], obj["kind"]


def _hash(content) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
