# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The demo's installation, which the tests of operator and playbooks work on."""

from __future__ import annotations

from pathlib import Path

import yaml

from .ansible_runs import Run, play

DEMO = Path(__file__).parents[1] / "demo/vars.yml"
VARIABLES = yaml.safe_load(DEMO.read_text())
NAMESPACE = "openshift-secondary-scheduler-operator"


def site(**options) -> Run:
    """Run osso.scheduler.site with the demo's variables; `options` as for `play`."""
    return play("osso.scheduler.site", args=[f"--extra-vars=@{DEMO}"], **options)


def remove(**options) -> Run:
    """Run osso.scheduler.remove."""
    return play("osso.scheduler.remove", **options)
