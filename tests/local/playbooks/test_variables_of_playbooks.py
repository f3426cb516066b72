# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A value that a playbook would misread is an error before the first request, whether it comes as its type or as a text."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._variables.playbooks import BOOLS, CHOICES, NUMBERS, errors
from ansible_collections.osso.scheduler.plugins.module_utils._variables.spelling import KNOWN
from support.ansible_runs import play


def test_every_checked_name_is_a_known_variable():
    assert {*BOOLS, *CHOICES, *NUMBERS} <= KNOWN


def test_every_playbook_for_clusters_honours_fleet_required():
    """Else a slice of an inventory without clusters would change the cluster of the environment."""
    playbooks = {path.name: path.read_text() for path in (Path(__file__).parents[3] / "playbooks").glob("*.yml")}
    for_clusters = {name for name, text in playbooks.items() if "groups['clusters']" in text}
    assert len(for_clusters) > 10
    assert {name for name in for_clusters if "or fleet_required | default(false) | bool else 'localhost'" not in playbooks[name]} == set()


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"probe": "always", "preview": "report"},
        {"use_scheduler_undo": "yes", "fleet_required": False, "gather_cache_dumps": ""},
        {"use_scheduler_timeout": "30", "preview_max_moved_percent": 2.5, "hand_over_wait": None},
    ],
)
def test_usable_values_cause_no_error(values):
    assert errors(values) == []


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("probe", "allways", "set changed, always or never."),
        ("probe", True, "set changed, always or never."),
        ("preview", "", "set never, report or required."),
        ("use_scheduler_undo", "maybe", "set true or false."),
        ("use_scheduler_timeout", "5m", "set a number."),
        ("gather_log_lines", True, "set a number."),
        ("hand_over_wait", [], "set a number."),
    ],
)
def test_unusable_values_are_named(name, value, remedy):
    assert errors({name: value}) == [f"{name} is {value}: {remedy}"]


@pytest.mark.parametrize(
    ("playbook", "variable"), [("site", "probe=allways"), ("configure", "preview=maybe"), ("use_scheduler", "use_scheduler_undo=perhaps")]
)
def test_playbooks_end_before_the_first_request(playbook, variable, tmp_path):
    """The API server of this kubeconfig does not exist: another task would fail with another message."""
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text("apiVersion: v1\nkind: Config\nclusters: []\n")
    name, _equals, value = variable.partition("=")
    run = play(f"osso.scheduler.{playbook}", variables={name: value}, succeed=False, env={"KUBECONFIG": str(kubeconfig)})
    (failure,) = run.failures
    assert f"{name} is {value}: set " in failure.result["msg"]
