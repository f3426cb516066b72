# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The throwaway cluster: what it offers, how it is secured, that it is repaired, and that nothing of it stays."""

from __future__ import annotations

import base64
import json
import os
import socket
import ssl
import stat
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from cluster.throwaway import clean, network, processes
from cluster.throwaway.layout import OWNER_VARIABLE, SOURCE, Layout, Record
from cluster.throwaway.progress import ClusterError
from support.cluster import Kubectl
from support.registries import stands_in_for

pytestmark = pytest.mark.long

PROGRAM = SOURCE / "cluster"


class Cluster:
    """One cluster by its state directory, driven by its command line."""

    def __init__(self, state: Path, nodes: int | None = None):
        self.layout = Layout(state)
        self._environment = {**os.environ, "PYTHON": sys.executable, "CLUSTER_DIR": str(state)}
        self._environment.pop("NODES", None)
        if nodes:
            self._environment["NODES"] = str(nodes)

    def __call__(self, *arguments: str, env: dict | None = None, check: bool = True) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [PROGRAM, *arguments],
            env={**self._environment, **(env or {})},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert not check or done.returncode == 0, f"cluster {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done

    @property
    def record(self) -> Record:
        return Record.load(self.layout)

    @property
    def kubectl(self) -> Kubectl:
        return Kubectl(self.layout.kubeconfig)

    def daemons(self) -> dict[str, int]:
        """Component -> pid."""
        return {name: process.pid for name, process in processes.running(self.layout).items()}

    def kill(self, component: str) -> None:
        os.kill(self.daemons()[component], 9)
        deadline = time.monotonic() + 5
        while component in self.daemons():
            assert time.monotonic() < deadline, f"{component} does not end"
            time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster(own_cluster) -> Cluster:
    """The cluster that all tests share: nothing here may harm it."""
    return Cluster(own_cluster)


@pytest.fixture(scope="module")
def second(own_cluster, tmp_path_factory) -> Cluster:
    """A small cluster beside the shared one, for rough treatment; `directories_before` are the machine's without it."""
    cluster = Cluster(tmp_path_factory.mktemp("cluster") / "state", nodes=1)
    cluster.directories_before = directories()
    try:
        cluster("start")
        cluster.record_at_start = cluster.record
        yield cluster
    finally:
        cluster("clean")


# What it offers


def test_nodes_are_ready_and_have_the_versions_of_the_release(cluster, kubectl):
    nodes = kubectl.json("get", "nodes")["items"]
    ready = {
        node["metadata"]["name"]: node["status"]["nodeInfo"]
        for node in nodes
        for condition in node["status"]["conditions"]
        if condition["type"] == "Ready" and condition["status"] == "True"
    }
    assert set(cluster.record.node_names()) <= ready.keys()
    for name in cluster.record.node_names():
        assert ready[name]["kubeletVersion"] == cluster.layout.release.version
        assert ready[name]["containerRuntimeVersion"].startswith("containerd://")
    assert kubectl.json("version")["serverVersion"]["gitVersion"] == cluster.layout.release.version


@pytest.fixture(scope="module")
def web(cluster, kubectl):
    """One web server per node, which answers its node's name, and a Service for each. Node -> pod name."""
    name = f"test-{uuid.uuid4().hex[:10]}"
    kubectl("create", "namespace", name)
    try:
        nodes = cluster.record.node_names()
        image = f"{cluster.record.registry}/busybox:1"
        script = "echo serving; mkdir /www; echo $NODE >/www/index.html; exec httpd -f -p 8080 -h /www"
        node_name = {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
        for node in nodes:
            labels = {"web": node}
            container = {"name": "web", "image": image, "command": ["sh", "-c", script], "env": [node_name]}
            container["readinessProbe"] = {"tcpSocket": {"port": 8080}, "periodSeconds": 1}
            kubectl.apply(
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": node, "namespace": name, "labels": labels},
                    "spec": {
                        "nodeSelector": {"kubernetes.io/hostname": node},
                        "containers": [container],
                        "terminationGracePeriodSeconds": 0,
                    },
                },
                {
                    "apiVersion": "v1",
                    "kind": "Service",
                    "metadata": {"name": node, "namespace": name},
                    "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": 8080}]},
                },
            )
        kubectl("wait", "--namespace", name, "--for=condition=Ready", "pod", "--all", "--timeout=60s")
        yield name
    finally:
        kubectl("delete", "namespace", name, "--wait=false")


