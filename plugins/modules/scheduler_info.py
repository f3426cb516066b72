#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_info
short_description: List schedulers and their names, operators, and pods that no scheduler handles
version_added: 1.0.0
description:
  - Finds the schedulers of a cluster. For each, returns the names under which it schedules pods, whether it does so now, and its leader.
  - Finds the pods without a node that no scheduler handles, with the reason.
  - Finds the operators for C(SecondaryScheduler) resources and the namespaces that they watch.
  - The module finds four kinds of schedulers. The first is the cluster's default scheduler, by its Lease C(kube-scheduler) and its static pods in
    C(kube-system) or C(openshift-kube-scheduler). The second are C(SecondaryScheduler) resources in all namespaces, with the Deployments that an
    operator created for them. The third are Deployments that run C(kube-scheduler), such as the one of OpenShift's NUMA Resources Operator. The
    fourth are Deployments of Volcano, YuniKorn or Koordinator.
  - If pending pods use a C(schedulerName) of none of these, a Deployment counts as their scheduler if its name, container or program has that name.
author:
  - osso.scheduler contributors (@osso-scheduler)
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.metrics_account
  - osso.scheduler.attributes
  - osso.scheduler.attributes.actiongroup_scheduler
  - osso.scheduler.attributes.info_module
attributes:
  action_group: {}
  check_mode: {}
  diff_mode: {}
  idempotent: {}
options:
  namespaces:
    description:
      - Namespaces in which Deployments are searched, besides those of SecondaryScheduler resources. All if the list is empty.
      - Without the permission to list SecondaryScheduler resources, pods or Deployments in all namespaces, the module lists those in these
        namespaces, or in C(kube-system) if the list is empty.
    type: list
    elements: str
    default: []
  scheduler_name:
    description: Only report schedulers with this name, and pods that use it.
    type: str
  gather:
    description:
      - What to gather. Fewer values cause fewer requests.
      - V(schedulers) fills RV(schedulers) and RV(conflicts), V(pods) fills RV(unserved_pods), V(pending) fills RV(pending_pods) and
        RV(pending_groups), V(operators) fills RV(operators), V(platform) fills RV(openshift), RV(monitoring), RV(olm),
        RV(admission_policies) and RV(kubernetes_version), V(cluster) fills RV(cluster), V(collisions) fills RV(collisions) and RV(overlaps), V(placements)
        fills RV(placements).
      - Three values add details to RV(schedulers), and include V(schedulers). V(profiles) fills RV(schedulers[].profiles) without further requests.
        V(instances) fills RV(schedulers[].instances), with one request for the pods of each scheduler and one or two for the log of each pod.
        V(metrics) fills RV(schedulers[].metrics), with a connection to one pod of each scheduler.
    type: list
    elements: str
    choices: [schedulers, pods, pending, collisions, placements, operators, platform, cluster, profiles, instances, metrics]
    default: [schedulers, pods]
notes:
  - The module reads the names of a scheduler from the ConfigMap of its configuration. It cannot read those of the default scheduler through the API,
    and assumes C(default-scheduler).
  - The age of a Lease is measured with the clock of the host that the module runs on, with a tolerance of 10 seconds.
  - A complete result requires the permissions to list SecondaryScheduler resources, Deployments and pods, and to get Leases and ConfigMaps, in all
    namespaces. If an instance is not ready, the module lists events, and for pods with ResourceClaims it lists the ResourceClaims.
  - In O(gather), V(instances) also requires the permission to get C(pods/log), and V(metrics) to get and create C(pods/portforward), and to create
    C(serviceaccounts/token) for O(metrics_account).
  - In O(gather), V(collisions) also requires the permission to list nodes. For each node with rejected pods, up to 50, it lists the pods of the node.
  - RV(schedulers[].profiles) describes the current configuration in the ConfigMap. A scheduler reads it when it starts.
  - If something cannot be read for lack of permission, or a log because the pod's node does not answer, RV(unknown) names it and the task does not
    fail.
seealso:
  - module: osso.scheduler.scheduler_probe
