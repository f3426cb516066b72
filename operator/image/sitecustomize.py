# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each Python of the operator's image runs this at its start.

An object may be nested up to 10,000 levels deep (Go's encoding/json), also in fields whose content Kubernetes does not check. Python's own limit is
1000 calls: one such SecondaryScheduler made the list of all unreadable, and its variables for its own play. Ansible needs up to three calls a level.
With more than 36,000 calls, comparing two values takes more than a stack of 8 MiB.
"""

from __future__ import annotations

import sys

sys.setrecursionlimit(35_000)
