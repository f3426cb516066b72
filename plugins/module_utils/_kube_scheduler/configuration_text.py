# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The text of a configuration: created from a structure, normalized, and named by its content."""

from __future__ import annotations

import hashlib
from typing import Any

from .scalars import resolve

try:
    import yaml
except ImportError:  # reported by from_structure(): this file must stay importable
    yaml = None  # type: ignore[assignment]  # the name of a module, where there is one

HASH_LENGTH = 12
SOURCES = ("config", "config_text", "config_file", "preset")
"""The options by which users give the configuration of a scheduler, one of them: a structure, a text, a file, the name of a preset."""


def normalize(text: str) -> str:
    """The text as it is stored in a ConfigMap: no byte order mark, line ends ``\\n``, one of them at the end."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return text.rstrip("\n") + "\n"


def content_hash(text: str) -> str:
    """Twelve hexadecimal digits that name the content of a text, fit for the name or label of a Kubernetes object.

    Equal for texts that ``normalize`` makes equal, and different for all others (48 bits of SHA-256).
    """
    return hashlib.sha256(normalize(text).encode("utf-8", "surrogatepass")).hexdigest()[:HASH_LENGTH]


def from_structure(config: dict[str, Any]) -> str:
    """Plain Python data as YAML in block style, keys in their order: the same text for the same data, always.

    Every string is quoted that kube-scheduler would read as something else, also where PyYAML would not.
    """
    if yaml is None:
        raise ImportError("PyYAML is needed to write a KubeSchedulerConfiguration", name="yaml")

    class Dumper(yaml.SafeDumper):
        """Writes no anchors, and lists indented below their key."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
            return super().increase_indent(flow, False)

    Dumper.add_representer(str, _represent_string)
    return yaml.dump(config, Dumper=Dumper, default_flow_style=False, sort_keys=False, allow_unicode=True, width=10**6)


def _represent_string(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = None
    if "\n" in value:
        style = "|"
    elif not isinstance(resolve(value), str):
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)
