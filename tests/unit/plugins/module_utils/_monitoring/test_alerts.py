# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What alerts of given names say. A real Prometheus is asked in tests/api/test_prometheus_info.py."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.alerts import evaluate


def alert(state, since, **labels):
    return {"state": state, "activeAt": since, "labels": {"alertname": "Down", **labels}, "annotations": {"summary": "It\n is down."}}


def test_several_rules_of_a_name_are_one_alert_in_the_worst_state():
    rules = [
        {"name": "Down", "state": "pending", "alerts": [alert("pending", "2026-01-02", pod="b")]},
        {"name": "Down", "state": "firing", "alerts": [alert("firing", "2026-01-03", pod="a"), alert("firing", "2026-01-01", pod="c")]},
        {"name": "Other", "state": "firing", "alerts": [alert("firing", "2026-01-01")]},
    ]
    (told,), (finding,) = evaluate(["Down", "Down"], rules)
    assert (told["name"], told["state"], [one["labels"]["pod"] for one in told["active"]]) == ("Down", "firing", ["c", "b", "a"])
    assert told["active"][0] == {"state": "firing", "since": "2026-01-01", "labels": {"pod": "c"}, "message": "It is down."}
    assert (finding.severity, finding.code) == ("warning", "alert-firing")
    assert finding.message == "The alert Down is firing since 2026-01-01: It is down."


def test_a_quiet_alert_is_no_finding_and_an_unknown_one_is():
    told, (finding,) = evaluate(["Quiet", "Unknown"], [{"name": "Quiet", "state": "inactive", "alerts": []}])
    assert [(one["name"], one["state"], one["active"]) for one in told] == [("Quiet", "inactive", []), ("Unknown", None, [])]
    assert (finding.code, finding.message) == ("alert-unknown", "Prometheus has no rule for the alert Unknown")
