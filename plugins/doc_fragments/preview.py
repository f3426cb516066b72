# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

_SIDE = r"""
      config:
        description: The configuration as a structure.
        type: dict
      config_text:
        description: The configuration as YAML or JSON text.
        type: str
      config_file:
        description: Path of a file with the configuration, on the host that the task runs on.
        type: path
      preset:
        description: The name of a preset, as in O(osso.scheduler.kube_scheduler_config#module:preset).
        type: str
      preset_parameters:
        description: Parameters of the preset, by name.
        type: dict
      binary:
        description:
          - Path of the kube-scheduler program, on the host that the task runs on.
          - If not given, the program is extracted from C(image) with skopeo, and deleted at the end.
        type: path
      image:
        description: The scheduler's image. Its name and tag also determine release and plugins, if they are known.
        type: str
      auth_file:
        description: The file with the registry's credentials, for skopeo.
        type: path
      validate_certs:
        description: Whether skopeo verifies the certificate of the registry.
        type: bool
        default: true
      skopeo:
        description: The skopeo program.
        type: str
        default: skopeo
      release:
        description: The Kubernetes release of the program, such as V(1.34). If not given, that of the image's tag, else the answer of the program.
        type: str
      plugins:
        description: The plugins in the program, as in O(osso.scheduler.kube_scheduler_config#module:plugins).
        type: raw
      flags:
        description: The command line of the scheduler. Feature gates and the emulated version are used; other flags do not change where pods are placed.
        type: list
        elements: str
      feature_gates:
        description: Feature gates to set, by name.
        type: dict
      as_scheduler:
        description:
          - The profile (C(schedulerName)) that places the pods, whatever C(schedulerName) they have.
          - If not given, the only profile. With several profiles, each pod must name one of them.
        type: str
      allow_extenders:
        description:
          - Whether the scheduler may call the C(extenders) of the configuration. They receive the pods that are placed.
          - An extender is never asked to bind a pod.
        type: bool
        default: false
"""


class ModuleDocFragment:
    """Options of modules that run a kube-scheduler against a copy of a cluster."""

    # ansible-test's yamllint can read only a single text in a plain assignment.
    DOCUMENTATION: str = (
        r"""
options:
  candidate:
    description:
      - The scheduler and the configuration to preview. Exactly one of C(config), C(config_text), C(config_file) and C(preset) is required.
      - The placeholders C(${PROM_URL}), C(${PROM_TOKEN}) and C(${LOAD_WATCHER_URL}) are replaced by values with which no load is measured.
      - If the copy of the cluster contains the load of the nodes (C(metrics.k8s.io)), plugins that use the load get this one.
    type: dict
    required: true
    suboptions:"""
        + _SIDE
        + r"""
  snapshot:
    description:
      - Path of a file of M(osso.scheduler.scheduler_snapshot), or of a list that C(kubectl get -o json) printed. The module then connects to no cluster.
      - If not given, the module reads the connected cluster.
    type: path
  timeout:
    description: Timeout of each run of a scheduler in seconds.
    type: int
    default: 600
notes:
  - Requires Linux and a program for the architecture of the host that the task runs on.
  - The scheduler ends with the module, even if that is killed (SIGKILL). Only a program that was extracted from an image then remains, in the folder
    for temporary files.
  - Without O(snapshot), requires the permissions to list nodes and pods of all namespaces. Other kinds that the user is not permitted to list are in
    RV(missing).
  - Configurations with C(extenders) are rejected unless C(allow_extenders) is true, because a call of an extender can have side effects.
"""
    )

    BASELINE: str = (
        r"""
options:
  baseline:
    description:
      - A second scheduler and configuration to compare with, such as the present ones. If not given, each pod is compared with its present node.
      - Without C(binary) and C(image), it runs with the program of O(candidate).
      - With C(secondary_scheduler), the configuration and the image are the present ones of this C(SecondaryScheduler) resource of the connected cluster.
        If it does not exist, each pod is compared with its present node.
      - With C(scheduler_name), they are those of the scheduler that now places pods with this C(schedulerName), as M(osso.scheduler.scheduler_info) finds
        it. V(default-scheduler) is the scheduler of the cluster.
    type: dict
    suboptions:"""
        + _SIDE
        + r"""
      secondary_scheduler:
        description: Name and namespace of a C(SecondaryScheduler) resource.
        type: dict
        suboptions:
          name:
            description: Its name.
            type: str
            default: cluster
          namespace:
            description: Its namespace.
            type: str
            default: openshift-secondary-scheduler-operator
      scheduler_name:
        description:
          - A C(schedulerName) of the connected cluster, such as V(default-scheduler). Its profile places the pods, unless C(as_scheduler) is set.
          - The configuration must be in the cluster. The default scheduler of a cluster of kubeadm has none, unless its static pod sets C(--config).
        type: str
"""
    )

    JOB = r"""
options:
  job:
    description:
      - Where to run the scheduler if O(candidate) has no C(binary). If not given, the task extracts the program from C(image), and runs it on its host.
      - If given, the module creates a Job in the cluster whose pod runs the programs of the images, and deletes it at the end. The host then needs
        no skopeo, and can have another architecture or operating system than the nodes.
      - The module passes the redacted copy of the cluster and the configuration in Secrets that belong to the Job. The pod has no token. If the
        module is killed, the Job ends by itself, and is deleted with its Secrets and its pod a minute later.
      - Requires the permissions to create and delete Jobs, to create Secrets, to list and watch pods, and to get C(pods/log) in O(job.namespace).
        To list events is optional; the module reports with it why the Job has no pod.
      - Each container has requests and limits. The limit of memory of the sandbox is 512 MiB and 1 MiB more for 10 objects of the snapshot.
      - In check mode no Job is created, and there is no result.
    type: dict
    suboptions:
      namespace:
        description: The namespace of the Job. The images are pulled with the pull secrets of its ServiceAccount C(default).
        type: str
        default: default
      image:
        description: An image that contains this version of the collection, and Python. If not given, that of the operator in the cluster.
        type: str
"""
