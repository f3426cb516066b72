#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: default_scheduler_info
short_description: Read configuration, rollout and operator state of OpenShift's default scheduler
version_added: 1.0.0
author:
  - osso.scheduler contributors (@osso-scheduler)
description:
  - Reads the resources that configure OpenShift's default scheduler, the state of its operator, and the live configuration of the schedulers.
  - Returns the configuration that the profile produces in this release of OpenShift, and whether the live configuration matches it.
  - Returns the progress of a revision's rollout on all nodes of the control plane, and waits for it.
  - With O(wanted), determines the effects of a change without making it.
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
    description: The requested changes. RV(plan) does not contain options that are not set.
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
        description: Whether to empty a C(spec.policy.name), which stops the operator.
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
        description: C(spec.forceRedeploymentReason) of the KubeScheduler. A new text causes a new revision.
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
        description: Confirms O(wanted.unsupported_config_overrides).
        type: bool
        default: false
  former:
    description: The state before a change, for RV(new_revision).
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
    description: The release of OpenShift, such as V(4.18). If not given, or newer than this collection, that of the ClusterVersion.
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
    description: A revision that no longer counts, because a change is expected to cause a later one.
    type: int
    default: 0
  known_progress:
    description: A former RV(rollout.message). The wait also ends as soon as the message is different.
    type: str
seealso:
  - module: osso.scheduler.scheduler_info
"""

EXAMPLES = r"""
- name: Read the state of the default scheduler
  osso.scheduler.default_scheduler_info:
  register: default_scheduler

- name: Verify that the live configuration matches the profile
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
  description: The release of OpenShift, empty if unknown.
  returned: always
  type: str
  sample: 4.18.3
scheduler:
  description: C(spec) of the Scheduler C(cluster).
  returned: always
  type: dict
  sample: {"mastersSchedulable": false, "profile": "HighNodeUtilization"}
kube_scheduler:
  description: C(spec) of the KubeScheduler C(cluster), without the configuration that the operator observes itself.
  returned: always
  type: dict
  sample: {"logLevel": "Normal", "managementState": "Managed"}
new_revision:
  description: Whether the differences from O(former) cause a new revision, so that all schedulers restart.
  returned: always
  type: bool
  sample: false
profile:
  description: The effective profile, including the default one.
  returned: always
  type: str
  sample: LowNodeUtilization
policy:
  description: The obsolete C(spec.policy.name) of the Scheduler, which should be empty.
  returned: always
  type: str
  sample: ""
configuration:
  description: The configuration of the schedulers.
  returned: always
  type: dict
  contains:
    expected:
      description: The configuration that the profile produces in this release, null if the release is unknown.
      type: dict
      sample: {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    live:
      description: The configuration in the ConfigMap C(openshift-kube-scheduler/config), null if it does not exist.
      type: raw
      sample: {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    matches:
      description: Whether both are the same, null if unknown.
      type: bool
      sample: true
    differences:
      description: The differences, one text for each field.
      type: list
      elements: str
      sample: ["leaderElection.retryPeriod: expected '26s', is '2s'"]
    reason:
      description: Why they cannot be compared, empty if they can.
      type: str
      sample: ""
rollout:
  description: The progress of the latest revision.
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
      description: The progress, in one line.
      type: str
      sample: revision 7 is on 1 of 3 nodes, node-2 is getting 7 after 6; Progressing is True
    failing:
      description: The reason if the rollout cannot complete without a change, else empty.
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
  description: The messages of the Degraded conditions of both.
  returned: always
  type: list
  elements: str
  sample: []
unmanaged:
  description: The components of the operator that C(spec.overrides) of the ClusterVersion excludes from the cluster-version operator.
  returned: always
  type: list
  elements: str
  sample: []
other_overrides:
  description: The entries of C(spec.overrides) of others that an apply of another entry has to contain, because the list is one value before OpenShift 4.15.
  returned: always
  type: list
  elements: dict
  sample: []
debug_logging:
  description: Whether the role default_scheduler has raised the log level for a time.
  returned: always
  type: dict
  contains:
    active:
      description: Whether the level is raised, its end is in the future, and the Job exists that restores the level then.
      type: bool
      sample: false
    noted:
      description: Whether the recorded values C(level), C(back_to) and C(until) exist, also after the end or without the Job.
      type: bool
      sample: false
    name:
      description: Name of the ClusterRole that owns the objects that restore the level.
      type: str
      sample: osso-scheduler-debug-logging
    level:
      description: The level it was raised to.
      type: str
      sample: Debug
    back_to:
      description: The level that is restored.
      type: str
      sample: Normal
    until:
      description: When the level is restored.
      type: str
      sample: "2026-01-01T12:00:00Z"
events:
  description: The operator's latest events in C(openshift-kube-scheduler-operator), the newest last.
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
  description: The effects of O(wanted).
  returned: always
  type: dict
  contains:
    manifests:
      description: The manifests for M(osso.scheduler.apply).
      type: list
      elements: dict
      sample: [{"apiVersion": "config.openshift.io/v1", "kind": "Scheduler", "metadata": {"name": "cluster"}, "spec": {"profile": "NoScoring"}}]
    refusals:
      description: Reasons why the change is rejected.
      type: list
      elements: str
      sample: []
    warnings:
      description: Warnings about the change.
      type: list
      elements: str
      sample: []
    new_revision:
      description: Whether the change causes a new revision, so that all schedulers restart.
      type: bool
      sample: true
"""

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._default_scheduler.state import read_state

LEVELS = ["Normal", "Debug", "Trace", "TraceAll"]


def run(module):
    return read_state(Client.connect(module.params, module.warn), module.params)


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
