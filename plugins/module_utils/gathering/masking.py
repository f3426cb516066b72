# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Credentials taken out of what goes into a support bundle. Pure.

Three nets, one behind the other. By the name of a field, an environment variable or a flag (``kube_scheduler.secrets``). By value: whatever the
first net caught is masked wherever else it stands, also in base64. By shape: JSON web tokens, private keys, users in addresses.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.secret_texts import MASK, masked, scrub, secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.secrets import is_secret
from ansible_collections.osso.scheduler.plugins.module_utils.operand.failures import cut

CONFIGURATION = "kubescheduler.config.k8s.io"

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# Fields that name a Secret, a file or a setting, and hold no credential themselves
_REFERENCE = re.compile(
    r"(?:names?|refs?|files?|path|mode|policy|source|type|namespace|seconds|audiences?|url|address|enabled|provider|webhook)$"
    r"|^(?:serviceaccounttoken|automount)",
    re.IGNORECASE,
)
_POINTER = re.compile(r"(?:secret|serviceaccount)/", re.IGNORECASE)
_OBJECT_KEYS = {"name", "namespace", "key", "optional", "items", "kind", "apiVersion", "defaultMode", "secretName"}
_HARMLESS = {"true", "false", "none", "null"}
_LEAST = 4
# Shorter pieces of base64 stand in any text.
_LEAST_ENCODED = 12
_SHAPES = (
    (re.compile(r"\beyJ[\w-]{8,}(?:\.[\w-]*){0,2}"), MASK),
    (re.compile(r"\bsha256~[\w-]+"), MASK),
    (re.compile(r"(\bbearer\s+)[^\s\"'\\,;]+", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(r"(\bbasic\s+)[a-z0-9+/=]{8,}", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(r"(://)[^\s/@\"'\\<>]+@"), rf"\1{MASK}@"),
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), MASK),
)
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$", re.MULTILINE)
_FLAG = re.compile(r"--?([\w.-]+)(=?)(.*)", re.DOTALL)


class Masking:
    """Remembers every credential that it has seen."""

    def __init__(self):
        self._seen: set[str] = set()

    def remember(self, value: str) -> None:
        if len(value) >= _LEAST:
            self._seen.add(value)

    def text(self, text: str) -> str:
        """Any text without what was remembered so far and what looks like a credential: to be called when all has been seen."""
        text = scrub(text, _forms(self._seen))
        for shape, instead in _SHAPES:
            text = shape.sub(instead, text)
        return text

    def log(self, text: str) -> str:
        """A log, each line up to the first word after which a credential may stand."""
        return "\n".join(map(cut, text.split("\n")))

    def configuration(self, text: str) -> str:
        """The text of a KubeSchedulerConfiguration."""
        import yaml

        try:
            for value in secret_texts(yaml.safe_load(text)):
                self.remember(value)
        except (yaml.YAMLError, RecursionError):
            pass  # `masked` shows none of it
        return _COMMENT.sub(_cut_comment, masked(text, text)[1])

    def cleaned(self, obj: dict[str, Any]) -> dict[str, Any]:
        """An object of the cluster as it may be shown."""
        metadata = {key: value for key, value in (obj.get("metadata") or {}).items() if key != "managedFields"}
        annotations = metadata.get("annotations") or {}
        if obj.get("kind") == "Secret":
            # Whatever wrote the values may have noted them there, too.
            metadata["annotations"] = dict.fromkeys(annotations, "(not gathered)")
            return {"apiVersion": obj["apiVersion"], "kind": "Secret", "metadata": self._mapped(metadata)}
        metadata["annotations"] = {key: value for key, value in annotations.items() if key != _LAST_APPLIED}
        if obj.get("kind") == "CustomResourceDefinition":
            return {**obj, "metadata": metadata}  # a description of fields, some of which have such names
        if obj.get("kind") == "ConfigMap":
            data = {key: self._entry(value) for key, value in (obj.get("data") or {}).items()}
            rest = {key: _size(value) for key, value in (obj.get("binaryData") or {}).items()}
            return {**self._mapped({**obj, "metadata": metadata, "data": None}), "data": data, **({"binaryData": rest} if rest else {})}
        return self._mapped({**obj, "metadata": metadata})

    def _entry(self, value: str) -> str:
        """A value of a ConfigMap: anything may be in there, so only configurations of schedulers are shown."""
        return self.configuration(value) if CONFIGURATION in value else _size(value)

    def _mapped(self, value: Any, secret: bool = False) -> Any:
        if isinstance(value, dict):
            named = isinstance(value.get("name"), str) and is_secret(value["name"]) and not _REFERENCE.search(value["name"])
            return {key: self._mapped(item, self._below(key, item, secret, named)) for key, item in value.items()}
        if isinstance(value, list):
            return list(self._listed(value, secret))
        return self._hidden(value) if secret and isinstance(value, str) else value

    def _hidden(self, value: str) -> str:
        """The mask for a credential; what only switches something, or names another object, as it is."""
        if not value or value.lower() in _HARMLESS or _POINTER.match(value):
            return value
        self.remember(value)
        return MASK

    def _below(self, key: str, item: Any, secret: bool, named: bool) -> bool:
        """Whether what stands below a key is a credential. named: the mapping is about something that is called like one."""
        if isinstance(item, dict) and item and set(item) <= _OBJECT_KEYS:
            return False  # it says where one is
        if named and key == "value":
            return True
        if _REFERENCE.search(key):
            return False
        if isinstance(item, (dict, list)) and key.lower().endswith(("secret", "secrets")):
            return secret  # a Secret, such as that of a volume
        return secret or is_secret(key)

    def _listed(self, value: list[Any], secret: bool) -> Iterator[Any]:
        """The items of a list; in a command line what follows a flag that is called like a credential is one."""
        follows = False
        for item in value:
            flag = _FLAG.fullmatch(item) if isinstance(item, str) and item.startswith("-") else None
            if follows and flag is None:
                follows = False
                yield self._mapped(item, True)
                continue
            follows = False
            if flag and is_secret(flag[1]) and not _REFERENCE.search(flag[1]):
                follows = not flag[2]
                item = item[: flag.start(3)] + self._hidden(flag[3])
            yield self._mapped(item, secret)


def _cut_comment(match: re.Match) -> str:
    return cut(match.group())


def _size(value: str) -> str:
    return f"({len(value)} characters, not gathered)"


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
