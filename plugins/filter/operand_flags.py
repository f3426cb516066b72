# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: operand_flags
short_description: The command line of a secondary scheduler
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - The flags with which the operator starts the scheduler of a C(SecondaryScheduler), without C(--config). Those for leader election
    override the configuration, so they belong to its check.
positional: namespace, log_level
options:
  _input:
    description: The name of the scheduler's Deployment, which its Lease has, too.
    type: str
    required: true
  namespace:
    description: The namespace of both.
    type: str
    required: true
  log_level:
    description: The resource's C(spec.logLevel).
    type: str
    default: Normal
"""

EXAMPLES = r"""
- name: Check a configuration with the operator's flags
  osso.scheduler.kube_scheduler_config:
    src: "{{ playbook_dir }}/files/config.yaml"
    kubernetes_version: "1.31"
    flags: "{{ 'secondary-scheduler' | osso.scheduler.operand_flags('openshift-secondary-scheduler-operator') }}"
"""

RETURN = r"""
_value:
  description: The flags.
  type: list
  elements: str
"""

from ansible_collections.osso.scheduler.plugins.module_utils.operand.rollout import flags


class FilterModule:
    def filters(self):
        return {"operand_flags": flags}
