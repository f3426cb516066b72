# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import process
from support.static_pod_host import Host


@pytest.fixture
def host(tmp_path, monkeypatch):
    """A host of a control plane. The module, in a fork of this process, observes a new scheduler for one second instead of five."""
    monkeypatch.setattr(process, "STABLE_SECONDS", 1)
    return Host(tmp_path)
