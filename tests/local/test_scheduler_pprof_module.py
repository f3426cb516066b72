# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The warning of scheduler_pprof, which precedes every request. What it fetches: tests/unit/plugins/module_utils/_debugging/test_profiles.py."""

from __future__ import annotations

import pytest
from support.direct_module import run_directly

WARNING = "access: anonymous lets everybody read profiles in the whole cluster while this task runs."


@pytest.mark.parametrize(("access", "check", "warnings"), [("anonymous", False, [WARNING]), ("anonymous", True, []), ("token", False, [])])
def test_anonymous_access_causes_a_warning_unless_nothing_is_done(access, check, warnings, tmp_path):
    options = {"scheduler_name": "second", "dest": str(tmp_path), "access": access, "kubeconfig": "/no/such/file"}
    assert run_directly("scheduler_pprof", check=check, succeed=False, **options).warnings == warnings
