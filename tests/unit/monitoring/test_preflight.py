# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the operator asks of Prometheus without the module. The questions themselves are in tests/integration/test_prometheus_info.py."""

from __future__ import annotations

import yaml
from ansible_collections.osso.scheduler.plugins.module_utils.monitoring.preflight import parameters
from ansible_collections.osso.scheduler.plugins.modules import prometheus_info


def test_they_are_all_that_the_module_has():
    options = yaml.safe_load(prometheus_info.DOCUMENTATION)["options"]
    given = {
        name: None
        for name, option in options.items()
        if name in ("url", "token", "insecure_skip_verify", "prometheus_ca", "plugins", "timeout")
    }
    found = parameters(**given)
    assert set(found) == set(options)
    same = set(options) - set(given) - {"sources", "namespace", "names"}
    assert {name: found[name] or None for name in same} == {name: options[name].get("default") or None for name in same}
