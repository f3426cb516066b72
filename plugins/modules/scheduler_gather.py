#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_gather
short_description: Write a support bundle with data about schedulers and their operators
version_added: 1.0.0
description:
  - Reads the objects, logs and metrics of a cluster's schedulers and of their operators, and writes them to one C(.tar.gz). Its index (C(index.json),
    and C(index.md) for readers) lists the contents, their sources, and data that could not be read, with the reasons.
  - From each namespace with a scheduler or an operator, and from O(namespaces), it reads pods, Deployments, ReplicaSets, ConfigMaps,
    Secrets, Services, ServiceAccounts, events, Leases, roles, PodDisruptionBudgets and NetworkPolicies, and, if the cluster serves them,
    ServiceMonitors, PrometheusRules and the objects of the Operator Lifecycle Manager.
  - It also reads SecondaryScheduler resources, nodes, PriorityClasses, the events of schedulers that found no node, and on OpenShift the objects of
    the default scheduler. The bundle contains the logs of schedulers and operators, also from before their last restart, their metrics if they are
    reachable, and all results of M(osso.scheduler.scheduler_info).
  - It only reads, unless O(cache_dumps) is set. If data cannot be read, for lack of permission or because a node does not answer, the index records
    it and the module continues.
  - For Secrets, it only requests names and labels. Of ConfigMaps it only shows configurations of schedulers; of others it shows keys and sizes, and
    the keys of their annotations. Values with the name of a credential are masked in configurations, environment variables, flags, shell commands and
    objects, and the same values are masked everywhere else. Lines of logs and of messages end at the first word that a credential can follow.
author:
  - osso.scheduler contributors (@osso-scheduler)
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.metrics_account
  - osso.scheduler.attributes
  - osso.scheduler.attributes.actiongroup_scheduler
attributes:
  action_group: {}
  check_mode:
    support: full
    details:
      - Reads the same data and returns the contents of the file, but writes no file and sends no signal.
  diff_mode:
    support: N/A
    details:
      - The file is new each time.
  idempotent:
    support: N/A
    details:
      - Each run writes the current state, so it always reports a change of the file.
options:
  path:
    description:
      - The file to write, on the host that the task runs on. Its name ends in C(.tar.gz); the rest of the name is the folder in the archive.
      - The directory must exist. A file of that name is replaced. Only its owner can read it.
    type: path
    required: true
  namespaces:
    description:
      - Namespaces in which Deployments are searched, besides those of SecondaryScheduler resources. All if the list is empty.
      - The file contains their objects even if they contain no scheduler, and those of C(kube-system) if the list is empty.
    type: list
    elements: str
    default: []
  log_lines:
    description: Number of lines to read from the end of each log. V(0) reads no logs.
    type: int
    default: 5000
  cache_dumps:
    description:
      - Also dumps the cache and queue of the leading instance of each scheduler, as M(osso.scheduler.scheduler_cache_dump) does with V(auto).
      - Only this option can leave a trace in the cluster, a terminated container that stays listed in the scheduler's pod. The index names it.
    type: bool
    default: false
  debug_image:
    description: With O(cache_dumps), the image of that container. It only requires C(sh), and the node must be able to pull it.
    type: str
notes:
  - Read the file before you share it. It names nodes, pods, images and addresses, and no list of credential names is complete.
  - Requires the permissions to get and list the objects that it reads, to get C(pods/log), and for metrics to get and create C(pods/portforward).
    O(metrics_account) also requires the permission to create C(serviceaccounts/token), O(cache_dumps) to get and create C(pods/exec) and to patch
    C(pods/ephemeralcontainers).
seealso:
  - module: osso.scheduler.scheduler_info
  - module: osso.scheduler.scheduler_cache_dump
"""

EXAMPLES = r"""
- name: Write a support bundle
  osso.scheduler.scheduler_gather:
    path: "{{ private_folder }}/schedulers.tar.gz"
    namespaces:
      - kube-system
      - batch
    log_lines: 1000
  register: gathered

- name: Show what could not be read
  ansible.builtin.debug:
    msg: "{{ gathered.missing }}"
"""

RETURN = r"""
path:
  description: The file.
  returned: success
  type: str
  sample: /tmp/schedulers-localhost.tar.gz
size:
  description: Its size in bytes.
  returned: success
  type: int
  sample: 81920
files:
  description: Its contents, without the index. Paths are relative to the folder in the archive.
  returned: success
  type: list
  elements: dict
  contains:
    file:
      description: Path in the tar.
      type: str
      sample: namespaces/openshift-secondary-scheduler-operator/pods.json
    what:
      description: Description of the content.
      type: str
      sample: pods in openshift-secondary-scheduler-operator
    source:
      description: Source of the content.
      type: str
      sample: GET /api/v1/namespaces/openshift-secondary-scheduler-operator/pods
    objects:
      description: Number of objects in it. Null if it is no list.
      type: int
      sample: 2
    bytes:
      description: Its size.
      type: int
      sample: 20480
missing:
  description: Data that could not be read, with its description C(what), its C(source), and the reason C(why).
  returned: success
  type: list
  elements: dict
  sample:
    - what: secrets in batch
      source: GET /api/v1/namespaces/batch/secrets
      why: 'secrets is forbidden: User "someone" cannot list resource "secrets" in API group "" in the namespace "batch" (HTTP 403)'
notes:
  description: Further information, such as containers that stay listed in the cluster.
  returned: success
  type: list
  elements: str
  sample: []
msg:
  description: The outcome in one sentence.
  returned: success
  type: str
  sample: "Wrote /tmp/schedulers-localhost.tar.gz: 48 files, 81920 bytes."
"""

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import scheduler_details
from ansible_collections.osso.scheduler.plugins.module_utils._gathering import collect

OPTIONS = dict(
    path=dict(type="path", required=True),
    namespaces=dict(type="list", elements="str", default=[]),
    log_lines=dict(type="int", default=5000),
    **scheduler_details.METRICS_ACCOUNT_SPEC,
    cache_dumps=dict(type="bool", default=False),
    debug_image=dict(type="str"),
)


def run(module):
    options = collect.Options(**{name: module.params[name] for name in OPTIONS})
    return collect.gather(Client.connect(module.params, module.warn), options, module.check_mode)


def main():
    cluster_module(run, argument_spec=argument_spec(**OPTIONS), supports_check_mode=True)


if __name__ == "__main__":
    main()
