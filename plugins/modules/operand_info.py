#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: operand_info
short_description: Read all that one reconcile of a SecondaryScheduler depends on, and decide what it does
version_added: 1.0.0
author:
  - osso.scheduler contributors (@osso)
description:
  - The first step of the operator's reconcile. Reads the ConfigMap, the nodes, the TLS profile of the cluster, what runs, and what other
    C(SecondaryScheduler) resources there are; checks the configuration as M(osso.scheduler.kube_scheduler_config) does; and decides which
    rollout is to be applied, if any.
  - The only thing that it may write is a Job that asks an unknown image for its verdict, and that is gone when the task ends.
  - The result holds the configuration, which may hold a token. Use C(no_log).
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.attributes
  - osso.scheduler.attributes.info_module
  - osso.scheduler.attributes.actiongroup_scheduler
options:
  resource:
    description: The C(SecondaryScheduler) as the API server returns it.
    type: dict
    required: true
  namespaces:
    description: Namespaces in which other C(SecondaryScheduler) resources are looked for. Empty means all.
    type: list
    elements: str
    default: []
  ask_image:
    description: Whether an image that no table knows is asked itself, by a Job in the resource's namespace. Never done in check mode.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Read the resource
  kubernetes.core.k8s_info:
    api_version: operator.openshift.io/v1
    kind: SecondaryScheduler
    namespace: openshift-secondary-scheduler-operator
    name: batch
  register: found

- name: See what the operator would do
  osso.scheduler.operand_info:
    resource: "{{ found.resources[0] }}"
    ask_image: false
  register: operand
  no_log: true
"""

RETURN = r"""
action:
  description: C(apply), C(hold) (cannot go on, what runs keeps running), C(leave) (told to keep out) or C(remove).
  returned: always
  type: str
  sample: apply
reason:
  description: Reason for the conditions; C(AsExpected) where nothing is in the way of what the resource asks for.
  returned: always
  type: str
  sample: AsExpected
message:
  description: The field and the remedy, where something is in the way.
  returned: always
  type: str
names:
  description: What the objects around the resource are called.
  returned: always
  type: dict
labels:
  description: The labels of what is made for the resource.
  returned: always
  type: dict
owner:
  description: The option O(osso.scheduler.apply#module:owner) of M(osso.scheduler.apply).
  returned: always
  type: dict
noticed:
  description: The annotations by which the operator notices changes of an object that it does not own.
  returned: always
  type: dict
rollout:
  description: What the scheduler's pods depend on, with its C(id); null unless RV(action) is C(apply).
  returned: always
  type: dict
  contains:
    id: {description: Equal for equal rollouts., type: str}
    image: {description: The scheduler's image., type: str}
    config: {description: Content hash of the configuration., type: str}
    flags: {description: The command line without C(--config)., type: list, elements: str}
    placement: {description: C(nodeSelector) and C(tolerations)., type: dict}
    overrides: {description: What C(spec.unsupportedConfigOverrides) says beyond flags and placement., type: dict}
    serving_cert: {description: Whether the cluster makes the certificate., type: bool}
    health: {description: Paths of the probes., type: dict}
secret:
  description: The Secret of the configuration, C(name), C(annotations) and C(data) in base64; null unless RV(action) is C(apply).
  returned: always
  type: dict
load_watcher:
  description:
    - The load-watcher service that asks Prometheus in the scheduler's place. C(image), C(url) of Prometheus, and C(secret) shaped like RV(secret).
    - Null where the configuration wants none.
  returned: always
  type: dict
metrics:
  description: RV(osso.scheduler.prometheus_info#module:findings) for the enabled plugins; null where none of them asks Prometheus.
  returned: always
  type: list
  elements: dict
renew:
  description: Seconds until the token for Prometheus has to be renewed, null without one that has to be.
  returned: always
  type: int
replicas:
  description: How many replicas the scheduler gets.
  returned: always
  type: int
service_account:
  description: The uid of a ServiceAccount that was made anew while pods were there, so that they are replaced; null otherwise.
  returned: always
  type: str
prune:
  description: Whether the rollout serves, so that older configurations may go.
  returned: always
  type: bool
platform:
  description: What the cluster offers, C(openshift), C(service_ca) and C(service_monitor).
  returned: always
  type: dict
needs:
  description: What the enabled plugins need besides the scheduler; null unless RV(action) is C(apply).
  returned: always
  type: dict
leftovers:
  description: Objects of the upstream operator that this one replaces, and the Lease of a leader that lost its ServiceAccount. They may go.
  returned: always
  type: list
  elements: dict
decision:
  description: All that was decided, for M(osso.scheduler.operand_report).
  returned: always
  type: dict
deployment:
  description: The live Deployment or null.
  returned: always
  type: dict
failure:
  description: Why pods of the newest rollout are not ready, null if they are.
  returned: always
  type: dict
scheduler_names:
  description: The names that the scheduler serves, or will once it runs.
  returned: always
  type: list
  elements: str
resources:
  description: All C(SecondaryScheduler) resources, as far as they matter to each other.
  returned: always
  type: list
  elements: dict
config_map:
  description:
    - The user's ConfigMap, its C(name), whether it was C(found), tells the operator of its edits (C(marked)), or tells them of another
      resource (C(shared)).
  returned: always
  type: dict
overridden:
  description: Whether C(spec.unsupportedConfigOverrides) is set.
  returned: always
  type: bool
"""

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.module import argument_spec, cluster_module


def run(module):
    try:
        from ansible_collections.osso.scheduler.plugins.module_utils.operand.survey import Survey
    except ImportError as error:
        raise ClusterError(f"{error}: install PyYAML, or set ansible_python_interpreter to a Python that has it.") from None

    params = module.params
    survey = Survey(
        Client.from_module(module),
        params["resource"],
        namespaces=params["namespaces"],
        ask_image=params["ask_image"] and not module.check_mode,
    )
    return dict(survey.result(), changed=False)


def main():
    cluster_module(
        run,
        argument_spec=argument_spec(
            resource=dict(type="dict", required=True),
            namespaces=dict(type="list", elements="str", default=[]),
            ask_image=dict(type="bool", default=True),
        ),
        supports_check_mode=True,
    )


if __name__ == "__main__":
    main()
