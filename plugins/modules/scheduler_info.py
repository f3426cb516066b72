#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_info
short_description: Tell which schedulers serve which names, which operators there are, and which pods wait for nobody
version_added: 1.0.0
description:
  - Finds the schedulers of a cluster and says for each under which names it places pods, whether it does so now, and who leads.
  - Finds the pods without a node that no scheduler looks after, with the reason.
  - Finds the operators for C(SecondaryScheduler) resources and the namespaces that they watch.
  - Four kinds of schedulers are found. First the cluster's own, by its Lease C(kube-scheduler) and its static pods in C(kube-system)
    or C(openshift-kube-scheduler). Second C(SecondaryScheduler) resources in all namespaces, with the Deployment that an operator made
    of them. Third Deployments that run C(kube-scheduler), such as that of OpenShift's NUMA Resources Operator. Fourth those that run Volcano,
    YuniKorn or Koordinator.
  - For a C(schedulerName) that pending pods have and none of these, a Deployment counts whose name, container or program is called so.
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
      - A user who may not list SecondaryScheduler resources, pods or Deployments in all namespaces sees those of these namespaces, or of
        C(kube-system) if the list is empty.
    type: list
    elements: str
    default: []
  scheduler_name:
    description: Only report schedulers that serve this name, and pods that ask for it.
    type: str
  gather:
    description:
      - What to look for. Less needs fewer requests.
      - V(schedulers) fills RV(schedulers) and RV(conflicts), V(pods) fills RV(unserved_pods), V(pending) fills RV(pending_pods) and
        RV(pending_groups), V(operators) fills RV(operators), V(platform) fills RV(openshift), RV(monitoring), RV(olm) and
        RV(kubernetes_version), V(cluster) fills RV(cluster).
      - Three look into each of the RV(schedulers), and bring these with them. V(profiles) fills RV(schedulers[].profiles) and asks for
        nothing more. V(instances) fills RV(schedulers[].instances), with one request for the pods of each scheduler and one or two for
        the log of each pod. V(metrics) fills RV(schedulers[].metrics), with a connection to one pod of each scheduler.
    type: list
    elements: str
    choices: [schedulers, pods, pending, operators, platform, cluster, profiles, instances, metrics]
    default: [schedulers, pods]
notes:
  - The names that a scheduler serves are read from the ConfigMap of its configuration. Those of the cluster's own scheduler can't be
    read through the API, so it is taken to serve C(default-scheduler).
  - The age of a Lease is measured with the clock of the host that the module runs on, with a tolerance of 10 seconds.
  - To see everything it needs the permission to list SecondaryScheduler resources, Deployments and pods, and to get Leases and
    ConfigMaps, in all namespaces. Where an instance is not ready it lists events, and for pods with ResourceClaims these.
  - V(instances) in O(gather) needs the permission to get C(pods/log) besides, V(metrics) to get and create C(pods/portforward), and to create
    C(serviceaccounts/token) for O(metrics_account).
  - RV(schedulers[].profiles) goes by the configuration as it is in the ConfigMap now. A scheduler reads it when it starts.
  - What can't be read for lack of permission, and a log that can't be read because the pod's node does not answer, is named in RV(unknown)
    and is no failure.
seealso:
  - module: osso.scheduler.scheduler_probe
"""

EXAMPLES = r"""
- name: Look at all schedulers
  osso.scheduler.scheduler_info:
  register: info

- name: Fail if pods wait for a scheduler that is not there
  ansible.builtin.assert:
    that: info.unserved_pods | length == 0
    fail_msg: "{{ info.unserved_pods }}"

- name: See what all pods wait for, those first that nobody looks after
  osso.scheduler.scheduler_info:
    gather: [pending]
  register: info

- name: See which plugins run, how often each instance was restarted and what it complained of last
  osso.scheduler.scheduler_info:
    gather: [profiles, instances]
  register: info

- name: Show the plugins that score nodes for pods of the scheduler secondary-scheduler
  ansible.builtin.debug:
    msg: >-
      {{ info.schedulers | map(attribute='profiles') | select | flatten | selectattr('scheduler_name', 'equalto', 'secondary-scheduler')
         | map(attribute='weights') }}

- name: See how often and how fast they place pods
  osso.scheduler.scheduler_info:
    gather: [metrics]
  register: info

