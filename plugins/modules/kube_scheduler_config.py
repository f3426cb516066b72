#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kube_scheduler_config
short_description: Validate a KubeSchedulerConfiguration before a scheduler reads it
version_added: 1.0.0
description:
  - Validates a C(KubeSchedulerConfiguration) in the same way as kube-scheduler of a given release with given plugins. The input is a structure, text,
    file, ConfigMap or preset. Each finding has line, column, field and remedy.
  - Returns the text for a ConfigMap, a hash of its content, the names that pods set as C(schedulerName) to be scheduled by this configuration, the
    completed configuration with all defaults, and the plugins that run, in their order.
  - Converts older versions of the configuration, and the scheduling policies before them, to a version that a newer release reads.
  - The image determines the rules. O(kubernetes_version) and O(plugins) have precedence. Otherwise name and tag of O(image) determine release and
    plugins. Without any of the three, the release is that of the connected cluster, with the plugins of Kubernetes itself.
  - If the image is unknown, only checks that apply to every release are made. RV(valid) is then V(false) or null, never V(true). With O(ask_image),
    the image itself validates the configuration.
  - Changes nothing.
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
  config:
    description:
      - The configuration as a structure.
      - Its findings name fields but no lines, because it has no text.
    type: dict
  content:
    description: The configuration as YAML or JSON text.
    type: str
  src:
    description: Path of a file with the configuration, on the host that the module runs on (with C(connection=local) the controller).
    type: path
  config_map:
    description:
      - A ConfigMap in the cluster that contains the configuration.
    type: dict
    suboptions:
      name:
        description: Name of the ConfigMap.
        type: str
        required: true
      namespace:
        description: Namespace of the ConfigMap.
        type: str
        required: true
      key:
        description: The key whose value is the configuration.
        type: str
        default: config.yaml
  preset:
    description:
      - The name of a configuration for a common purpose, with one profile. The collection's C(docs/presets.md) describes them and
        their parameters.
    type: str
    choices:
      - trimaran_target_load_packing
      - trimaran_load_variation_risk_balancing
      - low_risk_overcommitment
      - peaks
      - coscheduling
      - capacity_scheduling
      - node_resource_topology
      - node_resources_allocatable
      - low_node_utilization
      - high_node_utilization
      - packing
      - gpu_packing
      - zone_spread
      - gang_scheduling
      - no_scoring
  preset_parameters:
    description:
      - Parameters of the preset, by name. Each preset has a parameter C(scheduler_name).
    type: dict
    default: {}
  pools:
    description:
      - Pools, as in O(osso.scheduler.scheduler_pool#module:pools). The profile of a pool with nodes keeps its scheduler on these nodes.
      - O(config) and O(preset) get the C(addedAffinity) for it, unless they have one. If a text lacks it, the module fails and shows the lines to add.
    type: list
    elements: dict
    default: []
  kubernetes_version:
    description:
      - The release of the kube-scheduler, such as V(1.31), V(v1.31.4) or V(openshift-4.18).
      - If not given, or a release of OpenShift that is newer than this collection, it is that of O(image), and without O(image) that of the
        connected cluster.
    type: str
  image:
    description:
      - The scheduler's image. Its name and tag determine release and plugins for the images of Kubernetes and of kubernetes-sigs/scheduler-plugins,
        in any registry that keeps their names. Any other image is unknown.
      - The module warns about frozen registries. If it connects to the cluster, it also warns about a release that the cluster's release does not
        support.
    type: str
  plugins:
    description:
      - The plugins in the kube-scheduler binary. V(in-tree) are those of Kubernetes itself; V(scheduler-plugins) adds those of kubernetes-sigs for
        that release.
      - Another image is described by a mapping, or its YAML text. C(base) is one of these two, C(extra) is a list of plugins with C(name),
        C(points) (such as C([filter, score])) and C(args) (C(opaque), or field names with types such as C(string), C(*int32), C([]string)).
      - If not given, they are determined from O(image), and without O(image) the value is V(in-tree).
    type: raw
  flags:
    description:
      - The command line of the kube-scheduler, without its C(--config). Flags for leader election override the configuration, and feature gates
        determine which plugins exist.
    type: list
    elements: str
    default: []
  placeholders:
    description:
      - Texts that are replaced before a kube-scheduler reads the configuration, such as V(${PROM_TOKEN}) by the operator of this collection. Other
        placeholders cause a warning.
    type: list
    elements: str
    default: []
  mounted_paths:
    description:
      - The paths at which the scheduler's pod mounts volumes, besides its configuration. C(clientConnection.kubeconfig) must then be below one of them,
        because the scheduler does not start without this file.
      - If not given, such a field causes a warning.
    type: list
    elements: str
  convert_to:
    description:
      - The release that will read the configuration, such as V(1.31). The module converts the configuration to the newest version that this release
        reads. All results describe the converted configuration.
      - O(kubernetes_version) or O(image) specify the release that reads it today. If not given, this is the last release that reads its version.
    type: str
  ask_image:
    description:
      - Whether O(image) itself validates the configuration. A Job in the cluster runs its kube-scheduler with O(flags) and C(--write-config-to),
        which reads, validates and builds everything and exits. Its result determines RV(valid).
      - Requires the permissions to create and delete Jobs and Secrets, and to read pods and their logs, in O(ask_namespace). Job, pod and Secret are
        always deleted.
      - In check mode nothing is created, and RV(image_answer) is null.
    type: bool
    default: false
  ask_namespace:
    description:
      - Namespace of the Job. If not given, the namespace of O(config_map), and without it V(default).
    type: str
  ask_service_account:
    description: The ServiceAccount of the Job's pod. Some plugins send requests to the API server when they are built.
    type: str
    default: default
  ask_command:
    description:
      - The program in O(image), and arguments before O(flags), as the C(command) of the scheduler's container.
      - If not given, V([/usr/local/bin/kube-scheduler]) for images of Kubernetes itself and of EKS Distro, V([/kube-scheduler]) for
        scheduler-plugins v0.29.7, else V([/bin/kube-scheduler]).
    type: list
    elements: str
  ask_pull_secrets:
    description: Names of Secrets in O(ask_namespace) to pull O(image) with. If not given, those of O(ask_service_account) are used.
    type: list
    elements: str
    default: []
  ask_timeout:
    description: Timeout of the Job in seconds, including the time to pull the image.
    type: int
    default: 120
  compare_cluster:
    description:
      - Whether to compare the release of the image with the release of the cluster. Kubernetes supports a scheduler of the same release or of the
        previous one.
      - The module always does this if it connects to the cluster for another reason.
      - With this option, the module also reports what the cluster lacks for dynamic resource allocation if the configuration runs the plugin
        C(DynamicResources). It reads the served API groups and the ClusterRole C(system:kube-scheduler). If it may not read the role, it does not
        check the permissions.
      - It also reports if the configuration runs the plugin C(GangScheduling) and the API server does not serve the gangs of its release.
      - It also reports nodes that the power model of the plugin C(Peaks) lacks. If it may not list nodes, it does not check them.
    type: bool
    default: false
  fail_on:
    description:
      - When the task fails. V(error) is when kube-scheduler would reject the configuration or not start with it, or when its ConfigMap or key does
        not exist. With V(warning) it also fails on likely mistakes.
      - The message has one line for each finding. With V(never) the outcome is in RV(valid), RV(starts), RV(findings) and RV(reason); warnings are
        then not displayed.
    type: str
    choices: [error, warning, never]
    default: error
notes:
  - Connects to a cluster only for O(config_map), O(ask_image), O(compare_cluster), and when neither O(kubernetes_version) nor O(image) nor
    O(convert_to) is given.
  - A configuration can contain a credential, such as the token for Prometheus in a plugin's arguments. Findings never quote these values, but the
    return values RV(text) and RV(completed) are the whole configuration. If they contain a credential, Ansible does not print the result of the task,
    as with C(no_log=true). Errors are always printed.
seealso:
  - name: Scheduler Configuration
    description: The Kubernetes documentation about KubeSchedulerConfiguration.
    link: https://kubernetes.io/docs/reference/scheduling/config/
"""

EXAMPLES = r"""
- name: Validate a configuration for an image and register its text
  osso.scheduler.kube_scheduler_config:
    image: registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7
    config:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: KubeSchedulerConfiguration
      profiles:
        - schedulerName: secondary-scheduler
  register: scheduler_config

- name: Create a configuration that packs pods by the load that Prometheus measures
  osso.scheduler.kube_scheduler_config:
    image: registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7
    preset: trimaran_target_load_packing
    preset_parameters:
      scheduler_name: load-aware
      target_utilization: 60
  register: scheduler_config

- name: Validate a file on the controller for OpenShift
  osso.scheduler.kube_scheduler_config:
    src: "{{ playbook_dir }}/files/config.yaml"
    kubernetes_version: openshift-4.18
  delegate_to: localhost

- name: Convert an old file to the version that Kubernetes 1.31 reads
  osso.scheduler.kube_scheduler_config:
    src: "{{ playbook_dir }}/files/old.yaml"
    convert_to: "1.31"
  register: converted

- name: Validate a configuration for an image with a private plugin
  osso.scheduler.kube_scheduler_config:
    src: "{{ playbook_dir }}/files/config.yaml"
    kubernetes_version: "1.31"
    plugins:
      base: scheduler-plugins
      extra:
        - name: RackAware
          points: [filter, score]
          args: {rackLabel: string, weightOfEmpty: "*int32"}

- name: Let the image itself validate the configuration
  osso.scheduler.kube_scheduler_config:
    src: "{{ playbook_dir }}/files/config.yaml"
    image: registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7
    ask_image: true

- name: Validate a configuration in the cluster, without failing
  osso.scheduler.kube_scheduler_config:
    config_map:
      name: secondary-scheduler-config
      namespace: openshift-secondary-scheduler-operator
    fail_on: never
  register: scheduler_config
"""

RETURN = r"""
valid:
  description:
    - Whether kube-scheduler accepts the configuration. V(false) too if the ConfigMap or its key does not exist.
    - Null if no error was found, but the release of the kube-scheduler is unknown, see RV(target.unknown).
  returned: always
  type: bool
  sample: true
starts:
  description:
    - Whether kube-scheduler also starts with it and with O(flags). A valid configuration can still fail at leader election.
    - Null if unknown.
  returned: always
  type: bool
  sample: true
findings:
  description: Errors and likely mistakes.
  returned: always
  type: list
  elements: dict
  contains:
    severity:
      description: V(error) or V(warning). kube-scheduler accepts a configuration with warnings, and they do not change RV(valid).
      type: str
      sample: error
    code:
      description: Identifier of the kind of finding.
      type: str
      sample: unknown-field
    path:
      description: The field, empty for the document as a whole and for the image.
      type: str
      sample: profiles[1].schedulerName
    line:
      description: Line in the text, counted from 1. Null if the finding has no position, or O(config) or O(preset) was given.
      type: int
      sample: 5
    column:
      description: Column in the text, counted from 1. Null if the finding has no position, or O(config) or O(preset) was given.
      type: int
      sample: 18
    message:
      description: What is wrong.
      type: str
      sample: there is no such field
    hint:
      description: The remedy, empty if unknown.
      type: str
      sample: did you mean schedulerName?
    stage:
      description:
        - The stage at which kube-scheduler rejects it. V(decode), V(validate), V(build) and V(run) are its stages. V(advice) is for warnings. Empty
          for a text that is no document, and if the release is unknown.
      type: str
      sample: decode
target:
  description: The kube-scheduler that the results are for.
  returned: always
  type: dict
  contains:
    kubernetes_version:
      description: Its release, null if unknown.
      type: str
      sample: "1.31"
    kubernetes_version_from:
      description: V(option), V(image), V(cluster) or V(convert_to); null if unknown.
      type: str
      sample: image
    plugins:
      description: Its plugins, in the form of O(plugins); null if unknown.
      type: raw
      sample: scheduler-plugins
    plugins_from:
      description: V(option), V(image) or V(default); null if unknown.
      type: str
      sample: image
    unknown:
      description: Why release or plugins are unknown, empty otherwise.
      type: str
      sample: ""
scheduler_names:
  description: The scheduler names of the profiles, in their order.
  returned: always
  type: list
  elements: str
  sample: [secondary-scheduler]
api_version:
  description: The C(apiVersion) as written, empty if there is none.
  returned: always
  type: str
  sample: kubescheduler.config.k8s.io/v1
text:
  description:
    - The configuration for a ConfigMap. Null if none was found, and when the task fails.
    - From O(config) and O(preset) it is YAML in block style with the keys in their order. A text is returned unchanged, except for a byte order mark,
      line ends and empty lines at the end.
  returned: always
  type: str
  sample: |
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
hash:
  description: Twelve hexadecimal digits that change with RV(text) and with nothing else. Null if no text was found.
  returned: always
  type: str
  sample: 3f1f5a9c07be
completed:
  description:
    - The configuration with all defaults filled in, as kube-scheduler writes it with C(--write-config-to). Null if it is not valid or unknown, and when the
      task fails.
  returned: always
  type: dict
  sample: {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "parallelism": 16}
effective:
  description: The plugins that run, by scheduler name and extension point, in their order, each with its weight. Empty if not valid or unknown.
  returned: always
  type: dict
  sample: {"secondary-scheduler": {"queueSort": [["PrioritySort", 0]], "score": [["NodeResourcesFit", 5]]}}
asks_prometheus:
  description:
    - The enabled plugins that query Prometheus for the nodes' load, in the form of O(osso.scheduler.prometheus_info#module:plugins). Empty if the
      configuration is no mapping.
    - Includes those that query the load-watcher of the operator, by the placeholder C(${LOAD_WATCHER_URL}).
  returned: always
  type: list
  elements: str
  sample: [TargetLoadPacking]
missing_kinds:
  description:
    - With O(compare_cluster), the kinds that the enabled plugins of scheduler-plugins read and that the API server does not serve, as C(apiVersion/kind).
      Empty without it.
  returned: always
  type: list
  elements: str
  sample: [scheduling.x-k8s.io/v1alpha1/PodGroup]
conversion:
  description: The result of O(convert_to), null without it.
  returned: always
  type: dict
  contains:
    source:
      description: The release whose rules applied to the given text.
      type: str
      sample: "1.22"
    complete:
      description: Whether the converted text can be used unchanged.
      type: bool
      sample: true
    steps:
      description:
        - The conversions that were made, or that are impossible. C(kind) is V(exact), V(approximate) or V(impossible), C(path) the field, C(message)
          the change to it.
      type: list
      elements: dict
      sample: [{"kind": "exact", "path": "apiVersion", "message": "v1beta3 becomes v1"}]
image_answer:
  description: The result from O(image) itself, null if it did not run.
  returned: always
  type: dict
  contains:
    valid:
      description: Whether it accepts the configuration.
      type: bool
      sample: false
    error:
      description: Its error message if it does not. The values of possible credentials are omitted.
      type: str
      sample: 'strict decoding error: unknown field "profiels"'
found:
  description: Whether a text was found. Only O(config_map) can name one that does not exist.
  returned: always
  type: bool
  sample: true
reason:
  description: Why nothing was found, empty otherwise.
  returned: always
  type: str
  sample: ""
labels:
  description: The labels of the ConfigMap, empty if it does not exist.
  returned: always
  type: dict
  sample: {"team": "batch"}
annotations:
  description: The annotations of the ConfigMap, empty if it does not exist.
  returned: always
  type: dict
  sample: {"contact": "batch@example.com"}
resource_version:
  description: The C(resourceVersion) of the ConfigMap, empty if it does not exist.
  returned: always
  type: str
  sample: "4711"
"""

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import PRESETS
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.configuration import SOURCES, Options, validate_configuration


def run(module):
    options = Options(**{name: module.params[name] for name in Options._fields})
    return validate_configuration(options, lambda: Client.connect(module.params, module.warn), module.warn, module.check_mode)


def main():
    cluster_module(
        run,
        hidden=("config", "content", "preset_parameters"),
        argument_spec=argument_spec(
            config=dict(type="dict"),
            content=dict(type="str"),
            src=dict(type="path"),
            config_map=dict(
                type="dict",
                options=dict(
                    name=dict(type="str", required=True),
                    namespace=dict(type="str", required=True),
                    key=dict(type="str", default="config.yaml", no_log=False),
                ),
            ),
            preset=dict(type="str", choices=list(PRESETS)),
            preset_parameters=dict(type="dict", default={}),
            pools=dict(type="list", elements="dict", default=[]),
            kubernetes_version=dict(type="str"),
            image=dict(type="str"),
            plugins=dict(type="raw"),
            flags=dict(type="list", elements="str", default=[]),
            placeholders=dict(type="list", elements="str", default=[]),
            mounted_paths=dict(type="list", elements="str"),
            convert_to=dict(type="str"),
            ask_image=dict(type="bool", default=False),
            ask_namespace=dict(type="str"),
            ask_service_account=dict(type="str", default="default"),
            ask_command=dict(type="list", elements="str"),
            ask_pull_secrets=dict(type="list", elements="str", default=[], no_log=False),
            ask_timeout=dict(type="int", default=120),
            compare_cluster=dict(type="bool", default=False),
            fail_on=dict(type="str", choices=["error", "warning", "never"], default="error"),
        ),
        mutually_exclusive=[SOURCES],
        required_one_of=[SOURCES],
        required_if=[("ask_image", True, ["image"])],
        supports_check_mode=True,
    )


if __name__ == "__main__":
    main()
