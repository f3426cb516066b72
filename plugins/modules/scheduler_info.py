#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_info
short_description: Tell which schedulers serve which names, and which pods wait for nobody
version_added: 1.0.0
description:
  - Finds the schedulers of a cluster and says for each under which names it places pods, whether it does so now, and who leads.
  - Finds the pods without a node that no scheduler looks after, with the reason.
  - Three kinds of schedulers are found. First the cluster's own, by its Lease C(kube-scheduler) and its static pods in C(kube-system)
    or C(openshift-kube-scheduler). Second C(SecondaryScheduler) resources in all namespaces, with the Deployment that an operator made
    of them. Third Deployments that run C(kube-scheduler), in the namespaces of O(namespaces) and in those of SecondaryScheduler
    resources.
author:
  - osso.scheduler contributors (@osso-scheduler)
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
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
      - Namespaces in which to look for Deployments that run C(kube-scheduler).
      - For a user who must not list SecondaryScheduler resources or pods in all namespaces, also those to look for them.
    type: list
    elements: str
    default: [kube-system]
  scheduler_name:
    description: Only report schedulers that serve this name, and pods that ask for it.
    type: str
  pods:
    description: Whether to look for pods that nobody serves.
    type: bool
    default: true
notes:
  - The names that a scheduler serves are read from the ConfigMap of its configuration. Those of the cluster's own scheduler can't be
    read through the API, so it is taken to serve C(default-scheduler).
  - The age of a Lease is measured with the clock of the host that the module runs on, with a tolerance of 10 seconds.
  - What can't be read for lack of permission is named in RV(unknown) and is no failure.
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

- name: Find out who serves the name secondary-scheduler
  osso.scheduler.scheduler_info:
    scheduler_name: secondary-scheduler
    namespaces:
      - kube-system
      - batch
    pods: false
"""

RETURN = r"""
schedulers:
  description: The schedulers that were found, the cluster's own first.
  returned: success
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
      description: In words why it serves or does not.
      type: str
      sample: 1 instance ready, secondary-scheduler-7c9b7f6d5-x2x7k_0e0e8c8a-8f0e-4a6e-9e6b-4a3c7c9d2f10 leads
unserved_pods:
  description:
    - Pods without a node that no scheduler looks after, because none serves the name that they ask for, because the one that does is
      not working, or because it has not looked at them for 30 seconds.
    - A pod for which a scheduler found no node, and one that waits at a scheduling gate, is not among them.
  returned: success and O(pods=true)
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
    pending_seconds:
      description: Age of the pod in seconds.
      type: int
      sample: 3605
    reason:
      description: Why nobody looks after it.
      type: str
      sample: no scheduler serves the name old-scheduler
unknown:
  description: What could not be read for lack of permission, so that schedulers or pods may be missing from the result.
  returned: success
  type: list
  elements: str
  sample: []
"""

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.survey import Survey


def run(module):
    wanted = module.params["scheduler_name"]
    survey = Survey(Client.from_module(module), module.params["namespaces"])
    try:
        schedulers = survey.schedulers()
    except ImportError as error:
        raise ClusterError(
            f"{error}: install PyYAML, or set ansible_python_interpreter to a Python that has it."
        ) from None
    result = {"changed": False}
    if module.params["pods"]:
        result["unserved_pods"] = survey.unserved(survey.pending_pods(wanted), schedulers)
    shown = [scheduler for scheduler in schedulers if not wanted or wanted in scheduler["scheduler_names"]]
    return dict(result, schedulers=shown, unknown=survey.unknown)


def main():
    cluster_module(
        run,
        argument_spec=argument_spec(
            namespaces=dict(type="list", elements="str", default=["kube-system"]),
            scheduler_name=dict(type="str"),
            pods=dict(type="bool", default=True),
        ),
        supports_check_mode=True,
    )


if __name__ == "__main__":
    main()
