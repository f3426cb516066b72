#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: static_pod_scheduler
short_description: Configure the default scheduler of a control plane's host where it is a static pod
version_added: 1.0.0
author:
  - osso.scheduler contributors (@osso-scheduler)
description:
  - For clusters as kubeadm makes them. Runs on a host of the control plane, as root, and edits the manifest of kube-scheduler there; other fields of it
    stay as they are.
  - The configuration becomes a file outside of the folder of manifests, named by its content, so that replacing the manifest is the one step that counts.
    Nothing else is ever in the folder of manifests, where kubelet takes every file for a pod.
  - Waits until kubelet has started the new process and that is alive and ready for some seconds. If that does not happen in time, or kubelet has started it
    three times and it ended each time, the manifest of before is put back and waited for, and the task fails. The same happens
    when the task is asked to end meanwhile, by SIGINT, SIGTERM or SIGHUP.
  - If the task is killed instead, by SIGKILL or for lack of memory, a guard on the host puts the files of before back at once. It is started before the first
    file is written and waits until the task ends. With systemd it is a unit that also starts with the host, so a reboot in the middle of a change is rolled
    back, too. Without systemd it is a detached process, which does not survive a reboot.
  - A change that no run has confirmed or rolled back is recorded on the host, in a folder beside that of the manifests, which root alone can read
    (C(/etc/kubernetes/.osso-kube-scheduler.yaml)). The next run finds the record. It starts from the last confirmed manifest, whatever its options are. If it
    makes the same change, it confirms it where the scheduler is well, and else rolls it back and fails. It warns of the record, also in check mode.
  - What somebody else has changed in the manifest since stays as it is, also for the guard.
  - Where the file of the configuration is all that differs, because somebody edited it in its place, kubelet sees no change. The process is asked to end
    by SIGTERM then, and kubelet starts it with the right file. The way back is the edited file then, as long as a process ran beside it.
  - The same happens where the file is right, but was written after the process began, which may run with another text. Modification time and start are
    compared to a tenth of a second. A file that was moved there with an older modification time is not noticed.
  - Where nothing is to be changed, the process has to be well, too, or the task fails.
  - Configurations that it has written and that the manifest does not name any more are deleted, and so are temporary files of killed runs, in each run.
    Where that fails, a warning names them. A file that is not named by its content is somebody's own.
  - One host at a time; run it with C(serial=1), so that another host's scheduler can take over meanwhile. While one run changes a manifest, another one fails.
extends_documentation_fragment:
  - osso.scheduler.attributes
attributes:
  action_group:
    support: none
    membership: []
    details:
      - It talks to no API server.
  check_mode:
    support: full
  diff_mode:
    support: full
    details:
      - Shows the manifest and the configuration. Credentials in the latter, such as C(extenders[].tlsConfig.keyData), are masked.
  idempotent:
    support: full
options:
  state:
    description: V(absent) takes out of the manifest what this module has put there.
    type: str
    choices: [present, absent]
    default: present
  content:
    description:
      - The C(KubeSchedulerConfiguration) as YAML text. If not given, the scheduler keeps none or the one that its manifest named before.
      - The flag C(--kubeconfig) does not count beside a configuration. Unless this says C(clientConnection.kubeconfig), it gets the flag's value.
    type: str
  flags:
    description:
      - Flags of kube-scheduler by name, without hyphens, such as C(v). What is set here in one run and not in the next gets its former value back.
    type: dict
    default: {}
  manifest:
    description: The manifest.
    type: path
    default: /etc/kubernetes/manifests/kube-scheduler.yaml
  config_folder:
    description: Where the configuration is kept.
    type: path
    default: /etc/kubernetes/kube-scheduler
  health_host:
    description: Where the scheduler's health is asked. If not given, its C(--bind-address), or the host itself.
    type: str
  wait_timeout:
    description: Seconds until the process has to be well, and as long again for the way back.
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

- name: Go back to how it was
  osso.scheduler.static_pod_scheduler:
    state: absent
  become: true
"""

RETURN = r"""
config_path:
  description: The file of the configuration, empty if there is none of ours.
  returned: success
  type: str
  sample: /etc/kubernetes/kube-scheduler/kube-scheduler-3f1f5a9c07be.yaml
seconds_until_ready:
  description: Seconds from the replacement of the manifest until the new process was well for some seconds.
  returned: when the scheduler was changed and not in check mode
  type: float
  sample: 14.2
hostname:
  description: The name that the host has for itself, with which its scheduler signs events.
  returned: success
  type: str
  sample: control-plane-1
guard:
  description: How the guard ran, V(systemd) as a unit, or V(process), which does not survive a reboot.
  returned: when the scheduler was changed and not in check mode
  type: str
  sample: systemd
deleted_files:
  description: Configurations that are not used any more, and what killed runs have left. In check mode, what would be deleted.
  returned: success
  type: list
  elements: str
  sample: [/etc/kubernetes/kube-scheduler/kube-scheduler-3f1f5a9c07be.yaml]
rolled_back:
  description: Whether the manifest of before, or the edited configuration, is in its place again and its process well.
  returned: when the new process did not come up, or the task was asked to end
  type: bool
  sample: true
"""

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.module import cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils.static_pod.change import change


def run(module):
    try:
        return change(module.params, module.check_mode)
    except ImportError as error:
        raise ClusterError(f"{error}: install PyYAML, or set ansible_python_interpreter to a Python that has it.") from None


def main():
    cluster_module(
        run,
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
