#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_cache_dump
short_description: Show what a scheduler believes of nodes and pods, and where that is not as the API server has it
version_added: 1.0.0
description:
  - Sends SIGUSR2 to a running kube-scheduler, which then writes its cache and its queue into its log, reads the log since then, and
    returns it as structure.
  - Compares it with the nodes and pods of the API server. These are read before the dump and after it, and only what they say both
    times counts, so that a busy cluster is no difference.
  - The scheduler goes on scheduling. Only a process that has a handler for the signal gets it.
  - Kubernetes 1.28 to 1.36 write the same dump, which is the one that is understood.
author:
  - osso.scheduler contributors (@osso-scheduler)
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.instance
  - osso.scheduler.attributes
  - osso.scheduler.attributes.actiongroup_scheduler
attributes:
  action_group: {}
  check_mode:
    support: full
    details:
      - Finds the scheduler and says in RV(msg) what would be done, but sends no signal and adds no container.
      - Whether an image has a shell shows only when one is started. So with O(method=auto) a possible ephemeral container counts as change.
  diff_mode:
    support: N/A
    details:
      - The only thing that it may change is the list of a pod's ephemeral containers, which RV(leftover) names.
  idempotent:
    support: partial
    details:
      - Each run sends a signal. With an ephemeral container each run adds one to the pod.
options:
  method:
    description:
      - How the signal gets to the process.
      - V(exec) runs a shell in the scheduler's container, for images that have one.
      - V(ephemeral_container) adds a container of O(debug_image) to the pod, which shares the scheduler's processes, sends the signal
        and ends at once. Kubernetes cannot remove it; it stays listed in the pod. A static pod can't get one.
      - V(host) signals a process of the host that the task runs on, so the task has to be delegated to the scheduler's node, with the
        right to signal its processes. This is the way for static pods without a shell, and for schedulers that are in no pod.
      - V(auto) is V(exec) and, where the image has no shell, V(ephemeral_container).
    type: str
    choices: [auto, exec, ephemeral_container, host]
    default: auto
  debug_image:
    description:
      - Image of the ephemeral container. It needs C(sh) and nothing else, and the node has to be able to pull it.
      - It runs as the user that the pod or container says. Where they say none it gets the capability C(KILL).
    type: str
    default: registry.k8s.io/e2e-test-images/busybox:1.29-4
  process:
    description: Name of the scheduler's program, as C(/proc/PID/comm) has it.
    type: str
    default: kube-scheduler
  pid:
    description: With O(method=host), the process, where the host has several of the name O(process).
    type: int
  log_path:
    description:
      - With O(method=host), the file on the host into which a scheduler that is in no pod logs.
      - The documentation of the collection, C(docs/debugging.md), has tasks for static pods and for processes of a host.
    type: path
  timeout:
    description: Seconds to wait for the ephemeral container to have run, and again for the dump to be in the log.
    type: int
    default: 60
  compare:
    description:
      - Whether to read all nodes and pods of the API server and compare the dump with them.
      - With O(pod) or O(log_path), O(scheduler_name) says which name this scheduler serves. Pods that wait for it are then expected in its queue.
    type: bool
    default: true
notes:
  - A whole dump has to be in the log that the node keeps. With some thousand nodes it is larger than 10 MiB, at which a kubelet begins a
    new log by default.
  - Only the leading instance has a queue that moves. With C(delayCacheUntilActive), only that one has a cache.
  - Needs the permission to get pods and C(pods/log), to get and create C(pods/exec) for V(exec), to patch C(pods/ephemeralcontainers) for
    V(ephemeral_container), to list nodes and pods for O(compare), and what M(osso.scheduler.scheduler_info) needs for O(scheduler_name).
seealso:
  - module: osso.scheduler.scheduler_info
  - module: osso.scheduler.scheduler_pprof
"""

EXAMPLES = r"""
- name: What does the scheduler believe?
  osso.scheduler.scheduler_cache_dump:
    scheduler_name: secondary-scheduler
    debug_image: registry.example.com/busybox:1
  register: believes

- name: Show where the API server says something else
  ansible.builtin.debug:
    msg: "{{ believes.comparison.differences | map(attribute='message') }}"

- name: Look into the pod of another scheduler
  osso.scheduler.scheduler_cache_dump:
    pod:
      namespace: "{{ believes.target.namespace }}"
      name: "{{ believes.target.pod }}"
    debug_image: registry.example.com/busybox:1
    compare: false
"""

RETURN = r"""
target:
  description: The instance that was looked into, null for a process that is in no pod.
  returned: success
  type: dict
  sample:
    namespace: openshift-secondary-scheduler-operator
    pod: secondary-scheduler-7c9b7f6d5-x2x7k
    container: secondary-scheduler
    node: worker-1
    static: false
method:
  description: How the signal was sent. Null in check mode.
  returned: success
  type: str
  sample: ephemeral_container
leftover:
  description: What stays in the cluster, in words; empty if nothing does.
  returned: success
  type: str
  sample: >-
    The ephemeral container osso-dump-0c1d2e3f has ended; it stays listed in the pod
    openshift-secondary-scheduler-operator/secondary-scheduler-7c9b7f6d5-x2x7k until that is replaced.
