# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sandbox: an API server on loopback with the objects of a snapshot, which one kube-scheduler uses.

It is also the load-watcher of these plugins, with the load that the snapshot contains.

It answers the requests of a kube-scheduler and of the plugins of scheduler-plugins: lists, watches (also those that begin with the list: KEP-3157),
bindings, statuses, events, evictions by deletion, and volumes that wait for their first consumer. Any other request gets 404 and is recorded.
"""

from __future__ import annotations

import copy
import hmac
import json
import re
import secrets
import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object, Resource
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import resource_accounting
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import RESOURCES

Key = tuple[str, str]
"""Namespace and name."""
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_PREEMPTOR = re.compile(r"Preempted by pod (\S+) on node ")
_NOT_FOUND = 404
# Neither name nor node can exist in a cluster. A scheduler keeps such a pod apart from the nodes that it considers.
_MARKER = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"namespace": "preview", "name": "-marker-", "uid": "-marker-"},
    "spec": {"nodeName": "-", "containers": []},
    "status": {"phase": "Running"},
}
_EVENTS = Resource("events.k8s.io/v1", "Event", "events", True)
"""Without this group, kube-scheduler creates events that do not name the pod that preempted."""
_QUIET = ("/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication",)
"""Requests whose failure changes nothing."""


class Answer(NamedTuple):
    """What the scheduler answered about a pod. node: empty if it has none. nominated: where it preempted pods. reason: why it has no node."""

    node: str = ""
    reason: str = ""
    nominated: str = ""


class Change(NamedTuple):
    """One decision of the scheduler: a pod bound to a node, or deleted (node is empty) to make room for the pod with the uid ``by``."""

    key: Key
    node: str = ""
    by: str = ""


@dataclass
class _Collection:
    """The objects of a kind, and all changes of them since the start; the versions of the changes ascend."""

    resource: Resource
    changed: threading.Condition
    objects: dict[Key, Object] = field(default_factory=dict)
    versions: list[int] = field(default_factory=list)
    events: list[tuple[str, Object]] = field(default_factory=list)
    watched: bool = False


class Sandbox:
    """The server. Decisions of the scheduler are in ``answers`` and, in their order, in ``history``."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self._lock = threading.RLock()
        self._progress = threading.Condition(self._lock)
        self._version = 1
        self._collections = {
            (_group(resource.api_version), resource.plural): _Collection(resource, threading.Condition(self._lock))
            for resource in RESOURCES
        }
        self._by_kind = {(_group(one.resource.api_version), one.resource.kind): one for one in self._collections.values()}
        self.pods = self._collections["", "pods"]
        self.answers: dict[Key, Answer] = {}
        self.history: list[Change] = []
        self._markers: Counter[str] = Counter()
        self._is_marked = True
        self.unknown: dict[str, int] = {}
        self.invented: set[str] = set()
        self.last_decision, self.decisions = time.monotonic(), 0
        for obj in objects:
            self._load(obj)
        self._add_namespaces()
        self._secret = secrets.token_hex(16)
        # The socket listens from here on; requests wait until `serve`.
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.sandbox = self
        self.closed = False

    def serve(self) -> None:
        threading.Thread(target=self._server.serve_forever, args=[0.05], daemon=True).start()

    def close(self) -> None:
        """Ends all watches."""
        with self._lock:
            self.closed = True
            for one in self._collections.values():
                one.changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/{self._secret}"

    @property
    def nodes(self) -> tuple[Key, ...]:
        return tuple(self._collections["", "nodes"].objects)

    @property
    def has_load(self) -> bool:
        """Whether the snapshot contains the load of nodes."""
        return bool(self._collections["metrics.k8s.io", "nodes"].objects)

    def kubeconfig(self) -> bytes:
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "sandbox",
            "clusters": [{"name": "sandbox", "cluster": {"server": self.url}}],
            "contexts": [{"name": "sandbox", "context": {"cluster": "sandbox", "user": "scheduler"}}],
            "users": [{"name": "scheduler", "user": {}}],
        }
        return json.dumps(content).encode()

    def path_of(self, path: str) -> str | None:
        """The path of a request without the secret that it begins with; None without it, since other users of the host must not read the snapshot.

        client-go sends no token without TLS.
        """
        secret, path = path[1 : len(self._secret) + 1], path[len(self._secret) + 1 :]
        return path if hmac.compare_digest(secret.encode(), self._secret.encode()) else None

    # For the one who offers pods

    def wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until the condition holds, which decisions of the scheduler can change; whether it does."""
        with self._lock:
            return self._progress.wait_for(condition, seconds)

    def offer(self, pod: Object) -> None:
        """Create a pod, or replace the pod of this name; an earlier answer is forgotten."""
        with self._lock:
            key = key_of(pod)
            self.withdraw(key)
            self.last_decision = time.monotonic()
            self._change(self.pods, "ADDED", pod)

    def withdraw(self, key: Key) -> None:
        """Delete a pod, if it exists, and its answer."""
        with self._lock:
            self.answers.pop(key, None)
            present = self.pods.objects.get(key)
            if present is not None:
                self._change(self.pods, "DELETED", present)

    def volumes(self) -> list[dict[Key, Object]]:
        """The claims and volumes as they are now, for `restore_volumes`."""
        with self._lock:
            return [dict(one.objects) for one in self._claims_and_volumes]

    def restore_volumes(self, before: list[dict[Key, Object]]) -> None:
        """Undo what was bound or invented since `volumes`."""
        with self._lock:
            for one, objects in zip(self._claims_and_volumes, before):
                for key, obj in [(key, obj) for key, obj in one.objects.items() if obj is not objects.get(key)]:
                    self._change(one, "MODIFIED", objects[key]) if key in objects else self._change(one, "DELETED", obj)

    @property
    def _claims_and_volumes(self) -> list[_Collection]:
        return [self._collections["", plural] for plural in ("persistentvolumeclaims", "persistentvolumes")]

    def mark(self) -> tuple[str, Key, int] | None:
        """Add a pod that no other object concerns, on no node of the sandbox, or delete it; the event, the pod, and how many of these there are then.

        None if no pod with a node has come or gone since the last time. A scheduler handles these changes one after the other, and logs each *before* its
        cache changes: only when it logs the next one, the cache has followed.
        """
        with self._lock:
            if self._is_marked:
                return None
            key = key_of(_MARKER)
            event = "DELETED" if key in self.pods.objects else "ADDED"
            self._change(self.pods, event, _MARKER)
            self._is_marked = True
            self._markers[event] += 1
            return event, key, self._markers[event]

    # Objects

    def _load(self, obj: Object) -> None:
        one = self._by_kind[_group(obj["apiVersion"]), obj["kind"]]
        metadata = {"uid": "-".join(key_of(obj)), **obj["metadata"], "resourceVersion": "1"}
        one.objects[key_of(obj)] = {**obj, "metadata": metadata}
        if one is self.pods and obj["spec"].get("nodeName"):
            self._is_marked = False

    def _add_namespaces(self) -> None:
        """A list of kubectl may lack them; selectors of namespaces then match no labels but the name."""
        known = self._collections["", "namespaces"].objects
        for namespace in dict.fromkeys(key[0] for key in self.pods.objects):
            if ("", namespace) not in known:
                labels = {"kubernetes.io/metadata.name": namespace}
                self._load({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels}})

    def _change(self, one: _Collection, event: str, obj: Object) -> Object:
        """Store the object, or remove it, and inform the watches."""
        self._version += 1
        obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._version)}}
        if one is self.pods and obj["spec"].get("nodeName"):
            self._is_marked = False
        if event == "DELETED":
            one.objects.pop(key_of(obj), None)
        else:
            one.objects[key_of(obj)] = obj
        one.versions.append(self._version)
        one.events.append((event, obj))
        one.changed.notify_all()
        return obj

    def _decided(self) -> None:
        self.last_decision = time.monotonic()
        self.decisions += 1
        self._progress.notify_all()

    # Requests

    def answer(self, method: str, path: str, body: Object | None) -> tuple[int, Object]:
        """Status and body. A watch is no such request: `watch`."""
        with self._lock:
            if path == "/watcher":
                return 200, self._load_of_nodes()
            group_version, rest = _split(path)
            if not rest:
                return self._discovery(method, path, group_version)
            namespace, plural, name, subresource = _address(rest)
            if plural == "events":
                return 201 if method == "POST" else 200, self._event(body or {})
            one = self._collections.get((_group(group_version), plural))
            if one is None or (name == "" and method != "GET"):
                return self._unknown(method, path, group_version, plural, name and subresource)
            if not name:
                return 200, self._list(one, group_version, namespace)
            present = one.objects.get((namespace, name))
            if present is None:
                return _NOT_FOUND, _status(_NOT_FOUND, "NotFound", f'{plural} "{name}" not found')
            if method == "GET":
                return 200, _as_version(present, group_version)
            return self._write(method, one, present, subresource, body or {}, path, group_version)

    def _write(
        self, method: str, one: _Collection, present: Object, subresource: str, body: Object, path: str, group_version: str
    ) -> tuple[int, Object]:
        key = key_of(present)
        if method == "POST" and subresource == "binding" and one is self.pods:
            self._bind(key, present, body["target"]["name"])
            return 201, _status(201, "", "")
        if method == "DELETE" and not subresource:
            self._change(one, "DELETED", present)
            if one is self.pods:
                if key in self.answers:
                    self.answers[key] = Answer("", "it was preempted by another pod of the preview")
                self.history.append(Change(key))
                self._decided()
            return 200, _status(200, "", "")
        if method not in ("PUT", "PATCH") or (method == "PATCH" and not isinstance(body, dict)):
            return self._unknown(method, path, group_version, one.resource.plural, subresource)
        changed = self._change(one, "MODIFIED", _merged(present, body) if method == "PATCH" else {**present, **body})
        if one is self.pods:
            self._reported(key, body.get("status") or {})
        elif one.resource.kind in ("PersistentVolume", "PersistentVolumeClaim"):
            self._bind_volume(changed)
        return 200, _as_version(changed, group_version)

    def _bind(self, key: Key, pod: Object, node: str) -> None:
        condition = {"type": "PodScheduled", "status": "True"}
        bound = _merged(pod, {"spec": {"nodeName": node}, "status": {"conditions": [condition], "nominatedNodeName": None}})
        self._change(self.pods, "MODIFIED", bound)
        self.answers[key] = Answer(node, nominated=self.answers.get(key, Answer()).nominated)
        self.history.append(Change(key, node))
        self._decided()

    def _reported(self, key: Key, status: Object) -> None:
        """The scheduler wrote to the status of a pod: why it has no node, and perhaps for which node it preempted pods."""
        for condition in status.get("conditions") or []:
            if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
                nominated = status.get("nominatedNodeName") or ""
                self.answers[key] = Answer("", condition.get("message", ""), nominated)
                self._decided()

    def _bind_volume(self, obj: Object) -> None:
        """What the controllers of volumes do when the scheduler has selected a node for a claim, or a volume."""
        claims, volumes = self._claims_and_volumes
        if obj["kind"] == "PersistentVolume":
            reference = obj["spec"].get("claimRef") or {}
            claim, volume = claims.objects.get((reference.get("namespace", ""), reference.get("name", ""))), obj
        else:
            node = (obj["metadata"].get("annotations") or {}).get(_SELECTED_NODE)
            claim = obj if node else None
            volume = {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": f"preview-{obj['metadata']['uid']}", "annotations": {"pv.kubernetes.io/provisioned-by": "preview"}},
                "spec": {
                    **self._reach(str(obj["spec"].get("storageClassName")), str(node)),
                    "accessModes": obj["spec"].get("accessModes"),
                    "capacity": obj["spec"].get("resources", {}).get("requests"),
                    "storageClassName": obj["spec"].get("storageClassName"),
                    "claimRef": {
                        "kind": "PersistentVolumeClaim",
                        **{name: obj["metadata"].get(name) for name in ("namespace", "name", "uid")},
                    },
                },
                "status": {"phase": "Bound"},
            }
        if claim is None or claim["spec"].get("volumeName"):
            return
        self._change(volumes, "MODIFIED" if key_of(volume) in volumes.objects else "ADDED", volume)
        bound = {
            "metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
            "spec": {"volumeName": volume["metadata"]["name"]},
            "status": {"phase": "Bound"},
        }
        self._change(claims, "MODIFIED", _merged(claim, bound))
        if volume is not obj:
            self.invented.add("/".join(key_of(claim)))

    def _reach(self, storage_class: str, node: str) -> Object:
        """From where a new volume can be used: nodes with the same values of the topology keys that its CSI driver has on this node."""
        found = self._collections["storage.k8s.io", "storageclasses"].objects.get(("", storage_class)) or {}
        drivers = (self._collections["storage.k8s.io", "csinodes"].objects.get(("", node)) or {}).get("spec", {}).get("drivers") or []
        keys = next((one.get("topologyKeys") for one in drivers if one.get("name") == found.get("provisioner")), None) or []
        about = self._collections["", "nodes"].objects.get(("", node)) or {"metadata": {}}
        labels = about["metadata"].get("labels") or {}
        terms = [{"key": key, "operator": "In", "values": [labels[key]]} for key in keys if key in labels]
        return {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": terms}]}}} if terms else {}

    def _event(self, body: Object) -> Object:
        """Of preemptions only the event names the pod that they are for."""
        if body.get("reason") == "Preempted":
            regarding = body.get("regarding") or {}
            victim = (regarding.get("namespace", ""), regarding.get("name", ""))
            # Since 1.37 only the text has the uid, before 1.26 only the field.
            noted = _PREEMPTOR.match(str(body.get("note", "")))
            by = (body.get("related") or {}).get("uid") or (noted[1] if noted else "")
            self.history = [one._replace(by=by) if one.key == victim and not one.node else one for one in self.history]
            self._progress.notify_all()
        return {**body, "metadata": {"name": "event", **(body.get("metadata") or {})}}

    def _unknown(self, method: str, path: str, group_version: str, plural: str, subresource: str) -> tuple[int, Object]:
        if path not in _QUIET:
            text = f"{method} {group_version} {plural}" + (f"/{subresource}" if subresource else "")
            self.unknown[text] = self.unknown.get(text, 0) + 1
        return _NOT_FOUND, _status(_NOT_FOUND, "NotFound", "the sandbox of a preview does not serve this")

    def _load_of_nodes(self) -> Object:
        """The load in percent, as load-watcher answers it (pkg/watcher/watcher.go, WatcherMetrics). The metrics API knows no deviation."""
        nodes, now = self._collections["", "nodes"].objects, int(time.time())
        load = {}
        for key, measured in self._collections["metrics.k8s.io", "nodes"].objects.items():
            if key not in nodes:
                continue
            has = resource_accounting.allocatable({"status": {"allocatable": nodes[key]["status"].get("capacity")}})
            uses = resource_accounting.used([measured.get("usage")])
            shares = (("CPU", uses.cpu_millis, has.cpu_millis), ("Memory", uses.memory, has.memory))
            load[key[1]] = {
                "metrics": [
                    {"name": name, "type": name, "operator": "AVG", "rollup": "15m", "value": 100 * used / of}
                    for name, used, of in shares
                    if of
                ]
            }
        window = {"duration": "15m", "start": now - 900, "end": now}
        return {"timestamp": now, "window": window, "source": "preview", "data": {"NodeMetricsMap": load}}

    def _list(self, one: _Collection, group_version: str, namespace: str) -> Object:
        items = [_as_version(obj, group_version) for key, obj in one.objects.items() if namespace in ("", key[0])]
        metadata = {"resourceVersion": str(self._version)}
        return {"kind": f"{one.resource.kind}List", "apiVersion": group_version, "metadata": metadata, "items": items}

    def _discovery(self, method: str, path: str, group_version: str) -> tuple[int, Object]:
        resources = [_EVENTS, *(one.resource for one in self._collections.values())]
        versions = dict.fromkeys(one.api_version for one in resources)
        if path == "/version":
            return 200, {"major": "1", "minor": "0", "gitVersion": "v1.0.0"}
        if path == "/api":
            return 200, {"kind": "APIVersions", "versions": ["v1"]}
        if path == "/apis":
            groups: dict[str, list[Object]] = {}
            for version in (version for version in versions if "/" in version):
                groups.setdefault(_group(version), []).append({"groupVersion": version, "version": version.partition("/")[2]})
            listed = [{"name": name, "versions": served, "preferredVersion": served[0]} for name, served in groups.items()]
            return 200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}
        if group_version not in versions:
            return self._unknown(method, path, group_version or path, "", "")
        verbs = ["get", "list", "watch", "update", "patch", "delete"]
        entries = [
            {"name": one.plural, "singularName": one.kind.lower(), "kind": one.kind, "namespaced": one.namespaced, "verbs": verbs}
            for one in resources
            if one.api_version == group_version
        ]
        return 200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": entries}

    def watch(self, path: str, query: Mapping[str, list[str]], send: Callable[[list[Object]], None]) -> bool:
        """Send the changes of a kind until the server is closed; false if the kind is not served."""
        group_version, rest = _split(path)
        one = self._collections.get((_group(group_version), rest[-1] if rest else ""))
        if one is None:
            return False
        with self._lock:
            since = int((query.get("resourceVersion") or ["0"])[0] or 0)
            lines = []
            if (query.get("sendInitialEvents") or [""])[0] == "true":
                since = self._version
                bookmark = {
                    "kind": one.resource.kind,
                    "apiVersion": group_version,
                    "metadata": {"resourceVersion": str(since), "annotations": {"k8s.io/initial-events-end": "true"}},
                }
                lines = [_line("ADDED", obj, group_version) for obj in one.objects.values()] + [{"type": "BOOKMARK", "object": bookmark}]
            one.watched = True
            self._progress.notify_all()
        while True:
            send(lines)
            with self._lock:
                while not self.closed and one.versions[-1:] <= [since]:
                    one.changed.wait()
                if self.closed:
                    return True
                lines = [_line(event, obj, group_version) for event, obj in one.events[bisect_right(one.versions, since) :]]
                since = one.versions[-1]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    sandbox: Sandbox

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The scheduler was ended while it was answered."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # one packet for headers and body
    server: _Server

    def _handle(self) -> None:
        sandbox, url = self.server.sandbox, urlsplit(self.path)
        path, query = sandbox.path_of(url.path), parse_qs(url.query)
        if path is None:
            self.close_connection = True
            self._answer(401, _status(401, "Unauthorized", "the sandbox has one user"))
            return
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.command == "GET" and (query.get("watch") or [""])[0] in ("true", "1"):
            self._watch(sandbox, path, query)
        else:
            try:
                body = json.loads(content) if content else None
            except ValueError:
                body = None
            self._answer(*sandbox.answer(self.command, path, body))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle

    def _answer(self, status: int, body: Object) -> None:
        content = json.dumps(body, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def _watch(self, sandbox: Sandbox, path: str, query: Mapping[str, list[str]]) -> None:
        started = False

        def send(lines: list[Object]) -> None:
            nonlocal started
            if not started:
                started = True
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
            content = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
            if content:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))
            self.wfile.flush()

        if not sandbox.watch(path, query, send):
            self._answer(*sandbox.answer("GET", path, None))
        self.close_connection = started

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged."""


