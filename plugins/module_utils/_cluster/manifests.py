# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Manifests: from what a user writes to the objects that are applied."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Optional

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN, Object
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.unicode import joined

# Each member names its set: the name and the namespace of the inventory.
SET_LABEL = "osso.scheduler/set"
SET_NAMESPACE_LABEL = "osso.scheduler/set-namespace"

# Set by the server; a manifest that was read from a cluster carries them.
_SERVER_METADATA = ("creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid")

# JSON's escapes for a character outside the Basic Multilingual Plane, as the filter to_json writes them
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


Key = tuple[str, str, Optional[str], str]
"""Group, kind, namespace and name: equal for the same object seen in two versions of its API."""


class Identity(NamedTuple):
    """Which object a manifest is about; ``namespace`` is None for cluster-scoped objects."""

    api_version: str
    kind: str
    namespace: str | None
    name: str

    @classmethod
    def of(cls, obj: Object) -> Identity:
        metadata = obj["metadata"]
        return cls(obj["apiVersion"], obj["kind"], metadata.get("namespace"), metadata["name"])

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def key(self) -> Key:
        return (self.group, self.kind, self.namespace, self.name)

    def as_dict(self) -> dict[str, str | None]:
        return {"apiVersion": self.api_version, "kind": self.kind, "namespace": self.namespace, "name": self.name}

    def __str__(self) -> str:
        return "{0} {1}{2}".format(self.kind, self.namespace + "/" if self.namespace else "", self.name)


def read(manifests: Any, source: str = "manifests") -> list[Object]:
    """The objects in ``manifests``: an object, a YAML text of many documents, or a list of both.

    Lists of kind ``List`` are opened, empty documents dropped. Raises `InputError` for what is no manifest and for duplicates.
    """
    objects = list(_objects(manifests, source))
    seen: dict[Key, str] = {}
    for where, obj in objects:
        key = Identity.of(obj).key
        if key in seen:
            raise InputError(f"{seen[key]} and {where} are the same object: {Identity.of(obj)}. Keep one of them.")
        seen[key] = where
    return [obj for where, obj in objects]


def _objects(given: Any, where: str) -> Iterator[tuple[str, Object]]:
    """Yield ``(where, object)`` for each checked object."""
    if given is None:
        return
    if isinstance(given, str):
        for line, document in list(_documents(given, where)):
            place = f"{where}, document at line {line}"
            yield from [(place, _checked(document, place))] if isinstance(document, str) else _objects(document, place)
    elif isinstance(given, (list, tuple)):
        for index, item in enumerate(given):
            yield from _objects(item, f"{where}[{index}]")
    elif isinstance(given, dict) and str(given.get("kind", "")).endswith("List") and isinstance(given.get("items"), list):
        yield from _objects(given["items"], where + ".items")
    else:
        yield where, _checked(given, where)


