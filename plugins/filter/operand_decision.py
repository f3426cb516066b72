# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: operand_decision
short_description: What one reconcile of a SecondaryScheduler does
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Looks at the resource and its checked configuration and decides whether to apply, remove, leave or hold.
positional: config
options:
  _input:
    description: The C(SecondaryScheduler) as the API server returns it.
    type: dict
    required: true
  config:
    description: Result of M(osso.scheduler.kube_scheduler_config) for its ConfigMap, or of the skipped task.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Decide
  ansible.builtin.debug:
    msg: "{{ resource | osso.scheduler.operand_decision(config) }}"
  vars:
    resource:
      metadata: {name: cluster, namespace: openshift-secondary-scheduler-operator}
      spec: {schedulerConfig: "", schedulerImage: "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7"}
    config: {}
# => {"action": "hold", "reason": "FieldMissing", "message": "spec.schedulerConfig is empty; ...", "prune": false}
"""

RETURN = r"""
_value:
  description:
    - RV(_value.action) is C(apply), C(remove), C(leave) or C(hold).
    - RV(_value.reason) and RV(_value.message) are what the conditions say of it.
    - RV(_value.prune) is true when this configuration serves already, so that older ones may go.
  type: dict
  contains:
    action: {description: What to do., type: str}
    reason: {description: Reason for the conditions., type: str}
    message: {description: Field and remedy., type: str}
    prune: {description: Whether older configurations may go., type: bool}
"""

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.status import decide


class FilterModule:
    def filters(self):
        return {"operand_decision": decide}
