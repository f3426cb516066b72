# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Running schedulers, as _scheduling/scheduler_discovery.py describes them, for tests of pure functions."""

from __future__ import annotations


def scheduler(name, serving, place="d", ready=1, elects=True, lease=None) -> dict:
    return {
        "scheduler_names": [name],
        "kind": "Deployment",
        "namespace": "n",
        "name": place,
        "ready": ready,
        "serving": serving,
        "message": "broken",
        "elects": elects,
        "leader": {"namespace": "n", "lease": lease} if lease else None,
    }


SCHEDULERS = [
    scheduler("good", True),
    scheduler("bad", False),
    scheduler("twice", False),
    scheduler("twice", True),
    scheduler("dim", None),
]
