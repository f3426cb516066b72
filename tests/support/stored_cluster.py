# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A client whose API server is a dict of objects in this process: for code that reads, writes and waits, without HTTP and controllers."""

from __future__ import annotations

import copy
import itertools
import threading

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN, Resource

MADE = "2020-01-01T00:00:00Z"


class StoredCluster(Client):
    """Stores what is applied, patched and deleted. Watches are not supported, so that readers list again.

    - ``rejected``: (method, plural), or (method, plural, namespace) -> the `ApiError` that the server answers
    - ``controller``: is called with this cluster, the method and the object after each write that is stored
    - ``writes``: method, kind and name of each of these writes
    """

    def __init__(self, *objects, kinds=(), controller=None):
        self._resources = {**KNOWN, **{(one.api_version, one.kind): one for one in kinds}}
        self._kinds = dict(self._resources)
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._date = ""
        self.requests = {"read": 0, "write": 0, "dry_run": 0}
        self.objects = {}
        self.rejected = {}
        self.controller = controller
        self.writes = []
        for one in objects:
            self.store(one)

    def store(self, obj):
        """Create or replace an object, as another client."""
        obj = copy.deepcopy(obj)
        resource = self._kinds[obj["apiVersion"], obj["kind"]]
        metadata = obj["metadata"]
        key = (resource, metadata.get("namespace"), metadata["name"])
        before = self.objects.get(key, {}).get("metadata", {})
        metadata.setdefault("uid", before.get("uid") or f"uid-{next(self._numbers)}")
        metadata.setdefault("creationTimestamp", before.get("creationTimestamp") or MADE)
        metadata["resourceVersion"] = str(next(self._numbers))
        self.objects[key] = obj
        return obj

    def found(self, kind, name, namespace=None):
        """A copy of an object, or None."""
        return next(
            (copy.deepcopy(one) for key, one in list(self.objects.items()) if (key[0].kind, key[1], key[2]) == (kind, namespace, name)),
            None,
        )

    def remove(self, kind, name, namespace=None):
        for key in [key for key in self.objects if (key[0].kind, key[1], key[2]) == (kind, namespace, name)]:
            del self.objects[key]

    def watch(self, resource, namespace=None, **_options):
        raise ApiError(405, "MethodNotAllowed", "no watch")

    def request(self, method, path, query=None, body=None, content_type=None, accept=None):
        query = {key: value for key, value in (query or {}).items() if value is not None}
        self._count(method, query)
        version, *rest = path.removeprefix("/api/").removeprefix("/apis").lstrip("/").split("/")
        if not version:
            return self._groups()
        if path.startswith("/apis/"):
            version = f"{version}/{rest.pop(0)}"
        if not rest:
            return self._served(version)
        namespace = rest[1] if rest[0] == "namespaces" and len(rest) > 2 else None
        plural, *name = rest[2:] if namespace else rest
        resource = next((one for one in self._resources.values() if (one.api_version, one.plural) == (version, plural)), None)
        error = self.rejected.get((method, plural)) or self.rejected.get((method, plural, namespace))
        if error:
            raise error
        if resource is None:
            raise ApiError(404, "NotServed", f"no {plural}")
        if not name:
            return self._list(resource, namespace, query)
        answer = self._one(method, (resource, namespace, name[0]), query, body)
        return copy.deepcopy(answer)

    def _groups(self):
        versions = {one.api_version for one in self._kinds.values() if "/" in one.api_version}
        return {
            "groups": [
                {"name": one.partition("/")[0], "preferredVersion": {"groupVersion": one}, "versions": [{"groupVersion": one}]}
                for one in sorted(versions)
            ]
        }

    def _served(self, version):
        found = [one for one in self._kinds.values() if one.api_version == version]
        if not found:
            raise ApiError(404, "NotServed", f"no {version}")
        verbs = ["list", "delete"]
        return {"resources": [{"name": one.plural, "kind": one.kind, "namespaced": one.namespaced, "verbs": verbs} for one in found]}

    def _list(self, resource, namespace, query):
        selectors = query.get("labelSelector"), query.get("fieldSelector")
        items = [
            copy.deepcopy(one)
            for key, one in list(self.objects.items())
            if key[0] == resource and namespace in (None, key[1]) and _selected(one, *selectors)
        ]
        return {"items": items}

    def _one(self, method, key, query, body):
        live = self.objects.get(key)
        if method == "PATCH" and isinstance(body, dict):
            after = _applied(live, body, query["fieldManager"])
        elif live is None:
            raise ApiError(404, "NotFound", f"{key[0].plural} {key[2]} not found")
        elif method == "GET":
            return live
        elif method == "DELETE":
            after = {"kind": "Status", "status": "Success"}
        else:
            after = _patched(live, body)
        if "dryRun" in query:
            return after
        self.writes.append((method, key[0].kind, key[2]))
        if method == "DELETE":
            del self.objects[key]
        else:
            after = self.store(after)
        if self.controller:
            self.controller(self, method, copy.deepcopy(live if method == "DELETE" else after))
        return after


def resource(api_version, kind, namespaced=True) -> Resource:
    return Resource(api_version, kind, kind.lower() + "s", namespaced)


def _selected(obj, labels, field):
    there = obj["metadata"].get("labels") or {}
    for one in filter(None, (labels or "").split(",")):
        name, equals, value = one.partition("=")
        if (name[1:] in there) if name.startswith("!") else name not in there or (equals and there[name] != value):
            return False
    return not field or field == f"metadata.name={obj['metadata']['name']}"


def _applied(live, body, manager):
    """The object after a server-side apply: what the manager applied before and does not any more is removed."""
    content = {key: value for key, value in body.items() if key not in ("apiVersion", "kind", "metadata")}
    metadata = {key: value for key, value in body["metadata"].items() if key not in ("name", "namespace")}
    fields = _fields({**content, **({"metadata": metadata} if metadata else {})})
    others = [one for one in ((live or {}).get("metadata") or {}).get("managedFields") or [] if one["manager"] != manager]
    before = next((one["fieldsV1"] for one in ((live or {}).get("metadata") or {}).get("managedFields") or [] if one not in others), {})
    after = _merged(_without(copy.deepcopy(live or {}), before, fields), body)
    entry = {"manager": manager, "operation": "Apply", "apiVersion": body["apiVersion"], "fieldsV1": fields}
    after["metadata"]["managedFields"] = [*others, entry]
    return after


def _fields(value):
    return {f"f:{key}": _fields(item) if isinstance(item, dict) else {} for key, item in value.items()}


def _without(value, before, after):
    for field, children in before.items():
        name = field.removeprefix("f:")
        if not isinstance(value, dict) or name not in value:
            continue
        if field in after:
            value[name] = _without(value[name], children, after[field])
        else:
            del value[name]
    return value


def _merged(live, wanted):
    if not isinstance(live, dict) or not isinstance(wanted, dict):
        return copy.deepcopy(wanted)
    return {**live, **{key: _merged(live.get(key), value) for key, value in wanted.items()}}


def _patched(live, operations):
    after = copy.deepcopy(live)
    for one in operations:
        *parents, last = one["path"].strip("/").split("/")
        place = after
        for parent in parents:
            place = place[parent]
        if one["op"] == "test":
            if place.get(last) != one["value"]:
                raise ApiError(422, "Invalid", "test failed")
        else:
            place[last] = one["value"]
    return after
