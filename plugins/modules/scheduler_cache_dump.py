#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_cache_dump
short_description: Dump a scheduler's cache and queue, and compare them with the API server
version_added: 1.0.0
description:
  - Sends SIGUSR2 to a running kube-scheduler, which then writes its cache and its queue to its log. Reads this part of the log and returns it as a
    structure.
  - Compares the dump with the nodes and pods of the API server, which the module reads before and after the dump. Only values that are the same both
    times are compared, so changes in a busy cluster are not reported as differences.
  - The scheduler continues to schedule pods. The module sends the signal only to a process that has a handler for it.
  - The module supports the format of Kubernetes 1.28 to 1.37, which is the same in all of these releases.
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
      - Finds the scheduler and reports the planned steps in RV(msg), but sends no signal and adds no container.
      - Only starting a shell shows whether an image has one. So with O(method=auto) a possible ephemeral container counts as a change.
  diff_mode:
    support: N/A
    details:
      - The module can only change the list of a pod's ephemeral containers; RV(leftover) names it.
  idempotent:
    support: partial
    details:
      - Each run sends a signal. With an ephemeral container each run adds one to the pod.
options:
  method:
    description:
      - How to send the signal to the process.
      - V(exec) runs a shell in the scheduler's container, for images that have one.
      - V(ephemeral_container) adds a container of O(debug_image) to the pod, which shares the scheduler's processes, sends the signal
        and ends at once. Kubernetes cannot remove it; it stays listed in the pod. Static pods do not support it.
      - V(host) signals a process on the host that the task runs on. Delegate the task to the scheduler's node, with the permission to signal its
        processes. Use it for static pods without a shell, and for schedulers outside of pods.
      - V(auto) is V(exec) and, if the image has no shell, V(ephemeral_container).
    type: str
    choices: [auto, exec, ephemeral_container, host]
    default: auto
  debug_image:
    description:
      - Image of the ephemeral container. It only requires C(sh), and the node must be able to pull it.
      - It runs as the user that the pod or container specifies. If they specify none, it gets the capability C(KILL).
    type: str
    default: registry.k8s.io/e2e-test-images/busybox:1.29-4
  process:
    description: Name of the scheduler's program, as C(/proc/PID/comm) has it.
    type: str
    default: kube-scheduler
  pid:
    description: With O(method=host), the process ID. Required if the host has several processes with the name O(process).
    type: int
  log_path:
    description:
      - With O(method=host), the log file of a scheduler outside of pods.
      - The documentation of the collection, C(docs/debugging.md), has tasks for static pods and for processes of a host.
    type: path
  timeout:
    description: >-
      Seconds to wait for the end of the ephemeral container, and again for the dump in the log. An image that cannot be pulled ends the wait at once.
    type: int
    default: 60
  compare:
    description:
      - Whether to read all nodes and pods of the API server and compare the dump with them.
      - With O(pod) or O(log_path), set O(scheduler_name) to the C(schedulerName) of this scheduler. The comparison then expects its pending pods in
        its queue.
    type: bool
    default: true
notes:
  - The node's log must contain the whole dump. With some thousand nodes the dump is larger than 10 MiB, the default size at which a kubelet rotates a
    log.
  - Only the leading instance processes its queue. With C(delayCacheUntilActive), only the leading instance has a cache.
  - Requires the permissions to get pods and C(pods/log), to get and create C(pods/exec) for V(exec), to patch C(pods/ephemeralcontainers) for
    V(ephemeral_container), to list nodes and pods for O(compare), and the permissions for M(osso.scheduler.scheduler_info) with O(scheduler_name).
seealso:
  - module: osso.scheduler.scheduler_info
  - module: osso.scheduler.scheduler_pprof
"""

EXAMPLES = r"""
- name: Dump the cache of the scheduler
  osso.scheduler.scheduler_cache_dump:
    scheduler_name: secondary-scheduler
    debug_image: registry.example.com/busybox:1
  register: believes