def _documents(text: str, where: str) -> Iterator[tuple[int, Any]]:
    """Yield ``(line, document)`` of a YAML text."""
    import yaml

    # libyaml takes no escaped surrogates. The slower parser reads them, and `joined` makes a character of two.
    parser = yaml.SafeLoader if _SURROGATE.search(text) else getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(parser):  # type: ignore[misc,valid-type]  # one of two classes
        """Kubernetes knows no dates: ``2026-01-01`` is text."""

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in Loader.yaml_implicit_resolvers.items()
    }
    loader = Loader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            yield node.start_mark.line + 1, loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise InputError(f"{where}: YAML syntax error{place}: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise InputError(f"{where}: not YAML: {str(error).splitlines()[0]}") from None
    finally:
        loader.dispose()


def _checked(obj: Any, where: str) -> Object:
    if not isinstance(obj, dict):
        raise InputError(f"{where} is {_type_name(obj)} instead of a Kubernetes object (a mapping with apiVersion, kind and metadata).")
    metadata = obj.get("metadata")
    for field, value, example in (
        ("apiVersion", obj.get("apiVersion"), "apps/v1"),
        ("kind", obj.get("kind"), "Deployment"),
        ("metadata.name", metadata.get("name") if isinstance(metadata, dict) else None, "my-object"),
    ):
        if not isinstance(value, str) or not value:
            what = "is missing" if value is None else f"must be a text, not {value!r}"
            hint = (
                " (generateName cannot be applied)"
                if field == "metadata.name" and isinstance(metadata, dict) and "generateName" in metadata
                else ""
            )
            raise InputError(f"{_describe(obj, where)}: {field} {what}{hint}; give it a value such as {example}.")
    namespace = obj["metadata"].get("namespace")
    if namespace is not None and (not isinstance(namespace, str) or not namespace):
        raise InputError(f"{_describe(obj, where)}: metadata.namespace must be a text, not {namespace!r}; quote it.")
    core = obj["kind"] if obj["apiVersion"] == "v1" else ""
    mappings = {"Secret": ("data", "stringData"), "ConfigMap": ("data", "binaryData")}.get(core, ())
    for part, fields, prefix in ((obj["metadata"], ("labels", "annotations"), "metadata."), (obj, mappings, "")):
        for field in fields:
            if not isinstance(part.get(field) or {}, dict):
                what = f"must be a mapping of names to texts, not {_type_name(part[field])}"
                raise InputError(f"{_describe(obj, where)}: {prefix}{field} {what}.")
    if core == "Secret":
        for field in mappings:
            for key, value in (obj.get(field) or {}).items():
                if value is not None and not isinstance(value, str):
                    raise InputError(f"{_describe(obj, where)}: {field}.{key} must be a text, not {_type_name(value)}; quote it.")
    checked: Object = joined(obj, _describe(obj, where))
    return checked


def _describe(obj: Object, where: str) -> str:
    kind = obj.get("kind")
    metadata = obj.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    known = " ".join(part for part in (kind, name) if isinstance(part, str))
    return f"{where} ({known})" if known else where


def _type_name(value: Any) -> str:
    return {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a mapping"}.get(
        type(value), "nothing"
    )


def without_set(obj: Object) -> Object:
    """The same manifest for an object that does not become a member of the set: nor is it to be deleted with an owner."""
    labels = {key: value for key, value in obj["metadata"]["labels"].items() if key not in (SET_LABEL, SET_NAMESPACE_LABEL)}
    metadata = {key: value for key, value in obj["metadata"].items() if key not in ("labels", "ownerReferences")}
    return dict(obj, metadata=dict(metadata, labels=labels) if labels else metadata)


def desired(
    obj: Object,
    set_name: str | None = None,
    set_namespace: str | None = None,
    owner: Mapping[str, Any] | None = None,
    subresource: str | None = None,
) -> Object:
    """What is sent to the server for a manifest.

    Without nulls (they mean "not set") and what only the server sets; ``stringData`` as ``data``; with the labels of the set, and a
    reference to ``owner`` (a dict with apiVersion, kind, name, namespace, uid) when that lives in the same namespace. For
    ``subresource="status"`` nothing but the status.
    """
    obj = _without_nulls(obj)
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _SERVER_METADATA}
    if subresource == "status":
        identity = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
        status = {"status": obj["status"]} if "status" in obj else {}
        return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": identity, **status}
    if set_name:
        labels = {SET_LABEL: set_name, **({SET_NAMESPACE_LABEL: set_namespace} if set_namespace else {})}
        metadata["labels"] = dict(metadata.get("labels") or {}, **labels)
    if owner and metadata.get("namespace") == owner["namespace"]:
        reference = {key: owner[key] for key in ("apiVersion", "kind", "name", "uid")}
        others = [other for other in metadata.get("ownerReferences") or [] if other.get("uid") != owner["uid"]]
        metadata["ownerReferences"] = others + [dict(reference, controller=True)]
    obj["metadata"] = metadata
    if (obj["apiVersion"], obj["kind"]) in KNOWN:
        # Their status is a subresource: the server ignores it here.
        obj.pop("status", None)
    if obj["apiVersion"] == "v1" and obj["kind"] == "Secret":
        data = dict(obj.get("data") or {})
        for key, value in obj.pop("stringData", {}).items():
            data[key] = base64.b64encode(value.encode()).decode()
        if data:
            obj["data"] = data
    if obj["apiVersion"] == "v1":
        for field in {"Secret": ("data",), "ConfigMap": ("binaryData",)}.get(obj["kind"], ()):
            if obj.get(field):
                obj[field] = {key: _canonical_base64(value) for key, value in obj[field].items()}
    return obj


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        # JSON has text keys only; YAML's 1 and true become "1" and "true"
        return {key if isinstance(key, str) else json.dumps(key): _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_without_nulls(item) for item in value]
    return value


def _canonical_base64(text: str) -> str:
    """As the server stores it; what is no base64 is left for the server to refuse."""
    try:
        return base64.b64encode(base64.b64decode(re.sub(r"\s", "", text), validate=True)).decode()
    except (binascii.Error, TypeError, ValueError):
        return text