- name: Find out who serves the name secondary-scheduler
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
      description: The names that it places pods under. Empty if its configuration can't be read.
      type: list
      elements: str
      sample: [secondary-scheduler]
    kind:
      description:
        - V(SecondaryScheduler) or V(Deployment) for what it is made of. V(StaticPod) for the cluster's own scheduler, V(default) if only
          its Lease can be seen.
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
        - V(kube-scheduler), or V(Volcano), V(YuniKorn) or V(Koordinator). V(unknown) for a Deployment that is called like the C(schedulerName) of
          pending pods, which only counts for RV(unserved_pods), RV(pending_pods) and RV(pending_groups).
        - Whether another one than kube-scheduler places pods now is known by its readiness alone.
      type: str
      sample: kube-scheduler
    workload:
      description: The Deployment or pods that run it, null if none can be seen.
      type: str
      sample: Deployment/secondary-scheduler
    image:
      description: The image of its container. For a SecondaryScheduler without Deployment the image that it asks for.
      type: str
      sample: registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7
    version:
      description: The tag of the image, null if it has none.
      type: str
      sample: v0.34.7
    replicas:
      description: How many instances there shall be. Null if they can't be seen.
      type: int
      sample: 1
    ready:
      description: How many instances are ready. Null if they can't be seen.
      type: int
      sample: 1
    serving:
      description: Whether an instance is ready and, if leaders are elected, holds a Lease that it renews. Null if that can't be seen.
      type: bool
      sample: true
    elects:
      description: Whether its instances elect a leader. Null if that is not known.
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
          description: Who holds it, that is the name of the pod or host and a number. Empty if nobody does.
          type: str
          sample: secondary-scheduler-7c9b7f6d5-x2x7k_0e0e8c8a-8f0e-4a6e-9e6b-4a3c7c9d2f10
        acquired_seconds:
          description: For how long its holder has been the leader, in seconds. Null if nobody is.
          type: int
          sample: 86400
        renewed_seconds:
          description: How long ago it was renewed, in seconds. Null if never.
          type: int
          sample: 2
        duration_seconds:
          description: How long others wait since then before they take over, in seconds.
          type: int
          sample: 137
    conditions:
      description: The status conditions of the SecondaryScheduler or Deployment, as they are.
      type: list
      elements: dict
      sample: [{type: Available, status: "True", reason: AsExpected}]
    message:
      description: In words why it serves or does not. What a container said goes up to the first thing that may be a credential.
      type: str
      sample: 1 instance ready, secondary-scheduler-7c9b7f6d5-x2x7k_0e0e8c8a-8f0e-4a6e-9e6b-4a3c7c9d2f10 leads
    profiles:
      description:
        - The profiles of its configuration and the plugins that run in each, defaults and flags included, as its release has them.
        - Null if the configuration can't be read or is not valid. RV(schedulers[].profiles_message) says why.
      returned: V(profiles) in O(gather)
      type: list
      elements: dict
      contains:
        scheduler_name:
          description: The name that the profile places pods under.
          type: str
          sample: secondary-scheduler
        plugins:
          description: >-
            The plugins at each extension point, in the order in which they run. Null if the name of the image does not tell which release
            and which plugins it holds.
          type: dict
          sample: {queueSort: [PrioritySort], filter: [NodeUnschedulable, NodeName], score: [TaintToleration, NodeAffinity], bind: [DefaultBinder]}
        weights:
          description: The weights of the plugins at C(score).
          type: dict
          sample: {TaintToleration: 3, NodeAffinity: 2}
    profiles_message:
      description: Why profiles or plugins are not known, empty if they are.
      returned: V(profiles) in O(gather)
      type: str
      sample: ""
    instances:
      description: Its pods. Null if none can be seen.
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
          description: The image that it runs, as the node names it. Empty as long as it does not run.
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
          description: How often the container was started again.
          type: int
          sample: 1
        last_end:
          description: How the container ended the last time. Null if it never did.
          type: dict
          sample: {reason: Error, exit_code: 1, at: "2026-11-22T05:26:55Z"}
        last_error:
          description: >-
            The last error in the last 1000 lines of its log or, where that has none, in the log from before its last restart. Null if there
            is none. C(time) is the scheduler's, C(line) goes up to the first thing that may be a credential, C(previous) says whether it is
            from before the restart.
          type: dict
          sample:
            time: "1122 05:26:55.123456"
            line: 'E1122 05:26:55.123456       1 leaderelection.go:441] "Failed to update lock" err="context deadline exceeded"'
            previous: false
    metrics:
      description:
        - What the leading instance has counted since its process began.
        - Null if that can't be reached. RV(schedulers[].metrics_message) says why.
      returned: V(metrics) in O(gather)
      type: dict
      contains:
        pod:
          description: The pod that was asked.
          type: str
          sample: secondary-scheduler-7c9b7f6d5-x2x7k
        counted_seconds:
          description: How long ago its process began, in seconds. Null if it does not say.
          type: int
          sample: 3600
        profiles:
          description: >-
            For each C(scheduler_name) that it has tried to place pods for, how many attempts had which result, and what they took in seconds. The
            quantiles are interpolated within the buckets of a histogram.
          type: list
          elements: dict
          sample:
            - scheduler_name: secondary-scheduler
              attempts: {scheduled: 120, unschedulable: 3}
              attempt_seconds: {count: 123, p50: 0.001021, p90: 0.003405, p99: 0.007822}
        pod_seconds:
          description: >-
            What pods took from when they came into its queue until they were bound, in the same form, over all profiles. Null if there was none.
          type: dict
          sample: {count: 120, p50: 0.005, p90: 0.009, p99: 0.0198}
        pending:
          description: How many pods are in each of its queues.
          type: dict
          sample: {active: 0, backoff: 1, gated: 0, unschedulable: 2}
    metrics_message:
      description: Why there are no metrics, empty if there are.
      returned: V(metrics) in O(gather)
      type: str
      sample: ""
