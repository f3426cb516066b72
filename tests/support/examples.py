# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The examples in the documentation of modules and filters."""

from __future__ import annotations

import ast
from pathlib import Path

import yaml

PLUGINS = Path(__file__).parents[2] / "plugins"


def examples(path: Path) -> list[dict]:
    """The tasks in a plugin's EXAMPLES."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "EXAMPLES":
            return yaml.safe_load(ast.literal_eval(node.value))
    raise AssertionError(f"{path} has no EXAMPLES")
