# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: release_plan
short_description: Whom it concerns when secondary schedulers are handed to another operator
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Says for the playbook C(osso.scheduler.release) which resources are released, which operators have to be stopped for that, and
    what speaks against it.
positional: operators, chosen
options:
  _input:
    description: The C(SecondaryScheduler) resources of the cluster.
    type: list
    elements: dict
    required: true
  operators:
    description: RV(osso.scheduler.scheduler_info#module:operators).
    type: list
    elements: dict
    required: true
  chosen:
    description: The resources to be released, each with C(namespace) and C(name); all if not given.
    type: list
    elements: dict
"""

EXAMPLES = r"""
- name: Show which operators would be stopped
  ansible.builtin.debug:
    msg: "{{ (resources | osso.scheduler.release_plan(operators)).operators }}"
  vars:
    resources:
      - apiVersion: operator.openshift.io/v1
        kind: SecondaryScheduler
        metadata: {namespace: openshift-secondary-scheduler-operator, name: cluster}
        spec: {schedulerConfig: scheduler, schedulerImage: "registry.k8s.io/kube-scheduler:v1.34.7"}
    operators:
      - {kind: Deployment, namespace: schedulers, name: osso-scheduler-operator, variant: osso, method: manifests, watches: ["*"], replicas: 1}
"""

RETURN = r"""
_value:
  description: >-
    C(resources) that are released; C(deleted), those that are being deleted and wait for an operator; of the released the same as
    C(manifests) without content, and so the Deployments of the C(operators) to be stopped; the namespaces of those that OLM installed (C(olm));
    C(unattended) resources (C(namespace),
    C(name)) that would have no operator any more, and those of O(chosen) that are C(missing).
  type: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.operand.release import plan


class FilterModule:
    def filters(self):
        return {"release_plan": plan}
