#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_gather
short_description: Gather all that helps to find out what is wrong with schedulers into one file
version_added: 1.0.0
description:
  - Reads what belongs to the schedulers of a cluster and to their operators and writes it into one C(.tar.gz), with an index that says what
    is in it, where it is from, and what could not be read and why (C(index.json), and C(index.md) to read).
  - From each namespace with a scheduler or an operator, and from O(namespaces), it takes pods, Deployments, ReplicaSets, ConfigMaps,
    Secrets, Services, ServiceAccounts, events, Leases, roles, PodDisruptionBudgets and NetworkPolicies, and where they are served
    ServiceMonitors, PrometheusRules and the objects of the Operator Lifecycle Manager.
  - Besides it takes SecondaryScheduler resources, nodes, PriorityClasses, the events by which schedulers say that they found no node, on
    OpenShift the objects of its own scheduler, the logs of schedulers and operators, also from before their last restart, their metrics
    where they can be reached, and everything that M(osso.scheduler.scheduler_info) can tell.
  - It reads only, unless O(cache_dumps) is set. What may not be read, or can't be, as from a node that does not answer, is noted and does not
    stop the rest.
  - Of Secrets the API server is asked for names and labels only. Of ConfigMaps only configurations of schedulers are shown, of all others the
    keys and sizes, and of their annotations the keys. What is called like a credential is masked, in configurations, environment variables,
    flags, the texts of shells and objects, and the same values wherever else they stand. Lines of logs and of messages end at the first word
    after which a credential may follow.
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
      - Reads all the same and returns what would be in the file, but writes none and sends no signal.
  diff_mode:
    support: N/A
    details:
      - The file is new each time.
  idempotent:
    support: N/A
    details:
      - Each run writes what there is then, so it always reports a change, of the file.
options:
  path:
    description:
      - The file to write, on the host that the task runs on. Its name ends in C(.tar.gz); the name before that is the folder in it.
      - The directory must exist. A file of that name is replaced. Only its owner can read it.
    type: path
    required: true
  namespaces:
    description:
      - Namespaces in which Deployments are searched, besides those of SecondaryScheduler resources. All if the list is empty.
      - Their objects are in the file also if there is no scheduler in them, those of C(kube-system) if the list is empty.
    type: list
    elements: str
    default: []
  log_lines:
    description: How many lines to take from the end of each log. V(0) takes no logs.
    type: int
    default: 5000
  cache_dumps:
    description:
      - Also has the leading instance of each scheduler dump what it believes of nodes and pods, as M(osso.scheduler.scheduler_cache_dump)
        does with V(auto).
      - This is the only thing that may leave something in the cluster, an ended container that stays listed in the scheduler's pod. The index
        names it.
    type: bool
    default: false
  debug_image:
    description: With O(cache_dumps), the image of that container. It needs C(sh) and nothing else, and the node has to be able to pull it.
    type: str
notes:
  - Read it before you give it away. It names nodes, pods, images and addresses, and no list of what a credential is called is complete.
  - It needs the permission to get and list what it takes, to get C(pods/log), and for metrics to get and create C(pods/portforward).
    O(metrics_account) needs the permission to create C(serviceaccounts/token) besides, O(cache_dumps) to get and create C(pods/exec) and to
    patch C(pods/ephemeralcontainers).
seealso:
  - module: osso.scheduler.scheduler_info
  - module: osso.scheduler.scheduler_cache_dump
"""

EXAMPLES = r"""
- name: Gather what helps to find out what is wrong
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
  description: What is in it, besides the index. Paths are within the one folder in it.
  returned: success
  type: list
  elements: dict
  contains:
    file:
      description: Path in the tar.
      type: str
      sample: namespaces/openshift-secondary-scheduler-operator/pods.json
    what:
      description: What it is.
      type: str
      sample: pods in openshift-secondary-scheduler-operator
    source:
      description: Where it is from.
      type: str
      sample: GET /api/v1/namespaces/openshift-secondary-scheduler-operator/pods
    objects:
      description: How many objects are in it. Null for what is no list.
      type: int
      sample: 2
    bytes:
      description: Its size.
      type: int
      sample: 20480
missing:
  description: What could not be read, C(what) it is, its C(source), and C(why).
  returned: success
  type: list
  elements: dict
  sample:
    - what: secrets in batch
      source: GET /api/v1/namespaces/batch/secrets
      why: 'secrets is forbidden: User "someone" cannot list resource "secrets" in API group "" in the namespace "batch" (HTTP 403)'
notes:
  description: What else there is to know, such as what stays in the cluster.
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

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils.debugging import inside
from ansible_collections.osso.scheduler.plugins.module_utils.gathering import collect

OPTIONS = dict(
    path=dict(type="path", required=True),
    namespaces=dict(type="list", elements="str", default=[]),
    log_lines=dict(type="int", default=5000),
    **inside.METRICS_ACCOUNT_SPEC,
    cache_dumps=dict(type="bool", default=False),
    debug_image=dict(type="str"),
)


def run(module):
    options = collect.Options(**{name: module.params[name] for name in OPTIONS})
    try:
        return collect.gather(Client.connect(module.params, module.warn), options, module.check_mode)
    except ImportError as error:
        raise ClusterError(f"{error}: install PyYAML, or set ansible_python_interpreter to a Python that has it.") from None


def main():
    cluster_module(run, argument_spec=argument_spec(**OPTIONS), supports_check_mode=True)


if __name__ == "__main__":
    main()
