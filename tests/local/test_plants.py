# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The bugs that can be planted (tests/conformance/operator/plants.yml) still find their place."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "conformance/operator/plant.py"
SPEC = importlib.util.spec_from_file_location("plant", PATH)
plant = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(plant)


@pytest.mark.parametrize("case", sorted(plant.plants()))
def test_each_planted_bug_finds_its_place_in_the_code(case):
    for path, text in plant.planted([case]).items():
        if path.endswith(".py"):
            compile(text, path, "exec")


def test_a_planted_bug_without_a_place_is_an_error():
    table = {"X": [{"file": "README.md", "old": "no such line in it", "new": ""}]}
    with pytest.raises(ValueError, match="holds 0 times"):
        plant.planted(["X"], table)
