# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The URL of a Prometheus can contain a password, which no task of a role prints."""

from __future__ import annotations

import json

import pytest
from support.ansible_runs import play
from support.api_server import ApiServer

PASSWORD = "0pen-sesame"
URL = f"https://me:{PASSWORD}@127.0.0.1:9"
NOTHING = (
    200,
    json.dumps(
        {"groups": [], "items": [], "resources": [], "versions": ["v1"], "major": "1", "minor": "34", "gitVersion": "v1.34.0"}
    ).encode(),
)


def role(name, tasks_from="main"):
    return {"ansible.builtin.include_role": {"name": f"osso.scheduler.{name}", "tasks_from": tasks_from}}


@pytest.fixture
def cluster():
    """The environment of a cluster that contains nothing."""
    with ApiServer.running() as server:
        server.answers = [NOTHING] * 100
        yield {"K8S_AUTH_HOST": server.url, "K8S_AUTH_API_KEY": "key"}


def test_the_role_monitoring_prints_no_password_of_its_url(cluster):
    variables = {"monitoring_url": URL, "monitoring_access": "none", "monitoring_rules": "none", "monitoring_wait": False}
    seen = {"ansible.builtin.assert": {"that": f"monitoring_prometheus.url == '{URL}'", "quiet": True}, "no_log": True}
    run = play([role("monitoring"), seen], variables=variables, env=cluster, args=["-vvv"])
    assert "cannot be queried" in run.stdout
    assert PASSWORD not in run.output()


def test_the_warning_for_the_upstream_operator_prints_no_password():
    variables = {
        "secondary_scheduler_checked": {"results": [{"text": "address: ${PROM_URL}"}]},
        "secondary_scheduler_present": [{"namespace": "n"}],
        "secondary_scheduler_prometheus": {"url": URL},
    }
    run = play([role("secondary_scheduler", "upstream_prometheus")], variables=variables, args=["-vvv"])
    assert "WARNING: schedulers of upstream's operator cannot verify the certificate" in run.stdout
    assert PASSWORD not in run.output()