"""

EXAMPLES = r"""
- name: List all schedulers
  osso.scheduler.scheduler_info:
  register: info

- name: Fail if pods wait for a scheduler that does not exist
  ansible.builtin.assert:
    that: info.unserved_pods | length == 0
    fail_msg: "{{ info.unserved_pods }}"

- name: List the reasons of all pending pods, those without a scheduler first
  osso.scheduler.scheduler_info:
    gather: [pending]
  register: info

- name: Show pods that a kubelet rejected, because two schedulers placed pods on its node at the same time
  osso.scheduler.scheduler_info:
    gather: [collisions]
  register: info

- name: Compare the schedulers in the namespaces in which the scheduler batch has pods
  osso.scheduler.scheduler_info:
    gather: [placements]
    scheduler_name: batch
  register: info

- name: Read the plugins, and the restarts and the last error of each instance
  osso.scheduler.scheduler_info:
    gather: [profiles, instances]
  register: info

- name: Show the plugins that score nodes for pods of the scheduler secondary-scheduler
  ansible.builtin.debug:
    msg: >-
      {{ info.schedulers | map(attribute='profiles') | select | flatten | selectattr('scheduler_name', 'equalto', 'secondary-scheduler')
         | map(attribute='weights') }}

- name: Read the number and duration of scheduling attempts
  osso.scheduler.scheduler_info:
    gather: [metrics]
  register: info

- name: Find the scheduler with the name secondary-scheduler
  osso.scheduler.scheduler_info:
    scheduler_name: secondary-scheduler
    namespaces:
      - kube-system
      - batch
    gather: [schedulers]

- name: Find the operators and what they watch
  osso.scheduler.scheduler_info:
    gather: [operators]
  register: info
