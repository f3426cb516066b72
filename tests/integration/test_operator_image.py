# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's image (operator/image), in a pod as restricted as the operator's own."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import threading
import uuid
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import UnixStreamServer

import pytest
import yaml
from support.scheduler import eventually

# Another user than the image's own, as OpenShift gives each namespace one.
USER = 1000650000


@pytest.fixture(scope="module")
def reference() -> str:
    path = Path(os.environ["OPERATOR_IMAGE_FILE"])
    if not path.exists():
        pytest.fail(f"No image: {path} does not exist. Build it with `make images`.", pytrace=False)
    return path.read_text().strip()


def pod(name, image, user) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 0,
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}} | ({"runAsUser": user} if user else {}),
            "containers": [
                {
                    "name": "operator",
                    "image": image,
                    "command": ["warm-runner", "sleep", "infinity"],
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "capabilities": {"drop": ["ALL"]},
                        "readOnlyRootFilesystem": True,
                    },
                    "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
                }
            ],
            "volumes": [{"name": "tmp", "emptyDir": {}}],
        },
    }


class Inside:
    """Run commands in the image."""

    def __init__(self, kubectl, namespace, name):
        self._exec = lambda *args, **options: kubectl("exec", f"--namespace={namespace}", "-i", name, "--", *args, **options)

    def __call__(self, *command, **options) -> subprocess.CompletedProcess:
        return self._exec(*command, **options)

    def python(self, program, *arguments):
        """What a Python program prints as JSON."""
        return json.loads(self("python3", "-", *arguments, stdin=program).stdout)

    def play(self, tasks, **environment) -> dict:
        """Results of tasks by task name, with the image's own settings."""
        tasks = [dict(task, ignore_errors=True) for task in tasks]
        playbook = yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}])
        self("sh", "-c", "rm -rf /tmp/run; mkdir -p /tmp/run/inventory; cat >/tmp/run/play.yml", stdin=playbook)
        hosts = "localhost ansible_connection=local ansible_python_interpreter={{ansible_playbook_python}}"
        self("sh", "-c", "cat >/tmp/run/inventory/hosts", stdin=hosts)
        variables = [f"{name}={value}" for name, value in environment.items()]
        run = ["ansible-runner", "run", "/tmp/run", "-p", "/tmp/run/play.yml", "--json"]
        events = self("env", *variables, *run, check=False).stdout
        return {
            event["event_data"]["task"]: {**event["event_data"]["res"], "failed": event["event"] == "runner_on_failed"}
            for event in map(json.loads, events.splitlines())
            if event["event"] in ("runner_on_ok", "runner_on_failed", "runner_on_skipped")
        }


@pytest.fixture(scope="module")
def inside(kubectl, reference) -> Inside:
    namespace = f"test-{uuid.uuid4().hex[:10]}"
    kubectl("create", "namespace", namespace)
    kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
    for name, user in (("other-user", USER), ("own-user", None)):
        kubectl("create", f"--namespace={namespace}", "--filename=-", stdin=pod(name, reference, user))
    kubectl("wait", f"--namespace={namespace}", "--for=condition=Ready", "pod", "--all", "--timeout=300s", timeout=310)
    inside = Inside(kubectl, namespace, "other-user")
    inside.as_own_user = Inside(kubectl, namespace, "own-user")
    eventually(lambda: inside("test", "-S", "/tmp/warm-runner/socket", check=False).returncode == 0)
    yield inside
    kubectl("delete", "namespace", namespace, "--wait=false")


def test_the_image_runs_as_any_user_on_a_read_only_root(inside):
    assert inside("id", "-u").stdout.strip() == str(USER)
    # runAsNonRoot without a user id: the kubelet has seen for itself that the image's user is not root.
    assert inside.as_own_user("id", "-u").stdout.strip() == "1001"
    assert inside("id", "-g").stdout.strip() == "0"
    assert "Read-only file system" in inside("touch", "/opt/ansible/x", check=False).stderr


def test_the_programs_of_the_image_start_with_the_expected_versions(inside):
    assert "ansible-operator version" in inside("ansible-operator", "version").stdout
    assert "core 2.18" in inside("ansible-playbook", "--version").stdout
    assert inside("ansible-runner", "--version").stdout.startswith("2.4.")


def test_installed_python_packages_are_exactly_the_pinned_ones(inside, root):
    text = (root / "operator/image/requirements.txt").read_text()
    pinned = dict(re.findall(r"^([a-z0-9-]+)==([^\s;]+)", text, flags=re.MULTILINE))
    blocks = re.split(r"^(?=[a-z])", text, flags=re.MULTILINE)[1:]
    assert len(pinned) == len(blocks) > 20
    assert not [block for block in blocks if "--hash=sha256:" not in block]
    installed = inside.python(
        "import importlib.metadata as m, json, re\n"
        "print(json.dumps({re.sub('[-_.]+', '-', d.name).lower(): d.version for d in m.distributions(path=['/opt/ansible/python'])}))"
    )
    assert installed.pop("ansible-operator-events")
    assert installed == pinned


