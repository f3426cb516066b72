# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Clusters of nothing but etcd and kube-apiserver, real ones, as many as a test of a fleet needs, in seconds.

They have no node, and no pod ever runs. Without controllers, what is written stays as it was written. With `controllers`, the real
kube-controller-manager deletes namespaces and dependents, creates service accounts, and creates the pods of workloads, which stay pending.
"""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from cluster.throwaway.layout import Layout
from cluster.throwaway.processes import GO

from .certificates import Authority
from .cluster import WRITES, Request

ROOT = Path(__file__).resolve().parents[2]
AT_ONCE = 4
# Who they are, and the group that decides what they may.
ADMIN, NOBODY = "admin-of-bare-clusters", "nobody-of-bare-clusters"
CONTROLLER_MANAGER = "system:kube-controller-manager"
CONTROLLERS = (
    "deployment-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "replicaset-controller",
    "resourcequota-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
)
# Each cluster of this process has an address of its own.
_numbers = count(1)


class BareCluster:
    """etcd and kube-apiserver on a loopback address of their own, and with `controllers` the kube-controller-manager.

    In `folder`, kubeconfig, pki, bin and logs/audit.log have the places that they have in the folder of a throwaway cluster.
    """

    def __init__(self, folder: Path, name: str, authority: Authority, controllers: bool = False):
        self.name = name
        self.folder = folder / name
        self.folder.mkdir(parents=True)
        # Processes of several test runs share the machine.
        self.address = f"127.{1 + os.getpid() // 254 % 254}.{os.getpid() % 254}.{next(_numbers) % 254 + 1}"
        self.url = f"https://{self.address}:6443"
        self.token, self.weak_token = f"{ADMIN}-{name}", f"{NOBODY}-{name}"
        self.ca = authority.path
        self.audit_log = self.folder / "logs/audit.log"
        self._controllers = controllers
        self._controller_token = f"{CONTROLLER_MANAGER}-{name}"
        self._authority = authority
        self._processes: list[subprocess.Popen] = []

    def start(self) -> None:
        """Start its programs; `await_ready` waits."""
        certificate, key = self._lay_out()
        release = Layout(Path(os.environ["CLUSTER_DIR"])).release
        peer, client = f"http://{self.address}:2380", f"http://{self.address}:2379"
        self._run(
            "etcd",
            f"--data-dir={self.folder}/etcd",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--log-level=error",
            "--unsafe-no-fsync=true",
        )
        tokens = self.folder / "tokens.csv"
        lines = (
            (self.token, ADMIN, "1", "system:masters"),
            (self.weak_token, NOBODY, "2"),
            (self._controller_token, CONTROLLER_MANAGER, "3", "system:masters"),
        )
        tokens.write_text("".join(",".join(line) + "\n" for line in lines))
        policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}
        (self.folder / "audit.json").write_text(json.dumps(policy))
        self._run(
            "kube-apiserver",
            f"--bind-address={self.address}",
            # Nothing is to be reached at it, and the server refuses a loopback address.
            "--advertise-address=192.0.2.1",
            "--endpoint-reconciler-type=none",
            f"--cert-dir={self.folder}",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--token-auth-file={tokens}",
            f"--feature-gates={','.join(f'{gate}=true' for gate in release.gates)}",
            f"--runtime-config={','.join(f'{api}=true' for api in release.apis)}",
            "--authorization-mode=RBAC",
            # Without a controller no namespace has the account that pods need.
            *([] if self._controllers else ["--disable-admission-plugins=ServiceAccount"]),
            f"--etcd-servers={client}",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={certificate}",
            f"--service-account-signing-key-file={key}",
            f"--audit-policy-file={self.folder}/audit.json",
            f"--audit-log-path={self.audit_log}",
        )

    def _lay_out(self) -> tuple[Path, Path]:
        """Make the folder; certificate and key of the API server."""
        pki = self.folder / "pki"
        for folder in (pki, self.audit_log.parent):
            folder.mkdir()
        (self.folder / "bin").symlink_to(Path(os.environ["CLUSTER_DIR"], "bin").resolve())
        files = (self.ca, *self._authority.certificate(self.address))
        for name, file in zip(("ca.crt", "apiserver.crt", "apiserver.key"), files, strict=True):
            (pki / name).symlink_to(file)
        self.kubeconfig(self.folder / "kubeconfig")
        return pki / "apiserver.crt", pki / "apiserver.key"

    def _run(self, program: str, *flags: str) -> None:
        binary = self.folder / "bin" / program
        with (self.folder / f"{program}.log").open("wb") as log:
            streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": subprocess.STDOUT}
            self._processes.append(subprocess.Popen([binary, *flags], env={**os.environ, **GO}, **streams))

    def await_ready(self, within: float = 180) -> None:
        deadline = time.monotonic() + within
        self._await(deadline, "/readyz", "/api/v1/namespaces/default")
        if self._controllers:
            # It gives up if the API server does not answer within 10 s.
            self._start_controller_manager()
            self._await(deadline, "/api/v1/namespaces/default/serviceaccounts/default")

    def _await(self, deadline: float, *paths: str) -> None:
        while not self._answers(paths):
            ended = [process.args[0].name for process in self._processes if process.poll() is not None]
            assert not ended, f"{ended[0]} ended, see {self.folder}/{ended[0]}.log"
            assert time.monotonic() < deadline, f"{self.name} is not ready in time, see {self.folder}"
            time.sleep(0.1)

    def _answers(self, paths: tuple[str, ...]) -> bool:
        try:
            return all(self.get(path) for path in paths)
        except OSError:  # with it urllib's errors
            return False

    def _start_controller_manager(self) -> None:
        kubeconfig = self.kubeconfig(self.folder / "controller-manager.kubeconfig", token=self._controller_token)
        pki = self.folder / "pki"
        self._run(
            "kube-controller-manager",
            f"--kubeconfig={kubeconfig}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            f"--bind-address={self.address}",
            f"--cert-dir={self.folder}",
            f"--tls-cert-file={pki}/apiserver.crt",
            f"--tls-private-key-file={pki}/apiserver.key",
            f"--root-ca-file={self.ca}",
            f"--service-account-private-key-file={pki}/apiserver.key",
            f"--controllers={','.join(CONTROLLERS)}",
            "--leader-elect=false",
        )

    def get(self, path: str, **options) -> bytes:
        """The answer to a GET, as administrator; to another request with `method` and `data`."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        asked = HttpRequest(self.url + path, headers=headers, **options)
        return urlopen(asked, timeout=10, context=ssl.create_default_context(cafile=self.ca)).read()

    @contextmanager
    def deletions_end(self) -> Iterator[None]:
        """Meanwhile namespaces and Deployments that are deleted go away: controllers see to that elsewhere."""
        over = threading.Event()

        def see_to_it():
            while not over.wait(0.1):
                for path, part, finish in (("/api/v1/namespaces", "spec", "/finalize"), ("/apis/apps/v1/deployments", "metadata", "")):
                    # Of HTTP: it is gone, or another one wrote.
                    with suppress(OSError):
                        for found in json.loads(self.get(path))["items"]:
                            about = found["metadata"]
                            if "deletionTimestamp" in about:
                                found[part]["finalizers"] = []
                                home = f"/apis/apps/v1/namespaces/{about['namespace']}/deployments" if "namespace" in about else path
                                self.get(f"{home}/{about['name']}{finish}", method="PUT", data=json.dumps(found).encode())

        thread = threading.Thread(target=see_to_it, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def stop(self) -> None:
        """End them at once: nothing of them is needed any more."""
        for process in self._processes:
            process.kill()
            process.wait()
        self._processes.clear()

    def cpu(self) -> float:
        """CPU seconds that its programs have used so far."""
        fields = (Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split() for process in self._processes)
        return sum(int(field[11]) + int(field[12]) for field in fields) / os.sysconf("SC_CLK_TCK")

    @property
    def access(self) -> dict:
        """`cluster_access` of its administrator, by host and token."""
        return {"host": self.url, "api_key": self.token, "ca_cert": str(self.ca)}

    def kubeconfig(self, path: Path, context: str = "admin", *, token: str = "", current: bool = True) -> Path:
        """Write a kubeconfig with that one context, of the administrator or of who has `token`."""
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": self.name, "cluster": {"server": self.url, "certificate-authority": str(self.ca)}}],
            "users": [{"name": context, "user": {"token": token or self.token}}],
            "contexts": [{"name": context, "context": {"cluster": self.name, "user": context}}],
            **({"current-context": context} if current else {}),
        }
        path.write_text(json.dumps(content))
        return path

    def position(self) -> int:
        """Where the audit log ends by now, for `requests`."""
        return self.audit_log.stat().st_size

    def requests(self, since: int = 0) -> list[Request]:
        """What administrator and nobody have asked since that position, but for this class."""
        with self.audit_log.open() as log:
            log.seek(since)
            events = [json.loads(line) for line in log if line.endswith("\n")]
        found = [Request.from_event(event) for event in events if event["stage"] == "ResponseComplete"]
        return [one for one in found if one.user in (ADMIN, NOBODY) and not one.agent.startswith("Python-urllib")]

    def writes(self, since: int = 0) -> list[Request]:
        return [one for one in self.requests(since) if one.verb in WRITES and not one.dry_run]


@contextmanager
def bare_clusters(folder: Path, names: list[str], *, controllers: bool = False) -> Iterator[dict[str, BareCluster]]:
    """As many of them as names, ready, by their names."""
    # Built once, shared with the throwaway cluster.
    subprocess.run([ROOT / "tests/cluster/cluster", "build", "kubernetes"], check=True, stdout=subprocess.DEVNULL)
    (folder / "pki").mkdir()
    authority = Authority(folder / "pki", "fleet")
    clusters = {name: BareCluster(folder, name, authority, controllers) for name in names}
    try:
        # All at once would take each other's time, up to where none is ready in time.
        waiting = list(clusters.values())
        while waiting:
            now, waiting = waiting[:AT_ONCE], waiting[AT_ONCE:]
            for cluster in now:
                cluster.start()
            for cluster in now:
                cluster.await_ready()
        yield clusters
    finally:
        for cluster in clusters.values():
            cluster.stop()
