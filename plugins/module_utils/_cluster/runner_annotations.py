# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The annotations of a resource that ansible-operator reads before any code of this collection runs. It reports nothing of a value that stops it."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import runner_problems


def problem(resource: Object, only_stopping: bool = False) -> str:
    """What is wrong with these annotations of a resource, with the remedy; "" where nothing is. only_stopping: where the resource is not reconciled."""
    found = runner_problems(resource["metadata"].get("annotations") or {})
    return "; ".join(f"its annotation {one.name}: {one.problem}: {one.remedy}" for one in found if one.stops or not only_stopping)