def test_the_image_contains_the_collections_and_every_watched_playbook(inside, root):
    folder = "/usr/share/ansible/collections/ansible_collections"
    ours = json.loads(inside("cat", f"{folder}/osso/scheduler/MANIFEST.json").stdout)["collection_info"]
    assert ours["version"] == yaml.safe_load((root / "galaxy.yml").read_text())["version"]
    kubernetes = json.loads(inside("cat", f"{folder}/kubernetes/core/MANIFEST.json").stdout)["collection_info"]
    assert kubernetes["version"] == "6.6.0"
    watches = yaml.safe_load(inside("cat", "/opt/ansible/watches.yaml").stdout)
    for playbook in {watch["playbook"] for watch in watches}:
        inside("test", "-f", playbook)


UNCOMPILED = """
import importlib.util, json, os, sys
missing = []
for top in sys.argv[1:]:
    for folder, _, files in os.walk(top):
        for name in files:
            path = os.path.join(folder, name)
            if name.endswith(".py") and not os.path.exists(importlib.util.cache_from_source(path)):
                missing.append(path)
print(json.dumps(missing))
"""


def test_all_python_is_compiled(inside):
    inside("sh", "-c", "mkdir -p /tmp/planted && touch /tmp/planted/planted.py")
    assert inside.python(UNCOMPILED, "/tmp/planted") == ["/tmp/planted/planted.py"]
    library = inside("python3", "-c", "import os; print(os.path.dirname(os.__file__))").stdout.strip()
    assert inside.python(UNCOMPILED, library, "/opt/ansible", "/usr/share/ansible") == []


# What a build may leave behind: caches of package managers, settings with credentials, keys.
LEFTOVERS = r"""
import json, os, re, sys
NAMES = re.compile(r"(\.netrc|pip\.conf|\.pypirc|kubeconfig|id_rsa|.*\.kubeconfig|\.git|.*\.deb|config\.json)$")
CACHES = re.compile(r".*/(\.cache|var/cache/apt|var/lib/apt/lists)/.*")
KEY = re.compile(rb"^-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/]{40}", re.MULTILINE)
CREDENTIALS = re.compile(rb"https?://[^/\s:@]+:[^/\s:@]+@")
found = []
for top in sys.argv[1:]:
    for folder, folders, files in os.walk(top):
        folders[:] = [f for f in folders if os.path.join(folder, f) not in ("/proc", "/sys", "/dev", "/tmp", "/var/run/secrets", "/run/secrets")]
        for name in files:
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isfile(path) or not os.path.getsize(path):
                continue
            if NAMES.match(name) or CACHES.match(path):
                found.append(path)
            elif os.path.getsize(path) < 2_000_000 and os.access(path, os.R_OK):
                with open(path, "rb") as file:
                    content = file.read()
                # Python libraries document such addresses.
                library = "/lib/python3" in path or path.startswith("/opt/ansible/python/")
                if KEY.search(content) or CREDENTIALS.search(content) and not library:
                    found.append(path)
print(json.dumps(found))
"""


def test_the_image_contains_no_leftovers_of_the_build(inside):
    planted = ["/tmp/left/.cache/pip", "/tmp/left/.netrc", "/tmp/left/key", "/tmp/left/source"]
    inside("mkdir", "-p", "/tmp/left/.cache")
    inside("sh", "-c", f"echo x | tee {planted[0]} {planted[1]}")
    inside("sh", "-c", f"cat >{planted[2]}", stdin="-----BEGIN PRIVATE " + "KEY-----\n" + 64 * "A")
    inside("sh", "-c", f"cat >{planted[3]}", stdin="index-url = https://someone:" + "password@index.example/simple")
    assert sorted(inside.python(LEFTOVERS, "/tmp/left")) == sorted(planted)
    assert inside.python(LEFTOVERS, "/") == []


MANIFEST = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "default"}}
NO_SERVER = {"host": "http://127.0.0.1:9", "api_key": "unused", "retry_seconds": 0}


PARENT = """
import glob, json
print(json.dumps([path for path in glob.glob("/proc/[0-9]*/comm") if open(path).read() == "warm-parent\\n"]))
"""
ZOMBIES = """
import glob, json
print(json.dumps([path for path in glob.glob("/proc/[0-9]*/stat") if open(path).read().rpartition(")")[2].split()[0] == "Z"]))
"""
# The process that a task runs in: forked, it has the arguments of the parent.
FORKED = {"name": "forked", "ansible.builtin.set_fact": {"command": "{{ lookup('file', '/proc/self/cmdline') }}"}}
FOLDERS = "find /tmp/.ansible /tmp/warm-runner -mindepth 1"


