#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_pool
short_description: Route pods of namespaces to a scheduler, and reserve nodes for it
version_added: 1.0.0
description:
  - Creates an admission policy for each pool, which sets C(schedulerName) of new pods in the namespaces of the pool. No webhook and no certificate is
    required, and manifests of workloads stay as they are.
  - Labels the nodes of a pool, and taints them, so that other schedulers place no pods there.
  - Never routes pods in namespaces C(kube-*), C(openshift-*), C(openshift), and in the namespaces of schedulers and operators; pods of DaemonSets, mirror
    pods, and pods that have a node or name a scheduler themselves.
  - Existing pods stay where they are.
author:
  - osso.scheduler contributors (@osso-scheduler)
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.attributes
  - osso.scheduler.attributes.actiongroup_scheduler
attributes:
  action_group: {}
  check_mode:
    support: full
    details:
      - The API server validates policies and nodes without storing them.
  diff_mode:
    support: full
  idempotent:
    support: full
options:
  pools:
    description: The pools. Pools that are not listed stay as they are.
    type: list
    elements: dict
    required: true
    suboptions:
      scheduler_name:
        description: The C(schedulerName) that pods are routed to. It is also the name of the pool. An available scheduler must have this name.
        type: str
        required: true
      state:
        description: V(absent) removes the policies of the pool, and label and taint from its nodes. The other options are not used then.
        type: str
        choices: [present, absent]
        default: present
      namespaces:
        description: The namespaces whose pods are routed. Required with O(pools[].state=present).
        type: dict
        suboptions:
          match_labels:
            description: Labels of the namespaces. Namespaces that get the labels later belong to the pool, too.
            type: dict
          names:
            description: Names of the namespaces, instead of labels.
            type: list
            elements: str
      pods:
        description:
          - Restricts the pool to some pods of the namespaces.
          - Two pools can have a namespace in common only if they require different values of one label here.
        type: dict
        suboptions:
          match_labels:
            description: Labels of the pods.
            type: dict
      nodes:
        description:
          - The nodes that the scheduler uses. If not given, it shares all nodes with other schedulers.
          - The module fails if the configuration of the scheduler does not keep it on these nodes, and shows the lines to add (C(addedAffinity)).
        type: dict
        suboptions:
          match_labels:
            description:
              - Labels that these nodes have. For nodes that get the labels later, run the module again to taint them.
              - C(osso.scheduler/pool) can be one of the labels, with the name of the pool as value.
            type: dict
          names:
            description: Names of the nodes, instead of labels. They get the label C(osso.scheduler/pool) with the name of the pool as value.
            type: list
            elements: str
      exclusive:
        description:
          - Whether the taint C(osso.scheduler/pool=NAME:NoSchedule) keeps pods of other schedulers away from O(pools[].nodes). Routed pods tolerate it.
          - Pods that run on these nodes stay there. RV(pools[].daemon_sets_kept_out) lists DaemonSets without a toleration.
        type: bool
        default: false
      reserved:
        description:
          - Whether the API server rejects pods of other namespaces that name the scheduler.
          - The namespaces of schedulers and operators, C(kube-*) and C(openshift-*) may name it.
        type: bool
        default: false
      share:
        description:
          - How many sixteenths of the controllers (ReplicaSet, StatefulSet, Job) are routed, by the last hexadecimal digit of the controller's C(uid).
          - All pods of a controller have the same scheduler. Each rollout of a Deployment and each Job is a new controller.
          - Pods without a controller are routed with V(16) only.
        type: int
        default: 16
      when_unavailable:
        description:
          - What happens to new pods while the scheduler is not available. With V(wait) they are pending until it is available again.
          - With V(default), pods are not routed while no pod of the scheduler's Deployment is ready, so the default scheduler places them.
            The API server checks this for each pod. Pods that are already routed still wait. The scheduler must be a Deployment.
        type: str
        choices: [wait, default]
        default: wait
  namespaces:
    description: Namespaces in which Deployments of schedulers are searched. All if the list is empty.
    type: list
    elements: str
    default: []
  configurations:
    description:
      - Texts of configurations that the play deploys later, or would deploy in check mode. Their schedulers count as available, and it is these texts that
        have to keep them on the nodes of their pools.
    type: list
    elements: str
    default: []
  replaced:
    description:
      - Schedulers that the play deploys or removes later, such as V(SecondaryScheduler openshift-secondary-scheduler-operator/cluster) or
        V(Deployment batch/batch), or V(SecondaryScheduler) for all of this kind. Their names are those in O(configurations), whatever the cluster runs now.
      - The module fails if a pool, also one of an earlier run that O(pools) does not contain, would stay without its scheduler.
    type: list
    elements: str
    default: []
  planned_namespaces:
    description: Namespaces of schedulers that the play deploys later. Pods of these namespaces are not routed, because they would wait for themselves.
    type: list
    elements: str
    default: []
  prepare:
    description:
      - Only makes the changes that precede the deployment of the schedulers. Removes the pools with O(pools[].state=absent), and labels the nodes
        of O(pools[].nodes) with C(names), so that a scheduler finds its nodes.
      - RV(pools) is empty then. A later task without this option applies the pools.
    type: bool
    default: false
  force_conflicts:
    description: Whether fields of the policies that others have changed get their values again. With V(false) the module fails and names them.
    type: bool
    default: true
