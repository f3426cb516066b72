#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_snapshot
short_description: Write everything that a scheduler reads from a cluster to a file
version_added: 1.0.0
description:
  - Reads nodes, pods, volumes, and the other objects that kube-scheduler and the plugins of scheduler-plugins read, and writes them to one file.
    M(osso.scheduler.scheduler_preview) takes this file in the place of a cluster.
  - The objects are redacted. The file contains no environment variables, commands and arguments of containers, no pod templates of workloads, no
    parameters of storage, and no annotations but those that change where pods are placed. It does contain names, labels and images.
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
      - Reads the same objects, but writes no file.
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
      - The file to write, on the host that the task runs on. It is compressed JSON; its usual name ends in C(.json.gz).
      - The directory must exist. A file of that name is replaced. Only its owner can read it.
    type: path
    required: true
notes:
  - Requires the permissions to list nodes and pods of all namespaces. Other kinds that the user is not permitted to list are in RV(missing).
seealso:
  - module: osso.scheduler.scheduler_preview
"""

EXAMPLES = r"""
- name: Write a snapshot
  osso.scheduler.scheduler_snapshot:
    path: "{{ private_folder }}/cluster.json.gz"
"""

RETURN = r"""
path:
  description: The file.
  returned: success
  type: str
  sample: /tmp/cluster.json.gz
objects:
  description: Number of objects by kind.
  returned: success
  type: dict
  sample: {"Node": 3, "Pod": 120}
missing:
  description: Kinds that could not be read, each with the reason.
  returned: success
  type: list
  elements: str
  sample: []
msg:
  description: The outcome in one sentence.
  returned: success
  type: str
  sample: "Wrote /tmp/cluster.json.gz: 3 nodes, 120 pods, 81920 bytes."
"""

from collections import Counter

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.files import save
from ansible_collections.osso.scheduler.plugins.module_utils._preview import snapshot


def run(module):
    path = module.params["path"]
    taken = snapshot.take(Client.connect(module.params, module.warn))
    content = taken.write()
    if not module.check_mode:
        save(path, content)
    objects = Counter(obj["kind"] for obj in taken.objects)
    wrote = "Would write" if module.check_mode else "Wrote"
    return {
        "changed": True,
        "path": path,
        "objects": dict(objects),
        "missing": list(taken.missing),
        "msg": f"{wrote} {path}: {objects['Node']} nodes, {objects['Pod']} pods, {len(content)} bytes.",
    }


def main():
    cluster_module(run, argument_spec=argument_spec(path=dict(type="path", required=True)), supports_check_mode=True)


if __name__ == "__main__":
    main()