def forked(results) -> bool:
    return "warm-parent" in results["forked"]["ansible_facts"]["command"]


def test_a_forked_run_returns_the_same_results_as_an_ordinary_one(inside):
    tasks = [
        FORKED,
        {"name": "fails", "osso.scheduler.apply": {"manifests": MANIFEST, **NO_SERVER}},
        {"name": "packed", "ansible.builtin.command": "echo ü"},
        {"name": "templated", "ansible.builtin.debug": {"msg": "{{ {'a': [1, 2]} | dict2items | to_json }}"}},
    ]
    fork, ordinary = inside.play(tasks), inside.play(tasks, OPERATOR_WARM_RUNNER="")
    assert forked(fork)
    assert not forked(ordinary)
    for one in (fork, ordinary):
        del one["forked"]
        for key in ("start", "end", "delta"):
            del one["packed"][key]
    assert fork == ordinary
    # The run's own temporary folder is gone, and what all runs share is there.
    assert inside("sh", "-c", FOLDERS).stdout.split() == ["/tmp/warm-runner/socket"]


def test_a_killed_parent_is_started_again(inside):
    before = inside.python(PARENT)
    inside("sh", "-c", f"kill -9 {before[0].split('/')[2]}")
    # A run at any time in between ends well, forked or not.
    eventually(lambda: forked(inside.play([FORKED])) and inside.python(PARENT) != before)
    eventually(lambda: inside.python(ZOMBIES) == [])


def test_requeue_after_accepts_only_a_period_with_a_unit(inside):
    results = inside.play(
        [
            {"name": "right", "requeue_after": {"period": "1m30s"}},
            {"name": "no unit", "requeue_after": {"period": 30}},
            {"name": "other option", "requeue_after": {"after": "30s"}},
        ]
    )
    assert results["right"]["period"] == "1m30s"
    assert "such as 10s or 1m30s" in results["no unit"]["msg"]
    assert results["other option"]["failed"]


@pytest.mark.long
def test_a_build_of_the_same_content_yields_the_same_image(root, own_cluster, reference):
    done = subprocess.run([root / "operator/image/build"], capture_output=True, text=True, check=True)
    again = subprocess.run([root / "operator/image/build"], capture_output=True, text=True, check=True)
    assert "@sha256:" in done.stdout
    assert again.stdout == done.stdout
    assert Path(os.environ["OPERATOR_IMAGE_FILE"]).read_text() == again.stdout.strip()


class Events(BaseHTTPRequestHandler):
    """The part of ansible-operator that takes events; one whose uuid is 'refused' it does not take."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.taken.append((self.path, self.headers["Content-Type"], event))
        self.send_response(500 if event["uuid"] == "refused" else 204)
        self.end_headers()

    def address_string(self):
        return "unix"

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def event_plugin(root):
    spec = importlib.util.spec_from_file_location(
        "ansible_operator_events", root / "operator/image/event_plugin/ansible_operator_events.py"
    )
    plugin = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plugin)
    return plugin


def test_the_event_plugin_sends_all_events_over_one_connection(event_plugin, tmp_path):
    """Every event arrives, over one connection; what is not taken raises, as ansible-runner expects it."""

    class Config:
        settings = {"runner_http_url": str(tmp_path / "socket"), "runner_http_path": "/events/"}  # noqa: RUF012

    with UnixStreamServer(Config.settings["runner_http_url"], Events) as server:
        server.taken = []
        # handle_request serves one connection.
        thread = threading.Thread(target=server.handle_request, daemon=True)
        thread.start()
        events = [{"uuid": str(number), "stdout": "ü" * number} for number in range(3)]
        for event in events:
            event_plugin.event_handler(Config, event)
        with pytest.raises(ConnectionError, match="500"):
            event_plugin.event_handler(Config, {"uuid": "refused"})
    assert server.taken[:3] == [("/events/", "application/json", event) for event in events]
    event_plugin.event_handler(type("Config", (), {"settings": {}}), {"uuid": "without a receiver"})


def test_old_artifacts_of_deleted_resources_are_deleted(event_plugin, tmp_path):
    now = 1_000_000
    for name, begun in {"team/own": now - 9000, "team/idle": now - 600, "team/gone": now - 4000, "gone/gone": now - 9000}.items():
        settings = tmp_path / name / "env/settings"
        settings.parent.mkdir(parents=True)
        settings.touch()
        os.utime(settings, (begun, begun))
    (tmp_path / "team/new").mkdir()
    event_plugin.sweep(tmp_path / "team/own", now - event_plugin.KEPT)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*")) == ["team/idle", "team/new", "team/own"]