- name: Show the differences from the API server
  ansible.builtin.debug:
    msg: "{{ believes.comparison.differences | map(attribute='message') }}"

- name: Dump the cache of the scheduler in a pod
  osso.scheduler.scheduler_cache_dump:
    pod:
      namespace: "{{ believes.target.namespace }}"
      name: "{{ believes.target.pod }}"
    debug_image: registry.example.com/busybox:1
    compare: false
"""

RETURN = r"""
target:
  description: The instance that was examined, null for a process outside of pods.
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
  description: What remains in the cluster, as a text; empty if nothing remains.
  returned: success
  type: str
  sample: >-
    The ephemeral container osso-dump-0c1d2e3f has ended; it stays listed in the pod
    openshift-secondary-scheduler-operator/secondary-scheduler-7c9b7f6d5-x2x7k until that is replaced.
dump:
  description: The dump of the scheduler. Null in check mode.
  returned: success
  type: dict
  contains:
    time:
      description: When it was written, by the scheduler's clock, as in the log.
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
          description: Whether the node was deleted and the cache only contains its pods.
          type: bool
          sample: false
        requested:
          description: >-
            The sum of its pods' requests: C(cpu_millis), C(memory) and C(ephemeral_storage) in bytes, and C(scalar) with extended resources and huge
            pages by name. C(pods) is always 0.
          type: dict
          sample: {cpu_millis: 150, memory: 52428800, ephemeral_storage: 0, pods: 0, scalar: {}}
        allocatable:
          description: The allocatable resources of the node, in the same form. C(pods) is the maximum number of pods.
          type: dict
          sample: {cpu_millis: 2000, memory: 8326463488, ephemeral_storage: 47093746742, pods: 110, scalar: {}}
        pods:
          description: The pods on it, including those that the scheduler has assumed there but not yet bound.
          type: list
          elements: dict
          sample: [{namespace: default, name: web-0, uid: 5a0b6c4e-5d9d-4d39-8c68-7a8f9b1a2c3d, phase: Running, nominated_node: "", queue: ""}]
        nominated:
          description: The pods that are nominated for it after the eviction of others, in the same form.
          type: list
          elements: dict
          sample: []
    queues:
      description: Number of pods in each queue.
      type: dict
      sample: {active: 0, backoff: 1, unschedulable: 2}
    queue:
      description: These pods, each with the name of its C(queue).
      type: list
      elements: dict
      sample: [{namespace: default, name: web-1, uid: 0f7f3a52-4c1b-4a59-9d3e-0d7f6d1f5f11, phase: Pending, nominated_node: "", queue: unschedulable}]
    mismatches:
      description: >-
        The differences between its cache and the API server that the scheduler itself found: names of nodes and uids of pods, C(missed) in the cache
        or C(redundant) there. RV(comparison.mismatches) explains them.
      type: dict
      sample: {missed_nodes: [], redundant_nodes: [], missed_pods: [], redundant_pods: []}
comparison:
  description: The comparison of the dump with the API server. Null in check mode, and without O(compare).
  returned: success
  type: dict
  contains:
    consistent:
      description: Whether there are no RV(comparison.differences).
      type: bool
      sample: false
    differences:
      description: Differences of the dump from values that the API server returned before and after it.
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
          description: The difference as a text.
          type: str
          sample: "pod default/web-0: the scheduler counts it on worker-1, but it has ended or was deleted"
        node:
          description: The affected node, empty if none.
          type: str
          sample: worker-1
        namespace:
          description: Namespace of the affected pod, empty if none.
          type: str
          sample: default
        pod:
          description: The affected pod, empty if none.
          type: str
          sample: web-0
    in_flux:
      description: Number of pods that were created, deleted or bound meanwhile. They are not compared.
      type: int
      sample: 0
    mismatches:
      description: The entries of RV(dump.mismatches), each with its meaning.
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

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import cache_dump
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import INSTANCE_SPEC

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
