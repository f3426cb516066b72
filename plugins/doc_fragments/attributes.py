# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """The attributes that every module documents, and their two common values."""

    DOCUMENTATION = r"""
options: {}
attributes:
  action_group:
    description: Use C(group/osso.scheduler.scheduler) in C(module_defaults) to set defaults for this module.
  check_mode:
    description: Can run in C(check_mode) and return what would change without changing it.
  diff_mode:
    description: Returns what changed, or would change, when in diff mode.
  idempotent:
    description: When run twice in a row with the same arguments, the second run changes nothing.
"""

    INFO_MODULE = r"""
options: {}
attributes:
  check_mode:
    support: full
    details:
      - This action does not modify state.
  diff_mode:
    support: N/A
    details:
      - This action does not modify state.
  idempotent:
    support: full
    details:
      - This action does not modify state.
"""

    ACTIONGROUP_SCHEDULER = r"""
options: {}
attributes:
  action_group:
    support: full
    membership:
      - osso.scheduler.scheduler
"""