conflicts:
  description:
    - Names under which more than one process places pods, because two schedulers use them without a common Lease, or because several instances
      of one elect no leader. Each of them takes resources for free that the other has given away.
    - A name that the default scheduler uses, too, is among them.
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
      description: What happens and what to do.
      type: str
      sample: >-
        Deployment team-a/batch and SecondaryScheduler team-b/batch place the same pods and do not see each other's decisions: give each a
        schedulerName of its own
unserved_pods:
  description:
    - Pods without a node that no scheduler looks after, because none serves the name that they ask for, because the one that does is
      not working, or because it has not looked at them for 30 seconds.
    - A pod for which a scheduler found no node, one that waits at a scheduling gate, and one that waits for a ResourceClaim that does not
      exist, is not among them. The condition C(PodScheduled) alone proves no scheduler, since it outlives the one that wrote it.
    - Null, with a warning, if pods may be listed nowhere.
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
      description: The name that the pod asks for.
      type: str
      sample: old-scheduler
    owner:
      description: Kind and name of what makes pods like this one. Empty for a pod that stands alone.
      type: str
      sample: Deployment/web
    pending_seconds:
      description: Age of the pod in seconds.
      type: int
      sample: 3605
    reason:
      description: Why nobody looks after it.
      type: str
      sample: no scheduler serves the name old-scheduler
pending_pods:
  description:
    - All pods without a node, each with the reason. First those of RV(unserved_pods), then by C(scheduler_name), the oldest first.
    - Null, with a warning, if pods may be listed nowhere.
  returned: success and V(pending) in O(gather)
  type: list
  elements: dict
  contains:
    scheduler_name:
      description: The name that the pod asks for.
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
      description: Kind and name of what makes pods like this one. Empty for a pod that stands alone.
      type: str
      sample: Deployment/web
    pending_seconds:
      description: Age of the pod in seconds.
      type: int
      sample: 61
    served:
      description:
        - Whether a scheduler looks after it.
        - Null if one has looked at it once, and not all namespaces were searched, so that it is unknown whether it still runs.
      type: bool
      sample: true
    reason:
      description: Why it has no node, where a scheduler looks after it in that scheduler's words.
      type: str
      sample: "Unschedulable: 0/3 nodes are available: 3 Insufficient cpu."
pending_groups:
  description:
    - The RV(pending_pods) in the same order, those of one namespace, owner, C(schedulerName) and reason in one entry.
    - Null, with a warning, if pods may be listed nowhere.
  returned: success and V(pending) in O(gather)
  type: list
  elements: dict
  contains:
    scheduler_name:
      description: The name that the pods ask for.
      type: str
      sample: secondary-scheduler
    namespace:
      description: Their namespace.
      type: str
      sample: default
    owner:
      description: Kind and name of what makes them. Empty for a pod that stands alone.
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
      description: How many they are.
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
operators:
  description:
    - The operators for SecondaryScheduler resources, which are found by the names that they are installed under. One of them alone
      can watch a namespace.
    - Null, with a warning, if Deployments may be listed nowhere.
  returned: success and V(operators) in O(gather)
  type: list
  elements: dict
  contains:
    kind:
      description: What runs it, always V(Deployment).
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
      description: The namespaces whose SecondaryScheduler resources it works on, V(*) alone for all.
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
      description: V(olm) where a ClusterServiceVersion of the Operator Lifecycle Manager owns the Deployment, else V(manifests).
      type: str
      sample: manifests
    replicas:
      description: How many instances there shall be.
      type: int
      sample: 1
    ready:
      description: How many instances are ready.
      type: int
      sample: 1
