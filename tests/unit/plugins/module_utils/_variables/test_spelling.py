# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A misspelt variable is named, with the one that is meant; variables of others are left alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._variables.spelling import KNOWN, OWN, SHARED, warnings

ROOT = Path(__file__).resolve().parents[5]
SPECS = [path for path in ROOT.glob("roles/*/meta/argument_specs.yml") if path.parts[-3] != "operand"]


def test_every_variable_is_known():
    of_roles = {
        name for path in SPECS for entry in yaml.safe_load(path.read_text())["argument_specs"].values() for name in entry["options"]
    }
    assert sorted(of_roles - KNOWN) == []
    playbooks = "\n".join(path.read_text() for path in (ROOT / "playbooks").rglob("*") if path.suffix in (".yml", ".j2"))
    assert [name for name in sorted(KNOWN - of_roles) if not re.search(rf"\b{name}\b", playbooks)] == []
    # What a playbook reads with a default is meant to be given.
    read = set(re.findall(r"\b([a-z_]+) \| default\(", playbooks))
    assert {
        name for name in read - KNOWN if name.startswith(("gather_", "preview_", "probe_", "report_", "release_", "use_scheduler_"))
    } == set()
    assert all(name in ("cluster_access", "preview", "probe") or name.startswith((*OWN, *SHARED)) for name in KNOWN)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("secondary_scheduler", "secondary_schedulers"),
        ("secondary_schedulres", "secondary_schedulers"),
        ("custom_scheduler", "custom_schedulers"),
        ("operater_image", "operator_image"),
        ("cluster_acess", "cluster_access"),
        ("fleet_seriel", "fleet_serial"),
        ("scheduler_pool", "scheduler_pools"),
        ("preveiw", "preview"),
        ("porbe", "probe"),
        ("PREVIEW", "preview"),
        ("Fleet-Serial", "fleet_serial"),
        ("operator_timeout", None),
        ("secondary_scheduler_colour", None),
    ],
)
def test_the_warning_names_the_variable_that_is_meant(name, meant):
    (said,) = warnings([name])
    assert said.startswith(f"{name} is not a variable of osso.scheduler and is ignored; ")
    assert said.endswith(f"did you mean {meant}?" if meant else "lists all.")


def test_variables_of_others_are_left_alone():
    survey = {item["variable"] for item in surveys(yaml.safe_load((ROOT / "playbooks/aap/vars.yml").read_text()))}
    assert "scheduler_name" in survey
    assert warnings([*survey, *KNOWN, "colour", "image", "ansible_user", "cluster_name", "scheduler_names", "namespace"]) == []
    assert warnings([], ["operator_name", "monitoring_enabled", "report_title", "inventory_hostname"]) == []
    assert len(warnings([], ["operator_images", "secondary_scheduler_x", "operator_name"])) == 2


def surveys(value):
    """The questions of every survey."""
    if isinstance(value, dict):
        if {"question_name", "variable"} <= value.keys():
            yield value
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from surveys(inner)
