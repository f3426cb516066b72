# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Take from the image's Python packages what no reconcile needs but every reconcile would pay for.

Each reconcile is two new processes, so what is read at start counts every time. CPU time on the machine of docs/benchmarks.md:
the classes of kubernetes.client 200 ms and 35 MB, Ansible's table of moved modules 60 ms, LOADED_WHEN_USED 95 ms, cryptography
16 ms, the fact collectors 23 ms, the texts in Ansible's table of settings 15 ms.

A function that does not find what it is to change raises ValueError: then a new release has to be looked at.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import yaml

# cryptography with what it needs: Ansible uses it for vaults alone, and does without it where it is missing.
UNNEEDED = (
    *("ansible_test", "ansible/galaxy/data", "**/tests", "kubernetes/test", "**/*.pyi"),
    *("cryptography", "cryptography-*", "cffi", "cffi-*", "_cffi_backend*", "pycparser", "pycparser-*"),
)
COMMANDS = ("ansible", "ansible-playbook", "ansible-runner")

# Imports that only other logins than the operator's need, or a proxy: by the file in which they stand.
LOADED_WHEN_USED = {
    "kubernetes/client/rest.py": ("from requests.utils import should_bypass_proxies",),
    "kubernetes/config/kube_config.py": (
        "import google.auth.transport.requests",
        "import google.auth",
        "import oauthlib.oauth2",
        "from requests_oauthlib import OAuth2Session",
    ),
}
# Those parts of the package kubernetes that no reconcile uses.
SEPARATE_PARTS = ("stream", "utils", "leaderelection")


def slim(tree: Path) -> None:
    """Slim `tree`, the target of a `pip install --target`."""
    remove(tree)
    forget_moved_modules(tree)
    shorten_settings(tree)
    leave_fact_collectors_alone(tree)
    ask_jinja_for_its_version(tree)
    load_kubernetes_classes_when_used(tree)
    for path, statements in LOADED_WHEN_USED.items():
        load_when_used(tree / path, statements)
    load_parts_of_kubernetes_when_asked_for(tree)


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


def shorten_settings(tree: Path) -> None:
    """Write Ansible's table of settings without what only its documentation shows.

    Plugins are not looked for in the home directory, which is empty at each start: each default that contains it is a template.
    """
    path = tree / "ansible/config/base.yml"
    settings = yaml.safe_load(path.read_text())
    if "description" not in settings.get("DEFAULT_FORKS", {}):
        raise ValueError(f"{path} does not describe settings in the known form")
    shown = ("name", "description", "version_added")
    short = {name: {key: value for key, value in setting.items() if key not in shown} for name, setting in settings.items()}
    for setting in short.values():
        home, colon, elsewhere = str(setting.get("default")).partition(":")
        if colon and home.startswith("{{ ANSIBLE_HOME ~ ") and elsewhere.endswith('" }}'):
            setting["default"] = elsewhere.removesuffix('" }}')
    # JSON is YAML, and the quickest to read.
    path.write_text(json.dumps(short))


def leave_fact_collectors_alone(tree: Path) -> None:
    """Do not import them for two tables: package managers, for locks, and distributions, to look for a Python that is given."""
    executor = tree / "ansible/executor"
    replace(executor / "action_write_locks.py", r"^from ansible\.module_utils\.facts\..* import PKG_MGRS$", "PKG_MGRS = []")
    replace(executor / "interpreter_discovery.py", r"^from ansible\.module_utils\.facts\..* import Distribution$", "")
    replace(executor / "interpreter_discovery.py", r"^OS_FAMILY_LOWER = .*", "OS_FAMILY_LOWER = {}")


def ask_jinja_for_its_version(tree: Path) -> None:
    """Instead of its metadata, for which importlib needs a parser of e-mails."""
    path = tree / "ansible/cli/__init__.py"
    replace(path, "^from importlib.metadata import version$", "from jinja2 import __version__ as jinja2_version")
    replace(path, r"^jinja2_version = version\('jinja2'\)$", "")


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


def load_when_used(path: Path, statements: tuple[str, ...]) -> None:
    """Have modules imported where something of them is used, in place of import statements at the top of a file."""
    for statement in statements:
        module, _import, name = statement.removeprefix("from ").removeprefix("import ").partition(" import ")
        used, later = (rf"{name}\(", f".{name}(") if name else (rf"{re.escape(module)}\.", ".")
        replace(path, rf"^{re.escape(statement)}$", "from importlib import import_module")
        replace(path, rf"(?<![\w.\"]){used}", f'import_module("{module}"){later}')


def load_parts_of_kubernetes_when_asked_for(tree: Path) -> None:
    path = tree / "kubernetes/__init__.py"
    for part in SEPARATE_PARTS:
        replace(path, rf"^from \. import {part}\n", "")
    where = {part: f"kubernetes.{part}" for part in SEPARATE_PARTS}
    path.write_text(
        path.read_text() + LAZY.format(where=where).replace("getattr(import_module(_WHERE[name]), name)", "import_module(_WHERE[name])")
    )


def replace(path: Path, pattern: str, replacement: str) -> None:
    text, found = re.subn(pattern, replacement, path.read_text(), flags=re.MULTILINE)
    if not found:
        raise ValueError(f"{path} has nothing that matches {pattern}")
    path.write_text(text)
