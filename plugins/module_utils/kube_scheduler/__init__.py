# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a KubeSchedulerConfiguration means.

Pure Python: no Ansible, no Kubernetes client, no I/O; PyYAML is the only import outside the standard library.

    result = check(text)
    result.valid, result.findings, result.scheduler_names

``check`` reads a document as kube-scheduler reads the file of its flag ``--config`` and decides what needs no table of
releases: the YAML, the type of document and the scheduler names of its profiles. Fields, plugins and their arguments are
not looked at.
"""

from __future__ import annotations

from .check import API_GROUP, DEFAULT_SCHEDULER_NAME, KIND, check
from .result import Finding, Result
from .text import content_hash, from_structure, normalize

__all__ = [
    "API_GROUP",
    "DEFAULT_SCHEDULER_NAME",
    "KIND",
    "Finding",
    "Result",
    "check",
    "content_hash",
    "from_structure",
    "normalize",
]