"""

RETURN = r"""
schedulers:
  description: The schedulers that were found, the cluster's own first.
  returned: success and V(schedulers), V(profiles), V(instances) or V(metrics) in O(gather)
  type: list
  elements: dict
  contains:
    scheduler_names:
      description: The names under which it schedules pods. Empty if its configuration cannot be read.
      type: list
      elements: str
      sample: [secondary-scheduler]
    kind:
      description:
        - V(SecondaryScheduler) or V(Deployment) for the resource that defines it. V(StaticPod) for the default scheduler, V(default) if only its
          Lease is visible.
      type: str
      sample: SecondaryScheduler
    namespace:
      description: Namespace of the SecondaryScheduler, Deployment or static pods. For V(default) that of its Lease.
      type: str
      sample: openshift-secondary-scheduler-operator
    name:
      description: Name of the SecondaryScheduler or Deployment, else of the Lease.
      type: str
      sample: cluster
    software:
      description:
        - V(kube-scheduler), or V(Volcano), V(YuniKorn) or V(Koordinator). V(unknown) for a Deployment with the name in the C(schedulerName) of
          pending pods, which only counts for RV(unserved_pods), RV(pending_pods) and RV(pending_groups).
        - For software other than kube-scheduler, only its readiness shows whether it schedules pods now.
      type: str
      sample: kube-scheduler
    workload:
      description: The Deployment or pods that run it, null if none are visible.
      type: str
      sample: Deployment/secondary-scheduler
    image:
      description: The image of its container. For a SecondaryScheduler without Deployment, the image in its spec.
      type: str
      sample: registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7
    version:
      description: The tag of the image, null if it has none.
      type: str
      sample: v0.34.7
    replicas:
      description: The desired number of instances. Null if they are not visible.
      type: int
      sample: 1
    ready:
      description: Number of ready instances. Null if they are not visible.
      type: int
      sample: 1
    serving:
      description: Whether an instance is ready and, with leader election, holds a Lease that it renews. Null if this is not visible.
      type: bool
      sample: true
    elects:
      description: Whether its instances elect a leader. Null if unknown.
      type: bool
      sample: true
    leader:
      description: The Lease by which instances elect a leader. Null if none is used or none exists.
      type: dict
      contains:
        namespace:
          description: Namespace of the Lease.
          type: str
          sample: openshift-secondary-scheduler-operator
        lease:
          description: Name of the Lease.
          type: str
          sample: secondary-scheduler
        holder:
          description: The holder, that is the name of the pod or host and a number. Empty if the Lease has no holder.
          type: str
          sample: secondary-scheduler-7c9b7f6d5-x2x7k_0e0e8c8a-8f0e-4a6e-9e6b-4a3c7c9d2f10
        acquired_seconds:
          description: For how long its holder has been the leader, in seconds. Null without a holder.
          type: int
          sample: 86400
        renewed_seconds:
          description: How long ago it was renewed, in seconds. Null if never.
          type: int
          sample: 2
        duration_seconds:
          description: How long after the renewal others can take over, in seconds.
          type: int
          sample: 137
    conditions:
      description: The status conditions of the SecondaryScheduler or Deployment, unchanged.
      type: list
      elements: dict
      sample: [{type: Available, status: "True", reason: AsExpected}]
    message:
      description: Why it schedules pods or does not. Messages of containers are cut before the first possible credential.
      type: str
      sample: 1 instance ready, secondary-scheduler-7c9b7f6d5-x2x7k_0e0e8c8a-8f0e-4a6e-9e6b-4a3c7c9d2f10 leads
    profiles:
      description:
        - The profiles of its configuration and the plugins that run in each, including the defaults of its release and its flags.
        - Null if the configuration cannot be read or is not valid. RV(schedulers[].profiles_message) contains the reason.
      returned: V(profiles) in O(gather)
      type: list
      elements: dict
      contains:
        scheduler_name:
          description: The C(schedulerName) of the profile.
          type: str
          sample: secondary-scheduler
        plugins:
          description: >-
            The plugins at each extension point, in the order in which they run. Null if the name of the image does not identify its release and its
            plugins.
          type: dict
          sample: {queueSort: [PrioritySort], filter: [NodeUnschedulable, NodeName], score: [TaintToleration, NodeAffinity], bind: [DefaultBinder]}
        weights:
          description: The weights of the plugins at C(score).
          type: dict
          sample: {TaintToleration: 3, NodeAffinity: 2}
    profiles_message:
      description: Why profiles or plugins are unknown, empty if they are known.
      returned: V(profiles) in O(gather)
      type: str
      sample: ""
    instances:
      description: Its pods. Null if none are visible.
      returned: V(instances) in O(gather)
      type: list
      elements: dict
      contains:
        pod:
          description: Name of the pod.
          type: str
          sample: secondary-scheduler-7c9b7f6d5-x2x7k
        node:
          description: The node that it is on, empty if none.
          type: str
          sample: worker-1
        container:
          description: The container that runs kube-scheduler.
          type: str
          sample: secondary-scheduler
        image_id:
          description: The image that it runs, as reported by the node. Empty while it does not run.
          type: str
          sample: registry.k8s.io/scheduler-plugins/kube-scheduler@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
        ready:
          description: Whether it is ready.
          type: bool
          sample: true
        leads:
          description: Whether it holds the Lease by which they elect a leader.
          type: bool
          sample: true
        running_seconds:
          description: How long the container has been running, in seconds. Null if it is not.
          type: int
          sample: 3600
        restarts:
          description: Number of restarts of the container.
          type: int
          sample: 1
        last_end:
          description: How the container ended the last time. Null if it never did.
          type: dict
          sample: {reason: Error, exit_code: 1, at: "2026-11-22T05:26:55Z"}
        last_error:
          description: >-
            The last error in the last 1000 lines of its log or, if that contains none, in the log from before its last restart. Null if neither
            contains one. C(time) is the scheduler's, C(line) is cut before the first possible credential, and C(previous) is true if it is from
            before the restart.
          type: dict
          sample:
            time: "1122 05:26:55.123456"
            line: 'E1122 05:26:55.123456       1 leaderelection.go:441] "Failed to update lock" err="context deadline exceeded"'
            previous: false
    metrics:
      description:
        - Counters of the leading instance since its process started.
        - Null if the instance is not reachable. RV(schedulers[].metrics_message) contains the reason.
      returned: V(metrics) in O(gather)
      type: dict
      contains:
        pod:
          description: The pod that returned the metrics.
          type: str
          sample: secondary-scheduler-7c9b7f6d5-x2x7k
        counted_seconds:
          description: How long ago its process started, in seconds. Null if unknown.
          type: int
          sample: 3600
        profiles:
          description: >-
            For each C(scheduler_name) with scheduling attempts, the number of attempts by result, and their duration in seconds. The
            quantiles are interpolated within the buckets of a histogram.
          type: list
          elements: dict
          sample:
            - scheduler_name: secondary-scheduler
              attempts: {scheduled: 120, unschedulable: 3}
              attempt_seconds: {count: 123, p50: 0.001021, p90: 0.003405, p99: 0.007822}
        pod_seconds:
          description: >-
            The time of pods from entering its queue until binding, in the same form, over all profiles. Null if no pod was bound.
          type: dict
          sample: {count: 120, p50: 0.005, p90: 0.009, p99: 0.0198}
        pending:
          description: Number of pods in each of its queues.
          type: dict
          sample: {active: 0, backoff: 1, gated: 0, unschedulable: 2}
    metrics_message:
      description: Why the metrics are missing, else empty.
      returned: V(metrics) in O(gather)
      type: str
      sample: ""
