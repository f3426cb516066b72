# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kind SecondaryScheduler is deleted while resources exist, and installed again."""

from __future__ import annotations

import pytest
from support.scheduler import Scheduler, eventually
from support.site import installed, site

pytestmark = pytest.mark.long

KIND = "secondaryschedulers.operator.openshift.io"


@pytest.fixture
def deleted_with_kind(kubectl):
    installed()
    scheduler = Scheduler(kubectl, "kind-deleted")
    scheduler.write_config()
    scheduler.write()
    scheduler.rest()
    yield scheduler
    site(variables={"probe": "never"})
    scheduler.delete()


def test_deleting_the_kind_removes_all_schedulers_and_allows_a_new_installation(deleted_with_kind, kubectl):
    def bindings():
        return [one["metadata"]["name"] for one in kubectl.list("clusterrolebinding") if one["metadata"]["name"].startswith("osso:")]

    made = f"{deleted_with_kind.cluster_name}:kube-scheduler"
    assert made in bindings()
    kubectl("delete", "customresourcedefinition", KIND, "--timeout=120s", timeout=150)
    eventually(lambda: deleted_with_kind.deployment is None)
    assert [name for name in bindings() if name.startswith(deleted_with_kind.cluster_name)] == []
    site(variables={"probe": "never"})
    deleted_with_kind.write()
    deleted_with_kind.rest()
    assert made in bindings()