def test_pods_run_on_every_node(cluster, kubectl, web):
    pods = kubectl.json("get", "pods", "--namespace", web)["items"]
    assert sorted(pod["spec"]["nodeName"] for pod in pods) == cluster.record.node_names()


def test_services_and_dns_work_between_all_nodes(cluster, kubectl, web):
    for source in cluster.record.node_names():
        for target in cluster.record.node_names():
            url = f"http://{target}.{web}.svc.cluster.local/"
            # CoreDNS and kube-proxy learn of a new Service within seconds.
            deadline = time.monotonic() + 20
            while True:
                answer = kubectl("exec", "--namespace", web, source, "--", "timeout", "5", "wget", "-qO-", url, check=False)
                if answer.stdout.strip() == target:
                    break
                assert time.monotonic() < deadline, f"{source} to {target}: {answer.stdout}{answer.stderr}"
                time.sleep(0.5)


def test_logs_come_through_the_api_server(cluster, kubectl, web):
    for node in cluster.record.node_names():
        assert kubectl("logs", "--namespace", web, node).stdout == "serving\n"


def test_published_image_names_come_from_the_clusters_registry(kubectl, namespace):
    kubectl("run", "probe", "--namespace", namespace, "--image=registry.k8s.io/pause:3.10")
    kubectl("wait", "--namespace", namespace, "--for=condition=Ready", "pod/probe", "--timeout=60s")


def test_another_name_of_a_registry_resolves_only_while_a_test_declares_it(own_cluster, kubectl, namespace):
    """What was never published must not run here because its name ends like that of an image that was pushed."""

    def run(name):
        kubectl("run", name, "--namespace", namespace, "--image=quay.io/pause:3.10", "--image-pull-policy=Always")

    with stands_in_for(own_cluster, "quay.io"):
        run("declared")
        kubectl("wait", "--namespace", namespace, "--for=condition=Ready", "pod/declared", "--timeout=60s")
    run("undeclared")
    reason = "jsonpath={.status.containerStatuses[0].state.waiting.reason}=ErrImagePull"
    kubectl("wait", "--namespace", namespace, f"--for={reason}", "pod/undeclared", "--timeout=20s")


def test_the_secondary_scheduler_image_has_the_plugins(cluster, kubectl, namespace):
    """The program says so itself: an unknown plugin would be refused."""
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "schedulerName": "test",
                "plugins": {"score": {"enabled": [{"name": "NodeResourcesAllocatable"}, {"name": "PodState"}]}},
            }
        ],
    }
    kubectl.apply(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "config", "namespace": namespace},
            "data": {"config.yaml": json.dumps(configuration)},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "scheduler", "namespace": namespace},
            "spec": {
                "restartPolicy": "Never",
                "containers": [
                    {
                        "name": "scheduler",
                        "image": "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7",
                        "command": ["/bin/kube-scheduler"],
                        "args": ["--config=/etc/scheduler/config.yaml", "--write-config-to=/tmp/config.yaml"],
                        "volumeMounts": [
                            {"name": "config", "mountPath": "/etc/scheduler"},
                            {"name": "tmp", "mountPath": "/tmp"},
                        ],
                    }
                ],
                "volumes": [{"name": "config", "configMap": {"name": "config"}}, {"name": "tmp", "emptyDir": {}}],
            },
        },
    )
    kubectl("wait", "--namespace", namespace, "--for=jsonpath={.status.phase}=Succeeded", "pod/scheduler", "--timeout=60s")
    assert "Wrote configuration" in kubectl("logs", "--namespace", namespace, "scheduler").stdout


def test_writes_are_in_the_audit_log_with_their_user(audit, kubectl, namespace):
    with audit:
        kubectl("create", "configmap", "seen", "--namespace", namespace)
    written = [(request.verb, request.user, request.name) for request in audit.writes() if request.namespace == namespace]
    assert written == [("create", "kubernetes-admin", "seen")]


# How it is secured


def ask(cluster: Cluster, address: str, port: int, path: str, credentials: bool = False) -> int:
    """HTTP status of a GET over TLS that verifies the server's certificate by the cluster's authority."""
    context = ssl.create_default_context(cafile=cluster.layout.pki / "ca.crt")
    if credentials:
        context.load_cert_chain(cluster.layout.pki / "admin.crt", cluster.layout.pki / "admin.key")
    with socket.create_connection((address, port), timeout=10) as plain, context.wrap_socket(plain, server_hostname=address) as link:
        link.sendall(f"GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n".encode())
        return int(link.makefile().readline().split()[1])