conflicts:
  description:
    - Names under which more than one process schedules pods, because two schedulers use them without a common Lease, or because several instances of
      one scheduler elect no leader. Each process treats resources as free that the other has already assigned.
    - This includes names that the default scheduler also uses.
  returned: success and V(schedulers) in O(gather)
  type: list
  elements: dict
  contains:
    scheduler_name:
      description: The name.
      type: str
      sample: batch
    schedulers:
      description: Kind, namespace and name of the RV(schedulers) that use it.
      type: list
      elements: str
      sample: [Deployment team-a/batch, SecondaryScheduler team-b/batch]
    message:
      description: The effect and the remedy.
      type: str
      sample: >-
        Deployment team-a/batch and SecondaryScheduler team-b/batch place the same pods and do not see each other's decisions: give each its own
        schedulerName
unserved_pods:
  description:
    - Pods without a node that no scheduler handles, because no scheduler has the name that they use, because their scheduler is not available, or
      because it has not processed them for 30 seconds.
    - The list does not contain a pod for which a scheduler found no node, that waits at a scheduling gate, or that waits for a ResourceClaim that
      does not exist. The condition C(PodScheduled) alone does not prove that a scheduler runs, because it outlives the scheduler that wrote it.
    - Null, with a warning, if the user may not list pods in any namespace.
  returned: success and V(pods) in O(gather)
  type: list
  elements: dict
  contains:
    namespace:
      description: Namespace of the pod.
      type: str
      sample: default
    name:
      description: Name of the pod.
      type: str
      sample: web-0
    scheduler_name:
      description: The C(schedulerName) of the pod.
      type: str
      sample: old-scheduler
    owner:
      description: Kind and name of the owner that creates pods like this one. Empty for a pod without owner.
      type: str
      sample: Deployment/web
    pending_seconds:
      description: Age of the pod in seconds.
      type: int
      sample: 3605
    reason:
      description: Why no scheduler handles it.
      type: str
      sample: no running scheduler has the name old-scheduler
pending_pods:
  description:
    - All pods without a node, each with the reason. First those of RV(unserved_pods), then by C(scheduler_name), the oldest first.
    - Null, with a warning, if the user may not list pods in any namespace.
  returned: success and V(pending) in O(gather)
  type: list
  elements: dict
  contains:
    scheduler_name:
      description: The C(schedulerName) of the pod.
      type: str
      sample: secondary-scheduler
    namespace:
      description: Namespace of the pod.
      type: str
      sample: default
    name:
      description: Name of the pod.
      type: str
      sample: web-0
    owner:
      description: Kind and name of the owner that creates pods like this one. Empty for a pod without owner.
      type: str
      sample: Deployment/web
    pending_seconds:
      description: Age of the pod in seconds.
      type: int
      sample: 61
    served:
      description:
        - Whether a scheduler handles it.
        - Null if a scheduler has handled it before, and not all namespaces were searched, so that it is unknown whether this scheduler still runs.
      type: bool
      sample: true
    reason:
      description: Why it has no node. If a scheduler handles it, this is the message of that scheduler.
      type: str
      sample: "Unschedulable: 0/3 nodes are available: 3 Insufficient cpu."
