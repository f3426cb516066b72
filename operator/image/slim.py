# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Take from the image's Python packages what no reconcile needs but every reconcile would pay for.

Each reconcile is a new process, so what is read at start counts every time. Measured on the machine of docs/benchmarks.md:
the classes of kubernetes.client 200 ms of CPU time and 35 MB, Ansible's table of moved modules 60 ms.

A function that does not find what it is to change raises ValueError: then a new release has to be looked at.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

UNNEEDED = ("ansible_test", "ansible/galaxy/data", "**/tests", "kubernetes/test", "**/*.pyi")
COMMANDS = ("ansible", "ansible-playbook", "ansible-runner")


def slim(tree: Path) -> None:
    """Slim `tree`, the target of a `pip install --target`."""
    remove(tree)
    forget_moved_modules(tree)
    load_kubernetes_classes_when_used(tree)


def remove(tree: Path) -> None:
    for pattern in UNNEEDED:
        for path in list(tree.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for path in (tree / "bin").iterdir():
        if path.name not in COMMANDS:
            path.unlink()


def forget_moved_modules(tree: Path) -> None:
    """Drop ``plugin_routing`` from ansible.builtin's runtime.yml.

    It holds the 4700 short names that once were part of Ansible and now are in collections, none of which is in the image.
    """
    path = tree / "ansible/config/ansible_builtin_runtime.yml"
    sections = re.split(r"^(?=\w)", path.read_text(), flags=re.MULTILINE)
    kept = [section for section in sections if not section.startswith("plugin_routing:")]
    if len(kept) != len(sections) - 1:
        raise ValueError(f"{path} has no section plugin_routing")
    path.write_text("".join(kept))


LAZY = """
_WHERE = {where}


def __getattr__(name):
    from importlib import import_module

    if name not in _WHERE:
        raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
    value = globals()[name] = getattr(import_module(_WHERE[name]), name)
    return value
"""


def load_kubernetes_classes_when_used(tree: Path) -> None:
    """Import the 700 generated classes of kubernetes.client when one is asked for, not all at once."""
    for package in ("client", "client/models", "client/api"):
        path = tree / "kubernetes" / package / "__init__.py"
        text = path.read_text()
        pattern = r"^from (kubernetes\.client\.(?:models|api)\.\w+) import (\w+)$"
        where = {name: module for module, name in re.findall(pattern, text, flags=re.MULTILINE)}
        if len(where) < 50:
            raise ValueError(f"{path} imports only {len(where)} classes in the known form")
        rest = re.sub(pattern + r"\n?", "", text, flags=re.MULTILINE)
        path.write_text(rest + LAZY.format(where=where))
