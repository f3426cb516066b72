#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_preview
short_description: Show what a scheduler configuration would do with the pods of a cluster
version_added: 1.0.0
description:
  - Runs an unmodified kube-scheduler with a configuration against a copy of a cluster, and reports for each pod where the scheduler places it, and
    how this differs from now or from a second configuration.
  - The scheduler is a process on the host that the task runs on. It connects to a server of the module on the loopback interface, which contains a
    redacted copy of the cluster. Nothing in the cluster changes, and nothing remains on the host. With O(job), both run in a pod of the cluster.
  - The copy is a file of M(osso.scheduler.scheduler_snapshot), or is read from the cluster. The module sends only read requests to the cluster,
    unless O(job) is set.
  - kube-scheduler chooses at random between nodes with the same score. The module reads the scores of pods that would be on another node, and
    reports V(tie) if the node before is one of the best.
  - The collection's C(docs/preview.md) explains the modes, the results, and what a preview cannot know.
author:
  - osso.scheduler contributors (@osso-scheduler)
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.preview
  - osso.scheduler.preview.baseline
  - osso.scheduler.preview.job
  - osso.scheduler.attributes
  - osso.scheduler.attributes.actiongroup_scheduler
  - osso.scheduler.attributes.info_module
attributes:
  action_group: {}
  check_mode:
    support: partial
    details:
      - This action does not modify state. With O(job) it creates nothing in check mode, so there is no preview.
  diff_mode: {}
  idempotent:
    support: partial
    details:
      - This action does not modify state, but the scheduler chooses at random between nodes with the same score.
options:
  only_changed:
    description: Whether to preview only if image or configuration of O(candidate) differ from those of C(secondary_scheduler) in O(baseline).
    type: bool
    default: false
  mode:
    description:
      - V(pending) places the pods that have no node. All other pods stay.
      - V(replace) places one pod after the other while all other pods stay, so that no answer depends on another one.
      - V(drain) takes all selected pods off their nodes, and places them by priority and age. With O(nodes), these nodes are cordoned.
      - V(headroom) places copies of O(template) until one has no node. It preempts no pods.
      - Pods of DaemonSets and static pods always stay.
    type: str
    choices: [pending, replace, drain, headroom]
    default: pending
  namespaces:
    description: Only pods of these namespaces. All if the list is empty.
    type: list
    elements: str
    default: []
  labels:
    description: Only pods with these labels.
    type: dict
    default: {}
  scheduler_names:
    description: Only pods with one of these values of C(schedulerName). All if the list is empty.
    type: list
    elements: str
    default: []
  nodes:
    description: Only pods on these nodes. All if the list is empty.
    type: list
    elements: str
    default: []
  template:
    description:
      - With V(headroom), the pod to place, with C(metadata) and C(spec) as in the template of a Deployment.
      - Requests that are not given are the limits, and the priority is that of the PriorityClass, as in a pod that is created.
    type: dict
  limit:
    description: With V(headroom), the maximum number of pods.
    type: int
    default: 1000
  scores:
    description:
      - V(changed) reads the scores of the pods that are on another node, which is necessary to know whether they are V(tie) or V(moved).
      - V(all) also reads those of pods on the same node. It takes longer.
      - In both cases at most 500 pods, those on another node first.
    type: str
    choices: [changed, all]
    default: changed
  max_unschedulable:
    description: The task fails if more pods than this would lose their node, also if they are preempted.
    type: int
  max_moved_percent:
    description:
      - The task fails if more than this percentage of the pods would be on another node. Pods that had no node do not count.
      - With it, ties of all pods on another node are determined, not only of 500, which takes longer.
    type: float
seealso:
  - module: osso.scheduler.scheduler_snapshot
  - module: osso.scheduler.kube_scheduler_config
"""

EXAMPLES = r"""
- name: Write a snapshot of the cluster
  osso.scheduler.scheduler_snapshot:
    path: "{{ private_folder }}/cluster.json.gz"

- name: Show where the pods would be with a configuration that packs
  osso.scheduler.scheduler_preview:
    snapshot: "{{ private_folder }}/cluster.json.gz"
    candidate:
      binary: "{{ private_folder }}/kube-scheduler"
      preset: high_node_utilization
    mode: drain
  register: packed

- name: Fail if a new configuration moves more than 5 percent of the pods, compared with the present configuration
  osso.scheduler.scheduler_preview:
    snapshot: "{{ private_folder }}/cluster.json.gz"
    baseline:
      binary: "{{ private_folder }}/kube-scheduler"
      config_file: "{{ playbook_dir }}/files/config.yaml"
    candidate:
      binary: "{{ private_folder }}/kube-scheduler"
      config_file: "{{ playbook_dir }}/files/config.yaml"
    mode: replace
    max_moved_percent: 5
    max_unschedulable: 0

