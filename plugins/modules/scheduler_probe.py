#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_probe
short_description: Schedule a test pod and report which scheduler placed it
version_added: 1.0.0
description:
  - Creates a pause pod with a C(schedulerName), waits until a scheduler has placed it, and reports which scheduler placed it, on which node, and how
    long it took, or why no scheduler placed it.
  - The module always deletes the pod, even if the task fails, reaches its timeout or is ended by a signal. Only a killed module (SIGKILL) leaves it
    behind, with the label C(app.kubernetes.io/name=scheduler-probe).
  - The pod passes the Pod Security level C(restricted) and gets no token for the API.
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
      - The API server checks the pod without storing it. No scheduler sees it, so RV(placed) is null.
      - A missing namespace is no failure in check mode, because an earlier task may create it.
  diff_mode:
    support: N/A
    details:
      - A probe deletes all objects that it creates.
  idempotent:
    support: full
    details:
      - Only the pod's events remain, and they expire, so RV(ignore:changed) is always V(false). Every run schedules a pod.
options:
  scheduler_name:
    description: The C(schedulerName) of the pod, that is, the name of a scheduler's profile.
    type: str
    required: true
  namespace:
    description: Namespace of the pod. It must exist.
    type: str
    default: default
  image:
    description:
      - Image of the pod. It must run without arguments, as a user other than root, until it is stopped.
      - It is pulled only after the pod has been placed, so a probe without O(running) also works with an image that does not exist.
    type: str
    default: registry.k8s.io/pause:3.10
  timeout:
    description: How long to wait for the created pod to be placed, and running if O(running), in seconds.
    type: int
    default: 60
  running:
    description: Whether to wait until the pod is also running on its node.
    type: bool
    default: false
  expect:
    description:
      - When the task succeeds.
      - V(placed) requires that the pod is placed in time. If the scheduler finds no node, the module waits for the whole O(timeout), because nodes
        can be added.
      - V(unplaced) requires the opposite. It ends as soon as a scheduler has rejected the pod, else after O(timeout).
    type: str
    choices: [placed, unplaced]
    default: placed
  labels:
    description: Additional labels of the pod.
    type: dict
    default: {}
  node_selector:
    description: Node labels that the node must have.
    type: dict
    default: {}
  tolerations:
    description: Tolerations as in a pod's C(spec.tolerations). The pod also tolerates the taint of pools, see M(osso.scheduler.scheduler_pool).
    type: list
    elements: dict
    default: []
  resources:
    description:
      - Requests and limits as in C(resources) of a container.
      - By default the pod has none, unless the namespace's LimitRange adds some. A namespace with a ResourceQuota may require some.
    type: dict
    default: {}
  priority_class_name:
    description: PriorityClass of the pod. Note that a scheduler may evict pods of lower priority to place it.
    type: str
  image_pull_secrets:
    description: Names of Secrets in O(namespace) to pull O(image) with.
    type: list
    elements: str
    default: []
notes:
  - Requires the permissions to create, delete, list and watch pods and to list events in the namespace.
seealso:
  - module: osso.scheduler.scheduler_info
"""

EXAMPLES = r"""
- name: Verify that the secondary scheduler places pods
  osso.scheduler.scheduler_probe:
    scheduler_name: secondary-scheduler
  register: probe

- name: Fail if another scheduler placed the pod
  ansible.builtin.assert:
    that: probe.scheduler == 'secondary-scheduler'

- name: Schedule a pod with requests on a node of the batch pool and wait until it runs
  osso.scheduler.scheduler_probe:
    scheduler_name: batch
    namespace: jobs
    running: true
    timeout: 120
    resources:
      requests:
        cpu: 500m
        memory: 1Gi
    node_selector:
      pool: batch
    tolerations:
      - key: batch
        operator: Exists

- name: Verify that no scheduler uses a name any more
  osso.scheduler.scheduler_probe:
    scheduler_name: old-scheduler
    expect: unplaced
    timeout: 10
"""

RETURN = r"""
placed:
  description: Whether the pod was placed on a node. Null in check mode.
  returned: when the API server accepted the pod
  type: bool
  sample: true
scheduler:
  description:
    - The scheduler that placed or rejected the pod, from the reporting component of its event. For kube-scheduler this is the C(schedulerName) of the
      profile.
    - Null if no event exists, or if events cannot be read.
  returned: when the API server accepted the pod
  type: str
  sample: secondary-scheduler
