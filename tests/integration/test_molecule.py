# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The scenarios of molecule, beside other tests: `make molecule` runs them alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.site import changed

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("scenario", sorted(path.parent.name for path in ROOT.glob("molecule/*/molecule.yml")))
def test_a_scenario_converges_without_a_change_the_second_time(scenario, kubectl):
    changed()
    done = subprocess.run(
        ["molecule", "test", f"--scenario-name={scenario}"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
