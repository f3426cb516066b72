# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which image the operator gets: the one that is named, and never another one."""

from __future__ import annotations

import pytest
from support.fleet import VARIABLES
from support.site import NAMESPACE

# Of a checkout that is no release
UNRELEASED = {"operator_released_image": ""}
WITHOUT = {**{name: value for name, value in VARIABLES.items() if name != "operator_image"}, **UNRELEASED}
WAYS = ("make images", "osso.scheduler.build_and_publish", "set operator_image", "operator_variant to upstream")


@pytest.fixture(scope="module")
def installed(play, kubectl):
    play("osso.scheduler.site", variables=VARIABLES)
    yield
    play("osso.scheduler.remove", variables=UNRELEASED)


def image(kubectl):
    deployment = kubectl.json("get", "deployment", "--namespace", NAMESPACE, "osso-scheduler-operator")
    return deployment["spec"]["template"]["spec"]["containers"][0]["image"]


@pytest.mark.parametrize("check", [True, False])
def test_a_misspelt_image_leaves_a_running_operator_alone(installed, play, kubectl, audit, check):
    variables = {**WITHOUT, "operator_imgae": "registry.example.com/osso/scheduler-operator:1.0.0-new"}
    with audit:
        run = play("osso.scheduler.site", variables=variables, check=check, succeed=False)
    (failure,) = run.failures
    assert [way for way in WAYS if way not in failure.result["msg"]] == []
    assert "The operator that is installed was left as it is." in failure.result["msg"]
    assert audit.writes(agent="python") == []
    assert audit.requests(agent="python"), "this would not see a write"
    assert image(kubectl) == VARIABLES["operator_image"]


def test_a_release_has_an_image_of_its_own(installed, play):
    """A run without operator_image gets it."""
    released = "registry.example.com/osso/scheduler-operator@sha256:" + "0" * 64
    run = play("osso.scheduler.site", variables={**WITHOUT, "operator_released_image": released}, check=True, diff=True)
    assert released in run.stdout


def test_a_removal_needs_no_image(installed, play):
    assert play("osso.scheduler.remove", variables=UNRELEASED, check=True).changed
