# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What olm_operator returns of OLM's objects, and which newer version it names."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._olm.catalog import UNKNOWN, Offer, Package
from ansible_collections.osso.scheduler.plugins.module_utils._olm.diagnose import Seen
from ansible_collections.osso.scheduler.plugins.module_utils._olm.install_plans import Versions
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import Options
from ansible_collections.osso.scheduler.plugins.module_utils._olm.outcome import csv, offered, result
from support.olm_objects import catalog, plan, subscription
from support.olm_objects import csv as made_csv

OPTIONS = Options(package="demo", namespace="n", name="sub", source="cat", source_namespace="m")


def offer(*versions, head=None):
    entries = [(f"demo.v{version}", version) for version in versions]
    return Offer(["demo", "other"], Package("demo", "stable", {"stable": entries, "a": []}, {"stable": f"demo.v{head or versions[0]}"}))


def told(seen, found=UNKNOWN, channel="stable", approved=None, **options):
    return result(seen, OPTIONS._replace(**options), found, channel, Versions("demo"), "message", approved)


def test_the_result_of_an_upgrade_is_whole():
    conditions = [
        {"type": "BundleUnpacking", "status": "True", "reason": "R", "message": "M"},
        {"type": "CatalogSourcesUnhealthy", "status": "False", "reason": "R"},
        {"type": "InstallPlanPending", "status": "True"},
    ]
    status = {
        "installedCSV": "demo.v1.0.0",
        "currentCSV": "demo.v1.1.0",
        "state": "UpgradePending",
        "installPlanRef": {"name": "install-1.1.0"},
        "conditions": conditions,
    }
    live = subscription(approval="Manual", status=status, startingCSV="demo.v0.1.0")
    installed = made_csv("1.0.0")
    seen = Seen(live, [plan("1.1.0"), plan("1.0.0", approved=True, phase="Complete")], {"demo.v1.0.0": installed}, {}, catalog())
    assert told(seen, offer("1.2.0", "1.1.0", "1.0.0"), approval="Manual") == {
        "csv": {"name": "demo.v1.0.0", "version": "1.0.0", "phase": "Succeeded", "reason": "InstallSucceeded", "message": "well"},
        "subscription": {
            "name": "sub",
            "namespace": "n",
            "package": "demo",
            "channel": "stable",
            "source": "cat",
            "source_namespace": "n",
            "approval": "Manual",
            "starting_csv": "demo.v0.1.0",
            "state": "UpgradePending",
            "current_csv": "demo.v1.1.0",
            "installed_csv": "demo.v1.0.0",
            "conditions": [
                {"type": "BundleUnpacking", "reason": "R", "message": "M"},
                {"type": "InstallPlanPending", "reason": "", "message": ""},
            ],
        },
        "install_plan": {"name": "install-1.1.0", "approved": False, "csvs": ["demo.v1.1.0"], "phase": "RequiresApproval"},
        "catalog": {"name": "cat", "namespace": "m", "state": "READY", "packages": ["demo", "other"], "channels": ["a", "stable"]},
        "upgrade": "1.1.0",
        "msg": "message",
    }
    # The plan that this run approved comes before the one that the Subscription refers to.
    assert told(seen, approved="install-1.0.0")["install_plan"] == {
        "name": "install-1.0.0",
        "approved": True,
        "csvs": ["demo.v1.0.0"],
        "phase": "Complete",
    }
    assert told(seen, approved="deleted")["install_plan"]["name"] == "install-1.1.0"


def test_the_version_of_a_csv_is_its_own_else_the_one_in_its_name():
    nothing = {"phase": None, "reason": None, "message": None}
    assert csv(None, "demo.v1.0.0", Versions("demo")) == {"name": "demo.v1.0.0", "version": "1.0.0", **nothing}
    assert csv(None, None, Versions("demo")) == {"name": None, "version": None, **nothing}
    assert csv({"spec": {"version": 2}}, "demo.v1.0.0", Versions("demo")) == {"name": "demo.v1.0.0", "version": "2", **nothing}


@pytest.mark.parametrize(
    ("status", "found", "automatic", "manual"),
    [
        ({}, offer("1.1.0", "1.0.0"), None, None),
        ({"installedCSV": "demo.v1.0.0"}, UNKNOWN, None, None),
        ({"installedCSV": "demo.v1.0.0"}, offer("1.1.0", "1.0.0"), "1.1.0", "1.1.0"),
        ({"installedCSV": "demo.v1.0.0"}, offer("1.2.0", "1.1.0", "1.0.0"), "1.2.0", None),
        ({"installedCSV": "demo.v1.2.0"}, offer("1.2.0", "1.1.0", "1.0.0"), None, None),
        ({"installedCSV": "demo.v1.0.0", "currentCSV": "demo.v1.1.0"}, UNKNOWN, "1.1.0", "1.1.0"),
        ({"installedCSV": "demo.v1.0.0", "currentCSV": "demo.v1.1.0"}, offer("1.2.0", "1.1.0"), "1.2.0", "1.1.0"),
        ({"installedCSV": "demo.v1.1.0", "currentCSV": "demo.v1.1.0"}, UNKNOWN, None, None),
        ({"installedCSV": "demo.v1.1.0", "currentCSV": "demo.v1.0.0"}, UNKNOWN, None, None),
    ],
)
def test_the_result_names_the_version_to_upgrade_to(status, found, automatic, manual):
    seen = Seen(subscription(status=status), [], {}, {}, None)
    assert (told(seen, found)["upgrade"], told(seen, found, approval="Manual")["upgrade"]) == (automatic, manual)


@pytest.mark.parametrize(
    ("found", "channel", "installed", "versions"),
    [
        (offer("1.10.0", "1.9.0", "1.2.0", "1.0.0"), "stable", "demo.v1.2.0", ["1.9.0", "1.10.0"]),
        (offer("1.10.0", "1.9.0", "1.2.0", head="1.9.0"), "stable", "demo.v1.2.0", ["1.9.0"]),
        (offer("1.10.0", "1.9.0"), "stable", "demo.v1.10.0", []),
        (offer("1.10.0", "1.9.0"), "stable", "demo.v2.0.0", []),
        (offer("1.10.0", "1.9.0"), None, "demo.v1.9.0", []),
        (offer("1.10.0", "1.9.0"), "a", "demo.v1.9.0", []),
        (offer("1.10.0", "1.9.0"), "unknown", "demo.v1.9.0", []),
        (offer("1.10.0", "1.9.0"), "stable", "without-a-version", []),
        (UNKNOWN, "stable", "demo.v1.9.0", []),
    ],
)
def test_the_newer_versions_that_a_channel_offers_are_listed_in_order(found, channel, installed, versions):
    assert offered(found, channel, Versions("demo"), installed) == versions