- name: Count the pods that still fit into the connected cluster
  osso.scheduler.scheduler_preview:
    candidate:
      binary: "{{ private_folder }}/kube-scheduler"
      config_file: "{{ playbook_dir }}/files/config.yaml"
    mode: headroom
    limit: 20
    template:
      metadata: {labels: {app: worker}}
      spec:
        containers:
          - name: worker
            image: registry.example.com/worker:1
            resources: {requests: {cpu: 500m, memory: 1Gi}}
"""

RETURN = r"""
previewed:
  description:
    - Whether there was a preview. False with O(only_changed) if nothing changes, and with O(job) in check mode. The other values are then not returned.
  returned: success
  type: bool
  sample: true
pods:
  description: The selected pods, by priority and age. Empty with V(headroom). Also if the task fails because of a limit.
  returned: success
  type: list
  elements: dict
  contains:
    namespace:
      description: Namespace of the pod.
      type: str
      sample: batch
    name:
      description: Name of the pod.
      type: str
      sample: worker-0
    current:
      description: Its present node, empty if it has none.
      type: str
      sample: node-1
    before:
      description: Its node with O(baseline), without it the present node. Empty if it has none.
      type: str
      sample: node-1
    node:
      description: Its node with O(candidate), empty if it has none.
      type: str
      sample: node-2
    status:
      description:
        - V(same) is the same node. V(tie) is another node, but the node before has the same score. V(moved) is another node, or a node for a pod that
          had none. V(unschedulable) is no node. V(preempts) is a node on which the scheduler deletes other pods first.
        - V(not compared) is a pod that cannot be previewed, or that the scheduler did not process, or one of more than 500 pods on another node.
      type: str
      sample: moved
    reason:
      description: The scheduler's message, or an explanation of the status.
      type: str
      sample: node-1 is not among the nodes with the highest score
    ties:
      description:
        - Of a pod whose scores were read (O(scores)), the nodes with the highest score. The scheduler uses one of them.
        - Empty for other pods, and if there are more than 500, for those beyond.
      type: list
      elements: str
      sample: [node-2, node-3]
    scores:
      description:
        - Of a pod whose scores were read (O(scores)), those of the nodes before and after, by node. C(total) is the final score, and C(plugins) has the
          score of each plugin, with its weight. Empty for other pods and without a second node that fits.
      type: dict
      sample: {"node-2": {"total": 487, "plugins": {"NodeResourcesFit": 93, "TaintToleration": 300}}}
nodes:
  description: The nodes, with C(allocatable) and with C(pods), C(cpu_millis) and C(memory) that the pods on it request C(before) and C(after).
  returned: success
  type: list
  elements: dict
  sample:
    - name: node-1
      allocatable: {pods: 110, cpu_millis: 4000, memory: 16000000000}
      before: {pods: 12, cpu_millis: 2100, memory: 4000000000}
      after: {pods: 4, cpu_millis: 700, memory: 1200000000}
summary:
  description:
    - The number of pods, and of pods with each status. C(newly_unschedulable) had a node before, C(newly_schedulable) had none. C(moved_percent) refers
      to the pods that were compared. C(preempted) lists the deleted pods, C(newly_preempted) those that the baseline does not delete. C(lost) lists the pods
      that lose their node, those of C(newly_unschedulable) and C(newly_preempted).
    - C(before) and C(after) have C(empty_nodes), and mean and standard deviation of the requested percentage of CPU and memory of the nodes.
    - C(load) has the same of the measured use, if the metrics API of the cluster returned it, otherwise it is null. C(after) adds the use of the pods
      that come to a node, and subtracts that of the pods that leave it.
  returned: success
  type: dict
  sample:
    pods: 120
    same: 100
    moved: 12
    tie: 8
    unschedulable: 0
    preempts: 0
    not_compared: 0
    newly_unschedulable: 0
    newly_schedulable: 0
    moved_percent: 10.0
    preempted: []
    newly_preempted: []
    lost: []
    before:
      empty_nodes: 0
      cpu_percent_mean: 52.0
      cpu_percent_deviation: 8.1
      memory_percent_mean: 40.0
      memory_percent_deviation: 6.0
      load: {cpu_percent_mean: 31.2, cpu_percent_deviation: 12.0, memory_percent_mean: 35.0, memory_percent_deviation: 4.1}
    after:
      empty_nodes: 1
      cpu_percent_mean: 52.0
      cpu_percent_deviation: 31.4
      memory_percent_mean: 40.0
      memory_percent_deviation: 22.8
      load: {cpu_percent_mean: 31.2, cpu_percent_deviation: 20.3, memory_percent_mean: 35.0, memory_percent_deviation: 19.7}
