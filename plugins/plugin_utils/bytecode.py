# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compiled Python of collections, kept beside the source.

Ansible's importer compiles the Python code of a collection in every process that imports it. That is a sixth of the CPU time of a short play. Python's
importer reads the compiled form, and writes it if the folder is writable and Python is configured to write it (PEP 3147).
"""

from __future__ import annotations

import sys
from importlib.machinery import FileFinder, SourceFileLoader

# What modules of this collection import. Plugins themselves are loaded by Ansible, which keeps the compiled form of those.
PACKAGES = tuple(f"ansible_collections.{collection}.plugins.module_utils." for collection in ("osso.scheduler", "kubernetes.core"))


class Finder:
    """A finder of ``sys.meta_path`` for the modules below PACKAGES. It leaves modules without a file to the next finder, for example redirected ones."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not name.startswith(PACKAGES):
            return None
        specs = (FileFinder(folder, (SourceFileLoader, [".py"])).find_spec(name) for folder in path or ())
        return next((spec for spec in specs if spec and spec.loader), None)


def keep():
    """Keep the compiled form of what this process imports from now on. Finders before Ansible's, such as that of ansible-test, stay the first."""
    if Finder not in sys.meta_path:
        sys.meta_path.insert(next((place for place, finder in enumerate(sys.meta_path) if _is_ansibles(finder)), 0), Finder)


def _is_ansibles(finder):
    return type(finder).__name__ == "_AnsibleCollectionFinder"
