# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a reconcile writes beside the scheduler's objects."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._operand import reporting as reports
from ansible_collections.osso.scheduler.plugins.module_utils._operand.decision import HOLD, Decision
from ansible_collections.osso.scheduler.plugins.module_utils._operand.inputs import ConfigMap, Inputs, Neighbours
from ansible_collections.osso.scheduler.plugins.module_utils._operand.operator_conditions import condition
from support.operand import NOW, resource
from support.operand import facts as known

UNIQUE = {"type": "SchedulerNamesUnique", "status": "True", "reason": "AsExpected", "message": "", "lastTransitionTime": NOW}


class Cluster:
    """Has no objects, and answers each PATCH with this error."""

    def __init__(self, error):
        self.error, self.refused = error, []

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def get(self, *_options):
        return None

    def request(self, method, path, body=None, **_options):
        assert method == "PATCH"
        self.refused.append((path.rsplit("/", 1)[-1], *body["metadata"]["annotations"]))
        raise self.error

    def apply(self, kind, manifest, field_manager="", **_options):
        if field_manager == reports.RIVAL_FIELD_MANAGER:
            self.refused.append((manifest["metadata"]["name"], "SchedulerNamesUnique"))
            raise self.error
        return manifest


def named(name, *scheduler_names, **spec):
    return resource(name, {"schedulerNames": list(scheduler_names), "conditions": [copy.deepcopy(UNIQUE)]}, **spec)


@pytest.mark.parametrize(("status", "warned"), [(403, 3), (500, 3), (404, 0)])
def test_a_rejected_annotation_or_condition_of_others_does_not_fail_a_reconcile(monkeypatch, status, warned):
    monkeypatch.setattr(reports.Reporting, "_write_status", lambda _self, _status: False)
    mine, rival = named("cluster", operatorLogLevel="Debug"), named("rival", "batch")
    cluster, warnings = Cluster(ApiError(status, "Forbidden", "denied by a policy")), []
    decision = Decision(HOLD, "ConfigInvalid", "", condition("ConfigValid", "True", "AsExpected"), None)
    config_map = ConfigMap("config", found=True)
    inputs = Inputs(known(resource=mine), decision, Neighbours([mine, rival], config_map), {}, scheduler_names=("batch",))
    done = reports.Reporting(cluster, mine, warnings.append).present(inputs, reports.Applied())
    assert [one[0] for one in cluster.refused] == ["rival", "config", "cluster"]
    assert len(warnings) == warned
    assert done.look_again == "10s", "the ConfigMap is unwatched"


def test_a_failure_that_passes_is_tried_again():
    mine = named("cluster")
    cluster = Cluster(ApiError(503, "ServiceUnavailable", "no"))
    with pytest.raises(ApiError):
        reports.Reporting(cluster, mine, print).absent(Neighbours([mine], ConfigMap("config", found=True, marked=True)))


def test_a_rejected_annotation_does_not_keep_a_deleted_resource():
    mine, warnings = named("cluster"), []
    cluster = Cluster(ApiError(403, "Forbidden", "denied by a policy"))
    done = reports.Reporting(cluster, mine, warnings.append).absent(Neighbours([mine], ConfigMap("config", found=True, marked=True)))
    assert not done.changed
    expected = "ConfigMap config: the annotation operator-sdk/primary-resource, operator-sdk/primary-resource-type could not be written"
    assert warnings == [f"{expected}: denied by a policy"]