headroom:
  description:
    - With V(headroom), the number of C(pods) that fit, that number C(before) with O(baseline) (null without it), and what the next pod was C(stopped_by).
    - Null in other modes.
  returned: success
  type: dict
  sample: {"pods": 8, "before": null, "stopped_by": "0/3 nodes are available: 3 Insufficient cpu."}
exceeded:
  description: The limits that the preview is beyond, each as a sentence. Then the task fails.
  returned: success
  type: list
  elements: str
  sample: []
assumptions:
  description: What this preview cannot know, and what differs from the cluster.
  returned: success
  type: list
  elements: str
  sample: ["Admission, quotas and kubelets that reject pods are not part of a preview."]
missing:
  description: Kinds that could not be read, each with the reason.
  returned: success
  type: list
  elements: str
  sample: []
kubernetes_version:
  description: The release of the candidate.
  returned: success
  type: str
  sample: "1.34"
scheduler_names:
  description: The profiles of the candidate.
  returned: success
  type: list
  elements: str
  sample: [secondary-scheduler]
msg:
  description: The outcome in one sentence.
  returned: always
  type: str
  sample: "replace: 120 pods: 100 same, 8 tie, 12 moved, 0 unschedulable, 0 preempts, 0 not compared."
"""

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._preview import job, present_state, running_scheduler
from ansible_collections.osso.scheduler.plugins.module_utils._preview.arguments import COMMON, JOB, PRESENT, SIDE, Inputs
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import ALL, CHANGED, Options, preview, text_of
from ansible_collections.osso.scheduler.plugins.module_utils._preview.simulation import MODES, PENDING

OPTIONS = dict(
    baseline=dict(
        type="dict",
        options=dict(SIDE, secondary_scheduler=dict(type="dict", options=PRESENT), scheduler_name=dict(type="str")),
        mutually_exclusive=[("secondary_scheduler", "scheduler_name")],
    ),
    mode=dict(type="str", choices=list(MODES), default=PENDING),
    namespaces=dict(type="list", elements="str", default=[]),
    labels=dict(type="dict", default={}),
    scheduler_names=dict(type="list", elements="str", default=[]),
    nodes=dict(type="list", elements="str", default=[]),
    template=dict(type="dict"),
    limit=dict(type="int", default=1000),
    scores=dict(type="str", choices=[CHANGED, ALL], default=CHANGED),
    max_unschedulable=dict(type="int"),
    max_moved_percent=dict(type="float"),
)


def no_preview(why):
    return {"changed": False, "previewed": False, "exceeded": [], "msg": why}


def run(module):
    options = Options(**{name: module.params[name] for name in Options._fields})
    inputs = Inputs(module.params, module.warn, module.run_command)
    if (options.baseline or {}).get("secondary_scheduler"):
        options = options._replace(baseline=present_state.read(inputs.client, options.baseline))
        if module.params["only_changed"] and options.baseline:
            text = text_of("candidate", options.candidate)
            if present_state.is_same(
                options.candidate, text if isinstance(text, str) else text.decode("utf-8", "replace"), options.baseline
            ):
                return no_preview("The image and the configuration are the present ones: there is nothing to preview.")
    elif (options.baseline or {}).get("scheduler_name"):
        options = options._replace(baseline=running_scheduler.read(inputs.client, options.baseline))
    elif module.params["only_changed"]:
        raise InputError("only_changed is true: set baseline.secondary_scheduler, with which the candidate is compared.")
    place = module.params["job"]
    if not place or options.candidate.get("binary"):
        result = preview(options, inputs.snapshot(), inputs.run_command, inputs.progress)
    elif module.check_mode:
        return no_preview("In check mode no Job is created, so there was no preview. Set candidate.binary to preview.")
    else:
        result = job.carry_out(job.PREVIEW, inputs.client, options, inputs.snapshot(), job.Place(**place), inputs.progress, module.warn)
    result["previewed"] = True
    if result["exceeded"]:
        del result["msg"]
        raise ClusterError("Beyond the limits: {}".format(" ".join(result["exceeded"])), **result)
    return result


def main():
    own = dict(COMMON, **OPTIONS, only_changed=dict(type="bool", default=False), job=JOB)
    cluster_module(run, hidden=("candidate", "baseline", "template"), argument_spec=argument_spec(**own), supports_check_mode=True)


if __name__ == "__main__":
    main()
