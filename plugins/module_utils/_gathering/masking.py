# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Credentials taken out of what goes into a support bundle. Pure.

Three nets, one behind the other. By the name of a field, an environment variable or a flag, also within the text of a shell
(``kube_scheduler.secrets``). By value: whatever the first net caught is masked wherever else it stands, also in base64. By shape: JSON web
tokens, private keys, users in addresses.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import (
    NOT_SHOWN,
    cut_comments,
    cut_lines,
    encloses,
    json_copy,
    masked_values,
    scrub,
    secret_texts,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document import NotYaml, read, tree
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.plain_data import as_mapping
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.secrets import (
    MASK,
    SHAPES,
    is_credential,
    is_reference,
    is_secret,
    patterns,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import KIND

CONFIGURATION = "kubescheduler.config.k8s.io"

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_POINTER = re.compile(r"(?:secret|serviceaccount)/", re.IGNORECASE)
# A mapping of only these keys names the place of a credential, under keys such as secretKeyRef and clientSecret, and under these of monitoring.
_OBJECT_KEYS = {"name", "namespace", "key", "optional", "items", "kind", "apiVersion", "defaultMode", "secretName"}
_REFERRING = re.compile(r"(?:refs?|secrets?|selector|serviceaccounttoken)$", re.IGNORECASE)
_REFERRING_IN = {("authorization", "credentials"), ("basicAuth", "password")}
# Objects that are not shown as they are, wherever they stand
_HELD = ("Secret", "ConfigMap", "CustomResourceDefinition")
_COMMAND_LINE = ("command", "args")
_HARMLESS = {"true", "false", "none", "null"}
_LEAST = 4
# Shorter numbers stand in any text, and so do shorter pieces of base64.
_LEAST_NUMBER = 6
_LEAST_ENCODED = 12
_BY_SHAPE = patterns(SHAPES)
_FLAG = re.compile(r"--?([\w.-]+)(=?)(.*)", re.DOTALL)
# A name and what stands between it and its value. That it is a credential's is not for the expression, which would go over long words again
# and again.
_ASSIGNED = re.compile(r"(?<![\w.-])([\w.-]+)=")
_ASSIGNED_IN_COMMAND = re.compile(r"""(?<![\w.-])([\w.-]+)(?:=|["']?:[ \t]+|["']?:(?=["']))""")
_FLAG_IN_COMMAND = re.compile(r"(?<!\S)--?([\w.-]+)[ \t]+(?![-;&|<>])")
# A value ends with its quotes or at a space; what closes a quote or a bracket around all of it is none of it.
_END = r"""(?=["'`)}\];,]{0,4}(?:\s|\Z))"""
_VALUE = re.compile(
    rf"""((?:(?:bearer|basic)[ \t]+)?)("(?:[^"\\]|\\.)*"\S*|'[^']*'\S*|\$(?:\(\w+\)|{{\w+}}){_END}|\S+?{_END})""", re.IGNORECASE
)
# What the shell or the kubelet puts the value of a variable for
_VARIABLE = re.compile(r"\$(?:\w+|\(\w+\)|\{\w+\})")
_AROUND = re.compile(r"""[\s&;,|<>()"'`\\]""")
_BETWEEN = "\0\n"
_WORD = re.compile(r"[a-z]{1,12}(?:-[a-z]{1,12})?")
_DOCUMENTS = re.compile(r"(?m)^---.*$")
# How gzip in base64 begins; tools keep copies of objects like this.
_COMPRESSED = "H4sI"


class Masking:
    """Remembers every credential that it has seen."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._names: set[str] = set()

    def remember(self, value: str) -> None:
        if len(value) >= _LEAST:
            self._seen.add(value)

    def text(self, text: str) -> str:
        """Any text without what was remembered so far and what looks like a credential: to be called when all has been seen."""
        # A word such as "default", which someone has called a secret, is in the names of half of all objects.
        words = {one for one in self._seen if _WORD.fullmatch(one)}
        text = scrub(text, _forms(self._seen) - words)
        for word in sorted(words - self._names, key=len, reverse=True):
            text = re.sub(rf"(?:(?<![a-zA-Z0-9-])(?<!\w\.)|(?<=\\[nrt])){word}(?![a-zA-Z0-9-]|\.\w)", MASK, text)
        for shape in _BY_SHAPE:
            text = shape.sub(rf"\1{MASK}", text)
        return text

    def values(self, value: Any) -> Any:
        """The same for all texts in a value as JSON knows it. Keys, numbers and the value's form stay as they are."""
        texts = list(_texts(value))
        shown = self.text(_BETWEEN.join(texts)).split(_BETWEEN)
        if len(shown) != len(texts):  # one of them holds what stands between them
            shown = [self.text(text) for text in texts]
        return _with_texts(value, iter(shown))

    def log(self, text: str) -> str:
        """A log, each line up to the first word after which a credential may stand; where nothing follows, it may stand in the next lines."""
        return "\n".join(cut_lines(text.split("\n")))

    def configuration(self, text: str) -> str:
        """The text of a KubeSchedulerConfiguration."""
        for value in secret_texts(tree(text)):
            self.remember(value)
        return cut_comments(self._assigned(masked_values(text, text)[1], _ASSIGNED))

    def cleaned(self, obj: Mapping[str, Any]) -> dict[str, Any]:
        """An object of the cluster as it may be shown."""
        metadata = {key: value for key, value in as_mapping(obj.get("metadata")).items() if key != "managedFields"}
        self._names |= {one for one in (metadata.get("name"), metadata.get("namespace"), *_names_in_pods(obj)) if isinstance(one, str)}
        annotations = {key: value for key, value in as_mapping(metadata.get("annotations")).items() if key != _LAST_APPLIED}
        metadata = self._fields({**metadata, "annotations": annotations})
        if obj.get("kind") in ("Secret", "ConfigMap"):
            # Whatever wrote the values may have noted them there, too.
            metadata["annotations"] = dict.fromkeys(annotations, "(not gathered)")
        if obj.get("kind") == "Secret":
            return {"apiVersion": obj.get("apiVersion"), "kind": "Secret", "metadata": metadata}
        if obj.get("kind") == "CustomResourceDefinition":
            return {**obj, "metadata": metadata}  # a description of fields, some of which have such names
        if obj.get("kind") == "ConfigMap":
            rest = {key: obj[key] for key in ("apiVersion", "kind", "immutable") if key in obj}
            data = {key: self._entry(value) for key, value in as_mapping(obj.get("data")).items()}
            encoded = {key: _size(value) for key, value in as_mapping(obj.get("binaryData")).items()}
            return {**rest, "metadata": metadata, "data": data, **({"binaryData": encoded} if encoded else {})}
        return {**self._fields({**obj, "metadata": None}), "metadata": metadata}

    def shown(self, value: Any) -> Any:
        """Anything else that is made of mappings, lists and texts, as it may be shown."""
        return self._mapped(value)

    def _entry(self, value: Any) -> str:
        """A value of a ConfigMap: anything may be in there, so only configurations of schedulers are shown."""
        if not isinstance(value, str) or CONFIGURATION not in value:
            return _size(value)
        try:
            document = as_mapping(read(value))
        except NotYaml:
            return NOT_SHOWN
        shown = document.get("kind") == KIND and str(document.get("apiVersion")).startswith(f"{CONFIGURATION}/")
        return self.configuration(value) if shown else _size(value)

    def _mapped(self, value: Any, secret: bool = False, parent: str = "", command: bool = False) -> Any:
        """parent: the key that it stands under. command: whether it is of a command line."""
        if isinstance(value, dict):
            is_object = value.get("kind") in _HELD and "apiVersion" in value and isinstance(value.get("metadata"), dict)
            return self.cleaned(value) if is_object else self._fields(value, secret, parent)
        if isinstance(value, list):
            return list(self._listed(value, secret, parent, command))
        if secret:
            return self._hidden(value)
        return self._text(value, parent, command) if isinstance(value, str) else value

    def _fields(self, value: dict[str, Any], secret: bool = False, parent: str = "") -> dict[str, Any]:
        named = isinstance(value.get("name"), str) and is_credential(value["name"])
        shown = {}
        for key, item in value.items():
            below = self._below(key, item, secret, named, parent)
            if key == "args" and isinstance(item, list):
                before = value.get("command")
                follows = isinstance(before, list) and bool(before) and _asks(before[-1])
                shown[key] = list(self._listed(item, below, key, True, follows))
            else:
                shown[key] = self._mapped(item, below, key, key in _COMMAND_LINE)
        return shown

    def _hidden(self, value: Any) -> Any:
        """The mask for a credential; what only switches something, or names another object or a variable, as it is."""
        if value is None or isinstance(value, bool):
            return value
        text = str(value)
        if not text or text.lower() in _HARMLESS or _POINTER.match(text) or _VARIABLE.fullmatch(text):
            return value
        if isinstance(value, str) or len(text) >= _LEAST_NUMBER:
            self.remember(text)
        return MASK

    def _text(self, value: str, key: str, command: bool) -> str:
        """A text that is not called like a credential: what is called so within it."""
        if value.startswith(_COMPRESSED):
            return _size(value)
        found = json_copy(value)
        if found is not None:
            shown = self._mapped(found)
            return value if shown == found else json.dumps(shown)
        if not command and key != "message" and "name" in value and "value" in value and ("{" in value or "\n" in value):
            return self._yaml(value)
        if command:
            value = self._assigned(value, _ASSIGNED_IN_COMMAND)
            return self._assigned(value, _FLAG_IN_COMMAND)
        # What a container said last is the end of its log.
        value = self.log(value) if key == "message" or encloses(value) or "\n" in value else value
        return self._assigned(value, _ASSIGNED_IN_COMMAND, words=False)

    def _yaml(self, value: str) -> str:
        """A text that may be a copy of objects in YAML, with variables that are called like credentials."""
        try:
            found = [read(text) for text in _DOCUMENTS.split(value)]
        except NotYaml:
            if is_secret(value):
                return _size(value)
            found = []
        found = [one for one in found if isinstance(one, (dict, list))]
        shown = [self._mapped(one) for one in found]
        if shown != found:
            return "\n".join(map(json.dumps, shown))
        return self._assigned(self.log(value), _ASSIGNED_IN_COMMAND, words=False)

    def _assigned(self, text: str, pattern: re.Pattern[str], words: bool = True) -> str:
        """A text without the values that stand behind the names of credentials. words: whether ordinary words are remembered, too."""
        shown, position = [], 0
        for match in pattern.finditer(text):
            value = _VALUE.match(text, match.end()) if match.start() >= position and is_credential(match[1]) else None
            if value and ((not words and _WORD.fullmatch(value[2].strip("\"'"))) or self._is_told(value[2])):
                shown += [text[position : match.end()], MASK]
                position = value.end()
        return "".join([*shown, text[position:]])

    def _is_told(self, value: str) -> bool:
        """Whether a value in a text is a credential, which is then remembered."""
        value = value.strip("\"'")
        if MASK in value:
            return False
        if value.startswith(("$(", "`")) and not _VARIABLE.fullmatch(value):
            return True  # what a command says, whose words are none
        found: bool = self._hidden(value) == MASK
        if found:
            # Elsewhere it may stand without what the shell or an address needs around it.
            self.remember(_AROUND.split(value)[0])
        return found

    def _below(self, key: str, item: Any, secret: bool, named: bool, parent: str) -> bool:
        """Whether what stands below a key is a credential. named: the mapping is about something that is called like one."""
        refers = _REFERRING.search(key) or (parent, key) in _REFERRING_IN
        if refers and isinstance(item, dict) and item and set(item) <= _OBJECT_KEYS:
            return False  # it only names the place of one
        if named and key == "value":
            return True
        if is_reference(key):
            return False
        if isinstance(item, (dict, list)) and key.lower().endswith(("secret", "secrets")):
            return secret  # a Secret, such as that of a volume
        return secret or is_secret(key) or (isinstance(item, str) and is_credential(key))

    def _listed(self, value: list[Any], secret: bool, parent: str, command: bool, follows: bool = False) -> Iterator[Any]:
        """The items of a list. In a command line what follows a flag that is called like a credential is one.

        follows: whether the list follows such a flag.
        """
        for item in value:
            flag = _FLAG.fullmatch(item) if isinstance(item, str) else None
            if follows and flag is None:
                follows = False
                yield self._mapped(item, True, parent)
                continue
            follows = _asks(item)
            if flag and flag[2] and is_credential(flag[1]):
                yield item[: flag.start(3)] + self._hidden(flag[3])
            else:
                yield self._mapped(item, secret, parent, command)


def _asks(word: Any) -> bool:
    """Whether a word of a command line is a flag whose value is the next word, and a credential."""
    flag = _FLAG.fullmatch(word) if isinstance(word, str) else None
    return flag is not None and not flag[2] and not flag[3] and is_credential(flag[1])


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _with_texts(value: Any, texts: Iterator[str]) -> Any:
    """The value with these in place of its texts, in the order of `_texts`."""
    if isinstance(value, str):
        return next(texts)
    if isinstance(value, dict):
        return {key: _with_texts(item, texts) for key, item in value.items()}
    return [_with_texts(item, texts) for item in value] if isinstance(value, (list, tuple)) else value


def _names_in_pods(obj: Mapping[str, Any]) -> Iterator[Any]:
    """The schedulerName of a pod, and the names of its containers."""
    spec = as_mapping(obj.get("spec"))
    yield spec.get("schedulerName")
    containers = spec.get("containers")
    yield from (as_mapping(container).get("name") for container in (containers if isinstance(containers, list) else ()))


def _size(value: Any) -> str:
    return f"({len(str(value))} characters, not gathered)"


def _forms(secrets: set[str]) -> set[str]:
    """The texts by which credentials can stand somewhere: as they are, line by line, as JSON has them, and within any text in base64."""
    found = set()
    for secret in secrets:
        found.add(secret)
        found.add(json.dumps(secret)[1:-1])
        found.update(line.strip() for line in secret.splitlines() if len(line.strip()) >= 2 * _LEAST)
        for before in range(3):
            encoded = base64.b64encode(b"x" * before + secret.encode()).decode().rstrip("=")
            # The characters at the ends depend on what stands around.
            piece = encoded[(0, 2, 3)[before] : len(encoded) - 1]
            if len(piece) >= _LEAST_ENCODED:
                found.add(piece)
    return found