def key_of(obj: Object) -> Key:
    return (obj["metadata"].get("namespace") or "", obj["metadata"]["name"])


def _group(api_version: str) -> str:
    return api_version.partition("/")[0] if "/" in api_version else ""


def _split(path: str) -> tuple[str, list[str]]:
    """Group version, and what follows it; empty for a path of discovery."""
    parts = [part for part in path.split("/") if part]
    if parts[:1] == ["api"] and len(parts) > 1:
        return parts[1], parts[2:]
    return ("/".join(parts[1:3]), parts[3:]) if parts[:1] == ["apis"] and len(parts) > 2 else ("", [])


def _address(parts: list[str]) -> tuple[str, str, str, str]:
    """Namespace, plural, name and subresource, each empty if it is not there."""
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 2:
        namespace, parts = parts[1], parts[2:]
    plural, name, subresource = (*parts, "", "")[:3]
    return namespace, plural, name, subresource


def _as_version(obj: Object, group_version: str) -> Object:
    """Releases read some kinds in other versions: the object with the version that is requested."""
    return obj if obj["apiVersion"] == group_version else {**obj, "apiVersion": group_version}


def _line(event: str, obj: Object, group_version: str) -> Object:
    return {"type": event, "object": _as_version(obj, group_version)}


def _status(code: int, reason: str, message: str) -> Object:
    outcome = "Success" if code < 300 else "Failure"
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": outcome, "reason": reason, "message": message, "code": code}


def _merged(present: Any, patch: Any) -> Any:
    """A merge patch (RFC 7386), but conditions are merged by their type, as a strategic merge patch does."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(present) if isinstance(present, dict) else {}
    for key, value in patch.items():
        if key.startswith("$"):
            continue
        if value is None:
            result.pop(key, None)
        elif key == "conditions" and isinstance(value, list):
            by_type = {one.get("type"): one for one in [*(result.get(key) or []), *value]}
            result[key] = list(by_type.values())
        else:
            result[key] = _merged(result.get(key), value)
    return result
