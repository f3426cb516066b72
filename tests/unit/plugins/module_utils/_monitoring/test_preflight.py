# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the operator queries Prometheus for without the module. The queries themselves are in tests/api/test_prometheus_info.py."""

from __future__ import annotations

import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.preflight import Options
from ansible_collections.osso.scheduler.plugins.modules import prometheus_info

# Options of every module, and where to look for a Prometheus that has no url
ELSEWHERE = {"retry_seconds", "sources", "namespace", "names"}


def test_defaults_are_those_of_the_module():
    options = yaml.safe_load(prometheus_info.DOCUMENTATION)["options"]
    assert {*Options._fields} == {*options} - {"retry_seconds"}
    found = Options()._asdict()
    same = set(found) - ELSEWHERE
    assert {name: found[name] or None for name in same} == {name: options[name].get("default") or None for name in same}


def test_no_token_in_a_repr():
    assert "open-sesame" not in repr(Options(url="https://a:open-sesame@h", token="open-sesame"))
