# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real OLM on the throwaway cluster, operators of any shape for it, catalogs that a real opm serves, and what of all that has to go.

olm = Olm(own_cluster, kubectl)
one, two = Bundle("thing", "1.0.0"), Bundle("thing", "1.1.0")
image = olm.catalog(Package("thing", {"stable": [one, two]}))
olm.serve(image, namespace)
...
olm.clear(namespace)
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml
from cluster.throwaway.layout import OPM

from .kinds import delete_kinds
from .scheduler import eventually

ROOT = Path(__file__).resolve().parents[2]
# Where OLM runs, and where a CatalogSource is for all namespaces.
NAMESPACE = "olm"
GROUP = "operators.coreos.com"
MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
LABELS = {
    "operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
    "operators.operatorframework.io.bundle.manifests.v1": "manifests/",
    "operators.operatorframework.io.bundle.metadata.v1": "metadata/",
}
PACKAGE_LABEL = "operators.operatorframework.io.bundle.package.v1"
CHANNELS_LABEL = "operators.operatorframework.io.bundle.channels.v1"
DEFAULT_CHANNEL_LABEL = "operators.operatorframework.io.bundle.channel.default.v1"


@dataclass(frozen=True)
class Bundle:
    """A version of a test operator: one CSV, one CRD of its own, and a Deployment whose pod only exists.

    modes: install modes that it supports. image: of its pod, `pause` unless given; command: of its container, the image's own unless given.
    requires: packages that it depends on, with a range of versions each. spec: goes into the CSV's spec, in place of what is there.
    files: path -> text of files that the bundle has besides or instead, None for one that it has not.
    broken: the same, but only in the image: the catalog tells of the bundle without.
    pushed: whether there is an image at all.
    """

    package: str
    version: str = "1.0.0"
    modes: Sequence[str] = MODES
    image: str = ""
    command: Sequence[str] = ()
    requires: Mapping[str, str] = field(default_factory=dict)
    spec: Mapping = field(default_factory=dict)
    files: Mapping[str, str | None] = field(default_factory=dict)
    broken: Mapping[str, str | None] = field(default_factory=dict)
    pushed: bool = True

    @property
    def name(self) -> str:
        """Of its CSV."""
        return f"{self.package}.v{self.version}"

    @property
    def group(self) -> str:
        """The API group of its kind, `Thing`."""
        return f"{self.package}.example.com"

    @property
    def definition(self) -> str:
        """Name of its CRD."""
        return f"things.{self.group}"

    def contents(self, pause: str) -> dict[str, str]:
        """Path -> text of all its files; `pause` is the image of a pod that only exists."""
        annotations = {**LABELS, PACKAGE_LABEL: self.package, CHANNELS_LABEL: "stable", DEFAULT_CHANNEL_LABEL: "stable"}
        files = {
            "manifests/csv.yaml": json.dumps(self._csv(pause), indent=1),
            "manifests/crd.yaml": json.dumps(self._crd(), indent=1),
            "metadata/annotations.yaml": json.dumps({"annotations": annotations}, indent=1),
        }
        if self.requires:
            wanted = [{"type": "olm.package", "value": {"packageName": name, "version": rng}} for name, rng in self.requires.items()]
            files["metadata/dependencies.yaml"] = json.dumps({"dependencies": wanted}, indent=1)
        return {path: text for path, text in {**files, **self.files}.items() if text is not None}

    def _csv(self, pause: str) -> dict:
        labels = {"app": self.package}
        container = {
            "name": "operator",
            "image": self.image or pause,
            **({"command": list(self.command)} if self.command else {}),
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsUser": 65534},
        }
        pod = {
            "serviceAccountName": self.package,
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [container],
        }
        deployment = {"replicas": 1, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
        rule = {"apiGroups": [self.group], "resources": ["things"], "verbs": ["get", "list", "watch"]}
        permissions = [{"serviceAccountName": self.package, "rules": [rule]}]
        spec = {
            "displayName": self.package,
            "description": "An operator that does nothing.",
            "version": self.version,
            "maturity": "alpha",
            "provider": {"name": "osso.scheduler tests"},
            "installModes": [{"type": mode, "supported": mode in self.modes} for mode in MODES],
            "customresourcedefinitions": {"owned": [{"name": self.definition, "version": "v1", "kind": "Thing"}]},
            "install": {
                "strategy": "deployment",
                "spec": {"clusterPermissions": permissions, "deployments": [{"name": self.package, "spec": deployment}]},
            },
            **self.spec,
        }
        metadata = {"name": self.name, "namespace": "placeholder"}
        return {"apiVersion": f"{GROUP}/v1alpha1", "kind": "ClusterServiceVersion", "metadata": metadata, "spec": spec}

    def _crd(self) -> dict:
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        names = {"kind": "Thing", "listKind": "ThingList", "plural": "things", "singular": "thing"}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": self.definition},
            "spec": {"group": self.group, "scope": "Namespaced", "names": names, "versions": [version]},
        }


