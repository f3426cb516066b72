# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role monitoring on a cluster without Prometheus."""

from __future__ import annotations

ROLE = {"name": "Monitoring", "ansible.builtin.import_role": {"name": "osso.scheduler.monitoring"}}


def test_the_role_does_not_wait_for_metrics_that_never_appear(play, namespace):
    variables = {"monitoring_namespace": namespace, "monitoring_sources": ["route"], "monitoring_required": True}
    run = play([ROLE], variables=variables, succeed=False)
    (failure,) = run.failures
    message = failure.result["msg"]
    assert message.startswith("Load-aware scheduling would not work:\nERROR: No Prometheus was found")
    assert message.endswith("With monitoring_required: false it is deployed all the same.")
    assert run.task("Wait until the metrics of every node are usable").result["attempts"] == 1
    run = play([ROLE], variables={**variables, "monitoring_required": False})
    assert "No Prometheus was found" in run.task("Report missing metrics").result["msg"]
