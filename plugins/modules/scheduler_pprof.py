#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_pprof
short_description: Fetch profiles of memory, CPU and goroutines from a running scheduler
version_added: 1.0.0
description:
  - Fetches profiles from a kube-scheduler in a pod and saves them as files that C(go tool pprof) opens, for V(trace) C(go tool trace).
  - The connection is a port-forward through the API server. The module reads profiles with a temporary ServiceAccount, which may only GET
    C(/debug/pprof/*) and has a token that is valid for ten minutes. The module always deletes it, even if the task fails or a signal ends it. Only a
    killed module (SIGKILL) leaves it behind, with the label C(osso.scheduler/profiling=true).
author:
  - osso.scheduler contributors (@osso-scheduler)
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.instance
  - osso.scheduler.attributes
  - osso.scheduler.attributes.actiongroup_scheduler
attributes:
  action_group: {}
  check_mode:
    support: full
    details:
      - Finds the scheduler and names the files, but fetches nothing and creates nothing in the cluster.
  diff_mode:
    support: N/A
    details:
      - The module deletes all objects that it creates in the cluster, and the files contain binary data.
  idempotent:
    support: N/A
    details:
      - Each run fetches new profiles, so it always reports a change of the files.
options:
  profiles:
    description:
      - What to fetch, one after the other.
      - V(heap) is the memory in use, V(allocs) all allocations, V(goroutine) the stacks of all goroutines, V(threadcreate) the code that created
        threads, V(block) and V(mutex) the places where goroutines wait for each other, V(cpu) the use of CPU time, and V(trace) the sequence of
        events.
      - V(block) is empty unless the scheduler's configuration has C(enableContentionProfiling). kube-scheduler never records V(mutex), so it is empty
        unless the image records it.
    type: list
    elements: str
    choices: [heap, allocs, goroutine, threadcreate, block, mutex, cpu, trace]
    default: [heap, goroutine]
  seconds:
    description: Recording time in seconds for V(cpu) and for V(trace), 1 to 600.
    type: int
    default: 30
  dest:
    description:
      - Directory for the files, on the host that the task runs on. It must exist.
      - Their names are C(POD.PROFILE.pb.gz), or C(POD.trace.trace). A file of that name is replaced.
    type: path
    required: true
  port:
    description: Port on which the scheduler serves HTTPS. By default that of its flag C(--secure-port), else 10259.
    type: int
  access:
    description:
      - V(token) uses the ServiceAccount described above. The scheduler sends its token to the API server for review. So the scheduler's account
        requires the permission to create C(tokenreviews) and C(subjectaccessreviews), which the ClusterRole C(system:kube-scheduler) has.
      - V(anonymous) allows B(everybody) without credentials to read the profiles, of all schedulers and of whatever else serves
        C(/debug/pprof) in the cluster, while the task runs. Use it for schedulers that cannot review tokens.
    type: str
    choices: [token, anonymous]
    default: token
  serving_ca:
    description:
      - File with the CA certificates, in PEM, to verify the scheduler's certificate. It is read on the host that the task runs on.
      - A kube-scheduler without a configured certificate creates a self-signed one at startup, which cannot be verified. So by default it is not
        verified. The connection to the pod goes through the API server and the kubelet, which are both authenticated. Only another process of its pod
        could listen in place of the scheduler, or a process of its host if the pod uses the host's network.
    type: path
  serving_name:
    description: With O(serving_ca), the name that the certificate must have. By default any.
    type: str
  certificate_sha256:
    description:
      - SHA-256 fingerprint that the certificate must have, for example the RV(certificate.sha256) of an earlier run of the same container. With a
        different fingerprint, the module does not send the token.
    type: str
  binary:
    description:
      - Also copies the scheduler's binary from its image to C(POD.kube-scheduler). V({}) is sufficient.
      - Profiles contain the names of functions, so most uses of C(go tool pprof) do not require it. It is required to see instructions, with
        C(-disasm) or C(-weblist); name it before the profile then.
    type: dict
    suboptions:
      auth_file:
        description: File with the credentials for the registry, as C(podman login) and C(skopeo login) write it. By default, the file that they use.
        type: path
      validate_certs:
        description: Whether the registry must have a trusted certificate.
        type: bool
        default: true
      skopeo:
        description: The program skopeo, which reads the image, on the host that the task runs on.
        type: str
        default: skopeo
notes:
  - Requires the permissions to get pods, to get and create C(pods/portforward), to create and delete ServiceAccounts in the pod's namespace and to
    create C(serviceaccounts/token) there, and to create and delete ClusterRoles and ClusterRoleBindings. A user can only grant permissions that the
    user has, so GET C(/debug/pprof/*) is also required.
  - A port-forward cannot reach a scheduler outside of pods.
seealso:
  - module: osso.scheduler.scheduler_info
  - module: osso.scheduler.scheduler_cache_dump
"""

EXAMPLES = r"""
- name: Fetch the memory profile of a scheduler
  osso.scheduler.scheduler_pprof:
    scheduler_name: secondary-scheduler
    dest: /tmp
  register: profiles

- name: Show the command that opens it
  ansible.builtin.debug:
    msg: "go tool pprof -top {{ profiles.files[0].path }}"

- name: Fetch CPU and block profiles from one pod, and verify its certificate
  osso.scheduler.scheduler_pprof:
    pod:
      namespace: "{{ profiles.target.namespace }}"
      name: "{{ profiles.target.pod }}"
    certificate_sha256: "{{ profiles.certificate.sha256 }}"
    profiles: [cpu, block]
    seconds: 5
    dest: /tmp
"""

RETURN = r"""
target:
  description: The instance that returned the profiles.
  returned: success
  type: dict
  sample:
    namespace: openshift-secondary-scheduler-operator
    pod: secondary-scheduler-7c9b7f6d5-x2x7k
    container: secondary-scheduler
    node: worker-1
    static: false
files:
  description: The files, in the order of O(profiles). After a failure, the files that were written.
  returned: always but for wrong options
  type: list
  elements: dict
  contains:
    profile:
      description: The kind of profile.
      type: str
      sample: heap
    path:
      description: Path of the file.
      type: str
      sample: /tmp/secondary-scheduler-7c9b7f6d5-x2x7k.heap.pb.gz
    size:
      description: Size in bytes. Null in check mode.
      type: int
      sample: 73422
certificate:
  description: The scheduler's certificate. Null in check mode.
  returned: success
  type: dict
  contains:
    sha256:
      description: Its fingerprint.
      type: str
      sample: 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
    verified:
      description: Whether it was verified with O(serving_ca) or O(certificate_sha256).
      type: bool
      sample: false
binary:
  description: The scheduler's binary. Null without O(binary).
  returned: success
  type: dict
  contains:
    path:
      description: Path of the file.
      type: str
      sample: /tmp/secondary-scheduler-7c9b7f6d5-x2x7k.kube-scheduler
    size:
      description: Size in bytes. Null in check mode.
      type: int
      sample: 73422000
    image:
      description: The image that contains it.
      type: str
      sample: registry.example.com/scheduler-plugins/kube-scheduler@sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
msg:
  description: The outcome in one sentence.
  returned: always
  type: str
  sample: Fetched heap, goroutine from the pod kube-system/second-5d8f6b7c9-abcde; its certificate was not verified.
"""

from functools import partial

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import profiles
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import INSTANCE_SPEC

OPTIONS = dict(
    **INSTANCE_SPEC,
    profiles=dict(
        type="list",
        elements="str",
        choices=["heap", "allocs", "goroutine", "threadcreate", "block", "mutex", "cpu", "trace"],
        default=["heap", "goroutine"],
    ),
    seconds=dict(type="int", default=30),
    dest=dict(type="path", required=True),
    port=dict(type="int"),
    access=dict(type="str", choices=["token", "anonymous"], default="token"),
    serving_ca=dict(type="path"),
    serving_name=dict(type="str"),
    certificate_sha256=dict(type="str"),
    binary=dict(
        type="dict",
        options=dict(
            auth_file=dict(type="path"),
            validate_certs=dict(type="bool", default=True),
            skopeo=dict(type="str", default="skopeo"),
        ),
    ),
)


def run(module):
    options = profiles.Options(**{name: module.params[name] for name in OPTIONS})
    if options.access == "anonymous" and not module.check_mode:
        module.warn("access: anonymous lets everybody read profiles in the whole cluster while this task runs.")
    client = Client.connect(module.params, module.warn)
    if module.check_mode:
        return profiles.plan(client, options)
    return profiles.run(client, options, partial(module.run_command, expand_user_and_vars=False, handle_exceptions=False))


def main():
    cluster_module(run, argument_spec=argument_spec(**OPTIONS), supports_check_mode=True)


if __name__ == "__main__":
    main()