openshift:
  description: Whether the cluster is OpenShift, that is whether it serves C(route.openshift.io).
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
kubernetes_version:
  description: The Kubernetes release of the API server, without its patch level.
  returned: success and V(platform) in O(gather)
  type: str
  sample: "1.34"
cluster:
  description: Which cluster it is.
  returned: success and V(cluster) in O(gather)
  type: dict
  contains:
    uid:
      description: The uid of its namespace C(kube-system), null if that must not be read.
      type: str
      sample: 3c0d5a9e-0f1c-4c6e-9a57-2b1c6f0d8e11
    server:
      description: URL of the API server that was asked.
      type: str
      sample: https://api.example.com:6443
unknown:
  description: >-
    What could not be read for lack of permission, so that schedulers or pods may be missing from the result, and logs that could not be read
    because a node did not answer.
  returned: success
  type: list
  elements: str
  sample: []
"""

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils.debugging import inside
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.pending_pods import conflicts, groups
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.survey import Survey

_UNSERVED = ("namespace", "name", "scheduler_name", "owner", "pending_seconds", "reason")
# What is returned -> the kind of which it is made
_KINDS = {"unserved_pods": "Pod", "pending_pods": "Pod", "pending_groups": "Pod", "operators": "Deployment"}


def run(module):
    wanted, gather = module.params["scheduler_name"], set(module.params["gather"])
    client = Client.connect(module.params, module.warn)
    survey = Survey(client, module.params["namespaces"])
    facts = [find for name, find in inside.FACTS.items() if name in gather]
    result = {"changed": False}
    warnings = []
    try:
        # Whether a pod is served depends on the schedulers, asked for or not.
        schedulers = survey.schedulers() if facts or {"schedulers", "pods", "pending"} & gather else []
    except ImportError as error:
        raise ClusterError(f"{error}: install PyYAML, or set ansible_python_interpreter to a Python that has it.") from None
    if facts or "schedulers" in gather:
        look = inside.Inside(client, survey, module.params["metrics_account"])
        result["schedulers"] = [entry for entry in schedulers if not wanted or wanted in entry["scheduler_names"]]
        for entry in result["schedulers"]:
            for find in facts:
                entry.update(find(look, entry))
    if "schedulers" in gather:
        result["conflicts"] = [one for one in conflicts(schedulers) if wanted in (None, one["scheduler_name"])]
    if {"pods", "pending"} & gather:
        pods = survey.pending(survey.pending_pods(wanted), schedulers)
        if "pods" in gather:
            result["unserved_pods"] = [{key: pod[key] for key in _UNSERVED} for pod in pods if pod["served"] is False]
        if "pending" in gather:
            result.update(pending_pods=pods, pending_groups=groups(pods))
    if "operators" in gather:
        result["operators"] = survey.operators()
    for key, kind in _KINDS.items():
        if key in result and kind in survey.unread:
            result[key] = None
            warnings.append(
                f"{key} is null: {kind}s may not be listed in {' or '.join(survey.namespaces)}; give namespaces in which you may list them."
            )
    if warnings:
        result["warnings"] = warnings
    if "platform" in gather:
        result.update(survey.platform())
    if "cluster" in gather:
        result["cluster"] = survey.cluster()
    return dict(result, unknown=survey.unknown)


def main():
    cluster_module(
        run,
        argument_spec=argument_spec(
            namespaces=dict(type="list", elements="str", default=[]),
            scheduler_name=dict(type="str"),
            gather=dict(
                type="list",
                elements="str",
                choices=["schedulers", "pods", "pending", "operators", "platform", "cluster", "profiles", "instances", "metrics"],
                default=["schedulers", "pods"],
            ),
            **inside.METRICS_ACCOUNT_SPEC,
        ),
        supports_check_mode=True,
    )


if __name__ == "__main__":
    main()