pending_groups:
  description:
    - The RV(pending_pods) in the same order. Pods with the same namespace, owner, C(schedulerName) and reason are one entry.
    - Null, with a warning, if the user may not list pods in any namespace.
  returned: success and V(pending) in O(gather)
  type: list
  elements: dict
  contains:
    scheduler_name:
      description: The C(schedulerName) of the pods.
      type: str
      sample: secondary-scheduler
    namespace:
      description: Their namespace.
      type: str
      sample: default
    owner:
      description: Kind and name of the owner that creates them. Empty for a pod without owner.
      type: str
      sample: Deployment/web
    served:
      description: As in RV(pending_pods[].served).
      type: bool
      sample: true
    reason:
      description: As in RV(pending_pods[].reason).
      type: str
      sample: "Unschedulable: 0/3 nodes are available: 3 Insufficient cpu."
    pods:
      description: Number of pods.
      type: int
      sample: 500
    name:
      description: Name of the oldest.
      type: str
      sample: web-7c9b7f6d5-x2x7k
    pending_seconds:
      description: Age of the oldest in seconds.
      type: int
      sample: 61
collisions:
  description:
    - Pods that a kubelet rejected, for example because its node was full, in groups of the same scheduler and of the same other schedulers that placed
      pods on the node within 10 seconds. A scheduler that does not know the latest decision of another one binds pods to resources that are not free.
    - Only pods that still exist are known. Controllers replace rejected pods, and Kubernetes deletes old ones if there are many.
    - Null, with a warning, if the user may not list pods in any namespace.
  returned: success and V(collisions) in O(gather)
  type: list
  elements: dict
  contains:
    scheduler_name:
      description: The C(schedulerName) of the rejected pods.
      type: str
      sample: batch
    others:
      description: The C(schedulerName) of pods that were placed on the same nodes in these seconds and not rejected. Empty if there are none.
      type: list
      elements: str
      sample: [default-scheduler]
    pods:
      description: Number of rejected pods.
      type: int
      sample: 12
    reasons:
      description: Their number for each reason of the kubelet.
      type: dict
      sample: {"OutOfcpu": 12}
    nodes:
      description: The nodes.
      type: list
      elements: str
      sample: [worker-1, worker-2]
    namespace:
      description: Namespace of the pod that was rejected last.
      type: str
      sample: batch
    name:
      description: Name of this pod.
      type: str
      sample: crunch-x2x7k
    owner:
      description: Kind and name of the owner that creates pods like this one. Empty for a pod without owner.
      type: str
      sample: Job/crunch
    at:
      description: When it was rejected.
      type: str
      sample: "2026-11-20T11:59:58Z"
    message:
      description: What happened, and the remedy.
      type: str
      sample: >-
        kubelets of 2 nodes rejected 12 pods of the scheduler batch (12 OutOfcpu), while default-scheduler placed pods there within 10 s: define a pool
        for batch; a pool with nodes of its own and exclusive: true separates them (docs/pools.md)
overlaps:
  description:
    - Nodes on which more than one available scheduler places pods, in groups of the same schedulers. A scheduler uses the nodes that C(addedAffinity) in
      its configuration selects, or all nodes without a taint C(NoSchedule) or C(NoExecute).
    - Null if the user may not list nodes.
  returned: success and V(collisions) in O(gather)
  type: list
  elements: dict
  contains:
    schedulers:
      description: Kind, namespace and name of the schedulers.
      type: list
      elements: str
      sample: [StaticPod kube-system/kube-scheduler, Deployment batch/batch]
    scheduler_names:
      description: The names of all their profiles.
      type: list
      elements: str
      sample: [batch, default-scheduler]
    nodes:
      description: Number of nodes.
      type: int
      sample: 12
    examples:
      description: Names of up to five of them.
      type: list
      elements: str
      sample: [worker-1, worker-2]
    message:
      description: The effect and the remedy.
      type: str
      sample: >-
        StaticPod kube-system/kube-scheduler and Deployment batch/batch place pods on the same 12 nodes, and can bind two pods to the same free resources:
        a pool with nodes of its own and exclusive: true separates them (docs/pools.md)
