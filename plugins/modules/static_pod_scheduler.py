#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: static_pod_scheduler
short_description: Configure the default scheduler of a control plane host that runs it as a static pod
version_added: 1.0.0
author:
  - osso.scheduler contributors (@osso-scheduler)
description:
  - For clusters that kubeadm created. Runs on a host of the control plane, as root, and edits the manifest of kube-scheduler there; other fields stay
    unchanged.
  - The configuration is written to a file outside of the manifest folder, with a name from its content, so that replacing the manifest is the only
    step that takes effect. The module writes no other files to the manifest folder, where kubelet treats every file as a pod.
  - Waits until kubelet has started the new process and the process has been live and ready for some seconds. If this does not happen in time, or the
    process ended after each of three starts, the module restores the previous manifest, waits for its process, and the task fails. The same happens
    if the task receives SIGINT, SIGTERM or SIGHUP meanwhile.
  - If the task is killed instead, by SIGKILL or for lack of memory, a guard on the host restores the previous files at once. The guard starts before
    the first file is written and waits until the task ends. With systemd it is a unit that also starts with the host, so a change that a reboot
    interrupted is also rolled back. Without systemd it is a detached process, which does not survive a reboot.
  - A change that no run has confirmed or rolled back is recorded on the host, in a folder next to the manifest folder, which only root can read
    (C(/etc/kubernetes/.osso-kube-scheduler.yaml)). The next run finds the record. It starts from the last confirmed manifest, whatever its options
    are. If it makes the same change, it confirms the change if the scheduler is healthy, and else rolls it back and fails. A warning reports the
    record, also in check mode.
  - Later changes by others in the manifest stay, also for the guard.
  - If only the configuration file differs, because someone edited it in place, kubelet detects no change. The module then sends SIGTERM to the
    process, and kubelet starts it with the correct file. A rollback then restores the edited file, if a process ran with it.
  - The same happens if the file is correct, but was written after the start of the process, which may run with a different text. Modification time
    and start are compared to a tenth of a second. A file that was moved there with an older modification time is not detected.
  - If nothing has to change, the task still fails if the process is not healthy.
  - Each run deletes configuration files of this module that the manifest no longer names, and temporary files of killed runs. If that fails, a
    warning names them. Files that are not named by their content belong to others and stay.
  - One host at a time; run it with C(serial=1), so that another host's scheduler can take over meanwhile. While one run changes a manifest, another one fails.
extends_documentation_fragment:
  - osso.scheduler.attributes
attributes:
  action_group:
    support: none
    membership: []
    details:
      - The module does not connect to an API server.
  check_mode:
    support: full
  diff_mode:
    support: full
    details:
      - Shows the manifest and the configuration. Masked are credentials of the configuration, such as C(extenders[].tlsConfig.keyData), and those in
        C(env) and in addresses of the manifest.
  idempotent:
    support: full
options:
  state:
    description: V(absent) removes the changes of this module from the manifest.
    type: str
    choices: [present, absent]
    default: present
  content:
    description:
      - The C(KubeSchedulerConfiguration) as YAML text. If not given, the scheduler uses the configuration that its manifest named before, if any.
      - kube-scheduler ignores the flags C(--kubeconfig), C(--profiling), C(--contention-profiling) and C(--kube-api-*) if it has a configuration. So their
        fields, such as C(clientConnection.kubeconfig) and C(enableProfiling), get the values of the manifest, unless the configuration sets them.
      - The file belongs to the user as which the container of the manifest runs.
    type: str
  flags:
    description:
      - Flags of kube-scheduler by name, without hyphens, such as C(v). A flag that is set in one run and not in the next gets its former value again,
        unless it was changed since.
      - With O(content), flags that kube-scheduler ignores beside a configuration are rejected.
    type: dict
    default: {}
  manifest:
    description: Path of the manifest.
    type: path
    default: /etc/kubernetes/manifests/kube-scheduler.yaml
  config_folder:
    description: Folder of the configuration files.
    type: path
    default: /etc/kubernetes/kube-scheduler
  health_host:
    description: Address for the scheduler's health checks. If not given, its C(--bind-address), or the host itself.
    type: str
  wait_timeout:
    description: Timeout in seconds until the process is healthy, and again for the rollback.
    type: int
    default: 120
requirements:
  - PyYAML
"""

EXAMPLES = r"""
- name: Pack pods onto few nodes
  osso.scheduler.static_pod_scheduler:
    content: |
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: KubeSchedulerConfiguration
      profiles:
        - schedulerName: default-scheduler
          pluginConfig:
            - name: NodeResourcesFit
              args:
                scoringStrategy:
                  type: MostAllocated
    flags:
      v: 4
  become: true

- name: Restore the former configuration
  osso.scheduler.static_pod_scheduler:
    state: absent
  become: true
"""

RETURN = r"""
config_path:
  description: The configuration file of this module, empty if there is none.
  returned: success
  type: str
  sample: /etc/kubernetes/kube-scheduler/kube-scheduler-3f1f5a9c07be.yaml
seconds_until_ready:
  description: Seconds from the replacement of the manifest until the new process was healthy for some seconds.
  returned: when the scheduler was changed and not in check mode
  type: float
  sample: 14.2
hostname:
  description: The host name, with which its scheduler signs events.
  returned: success
  type: str
  sample: control-plane-1
guard:
  description: The form of the guard, V(systemd) for a unit, or V(process), which does not survive a reboot.
  returned: when the scheduler was changed and not in check mode
  type: str
  sample: systemd
deleted_files:
  description: Deleted configuration files that are no longer in use, and temporary files of killed runs. In check mode, files that would be deleted.
  returned: success
  type: list
  elements: str
  sample: [/etc/kubernetes/kube-scheduler/kube-scheduler-3f1f5a9c07be.yaml]
rolled_back:
  description: Whether the previous manifest, or the edited configuration, was restored and its process is healthy.
  returned: when the new process did not come up, or the task was asked to end
  type: bool
  sample: true
"""

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod.change import change


def run(module):
    return change(module.params, module.check_mode)


def main():
    cluster_module(
        run,
        hidden=("content",),
        argument_spec=dict(
            state=dict(type="str", choices=["present", "absent"], default="present"),
            content=dict(type="str"),
            flags=dict(type="dict", default={}),
            manifest=dict(type="path", default="/etc/kubernetes/manifests/kube-scheduler.yaml"),
            config_folder=dict(type="path", default="/etc/kubernetes/kube-scheduler"),
            health_host=dict(type="str"),
            wait_timeout=dict(type="int", default=120),
        ),
        supports_check_mode=True,
    )


if __name__ == "__main__":
    main()