node:
  description: The node that the pod was placed on, null if it was not placed.
  returned: when the API server accepted the pod
  type: str
  sample: worker-1
seconds:
  description:
    - Seconds from the request that created the pod to the notification that it was placed, as measured by the module. Null if it was not
      placed.
  returned: when the API server accepted the pod and not in check mode
  type: float
  sample: 0.034
seconds_running:
  description: Seconds from the request that created the pod to the notification that it was running, null if it was not running.
  returned: when the API server accepted the pod and not in check mode
  type: float
  sample: 1.214
reasons:
  description: Why the pod was not placed, or with O(running) why it does not run. Empty on success.
  returned: when the API server accepted the pod
  type: list
  elements: str
  sample: ["0/3 nodes are available: 3 Insufficient cpu."]
events:
  description: The pod's events, oldest first.
  returned: when the API server accepted the pod
  type: list
  elements: dict
  contains:
    time:
      description: When it happened, in RFC 3339.
      type: str
      sample: "2026-11-20T17:31:05.120407Z"
    type:
      description: V(Normal) or V(Warning).
      type: str
      sample: Normal
    reason:
      description: The reason of the event.
      type: str
      sample: Scheduled
    message:
      description: The message of the event.
      type: str
      sample: Successfully assigned default/osso-probe-3c1f9a7be2 to worker-1
    component:
      description: The reporting component, for a scheduler the C(schedulerName) of the profile.
      type: str
      sample: secondary-scheduler
    instance:
      description: The reporting instance, for a scheduler the name and its pod or host.
      type: str
      sample: secondary-scheduler-secondary-scheduler-7c9b7f6d5-x2x7k
conflicts:
  description:
    - Other running schedulers that use O(scheduler_name), also as a warning. One of them may have placed the pod.
    - Empty if the user may not list Deployments.
  returned: when a pod was created
  type: list
  elements: dict
  contains:
    scheduler_name:
      description: The name.
      type: str
      sample: batch
    schedulers:
      description: Kind, namespace and name of each of them.
      type: list
      elements: str
      sample: [Deployment team-a/batch, SecondaryScheduler team-b/batch]
    message:
      description: The effect and the remedy.
      type: str
      sample: >-
        Deployment team-a/batch and SecondaryScheduler team-b/batch place the same pods and do not see each other's decisions: give each its own
        schedulerName
pod:
  description: The probe pod, which no longer exists.
  returned: when a pod was created
  type: dict
  contains:
    namespace:
      description: Its namespace.
      type: str
      sample: default
    name:
      description: Its name.
      type: str
      sample: osso-probe-3c1f9a7be2
msg:
  description: The outcome in one sentence.
  returned: always
  type: str
  sample: secondary-scheduler placed the probe pod on worker-1 after 0.034 s.
"""

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pending_pods import conflicts_of_workloads
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.probe import Options, dry_run, probe
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import SchedulerDiscovery

OPTIONS = dict(
    scheduler_name=dict(type="str", required=True),
    namespace=dict(type="str", default="default"),
    image=dict(type="str", default="registry.k8s.io/pause:3.10"),
    timeout=dict(type="int", default=60),
    running=dict(type="bool", default=False),
    expect=dict(type="str", choices=["placed", "unplaced"], default="placed"),
    labels=dict(type="dict", default={}),
    node_selector=dict(type="dict", default={}),
    tolerations=dict(type="list", elements="dict", default=[]),
    resources=dict(type="dict", default={}),
    priority_class_name=dict(type="str"),
    image_pull_secrets=dict(type="list", elements="str", default=[], no_log=False),
)


def run(module):
    options = Options(**{name: module.params[name] for name in OPTIONS})
    client = Client.connect(module.params, module.warn)
    if module.check_mode:
        return dict(dry_run(client, options), changed=False)
    result = dict(probe(client, options), changed=False, conflicts=_conflicts(client, options.scheduler_name))
    for conflict in result["conflicts"]:
        module.warn(f"schedulerName {conflict['scheduler_name']}: {conflict['message']}")
    return result


def _conflicts(client, scheduler_name):
    """Other schedulers of this name: one of them may have placed the pod. Empty as far as they may not be read."""
    try:
        return conflicts_of_workloads(SchedulerDiscovery(client, []).schedulers(), scheduler_name)
    except ApiError:
        return []


def main():
    cluster_module(run, argument_spec=argument_spec(**OPTIONS), supports_check_mode=True)


if __name__ == "__main__":
    main()