notes:
  - "C(MutatingAdmissionPolicy) is available in Kubernetes 1.36, and behind a feature gate in 1.32 to 1.35. Without it, the module fails and names the
    version or the gate."
  - If a policy cannot be evaluated, the default scheduler places the pod. A pod that O(pools[].reserved) cannot check is rejected.
  - Required permissions are to list Deployments, SecondaryScheduler resources, pods, nodes, DaemonSets and C(MutatingAdmissionPolicyBindings), to get Leases
    and ConfigMaps, to get and patch nodes, and to get, create, patch and delete the four kinds of admission policies and bindings. With several pools, also
    to list namespaces. With O(pools[].when_unavailable=default), also to get Deployments, and to get pods of all namespaces, which the API server requires
    of the author of such a policy.
seealso:
  - module: osso.scheduler.scheduler_info
"""

EXAMPLES = r"""
- name: Route the research namespaces to the scheduler batch, on nodes of its own
  osso.scheduler.scheduler_pool:
    pools:
      - scheduler_name: batch
        namespaces:
          match_labels: {team: research}
        nodes:
          match_labels: {pool: batch}
        exclusive: true

- name: Route a quarter of the Jobs and rollouts of two namespaces, as a canary
  osso.scheduler.scheduler_pool:
    pools:
      - scheduler_name: batch
        namespaces:
          names: [crunch, render]
        share: 4

- name: Remove the pool
  osso.scheduler.scheduler_pool:
    pools:
      - scheduler_name: batch
        state: absent
"""

RETURN = r"""
changed:
  description: Whether anything was written, or would be in check mode.
  returned: always
  type: bool
pools:
  description: The pools that are present.
  returned: success
  type: list
  elements: dict
  contains:
    scheduler_name:
      description: The name of scheduler and pool.
      type: str
      sample: batch
    nodes:
      description: The names of its nodes. Empty if the pool has no nodes of its own.
      type: list
      elements: str
      sample: [worker-3, worker-4]
    daemon_sets_kept_out:
      description: DaemonSets that select nodes of the pool and do not tolerate its taint, as namespace and name.
      type: list
      elements: str
      sample: [monitoring/node-exporter]
objects:
  description: Policies, bindings and changed nodes, each with its C(action), as M(osso.scheduler.apply) returns them.
  returned: always
  type: list
  elements: dict
  sample:
    - apiVersion: admissionregistration.k8s.io/v1
      kind: MutatingAdmissionPolicy
      namespace:
      name: osso-scheduler-pool-batch
      uid: 5a0b6c4e-5d9d-4d39-8c68-7a8f9b1a2c3d
      action: created
counts:
  description: Number of objects for each action.
  returned: always
  type: dict
  sample: {"created": 2, "adopted": 0, "updated": 1, "deleted": 0, "released": 0, "unchanged": 0, "absent": 2}
requests:
  description: Number of requests by type. Only C(write) requests can change something.
  returned: always
  type: dict
  sample: {"read": 13, "write": 3, "dry_run": 3}
"""

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_result import Report
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import pool_items
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pools import Pools, Settings

_RETURNED = ("changed", "objects", "counts", "requests", "diff")


def run(module):
    params = module.params
    settings = Settings(
        module.check_mode,
        params["namespaces"],
        params["configurations"],
        params["replaced"],
        params["planned_namespaces"],
        params["force_conflicts"],
        params["prepare"],
    )
    given = pool_items.complete(params["pools"])
    if given["errors"]:
        raise InputError("\n".join(given["errors"]))
    client = Client.connect(params, module.warn)
    report = Report(client, module.check_mode, module._diff)
    found = []
    try:
        found = Pools(client, given["items"], settings, report, module.warn).apply()
    except ClusterError as error:
        error.result = dict(_result(report), **error.result)
        raise
    return dict(_result(report), pools=found)


def _result(report):
    return {key: value for key, value in report.result().items() if key in _RETURNED}


def main():
    selector = dict(match_labels=dict(type="dict"), names=dict(type="list", elements="str"))
    cluster_module(
        run,
        hidden=("configurations",),
        argument_spec=argument_spec(
            pools=dict(
                type="list",
                elements="dict",
                required=True,
                options=dict(
                    scheduler_name=dict(type="str", required=True),
                    state=dict(type="str", choices=["present", "absent"], default="present"),
                    namespaces=dict(type="dict", options=selector),
                    pods=dict(type="dict", options=dict(match_labels=dict(type="dict"))),
                    nodes=dict(type="dict", options=selector),
                    exclusive=dict(type="bool", default=False),
                    reserved=dict(type="bool", default=False),
                    share=dict(type="int", default=16),
                    when_unavailable=dict(type="str", choices=["wait", "default"], default="wait"),
                ),
            ),
            namespaces=dict(type="list", elements="str", default=[]),
            configurations=dict(type="list", elements="str", default=[]),
            replaced=dict(type="list", elements="str", default=[]),
            planned_namespaces=dict(type="list", elements="str", default=[]),
            prepare=dict(type="bool", default=False),
            force_conflicts=dict(type="bool", default=True),
        ),
        supports_check_mode=True,
    )


if __name__ == "__main__":
    main()