dump:
  description: What the scheduler wrote. Null in check mode.
  returned: success
  type: dict
  contains:
    time:
      description: When it was written, by the scheduler's clock, as the log has it.
      type: str
      sample: "1122 05:26:55.123456"
    nodes:
      description: The nodes in its cache, by name.
      type: list
      elements: dict
      contains:
        name:
          description: Name of the node.
          type: str
          sample: worker-1
        deleted:
          description: Whether the node is gone and only its pods are left in the cache.
          type: bool
          sample: false
        requested:
          description: >-
            What its pods ask for together: C(cpu_millis), C(memory) and C(ephemeral_storage) in bytes, and C(scalar) with extended
            resources and huge pages by name. C(pods) is always 0.
          type: dict
          sample: {cpu_millis: 150, memory: 52428800, ephemeral_storage: 0, pods: 0, scalar: {}}
        allocatable:
          description: What the node has for pods, in the same form. C(pods) is how many it may have.
          type: dict
          sample: {cpu_millis: 2000, memory: 8326463488, ephemeral_storage: 47093746742, pods: 110, scalar: {}}
        pods:
          description: The pods on it, those included that the scheduler has only decided to place there.
          type: list
          elements: dict
          sample: [{namespace: default, name: web-0, uid: 5a0b6c4e-5d9d-4d39-8c68-7a8f9b1a2c3d, phase: Running, nominated_node: "", queue: ""}]
        nominated:
          description: The pods that are to come when others have been evicted, in the same form.
          type: list
          elements: dict
          sample: []
    queues:
      description: How many pods are in each queue.
      type: dict
      sample: {active: 0, backoff: 1, unschedulable: 2}
    queue:
      description: These pods. C(queue) says in which one each is.
      type: list
      elements: dict
      sample: [{namespace: default, name: web-1, uid: 0f7f3a52-4c1b-4a59-9d3e-0d7f6d1f5f11, phase: Pending, nominated_node: "", queue: unschedulable}]
    mismatches:
      description: >-
        Where the scheduler itself found that its cache is not as what it hears from the API server: names of nodes and uids of pods,
        C(missed) in the cache or C(redundant) there. RV(comparison.mismatches) says what they mean.
      type: dict
      sample: {missed_nodes: [], redundant_nodes: [], missed_pods: [], redundant_pods: []}
comparison:
  description: The dump beside the API server. Null in check mode, and without O(compare).
  returned: success
  type: dict
  contains:
    consistent:
      description: Whether there are no RV(comparison.differences).
      type: bool
      sample: false
    differences:
      description: What the API server says before and after the dump, and the dump does not.
      type: list
      elements: dict
      contains:
        kind:
          description: >-
            V(missing_node), V(ghost_node), V(allocatable) or V(requested) of a node; V(missing_pod), V(stale_pod), V(pod_elsewhere),
            V(missing_in_queue) or V(stale_in_queue) of a pod.
          type: str
          sample: stale_pod
        message:
          description: The difference in words.
          type: str
          sample: "pod default/web-0: the scheduler counts it on worker-1, but it has ended or is gone"
        node:
          description: The node that it is about, empty if none.
          type: str
          sample: worker-1
        namespace:
          description: Namespace of the pod that it is about, empty if none.
          type: str
          sample: default
        pod:
          description: The pod that it is about, empty if none.
          type: str
          sample: web-0
    in_flux:
      description: How many pods came, went or got a node meanwhile. Nothing is said of them.
      type: int
      sample: 0
    mismatches:
      description: The entries of RV(dump.mismatches), each with what it means.
      type: list
      elements: dict
      sample:
        - kind: missed_pods
          subject: 0f7f3a52-4c1b-4a59-9d3e-0d7f6d1f5f11
          namespace: default
          pod: web-1
          meaning: "no mismatch: it waits for other-scheduler, which is another scheduler"
msg:
  description: The outcome in one sentence.
  returned: always
  type: str
  sample: kube-system/second-5d8f6b7c9-abcde knows 3 nodes with 12 pods, and has 0 pods in its queue, as the API server has it.
"""

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils.debugging import cache_dump
from ansible_collections.osso.scheduler.plugins.module_utils.debugging.target import INSTANCE_SPEC

OPTIONS = dict(
    **INSTANCE_SPEC,
    method=dict(type="str", choices=["auto", "exec", "ephemeral_container", "host"], default="auto"),
    debug_image=dict(type="str", default="registry.k8s.io/e2e-test-images/busybox:1.29-4"),
    process=dict(type="str", default="kube-scheduler"),
    pid=dict(type="int"),
    log_path=dict(type="path"),
    timeout=dict(type="int", default=60),
    compare=dict(type="bool", default=True),
)


def run(module):
    options = cache_dump.Options(**{name: module.params[name] for name in OPTIONS})
    work = cache_dump.plan if module.check_mode else cache_dump.run
    return work(Client.connect(module.params, module.warn), options)


def main():
    cluster_module(run, argument_spec=argument_spec(**OPTIONS), supports_check_mode=True)


if __name__ == "__main__":
    main()
