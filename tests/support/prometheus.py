# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real Prometheus beside the throwaway cluster, guarded as on OpenShift: by kube-rbac-proxy, with a certificate of the ingress.

Both are processes of the cluster, on the machine's address in its network: pods reach them, and `make cluster-clean` ends them.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path

import yaml
from cluster.throwaway import cgroups, processes
from cluster.throwaway.layout import SOURCE, Layout, Record

from .certificates import Authority
from .debian import program
from .node_exporter import NodeExporter

# What the ClusterRole cluster-monitoring-view of OpenShift lets its users do, and kube-rbac-proxy asks for.
ACCESS = {"apiGroup": "monitoring.coreos.com", "apiVersion": "v1", "resource": "prometheuses", "subresource": "api"}
NAMESPACE, NAME = "openshift-monitoring", "k8s"


class Monitoring:
    """The exporter, Prometheus and its guard, for the cluster whose folder is given. `folder` is for files.

    url: of Prometheus itself, which asks nobody for a token. guarded_url: of the guard, on port 443 so that it is also a Route's URL.
    jobs: what it scrapes beside the exporter, from its next start on.
    """

    def __init__(self, cluster: Path, folder: Path):
        self._layout = Layout(cluster)
        self._folder = folder
        self._running: dict[str, subprocess.Popen] = {}
        self.jobs: list[dict] = []
        record = Record.load(self._layout)
        # A server without nodes (support.bare_cluster) has an address of its own.
        self.address = record.address if record else _server_of(self._layout.kubeconfig)
        self.exporter = NodeExporter()
        self.authority = Authority(folder, "ingress")
        self._port = _free_port(self.address)
        self.url = f"http://{self.address}:{self._port}"
        self.guarded_url = f"https://{self.address}"
        self.rules_folder = folder / "rules"
        self.rules_folder.mkdir()

    def start(self, guarded: bool = True) -> None:
        """Start Prometheus, and the guard only if somebody uses it: its first build takes minutes."""
        if guarded:
            build("kube-rbac-proxy")
        self.start_prometheus()
        if guarded:
            self.start_guard(self.authority)

    def stop(self) -> None:
        for name in list(self._running):
            self._stop(name)
        self.exporter.shutdown()
        self.exporter.server_close()

    def start_prometheus(self) -> None:
        """Start it, with what it remembers."""
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [f"{self.rules_folder}/*.yaml"],
            "scrape_configs": [
                {
                    "job_name": "node-exporter",
                    "honor_labels": True,
                    "static_configs": [{"targets": [f"127.0.0.1:{self.exporter.port}"]}],
                },
                *self.jobs,
            ],
        }
        path = self._folder / "prometheus.yaml"
        path.write_text(json.dumps(config))
        flags = [
            f"--config.file={path}",
            f"--storage.tsdb.path={self._folder / 'data'}",
            f"--web.listen-address={self.address}:{self._port}",
            "--web.enable-lifecycle",
            "--web.enable-admin-api",
            "--log.level=warn",
        ]
        self._start("prometheus", [str(program("prometheus", "prometheus")), *flags], f"{self.url}/-/ready")

    def stop_prometheus(self) -> None:
        self._stop("prometheus")

    def start_guard(self, authority: Authority, *names: str) -> None:
        """Start kube-rbac-proxy with a certificate by this authority, for the guarded URL or for other names."""
        certificate, key = authority.certificate(*(names or [self.address]))
        config = self._folder / "guard.yaml"
        attributes = {**ACCESS, "namespace": NAMESPACE, "name": NAME}
        config.write_text(json.dumps({"authorization": {"resourceAttributes": attributes}}))
        flags = [
            f"--secure-listen-address={self.address}:443",
            f"--upstream={self.url}/",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--kubeconfig={self._layout.kubeconfig}",
            f"--config-file={config}",
            # Its limit for itself would make each refusal slow.
            "--kube-api-qps=500",
            "--kube-api-burst=500",
        ]
        self._start("kube-rbac-proxy", [str(self._layout.bin / "kube-rbac-proxy"), *flags], self.guarded_url)

    def stop_guard(self) -> None:
        self._stop("kube-rbac-proxy")

    def start_operator(self) -> None:
        """Start prometheus-operator, beside the cluster like the rest. What it makes are objects: nobody runs a Prometheus by them."""
        build("prometheus-operator")
        port = _free_port("127.0.0.1")
        command = ["env", f"KUBECONFIG={self._layout.kubeconfig}", str(self._layout.bin / "prometheus-operator")]
        flags = [f"--web.listen-address=127.0.0.1:{port}", "--log-level=warn"]
        self._start("prometheus-operator", [*command, *flags], f"http://127.0.0.1:{port}/healthz")

    @contextmanager
    def guarded_otherwise(self, authority: Authority, *names: str):
        """Another certificate for a while."""
        self.stop_guard()
        self.start_guard(authority, *names)
        try:
            yield
        finally:
            self.stop_guard()
            self.start_guard(self.authority)

    @contextmanager
    def down(self):
        """Prometheus away for a while; its guard answers in its place."""
        self.stop_prometheus()
        try:
            yield
        finally:
            self.start_prometheus()

    def rules(self, groups: list[dict], name: str = "rules") -> None:
        """Have it evaluate these groups of rules, and no others of that name; it knows them when this returns."""
        (self.rules_folder / f"{name}.yaml").write_text(json.dumps({"groups": groups}))
        self.reload()

    def reload(self) -> None:
        _request(f"{self.url}/-/reload", {})

    def forget(self, series: str = '{__name__=~".+"}', older_than: float = 0) -> None:
        """Have it forget every sample of these series that is older than so many seconds."""
        query = urllib.parse.urlencode({"match[]": series, "end": time.time() - older_than})
        _request(f"{self.url}/api/v1/admin/tsdb/delete_series?{query}", {})

    def remember(self, history: dict[str, dict[str, Iterable[float]]]) -> None:
        """Have it know these values, by metric and instance, one for each of the seconds before now, and no others."""
        lines = []
        now = int(time.time())
        for metric, instances in history.items():
            lines.append(f"# TYPE {metric} gauge")
            for instance, values in instances.items():
                past = list(values)
                lines += [f'{metric}{{instance="{instance}"}} {value} {now - len(past) + at}' for at, value in enumerate(past)]
        path = self._folder / "history"
        path.write_text("\n".join([*lines, "# EOF", ""]))
        data = self._folder / "data"
        command = [program("prometheus", "promtool"), "tsdb", "create-blocks-from", "openmetrics", path, data]
        self.stop_prometheus()
        shutil.rmtree(data)
        subprocess.run(command, check=True, capture_output=True)
        self.start_prometheus()

    def query(self, expression: str) -> dict[str, float]:
        """The value of each instance."""
        answer = json.loads(_request(f"{self.url}/api/v1/query", {"query": expression}))
        return {item["metric"].get("instance", ""): float(item["value"][1]) for item in answer["data"]["result"]}

    def alerts(self) -> list[dict]:
        """The pending and firing alerts, as its API has them."""
        answer = json.loads(_request(f"{self.url}/api/v1/alerts"))
        return list(answer["data"]["alerts"])

    def queries_seen(self) -> float:
        """How many requests have reached the API for queries."""
        pattern = r'^prometheus_http_requests_total\{.*handler="/api/v1/query".*\} (\S+)$'
        return sum(float(count) for count in re.findall(pattern, _request(f"{self.url}/metrics"), re.MULTILINE))

    def wait_for(self, metric: str, *instances: str, within: float = 180) -> None:
        """Wait until the metric exists for these instances."""
        deadline = time.monotonic() + within
        while set(instances) - set(found := self.query(metric)):
            assert time.monotonic() < deadline, f"{metric} not for {instances} within {within} s, but for {sorted(found)}"
            time.sleep(0.2)

    def measure(self, node: str) -> None:
        """Have the exporter tell the real load of this node of the cluster, which is that of its cgroup."""
        top = next(path for path in cgroups.hierarchies() if path.name == "cpuacct" or (path / "cgroup.controllers").exists())
        self.exporter.measure(node, top / cgroups.node_root(self._layout, node).strip("/"))

    def log(self, name: str) -> str:
        return (self._layout.logs / f"{name}.log").read_text()

    def _start(self, name: str, argv: list[str], url: str) -> None:
        if left := processes.running(self._layout).get(name):
            processes.stop([left])  # of a run that was killed
        self._running[name] = processes.spawn(self._layout, name, argv, "")
        deadline = time.monotonic() + 120
        while not _answers(url):
            assert self._running[name].poll() is None, f"{name} ended: {self.log(name)[-2000:]}"
            assert time.monotonic() < deadline, f"{name} does not answer: {self.log(name)[-2000:]}"
            time.sleep(0.1)

    def _stop(self, name: str) -> None:
        process = self._running.pop(name, None)
        if process is not None:
            process.terminate()
            process.wait(timeout=30)


def build(program: str) -> None:
    """Have a program of another project in the cluster's bin/; its first build takes minutes."""
    done = subprocess.run([SOURCE / "cluster", "build", program], capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _server_of(kubeconfig: Path) -> str:
    """The host of its cluster's API server."""
    return urllib.parse.urlsplit(yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]["server"]).hostname


def _free_port(address: str) -> int:
    with socket.create_server((address, 0)) as listener:
        return listener.getsockname()[1]


def _answers(url: str) -> bool:
    """Whether anything is said there: for https, whether a connection can be made."""
    parts = urllib.parse.urlsplit(url)
    try:
        if parts.scheme == "https":
            socket.create_connection((parts.hostname, parts.port or 443), timeout=1).close()
        else:
            _request(url)
    except (OSError, urllib.error.HTTPError):
        return False
    return True


def _request(url: str, form: dict[str, str] | None = None) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    data = None if form is None else urllib.parse.urlencode(form).encode()
    with opener.open(url, data, timeout=30) as answer:
        return answer.read().decode()