def test_without_credentials_only_health_is_answered(cluster):
    for path in ("/livez", "/readyz", "/healthz"):
        assert ask(cluster, cluster.record.address, 6443, path) == 200
    for path in ("/", "/version", "/api", "/api/v1/namespaces", "/openapi/v3", "/metrics", "/livez/etcd"):
        assert ask(cluster, cluster.record.address, 6443, path) == 401
    assert ask(cluster, cluster.record.address, 6443, "/version", credentials=True) == 200


@pytest.mark.parametrize("port", [10257, 10259], ids=["controller manager", "scheduler"])
def test_control_plane_servers_return_no_metrics_to_unauthenticated_clients(cluster, port):
    assert ask(cluster, cluster.record.address, port, "/healthz") == 200
    assert ask(cluster, cluster.record.address, port, "/metrics") in (401, 403)


def test_kubelets_reject_unauthenticated_requests(cluster):
    for node in cluster.record.node_names():
        assert ask(cluster, cluster.record.node_address(node), 10250, "/pods") == 401


def test_etcd_requires_a_client_certificate(cluster):
    context = ssl.create_default_context(cafile=cluster.layout.pki / "etcd-ca.crt")
    address = cluster.record.address
    with (
        socket.create_connection((address, 2379), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname=address) as link,
    ):
        link.sendall(b"GET /version HTTP/1.1\r\nHost: etcd\r\n\r\n")
        with pytest.raises(ssl.SSLError, match="certificate required"):
            link.recv(1)


def test_kubeconfig_is_private_and_verifies_the_api_server(cluster):
    path = cluster.layout.kubeconfig
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    content = json.loads(path.read_text())
    assert base64.b64decode(content["clusters"][0]["cluster"]["certificate-authority-data"]) == (cluster.layout.pki / "ca.crt").read_bytes()
    assert "insecure-skip-tls-verify" not in path.read_text()
    assert content["users"][0]["user"].keys() == {"client-certificate-data", "client-key-data"}


def test_only_the_owner_can_read_the_private_keys(cluster):
    assert stat.S_IMODE(cluster.layout.pki.stat().st_mode) == 0o700
    for key in [*cluster.layout.pki.glob("*.key"), *cluster.layout.pki.glob("*.kubeconfig")]:
        assert stat.S_IMODE(key.stat().st_mode) == 0o600, key


def test_api_aggregation_is_set_up(kubectl):
    data = kubectl.json("get", "configmap", "--namespace=kube-system", "extension-apiserver-authentication")["data"]
    assert "BEGIN CERTIFICATE" in data["requestheader-client-ca-file"]
    assert data["requestheader-allowed-names"] == '["front-proxy-client"]'


def listeners(pids: set[int], pid: int | None = None) -> dict[str, str]:
    """Address and port -> program, of sockets that processes in `pids` listen at, in the network namespace of `pid`."""
    inside = ["nsenter", f"--target={pid}", "--net"] if pid else []
    found = {}
    for line in subprocess.run([*inside, "ss", "-Hltnup"], capture_output=True, text=True, check=True).stdout.splitlines():
        fields = line.split()
        if any(f"pid={owner}," in line for owner in pids):
            found[fields[4]] = fields[-1]
    return found


def elsewhere(found: dict[str, str], *allowed: str) -> dict[str, str]:
    addresses = ("127.", "[::1]", *(f"{address}:" for address in allowed))
    return {at: program for at, program in found.items() if not at.startswith(addresses)}


def owned_pids(cluster: Cluster) -> set[int]:
    return {process.pid for process in processes.owned_processes(cluster.layout.state)}


def test_nothing_listens_outside_the_clusters_network(cluster):
    assert f"{cluster.record.address}:6443" in listeners(owned_pids(cluster))
    assert elsewhere(listeners(owned_pids(cluster)), cluster.record.address) == {}
    daemons = cluster.daemons()
    for node in cluster.record.node_names():
        found = listeners(owned_pids(cluster), daemons[f"node-init.{node}"])
        assert f"{cluster.record.node_address(node)}:10250" in found
        assert elsewhere(found, cluster.record.node_address(node)) == {}