placements:
  description:
    - How many pods each scheduler placed in each namespace, and how they fared. With O(scheduler_name), only namespaces in which this scheduler has pods.
    - Pods of DaemonSets and static pods do not count. Only pods that still exist are known.
    - Null, with a warning, if the user may not list pods in any namespace.
  returned: success and V(placements) in O(gather)
  type: list
  elements: dict
  contains:
    namespace:
      description: The namespace.
      type: str
      sample: crunch
    scheduler_name:
      description: The C(schedulerName) of the pods.
      type: str
      sample: batch
    pods:
      description: Number of pods.
      type: int
      sample: 40
    placed:
      description: Number of pods with a node.
      type: int
      sample: 38
    unschedulable:
      description: Number of pods for which the scheduler found no node.
      type: int
      sample: 2
    failed:
      description: Number of pods in the phase C(Failed).
      type: int
      sample: 1
    rejected:
      description: Number of failed pods that a kubelet rejected, see RV(collisions).
      type: int
      sample: 0
    wait_seconds:
      description: Seconds from the creation of a pod to its placement, C(median) and C(max). Null if no pod has a node.
      type: dict
      sample: {"median": 1, "max": 12}
operators:
  description:
    - The operators for SecondaryScheduler resources, which are found by the names of their Deployments. Only one operator can watch a namespace.
    - Null, with a warning, if the user may not list Deployments in any namespace.
  returned: success and V(operators) in O(gather)
  type: list
  elements: dict
  contains:
    kind:
      description: The kind of its workload, always V(Deployment).
      type: str
      sample: Deployment
    namespace:
      description: Namespace of the Deployment.
      type: str
      sample: openshift-secondary-scheduler-operator
    name:
      description: Name of the Deployment.
      type: str
      sample: osso-scheduler-operator
    variant:
      description: V(osso) for the operator of this collection, V(upstream) for Red Hat's Secondary Scheduler Operator.
      type: str
      sample: osso
    watches:
      description: The namespaces whose SecondaryScheduler resources it reconciles, V(*) alone for all.
      type: list
      elements: str
      sample: [openshift-secondary-scheduler-operator]
    image:
      description: Its image.
      type: str
      sample: quay.io/osso/scheduler-operator:1.0.0
    version:
      description: The tag of the image, null if it has none.
      type: str
      sample: 1.0.0
    method:
      description: V(olm) if a ClusterServiceVersion of the Operator Lifecycle Manager owns the Deployment, else V(manifests).
      type: str
      sample: manifests
    replicas:
      description: The desired number of instances.
      type: int
      sample: 1
    ready:
      description: Number of ready instances.
      type: int
      sample: 1
openshift:
  description: Whether the cluster is OpenShift, that is, serves C(route.openshift.io).
  returned: success and V(platform) in O(gather)
  type: bool
  sample: false
monitoring:
  description: Whether the cluster serves ServiceMonitor and PrometheusRule of C(monitoring.coreos.com/v1).
  returned: success and V(platform) in O(gather)
  type: bool
  sample: false
olm:
  description: Whether the cluster serves the Operator Lifecycle Manager's C(operators.coreos.com).
  returned: success and V(platform) in O(gather)
  type: bool
  sample: false
admission_policies:
  description: Whether the cluster serves ValidatingAdmissionPolicy in C(admissionregistration.k8s.io/v1), as Kubernetes does since 1.30.
  returned: success and V(platform) in O(gather)
  type: bool
  sample: true
