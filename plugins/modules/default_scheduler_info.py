#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: default_scheduler_info
short_description: What OpenShift's default scheduler is told, runs with, and how far its operator is
version_added: 1.0.0
author:
  - osso.scheduler contributors (@osso-scheduler)
description:
  - Reads the resources by which OpenShift's default scheduler is configured, the state of its operator, and the configuration that the
    schedulers run with.
  - Says which configuration the profile yields in this release of OpenShift, and whether that is what is there.
  - Says how far the rollout of a revision is, over all nodes of the control plane, and waits for it.
  - Works out what a change means, by O(wanted), without doing it.
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
  wanted:
    description: What is to be changed; what is not said is left out of RV(plan).
    type: dict
    suboptions:
      profile:
        description: C(spec.profile) of the Scheduler.
        type: str
        choices: [LowNodeUtilization, HighNodeUtilization, NoScoring]
      dynamic_resource_allocation:
        description: C(spec.profileCustomizations.dynamicResourceAllocation) of the Scheduler, of OpenShift 4.16 to 4.20.
        type: str
        choices: [Enabled, Disabled]
      masters_schedulable:
        description: C(spec.mastersSchedulable) of the Scheduler.
        type: bool
      default_node_selector:
        description: C(spec.defaultNodeSelector) of the Scheduler.
        type: str
      clear_policy:
        description: Whether a C(spec.policy.name), which stops the operator, is emptied.
        type: bool
        default: false
      log_level:
        description: C(spec.logLevel) of the KubeScheduler.
        type: str
        choices: [Normal, Debug, Trace, TraceAll]
      operator_log_level:
        description: C(spec.operatorLogLevel) of the KubeScheduler.
        type: str
        choices: [Normal, Debug, Trace, TraceAll]
      force_redeployment_reason:
        description: C(spec.forceRedeploymentReason) of the KubeScheduler. A new text makes a new revision.
        type: str
      failed_revision_limit:
        description: C(spec.failedRevisionLimit) of the KubeScheduler.
        type: int
      succeeded_revision_limit:
        description: C(spec.succeededRevisionLimit) of the KubeScheduler.
        type: int
      unsupported_config_overrides:
        description: C(spec.unsupportedConfigOverrides) of the KubeScheduler.
        type: dict
      i_understand_unsupported_overrides:
        description: Whether the one before is meant.
        type: bool
        default: false
  former:
    description: What was there before a change, for RV(new_revision).
    type: dict
    suboptions:
      scheduler:
        description: The former RV(scheduler).
        type: dict
        required: true
      kube_scheduler:
        description: The former RV(kube_scheduler).
        type: dict
        required: true
  openshift_version:
    description: The release of OpenShift, such as V(4.18). If not given, that of the ClusterVersion.
    type: str
  events:
    description: How many of the operator's latest events are returned.
    type: int
    default: 20
  wait_timeout:
    description: Seconds to wait until the rollout is complete. The task does not fail if it is not.
    type: int
    default: 0
  after_revision:
    description: A revision that does not count any more, since a change is expected to make a later one.
    type: int
    default: 0
  known_progress:
    description: A former RV(rollout.message). The wait ends, too, as soon as there is another one.
    type: str
seealso:
  - module: osso.scheduler.scheduler_info
"""

EXAMPLES = r"""
- name: Look at the default scheduler
  osso.scheduler.default_scheduler_info:
  register: default_scheduler

- name: Make sure that it runs what its profile says
  ansible.builtin.assert:
    that: default_scheduler.configuration.matches
    fail_msg: "{{ default_scheduler.configuration.differences | join(', ') }}"

- name: Wait until all nodes run the latest revision
  osso.scheduler.default_scheduler_info:
    wait_timeout: 1200
  register: default_scheduler
  failed_when: not default_scheduler.rollout.complete
"""

RETURN = r"""
openshift_version:
  description: The release of OpenShift, empty if nobody knows.
  returned: always
  type: str
  sample: 4.18.3
scheduler:
  description: C(spec) of the Scheduler C(cluster).
  returned: always
  type: dict
  sample: {"mastersSchedulable": false, "profile": "HighNodeUtilization"}
kube_scheduler:
  description: C(spec) of the KubeScheduler C(cluster), without what the operator observes itself.
  returned: always
  type: dict
  sample: {"logLevel": "Normal", "managementState": "Managed"}
new_revision:
  description: Whether the operator makes a new revision of what is otherwise than O(former), so that all schedulers start anew.
  returned: always
  type: bool
  sample: false
profile:
  description: The profile that counts, the default one included.
  returned: always
  type: str
  sample: LowNodeUtilization
policy:
  description: The dead C(spec.policy.name) of the Scheduler, empty as it should be.
  returned: always
  type: str
  sample: ""
