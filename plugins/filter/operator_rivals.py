# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: operator_rivals
short_description: Operators that watch the same namespaces
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Two operators for one C(SecondaryScheduler) undo each other's work. This finds the others before one is installed. An operator that
    is scaled to zero does nothing, so it is no rival.
positional: namespace, watched, variant
options:
  _input:
    description: RV(osso.scheduler.scheduler_info#module:operators).
    type: list
    elements: dict
    required: true
  namespace:
    description: Namespace of the operator that is to be installed. The same one that is there already is no rival.
    type: str
    required: true
  watched:
    description: Namespaces that it is to watch, or V(*) alone for all.
    type: list
    elements: str
    required: true
  variant:
    description: Whose operator is to be installed, V(osso) or V(upstream).
    type: str
    default: osso
"""

EXAMPLES = r"""
- name: Show who is in the way
  ansible.builtin.debug:
    msg: "{{ operators | osso.scheduler.operator_rivals('schedulers', ['*']) }}"
  vars:
    operators:
      - {kind: Deployment, namespace: other, name: secondary-scheduler-operator, variant: upstream, watches: [other], replicas: 1}
"""

RETURN = r"""
_value:
  description: Those of the operators that watch a namespace which is to be watched.
  type: list
  elements: dict
"""


def rivals(operators, namespace, watched, variant="osso"):
    return [
        operator
        for operator in operators
        if operator["replicas"]
        and not (operator["variant"] == variant and operator["namespace"] == namespace)
        and ("*" in watched or "*" in operator["watches"] or set(watched) & set(operator["watches"]))
    ]


class FilterModule:
    def filters(self):
        return {"operator_rivals": rivals}