kubernetes_version:
  description: The Kubernetes release of the API server, without its patch level.
  returned: success and V(platform) in O(gather)
  type: str
  sample: "1.34"
cluster:
  description: The identity of the cluster.
  returned: success and V(cluster) in O(gather)
  type: dict
  contains:
    uid:
      description: The uid of its namespace C(kube-system), null if the user may not read it.
      type: str
      sample: 3c0d5a9e-0f1c-4c6e-9a57-2b1c6f0d8e11
    server:
      description: URL of the API server.
      type: str
      sample: https://api.example.com:6443
unknown:
  description: >-
    Resources that could not be read for lack of permission, so that the result can lack schedulers or pods, and logs that could not be read because a
    node did not answer.
  returned: success
  type: list
  elements: str
  sample: []
"""

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import scheduler_details
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pending_pods import conflicts, groups
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import SchedulerDiscovery

_UNSERVED = ("namespace", "name", "scheduler_name", "owner", "pending_seconds", "reason")
# What is returned -> the kind of which it is made
_KINDS = {
    "unserved_pods": "Pod",
    "pending_pods": "Pod",
    "pending_groups": "Pod",
    "collisions": "Pod",
    "placements": "Pod",
    "operators": "Deployment",
}


def run(module):
    wanted, gather = module.params["scheduler_name"], set(module.params["gather"])
    client = Client.connect(module.params, module.warn)
    discovery = SchedulerDiscovery(client, module.params["namespaces"])
    facts = [find for name, find in scheduler_details.FACTS.items() if name in gather]
    result = {"changed": False}
    warnings = []
    # Whether a pod is served depends on the schedulers, asked for or not.
    schedulers = discovery.schedulers() if facts or {"schedulers", "pods", "pending", "collisions"} & gather else []
    if facts or "schedulers" in gather:
        look = scheduler_details.Inside(client, discovery, module.params["metrics_account"])
        result["schedulers"] = [entry for entry in schedulers if not wanted or wanted in entry["scheduler_names"]]
        for entry in result["schedulers"]:
            for find in facts:
                entry.update(find(look, entry))
    if "schedulers" in gather:
        result["conflicts"] = [one for one in conflicts(schedulers) if wanted in (None, one["scheduler_name"])]
    if {"pods", "pending"} & gather:
        pods = discovery.pending(discovery.pending_pods(wanted), schedulers)
        if "pods" in gather:
            result["unserved_pods"] = [{key: pod[key] for key in _UNSERVED} for pod in pods if pod["served"] is False]
        if "pending" in gather:
            result.update(pending_pods=pods, pending_groups=groups(pods))
    if "collisions" in gather:
        result.update(collisions=discovery.collisions(wanted), overlaps=discovery.overlaps(schedulers))
    if "placements" in gather:
        result["placements"] = discovery.placements(wanted)
    if "operators" in gather:
        result["operators"] = discovery.operators()
    for key, kind in _KINDS.items():
        if key in result and kind in discovery.unread:
            result[key] = None
            warnings.append(
                f"{key} is null: {kind}s may not be listed in {' or '.join(discovery.namespaces)}; give namespaces in which you may list them."
            )
    if warnings:
        result["warnings"] = warnings
    if "platform" in gather:
        result.update(discovery.platform())
    if "cluster" in gather:
        result["cluster"] = discovery.cluster()
    return dict(result, unknown=discovery.unknown)


def main():
    cluster_module(
        run,
        argument_spec=argument_spec(
            namespaces=dict(type="list", elements="str", default=[]),
            scheduler_name=dict(type="str"),
            gather=dict(
                type="list",
                elements="str",
                choices=[
                    "schedulers",
                    "pods",
                    "pending",
                    "collisions",
                    "placements",
                    "operators",
                    "platform",
                    "cluster",
                    "profiles",
                    "instances",
                    "metrics",
                ],
                default=["schedulers", "pods"],
            ),
            **scheduler_details.METRICS_ACCOUNT_SPEC,
        ),
        supports_check_mode=True,
    )


if __name__ == "__main__":
    main()
