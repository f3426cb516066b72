#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_explain
short_description: Show why a scheduler places a pod on a node or on none, and what would make it fit
version_added: 1.0.0
description:
  - Runs an unmodified kube-scheduler with a configuration against a copy of a cluster, offers it one pod, and reports for each node the scores of the
    plugins, or the filter that rejects it.
  - If the pod has no node, the module tries changes one by one, such as a taint less, no affinity, smaller requests and one more node, and reports the
    outcome of each.
  - As with M(osso.scheduler.scheduler_preview), the scheduler is a process on the host that the task runs on. Nothing in the cluster changes, and
    nothing remains on the host. With O(job), it runs in a pod of the cluster.
  - The collection's C(docs/preview.md) describes the results.
author:
  - osso.scheduler contributors (@osso-scheduler)
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.preview
  - osso.scheduler.preview.job
  - osso.scheduler.attributes
  - osso.scheduler.attributes.actiongroup_scheduler
  - osso.scheduler.attributes.info_module
attributes:
  action_group: {}
  check_mode:
    support: partial
    details:
      - This action does not modify state. With O(job) it creates nothing in check mode, so there is no explanation.
  diff_mode: {}
  idempotent:
    support: partial
    details:
      - This action does not modify state, but the scheduler chooses at random between nodes with the same score.
options:
  name:
    description:
      - The name of a pod of the cluster, pending or not. Exactly one of O(name) and O(template) is required.
      - A pod that has a node is explained as if it were placed now, with all other pods where they are.
    type: str
  namespace:
    description: The namespace of the pod.
    type: str
    default: default
  template:
    description: A pod that does not exist, with C(metadata) and C(spec) as in the template of a Deployment.
    type: dict
  attempts:
    description: Whether to try what would make the pod fit, if it has no node.
    type: bool
    default: true
seealso:
  - module: osso.scheduler.scheduler_preview
  - module: osso.scheduler.scheduler_info
"""

EXAMPLES = r"""
- name: Write a snapshot of the cluster
  osso.scheduler.scheduler_snapshot:
    path: "{{ private_folder }}/cluster.json.gz"

- name: Show which nodes would be suitable for a pod, and why the others are not
  osso.scheduler.scheduler_explain:
    snapshot: "{{ private_folder }}/cluster.json.gz"
    candidate:
      binary: "{{ private_folder }}/kube-scheduler"
      config_file: "{{ playbook_dir }}/files/config.yaml"
    template:
      spec:
        containers:
          - name: worker
            image: registry.example.com/worker:1
            resources: {requests: {cpu: 500m, memory: 1Gi}}
  register: explained
"""

RETURN = r"""
explained:
  description: Whether there is an explanation. False with O(job) in check mode. The other values are then not returned.
  returned: success
  type: bool
  sample: true
pod:
  description: Namespace and name of the pod, and its C(current) node, empty if it has none.
  returned: success
  type: dict
  sample: {"namespace": "batch", "name": "worker-0", "current": ""}
node:
  description: The node on which the scheduler places the pod, empty if there is none.
  returned: success
  type: str
  sample: node-1
ties:
  description: The nodes with the highest score, of which the scheduler chooses one at random.
  returned: success
  type: list
  elements: str
  sample: [node-1]
preempted:
  description: The pods that the scheduler deletes first, as NAMESPACE/NAME.
  returned: success
  type: list
  elements: str
  sample: []
reason:
  description: The scheduler's message if the pod has no node.
  returned: success
  type: str
  sample: "0/3 nodes are available: 3 Insufficient cpu."
nodes:
  description: All nodes, those that fit first, by score.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The name of the node.
      type: str
      sample: node-1
    fits:
      description: Whether the pod fits without the deletion of other pods.
      type: bool
      sample: true
    score:
      description: The final score. Null for a node that does not fit, and for a single node that fits, which the scheduler does not score.
      type: int
      sample: 474
    plugins:
      description: The score of each plugin, with its weight.
      type: dict
      sample: {"NodeResourcesFit": 87, "TaintToleration": 300}
    filters:
      description: The plugins that reject the node. Empty before Kubernetes 1.28, which does not log them.
      type: list
      elements: str
      sample: []
    reason:
      description: The scheduler's reason why the node does not fit.
      type: str
      sample: ""
attempts:
  description:
    - What would make the pod fit. Each entry has the C(change), whether the pod then C(fits) without the deletion of other pods, its C(node), and
      the scheduler's C(reason). Empty if the pod has a node.
  returned: success
  type: list
  elements: dict
  sample:
    - {change: 10 % smaller requests, fits: false, node: "", reason: "0/3 nodes are available: 3 Insufficient cpu."}
    - {change: with one more node like node-1, fits: true, node: preview-new-1, reason: ""}
assumptions:
  description: What this explanation cannot know, and what differs from the cluster.
  returned: success
  type: list
  elements: str
  sample: ["Other pending pods are left out."]
missing:
  description: Kinds that could not be read, each with the reason.
  returned: success
  type: list
  elements: str
  sample: []
kubernetes_version:
  description: The release of the scheduler.
  returned: success
  type: str
  sample: "1.34"
msg:
  description: The outcome in one sentence.
  returned: always
  type: str
  sample: "batch/worker-0: node-1. 2 of 3 nodes fit."
"""

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._preview import job
from ansible_collections.osso.scheduler.plugins.module_utils._preview.arguments import COMMON, JOB, Inputs
from ansible_collections.osso.scheduler.plugins.module_utils._preview.explanation import Options, explain


def run(module):
    inputs = Inputs(module.params, module.warn, module.run_command)
    options = Options(**{name: module.params[name] for name in Options._fields})
    place = module.params["job"]
    if not place or options.candidate.get("binary"):
        result = explain(options, inputs.snapshot(), inputs.run_command, inputs.progress)
    elif module.check_mode:
        why = "In check mode no Job is created, so there is no explanation. Set candidate.binary to explain."
        return {"changed": False, "explained": False, "msg": why}
    else:
        result = job.carry_out(job.EXPLAIN, inputs.client, options, inputs.snapshot(), job.Place(**place), inputs.progress, module.warn)
    return {**result, "explained": True}


def main():
    own = dict(
        COMMON,
        name=dict(type="str"),
        namespace=dict(type="str", default="default"),
        template=dict(type="dict"),
        attempts=dict(type="bool", default=True),
        job=JOB,
    )
    cluster_module(run, hidden=("candidate", "template"), argument_spec=argument_spec(**own), supports_check_mode=True)


if __name__ == "__main__":
    main()