def test_a_listener_outside_the_clusters_network_is_detected(tmp_path):
    owner = Cluster(tmp_path)
    code = "import socket, time; s = socket.create_server(('0.0.0.0', 0)); print(s.getsockname()[1], flush=True); time.sleep(60)"
    environment = {**os.environ, OWNER_VARIABLE: str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True) as planted:
        port = planted.stdout.readline().strip()
        assert elsewhere(listeners(owned_pids(owner)), "10.200.0.1").keys() == {f"0.0.0.0:{port}"}
        planted.kill()


# That it is repaired


def test_starting_again_changes_nothing(cluster):
    before = cluster.daemons()
    cluster("start")
    assert cluster.daemons() == before
    assert cluster("status").returncode == 0


def test_two_clusters_live_side_by_side(cluster, second):
    assert second.record.index != cluster.record.index
    assert second.kubectl("get", "nodes", "--output=name").stdout == "node/node-1\n"
    assert cluster("status").returncode == 0


@pytest.mark.parametrize(
    "dead",
    [["kubelet.node-1", "kube-apiserver"], ["node-init.node-1"], ["node-init.switch"], ["etcd", "docker-registry", "containerd.node-1"]],
    ids="+".join,
)
def test_components_that_died_are_reported_and_started_again(second, dead):
    before = second.daemons()
    for component in dead:
        second.kill(component)
    status = second("status", check=False)
    assert status.returncode == 1
    assert all(any(line.startswith(component) and "not running" in line for line in status.stdout.splitlines()) for component in dead)

    second("start")
    after = second.daemons()
    assert after.keys() ^ before.keys() == set()
    assert all(after[component] != before[component] for component in dead)
    second.kubectl("run", "alive", "--image=registry.k8s.io/pause:3.10")
    second.kubectl("wait", "--for=condition=Ready", "pod/alive", "--timeout=60s")
    second.kubectl("delete", "pod", "alive", "--now")


def test_number_of_nodes_can_change(second):
    second("start", env={"NODES": "2"})
    second.kubectl("wait", "--for=condition=Ready", "node/node-2", "--timeout=1s")
    second("start", env={"NODES": "1"})
    assert second.kubectl("get", "nodes", "--output=name").stdout == "node/node-1\n"
    assert not [component for component in second.daemons() if component.endswith(".node-2")]


# That a machine that cannot have one is told so before any work


