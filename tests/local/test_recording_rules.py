# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The metrics that the role monitoring records, from what prometheus_info has found."""

from __future__ import annotations

import pytest
from support.monitoring import CPU, MEMORY


@pytest.mark.parametrize(("others", "recorded"), [([], [CPU, MEMORY]), ([MEMORY], [CPU]), ([CPU], [MEMORY]), ([CPU, MEMORY], [])])
def test_only_metrics_that_nothing_else_records_are_recorded(others, recorded, play, root):
    metrics = [{"name": name, "recorded_by_others": name in others} for name in (CPU, MEMORY)]
    found = {"authorized": True, "needed": [CPU, MEMORY], "metrics": metrics}
    tasks = [
        {"ansible.builtin.include_vars": str(root / "roles/monitoring/vars/main.yml")},
        {"name": "Show", "ansible.builtin.debug": {"msg": "{{ monitoring_recorded }}"}},
    ]
    run = play(tasks, variables={"monitoring_found": found, "monitoring_recorded_metrics": []})
    assert run.task("Show").result["msg"] == recorded
