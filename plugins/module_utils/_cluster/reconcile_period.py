# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The annotation that sets how often ansible-operator reconciles a resource. With another text it reconciles the resource not at all, and reports nothing."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import PERIOD_ANNOTATION as ANNOTATION
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import PERIOD_REMEDY, period_problem


def problem(resource: Object) -> str:
    """What is wrong with the annotation of a resource, with the remedy; "" where nothing is."""
    found = period_problem((resource["metadata"].get("annotations") or {}).get(ANNOTATION, "0"))
    return f"its annotation {ANNOTATION}: {found}: {PERIOD_REMEDY}" if found else ""