@dataclass(frozen=True)
class Package:
    """What a catalog tells of an operator: channel -> its versions, the oldest first, each of which replaces the one before.

    default: its default channel, the first one unless given.
    """

    name: str
    channels: Mapping[str, Sequence[Bundle]]
    default: str = ""

    def documents(self) -> list[dict]:
        documents = [{"schema": "olm.package", "name": self.name, "defaultChannel": self.default or next(iter(self.channels))}]
        for channel, bundles in self.channels.items():
            entries = [{"name": bundle.name} for bundle in bundles]
            for entry, replaced in zip(entries[1:], entries, strict=False):
                entry["replaces"] = replaced["name"]
            documents.append({"schema": "olm.channel", "package": self.name, "name": channel, "entries": entries})
        return documents

    def bundles(self) -> list[Bundle]:
        """Each of its versions once."""
        return list({bundle.name: bundle for bundles in self.channels.values() for bundle in bundles}.values())


class Olm:
    """OLM on the throwaway cluster in this folder: installed with the first one of these, and never taken away from that cluster."""

    def __init__(self, cluster: Path, kubectl):
        self._cluster = cluster
        self._kubectl = kubectl
        self._images: set[str] = set()
        # Does nothing where all is as it should be.
        self._run("addon", "olm")
        self.registry = (cluster / "registry").read_text().strip()
        self.opm = cluster / "bin/opm"
        self.operator_verify = cluster / "bin/operator-verify"
        self.opm_image = f"{self.registry}/opm:{OPM}"
        self.pause = f"{self.registry}/pause:3.10"

    def bundle(self, bundle: Bundle) -> str:
        """Build and push a bundle's image unless that was done before; its reference."""
        files = bundle.contents(self.pause)
        told = hashlib.sha256(json.dumps([files, dict(bundle.broken), bundle.pushed]).encode()).hexdigest()[:12]
        image = f"{self.registry}/bundle/{bundle.package}:v{bundle.version}-{told}"
        if bundle.pushed and image not in self._images:
            annotations = yaml.safe_load(files["metadata/annotations.yaml"])["annotations"]
            lines = ["FROM scratch", *(f"LABEL {name}={value}" for name, value in annotations.items())]
            files = {path: text for path, text in {**files, **bundle.broken}.items() if text is not None}
            with tempfile.TemporaryDirectory() as folder:
                lines += [f"COPY {name} /{name}/" for name in sorted({path.split("/")[0] for path in files})]
                _write(Path(folder), {**files, "Containerfile": "\n".join(lines) + "\n"})
                self.push(Path(folder), image)
        return image

    def documents(self, package: Package) -> list[dict]:
        """What a catalog holds of a package, its bundles as opm renders them; their images are pushed."""
        return [*package.documents(), *(document for bundle in package.bundles() for document in self._render(bundle))]

    def catalog(self, *packages: Package | dict | Path, name: str = "") -> str:
        """Build and push the image of a catalog that holds these packages, single documents, or what lies in folders; its reference.

        As catalogs' images are made: out of opm's, with the cache that the server starts with. name: of the image, tag included.
        """
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home)
            configs = folder / "configs"
            configs.mkdir()
            for number, package in enumerate(packages):
                if isinstance(package, Path):
                    for file in (path for path in package.rglob("*") if path.is_file()):
                        _write(configs, {f"{number}/{file.relative_to(package)}": file.read_text()})
                else:
                    documents = self.documents(package) if isinstance(package, Package) else [package]
                    _write(configs, {f"{number}/catalog.json": "\n".join(json.dumps(document) for document in documents)})
            contents = sorted((str(path.relative_to(configs)), path.read_text()) for path in configs.rglob("*") if path.is_file())
            image = f"{self.registry}/" + (name or f"catalog:{hashlib.sha256(json.dumps(contents).encode()).hexdigest()[:12]}")
            if image not in self._images:
                _open(configs)
                _command(self.opm, "validate", configs)
                # No profiling server, whose port would be one for the whole machine.
                _command(
                    self.opm, "serve", configs, f"--cache-dir={folder / 'cache'}", "--cache-only", "--pprof-addr=", "--termination-log="
                )
                lines = [
                    f"FROM {self.opm_image}",
                    "COPY configs /configs",
                    # The server locks a file in there.
                    "COPY --chown=1001:0 cache /cache",
                    "LABEL operators.operatorframework.io.index.configs.v1=/configs",
                    'CMD ["serve", "/configs", "--cache-dir=/cache"]',
                ]
                _write(folder, {"Containerfile": "\n".join(lines) + "\n"})
                self.push(folder, image)
        return image

    def push(self, folder: Path, image: str, *options: str) -> str:
        """Build a folder with a Containerfile, with options of `buildah bud`, and push it as an image of our registry; its reference."""
        self._run("image", folder, image.removeprefix(f"{self.registry}/"), "--", "--tls-verify=false", *options)
        self._images.add(image)
        return image

    def serve(self, image: str, namespace: str, name: str = "catalog", wait: bool = True) -> dict:
        """Make a CatalogSource of the image, or give that image to the one there is; wait until it is ready and its packages are listed.

        Keep it out of NAMESPACE: a CatalogSource there that does not answer keeps OLM from resolving anything in any namespace.
        """
        source = {
            "apiVersion": f"{GROUP}/v1alpha1",
            "kind": "CatalogSource",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {
                "sourceType": "grpc",
                "image": image,
                "displayName": name,
                "publisher": "tests",
                "grpcPodConfig": {"securityContextConfig": "restricted"},
            },
        }
        self._kubectl.apply(source)
        if wait:
            state = (
                "get",
                "catalogsource",
                name,
                f"--namespace={namespace}",
                "--output=jsonpath={.status.connectionState.lastObservedState}",
            )
            eventually(lambda: self._kubectl(*state).stdout == "READY" and self.packages(namespace, name), within=300)
        return source

    def packages(self, namespace: str, catalog: str) -> dict[str, dict]:
        """name -> status of the packages that are listed of a catalog. They may come later than the catalog is READY."""
        found = self._kubectl.list("packagemanifest", namespace, f"catalog={catalog}")
        return {item["metadata"]["name"]: item["status"] for item in found}

    def subscribe(self, package: str, namespace: str, channel: str = "stable", catalog: str = "catalog", **spec) -> None:
        """Make an OperatorGroup for the namespace itself, unless it has one, and a Subscription named like the package."""
        if not self._kubectl.list("operatorgroup", namespace):
            group = {"apiVersion": f"{GROUP}/v1", "kind": "OperatorGroup", "metadata": {"name": "group", "namespace": namespace}}
            self._kubectl.apply({**group, "spec": {"targetNamespaces": [namespace]}})
        spec = {"name": package, "channel": channel, "source": catalog, "sourceNamespace": namespace, **spec}
        about = {"name": package, "namespace": namespace}
        self._kubectl.apply({"apiVersion": f"{GROUP}/v1alpha1", "kind": "Subscription", "metadata": about, "spec": spec})

    def phase(self, name: str, namespace: str) -> tuple[str, str]:
        """Phase and reason of a CSV; empty where there is none."""
        csv = self._kubectl.get("clusterserviceversion", name, namespace)
        status = (csv or {}).get("status") or {}
        return status.get("phase", ""), status.get("reason", "")

    def await_phase(self, name: str, namespace: str, phase: str = "Succeeded", within: float = 300) -> None:
        def reached():
            """the CSV has the phase"""
            return self.phase(name, namespace)[0] == phase

        eventually(reached, within=within)

    def clear(self, *namespaces: str) -> None:
        """Take away all that has to do with OLM in these namespaces, in the order in which it goes: what comes of Subscriptions first.

        With it goes what else the operators in there brought with them: the kinds that only they have, and the traces of them
        that OLM keeps for the whole cluster (kind Operator).
        """
        definitions: set[str] = set()
        for namespace in namespaces:
            csvs = [csv for csv in self._kubectl.list("clusterserviceversion", namespace) if not _is_copied(csv)]
            definitions |= {owned["name"] for csv in csvs for owned in _owned(csv)}
            for kind in ("subscriptions", "clusterserviceversions", "installplans", "catalogsources", "operatorgroups"):
                where = ("--all", f"--namespace={namespace}", "--ignore-not-found")
                self._kubectl("delete", f"{kind}.{GROUP}", *where, "--timeout=180s", timeout=190)
        for name in sorted(definitions):
            if not any(name in {owned["name"] for owned in _owned(csv)} for csv in self._all("clusterserviceversions")):
                delete_kinds(self._kubectl, name)
        for operator in self._all("operators"):
            if operator["metadata"]["name"].rpartition(".")[2] in namespaces:
                self._kubectl("delete", f"operators.{GROUP}", operator["metadata"]["name"], "--ignore-not-found")

    def _render(self, bundle: Bundle) -> list[dict]:
        with tempfile.TemporaryDirectory() as folder:
            _write(Path(folder), bundle.contents(self.pause))
            reference = f"--alpha-image-ref-template={self.bundle(bundle)}"
            return [json.loads(_command(self.opm, "render", folder, reference, "--output=json"))]

    def _all(self, kind: str) -> Iterable[dict]:
        return self._kubectl.json("get", f"{kind}.{GROUP}", "--all-namespaces")["items"]

    def _run(self, *arguments) -> None:
        _command(ROOT / "tests/cluster/cluster", *arguments, env={**os.environ, "CLUSTER_DIR": str(self._cluster)})


def with_broken_manifest(bundle: Bundle) -> Bundle:
    """The same as far as its catalog knows, but its image holds a manifest that is none.

    OLM's Job is Complete then, and its Subscription stays at UnpackingInProgress for ever.
    """
    return replace(bundle, broken={"manifests/csv.yaml": "kind: [\n"})


def _is_copied(csv: dict) -> bool:
    return "olm.copiedFrom" in (csv["metadata"].get("labels") or {})


def _owned(csv: dict) -> list[dict]:
    return (csv["spec"].get("customresourcedefinitions") or {}).get("owned") or []


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _open(folder: Path) -> None:
    """Have everyone read a folder, as whoever runs a catalog's pod has to."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _command(*argv, **options) -> str:
    done = subprocess.run([str(part) for part in argv], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{' '.join(map(str, argv))}: {done.stdout}{done.stderr}"
    return done.stdout
