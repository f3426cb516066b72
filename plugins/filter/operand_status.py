# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: operand_status
short_description: The status of a SecondaryScheduler after a reconcile
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Builds conditions, generations, C(readyReplicas) and C(observedGeneration) from what was decided and what runs.
positional: decision, deployment, now, config_hash
options:
  _input:
    description: The C(SecondaryScheduler) as the API server returns it.
    type: dict
    required: true
  decision:
    description: Result of P(osso.scheduler.operand_decision#filter).
    type: dict
    required: true
  deployment:
    description: The live Deployment, or null.
    type: dict
    required: true
  now:
    description: The present time as RFC 3339 text.
    type: str
    required: true
  config_hash:
    description: Content hash of the configuration that was applied, or null.
    type: str
"""

EXAMPLES = r"""
- name: Show the status that a resource without configuration gets
  ansible.builtin.debug:
    msg: "{{ resource | osso.scheduler.operand_status(decision, none, '2026-01-01T00:00:00Z') }}"
  vars:
    resource:
      metadata: {name: cluster, namespace: openshift-secondary-scheduler-operator, generation: 1}
      spec: {}
    decision: "{{ resource | osso.scheduler.operand_decision }}"
"""

RETURN = r"""
_value:
  description: The status, in the shape of the resource's CustomResourceDefinition.
  type: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.status import report


class FilterModule:
    def filters(self):
        return {"operand_status": report}