@pytest.mark.parametrize(
    ("prefix", "said"),
    [
        (["setpriv", "--reuid=65534", "--clear-groups"], "needs root"),
        (["env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"], "Go is missing"),
        (
            [
                "unshare",
                "--mount",
                "sh",
                "-c",
                'for f in apt-get containerd; do mount --bind /dev/null "/usr/bin/$f"; done; exec "$@"',
                "sh",
            ],
            "no apt-get to install them: containerd",
        ),
        (["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"], "does not let root make namespaces"),
        (
            ["unshare", "--user", "--map-root-user", "sh", "-c", 'echo 20 >/proc/sys/user/max_inotify_instances; exec "$@"', "sh"],
            "needs 49 inotify instances",
        ),
        (["env", "NODES=many"], "NODES=many"),
    ],
    ids=["not root", "no Go", "no containerd and no apt", "no namespaces", "few inotify instances", "bad NODES"],
)
def test_a_missing_prerequisite_is_reported_in_one_sentence(own_cluster, tmp_path, prefix, said):
    state = tmp_path / "state"
    if "Go" in said:
        # Only a checkout that has not built the programs needs Go.
        program = tmp_path / "checkout/tests/cluster"
        program.parent.mkdir(parents=True)
        subprocess.run(["cp", "-r", SOURCE, program], check=True)
    else:
        program = SOURCE
    tmp_path.chmod(0o777)
    done = subprocess.run(
        [*prefix, program / "cluster", "start"],
        env={**{name: value for name, value in os.environ.items() if name != "NODES"}, "CLUSTER_DIR": str(state)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert not list(state.glob("bin/*"))


# That nothing of it stays


def traces(cluster: Cluster) -> dict[str, list[str]]:
    """What of a cluster is on the machine, looked for by other means than its own."""

    def lines(*command: str) -> list[str]:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    record, state = cluster.record_at_start, str(cluster.layout.state)
    return {
        "links": [line for line in lines("ip", "link") if record.link in line],
        "routes": [line for line in lines("ip", "route", "show", "table", "all") if record.address in line or record.link in line],
        "cgroups": [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/{cluster.layout.identity}")],
        "processes": [line for line in lines("ps", "axeww") if state in line],
        "files": [state] if cluster.layout.state.exists() else [],
    }


def directories() -> dict[str, set[str]]:
    """The machine's directories in which container runtimes, kubelets and network plugins leave things."""
    paths = [Path(path) for path in ("/etc", "/etc/cni/net.d", "/opt", "/run", "/run/netns", "/var/lib", "/var/log", "/var/tmp")]
    return {str(path): {entry.name for entry in path.iterdir()} for path in paths if path.is_dir()}


@pytest.fixture
def planted(tmp_path):
    """One leftover of each kind, of a cluster that does not exist otherwise. Its layout and record."""
    layout, record = Layout(tmp_path / "state"), Record(219, 1)
    groups = [
        path / layout.identity / "node-1"
        for path in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory"))
        if (path / "cgroup.procs").exists()
    ]
    (layout.state / "mounted").mkdir(parents=True)
    with subprocess.Popen(["sleep", "60"], env={**os.environ, OWNER_VARIABLE: str(layout.state)}) as process:
        try:
            for command in (
                f"mount -t tmpfs tmpfs {layout.state}/mounted",
                f"ip link add {record.link} type bridge",
                f"ip link set {record.link} alias {layout.state} up",
                f"ip address add {record.address}/24 dev {record.link}",
                "nft add table ip throwaway_test",
                "nft add chain ip throwaway_test rules",
                f"nft add rule ip throwaway_test rules ip saddr {record.network} drop",
            ):
                subprocess.run(command.split(), check=True)
            for group in groups:
                group.mkdir(parents=True)
            yield layout, record
        finally:
            process.kill()
            for command in ("nft delete table ip throwaway_test", f"ip link delete {record.link}", f"umount {layout.state}/mounted"):
                subprocess.run(command.split(), check=False, stderr=subprocess.DEVNULL)
            for group in groups:
                for path in (group, group.parent):
                    if path.exists():
                        path.rmdir()


def test_leftovers_of_each_kind_are_seen(own_cluster, planted, capsys):
    layout, record = planted
    with pytest.raises(ClusterError, match="left something behind"):
        clean.verify(layout, [record], patience=0)
    said = dict(
        line.split(maxsplit=1)
        for line in capsys.readouterr().out.replace("network links", "links").replace("nftables rules", "rules").splitlines()
    )
    assert said.keys() == {"processes", "mounts", "links", "routes", "cgroups", "rules", "files"}
    assert all(found.startswith("LEFT: ") for found in said.values()), said


def test_clean_removes_leftovers_of_a_cluster_whose_record_is_lost(own_cluster, planted):
    layout, _marks = planted
    subprocess.run(["nft", "delete", "table", "ip", "throwaway_test"], check=True)  # the cluster never makes one on the machine
    assert "LEFT" not in Cluster(layout.state)("clean").stdout
    assert not layout.state.exists()


def test_stale_link_of_a_cluster_without_processes_is_reclaimed(own_cluster):
    """A link whose owner has no process is taken over; one whose owner lives is not."""
    record = Record(network.INDEXES[-1], 1)
    subprocess.run(["ip", "link", "add", record.link, "type", "bridge"], check=True)
    try:
        for owner, expected in (("/nowhere/.cluster", record.index), (str(own_cluster), None)):
            subprocess.run(["ip", "link", "set", record.link, "alias", owner], check=True)
            chosen = network.choose(Layout(Path("/elsewhere/.cluster")), record)
            assert (chosen == record.index) == (expected is not None)
            if expected:
                assert record.link not in network.links()
                subprocess.run(["ip", "link", "add", record.link, "type", "bridge"], check=True)
    finally:
        subprocess.run(["ip", "link", "delete", record.link], check=False)


def test_clean_removes_every_trace_of_the_cluster(second):
    """The last test of the second cluster."""
    assert all(traces(second).values()), "these means would not see the traces"
    assert "LEFT" not in second("clean").stdout
    assert not any(traces(second).values()), traces(second)
    new = {path: names - second.directories_before.get(path, set()) for path, names in directories().items()}
    assert not any(new.values()), new