configuration:
  description: The configuration of the schedulers.
  returned: always
  type: dict
  contains:
    expected:
      description: What the profile yields in this release, null if the release is not known.
      type: dict
      sample: {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    live:
      description: What is in the ConfigMap C(openshift-kube-scheduler/config), null if there is none.
      type: raw
      sample: {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    matches:
      description: Whether both are the same, null if that cannot be said.
      type: bool
      sample: true
    differences:
      description: What is different, one text a field.
      type: list
      elements: str
      sample: ["leaderElection.retryPeriod: expected '26s', is '2s'"]
    reason:
      description: Why they cannot be compared, empty if they can.
      type: str
      sample: ""
rollout:
  description: How far the latest revision is.
  returned: always
  type: dict
  contains:
    complete:
      description:
        - Whether the ClusterOperator is available, neither progressing nor degraded, every node of the control plane runs the latest revision, and that
          is later than O(after_revision).
      type: bool
      sample: false
    message:
      description: How far it is, in one line.
      type: str
      sample: revision 7 is on 1 of 3 nodes, node-2 is getting 7 after 6; Progressing is True
    failing:
      description: Why it will not come to an end by waiting, empty if it may.
      type: str
      sample: ""
    revision:
      description: The latest revision.
      type: int
      sample: 7
    nodes:
      description: By node C(name), C(revision), C(target) (0 if none), C(failed_revision) and C(failure).
      type: list
      elements: dict
      sample: [{"name": "node-1", "revision": 7, "target": 0, "failed_revision": 0, "failure": ""}]
conditions:
  description: By type the status of the conditions of KubeScheduler and ClusterOperator.
  returned: always
  type: dict
  sample: {"Available": "True", "Progressing": "False", "Degraded": "False"}
degraded_reasons:
  description: What they complain about.
  returned: always
  type: list
  elements: str
  sample: []
unmanaged:
  description: What of the operator the cluster-version operator is told to leave alone.
  returned: always
  type: list
  elements: str
  sample: []
debug_logging:
  description: Whether the role default_scheduler has raised the log level for a time.
  returned: always
  type: dict
  contains:
    active:
      description: Whether it has, its end is in the future, and the Job is there that lowers it then.
      type: bool
      sample: false
    noted:
      description: Whether what it has noted is there, C(level), C(back_to) and C(until), also after the end or without the Job.
      type: bool
      sample: false
    name:
      description: Name of the ClusterRole that owns what lowers it again.
      type: str
      sample: osso-scheduler-debug-logging
    level:
      description: The level it was raised to.
      type: str
      sample: Debug
    back_to:
      description: The level it goes back to.
      type: str
      sample: Normal
    until:
      description: When it does.
      type: str
      sample: "2026-01-01T12:00:00Z"
events:
  description: The operator's latest events, the newest last, out of C(openshift-kube-scheduler-operator).
  returned: always
  type: list
  elements: dict
  contains:
    time:
      description: When it happened last.
      type: str
      sample: "2026-01-01T12:00:00Z"
    type:
      description: V(Normal) or V(Warning).
      type: str
      sample: Normal
    reason:
      description: Its reason.
      type: str
      sample: NodeCurrentRevisionChanged
    message:
      description: Its text.
      type: str
      sample: Updated node "node-1" from revision 6 to 7 because static pod is ready
plan:
  description: What O(wanted) means.
  returned: always
  type: dict
  contains:
    manifests:
      description: What M(osso.scheduler.apply) is to be given for it.
      type: list
      elements: dict
      sample: [{"apiVersion": "config.openshift.io/v1", "kind": "Scheduler", "metadata": {"name": "cluster"}, "spec": {"profile": "NoScoring"}}]
    refusals:
      description: What speaks against it.
      type: list
      elements: str
      sample: []
    warnings:
      description: What should be known of it.
      type: list
      elements: str
      sample: []
    new_revision:
      description: Whether the operator makes a new revision of it, so that all schedulers start anew.
      type: bool
      sample: true
"""

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils.default_scheduler.survey import examine

LEVELS = ["Normal", "Debug", "Trace", "TraceAll"]


def run(module):
    return examine(Client.connect(module.params, module.warn), module.params)


def main():
    wanted = dict(
        profile=dict(type="str", choices=["LowNodeUtilization", "HighNodeUtilization", "NoScoring"]),
        dynamic_resource_allocation=dict(type="str", choices=["Enabled", "Disabled"]),
        masters_schedulable=dict(type="bool"),
        default_node_selector=dict(type="str"),
        clear_policy=dict(type="bool", default=False),
        log_level=dict(type="str", choices=LEVELS),
        operator_log_level=dict(type="str", choices=LEVELS),
        force_redeployment_reason=dict(type="str"),
        failed_revision_limit=dict(type="int"),
        succeeded_revision_limit=dict(type="int"),
        unsupported_config_overrides=dict(type="dict"),
        i_understand_unsupported_overrides=dict(type="bool", default=False),
    )
    cluster_module(
        run,
        argument_spec=argument_spec(
            wanted=dict(type="dict", options=wanted),
            former=dict(
                type="dict",
                options=dict(scheduler=dict(type="dict", required=True), kube_scheduler=dict(type="dict", required=True)),
            ),
            openshift_version=dict(type="str"),
            events=dict(type="int", default=20),
            wait_timeout=dict(type="int", default=0),
            after_revision=dict(type="int", default=0),
            known_progress=dict(type="str"),
        ),
        supports_check_mode=True,
    )


if __name__ == "__main__":
    main()
