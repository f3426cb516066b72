# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What people copy out of our documentation: YAML, commands and placeholders in every text file that tells how something is done."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

API = "kubescheduler.config.k8s.io/"
# Not for users: decisions tell of what is not done, and this folder of upstream's mistakes.
NOT_FOR_USERS = ("docs/decisions/", "tests/conformance/")


def texts(root: Path) -> dict[str, str]:
    """Documentation, roles' READMEs, examples of plugins, the demo, manifests and presets, by their path in the repository."""
    patterns = (
        "*.md",
        "docs/**/*.md",
        "roles/*/README.md",
        "presets/**/*.y*ml",
        "roles/*/files/**/*.y*ml",
        "tests/demo/*.yml",
        "operator/**/*.y*ml",
    )
    paths = {path for pattern in patterns for path in root.glob(pattern)}
    found = {str(path.relative_to(root)): path.read_text() for path in paths}
    for path in root.glob("plugins/*/*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "EXAMPLES":
                found[f"{path.relative_to(root)}.yaml"] = ast.literal_eval(node.value)
    return {name: text for name, text in sorted(found.items()) if not name.startswith(NOT_FOR_USERS)}


def yaml_texts(name: str, text: str) -> Iterator[str]:
    """The pieces of YAML in a text: all of a YAML file, the fenced blocks of another."""
    if name.endswith(("yml", "yaml")):
        yield text
    else:
        yield from re.findall(r"^ *```ya?ml\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)


def mappings(value) -> Iterator[dict]:
    """Every mapping within a value; texts that hold a KubeSchedulerConfiguration or a manifest are looked into."""
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from mappings(item)
    elif isinstance(value, list):
        for item in value:
            yield from mappings(item)
    elif isinstance(value, str) and "apiVersion:" in value:
        for document in yaml.safe_load_all(value):
            yield from mappings(document)


def all_mappings(found: dict[str, str]) -> list[tuple[str, dict]]:
    """Every mapping of every piece of YAML in `found` (`texts`), with the name of its text."""
    return [
        (name, mapping)
        for name, text in found.items()
        for piece in yaml_texts(name, text)
        for document in yaml.safe_load_all(piece)
        for mapping in mappings(document)
    ]


def configurations(found: dict[str, str]) -> list[tuple[str, dict, str | None]]:
    """Every KubeSchedulerConfiguration, and the image that the same mapping or piece of YAML names for it, if any."""
    answer = []
    for name, text in found.items():
        for piece in yaml_texts(name, text):
            maps = [mapping for document in yaml.safe_load_all(piece) for mapping in mappings(document)]
            images = [mapping[key] for mapping in maps for key in ("image", "schedulerImage") if isinstance(mapping.get(key), str)]
            image = images[0] if len(set(images)) == 1 else None
            answer += [(name, mapping, image) for mapping in maps if str(mapping.get("apiVersion", "")).startswith(API)]
    return answer


def of_kind(found: dict[str, str], kind: str) -> list[tuple[str, dict]]:
    """Every manifest of this kind that has a name."""
    return [
        (name, mapping)
        for name, mapping in all_mappings(found)
        if mapping.get("kind") == kind and isinstance(mapping.get("metadata"), dict) and "name" in mapping["metadata"]
    ]


def commands(found: dict[str, str]) -> list[tuple[str, str]]:
    """Every line in a text that starts kubectl or oc, prompts and backquotes taken away."""
    pattern = re.compile(r"(?:^|`|\$ )((?:kubectl|oc) [^`\n#]+)", re.MULTILINE)
    return [(name, match.strip()) for name, text in found.items() for match in pattern.findall(text)]


def placeholders(found: dict[str, str]) -> set[str]:
    """Every ${NAME} in the YAML of the texts."""
    return {
        placeholder for name, text in found.items() for piece in yaml_texts(name, text) for placeholder in re.findall(r"\$\{(\w+)\}", piece)
    }
