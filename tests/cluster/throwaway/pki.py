# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Certificates, keys and kubeconfigs, by openssl. One authority for the cluster, one for etcd, one for the API aggregation."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path

from .layout import DOMAIN, FIRST_SERVICE_IP, Layout, Record, digest, write
from .progress import output

# Longer than any throwaway cluster lives: renewal is not a subject here.
DAYS = "3650"

CLUSTER, ETCD, FRONT_PROXY = "ca", "etcd-ca", "front-proxy-ca"


def ensure(layout: Layout, record: Record) -> None:
    """Make what is missing, and anew what no longer matches the cluster's addresses."""
    layout.pki.mkdir(mode=0o700, exist_ok=True)
    authority(layout, CLUSTER)
    authority(layout, ETCD)
    authority(layout, FRONT_PROXY)
    address = f"IP:{record.address}"

    service_names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", f"kubernetes.default.svc.{DOMAIN}"]
    certificate(
        layout, "apiserver", "/CN=kube-apiserver", names=[address, f"IP:{FIRST_SERVICE_IP}", *(f"DNS:{name}" for name in service_names)]
    )
    certificate(layout, "apiserver-kubelet-client", "/CN=kube-apiserver-kubelet-client")
    certificate(layout, "apiserver-etcd-client", "/CN=kube-apiserver-etcd-client", issuer=ETCD)
    certificate(layout, "etcd", "/CN=etcd", issuer=ETCD, names=[address], client=True)
    certificate(layout, "front-proxy-client", "/CN=front-proxy-client", issuer=FRONT_PROXY)
    for component in ("kube-controller-manager", "kube-scheduler"):
        certificate(layout, component, f"/CN=system:{component}", names=[address], client=True)
        kubeconfig(layout, record, component)
    certificate(layout, "kube-proxy", "/CN=system:kube-proxy")
    kubeconfig(layout, record, "kube-proxy")
    certificate(layout, "admin", "/O=system:masters/CN=kubernetes-admin")
    for node in record.node_names():
        certificate(
            layout, node, f"/O=system:nodes/CN=system:node:{node}", names=[f"IP:{record.node_address(node)}", f"DNS:{node}"], client=True
        )
        kubeconfig(layout, record, node)

    key = layout.pki / "service-accounts.key"
    if not key.exists():
        _new_key(key)
        write(layout.pki / "service-accounts.pub", output("openssl", "pkey", "-in", key, "-pubout"))


def authority(layout: Layout, name: str) -> None:
    if _files(layout, name)[1].exists():
        return
    extensions = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n"
    _issue(layout, name, f"/CN=throwaway {name}", extensions, [])


def certificate(layout: Layout, name: str, subject: str, issuer: str = CLUSTER, names: Sequence[str] = (), client: bool = False) -> None:
    """A certificate for a server with `names`, for a client (no names), or for both (`client`)."""
    issuer_key, issuer_certificate = _files(layout, issuer)
    _key_file, certificate_file = _files(layout, name)
    mark = layout.pki / f"{name}.inputs"
    inputs = digest(subject, names, client, issuer_certificate)
    if certificate_file.exists() and mark.exists() and mark.read_text() == inputs:
        return
    usages = (["serverAuth"] if names else []) + (["clientAuth"] if client or not names else [])
    extensions = f"basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage={','.join(usages)}\nauthorityKeyIdentifier=keyid\n"
    if names:
        extensions += f"subjectAltName={','.join(names)}\n"
    _issue(layout, name, subject, extensions, ["-CA", issuer_certificate, "-CAkey", issuer_key])
    mark.write_text(inputs)


def kubeconfig(layout: Layout, record: Record, name: str, path: Path | None = None) -> Path:
    """A kubeconfig that holds the certificate `name` and what it needs, so that it works from anywhere. JSON is YAML."""
    key, certificate_file = _files(layout, name)
    cluster = {"server": record.server, "certificate-authority-data": _base64(_files(layout, CLUSTER)[1])}
    user = {"client-certificate-data": _base64(certificate_file), "client-key-data": _base64(key)}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "throwaway", "cluster": cluster}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": "throwaway", "context": {"cluster": "throwaway", "user": name}}],
        "current-context": "throwaway",
    }
    path = path or layout.pki / f"{name}.kubeconfig"
    return write(path, json.dumps(content, indent=1) + "\n", mode=0o600)


def _files(layout: Layout, name: str) -> tuple[Path, Path]:
    return layout.pki / f"{name}.key", layout.pki / f"{name}.crt"


def _issue(layout: Layout, name: str, subject: str, extensions: str, signer: list[str | Path]) -> None:
    key, certificate_file = _files(layout, name)
    _new_key(key)
    config = layout.pki / "openssl.cnf"
    config.write_text(f"[req]\ndistinguished_name=subject\nx509_extensions=extensions\n[subject]\n[extensions]\n{extensions}")
    made = output("openssl", "req", "-x509", "-new", "-config", config, "-key", key, "-subj", subject, "-days", DAYS, *signer)
    write(certificate_file, made)


def _new_key(path: Path) -> None:
    write(path, output("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"), mode=0o600)


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
