#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kube_scheduler_config
short_description: Check a KubeSchedulerConfiguration before a scheduler has to read it
version_added: 1.0.0
description:
  - Reads a C(KubeSchedulerConfiguration), given as structure, text, file or ConfigMap, and says what is wrong with it, with line,
    column, field and remedy.
  - Checked are the YAML or JSON, keys that are there twice, C(apiVersion) and C(kind), and that each profile has a scheduler name of
    its own. Other fields, plugins and their arguments are not checked.
  - Returns the text as it belongs into a ConfigMap, a hash that changes with its content, and the names that pods put into
    C(schedulerName) to be placed by this configuration.
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
      - Its findings name fields but no lines, because nobody wrote it as text.
    type: dict
  text:
    description: The configuration as YAML or JSON text.
    type: str
  src:
    description: Path of a file with the configuration, on the host that the module runs on (with C(connection=local) the controller).
    type: path
  config_map:
    description:
      - A ConfigMap in the cluster that holds the configuration.
      - Only this option makes the module talk to a cluster, and only it uses the options for authentication.
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
  fail:
    description:
      - Whether the task fails when the configuration is not valid or its ConfigMap or key does not exist.
      - The message has one line for each error. With V(false) the result says it in RV(valid), RV(findings) and RV(reason).
    type: bool
    default: true
notes:
  - A configuration can hold a credential, such as the token for Prometheus in a plugin's arguments. Findings never quote from
    those, but the return value RV(text) is the whole configuration. Set C(no_log=true) on the task if yours holds one.
seealso:
  - name: Scheduler Configuration
    description: The Kubernetes documentation about KubeSchedulerConfiguration.
    link: https://kubernetes.io/docs/reference/scheduling/config/
"""

EXAMPLES = r"""
- name: Check a configuration and keep its text
  osso.scheduler.kube_scheduler_config:
    config:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: KubeSchedulerConfiguration
      profiles:
        - schedulerName: secondary-scheduler
  register: scheduler_config

- name: Check a file of the controller
  osso.scheduler.kube_scheduler_config:
    src: "{{ playbook_dir }}/files/config.yaml"
  delegate_to: localhost

- name: Look at what a scheduler in the cluster would read, without failing
  osso.scheduler.kube_scheduler_config:
    config_map:
      name: secondary-scheduler-config
      namespace: openshift-secondary-scheduler-operator
    fail: false
  register: scheduler_config
  no_log: true
"""

RETURN = r"""
valid:
  description: Whether no error was found. V(false) too if the ConfigMap or its key does not exist.
  returned: always
  type: bool
  sample: true
findings:
  description: What is wrong, or surely not meant.
  returned: always
  type: list
  elements: dict
  contains:
    severity:
      description: V(error) or V(warning). A warning is accepted by kube-scheduler and leaves RV(valid) true.
      type: str
      sample: error
    code:
      description: Identifier of the kind of finding.
      type: str
      sample: duplicate-name
    path:
      description: The field, empty for the document as a whole.
      type: str
      sample: profiles[1].schedulerName
    line:
      description: Line in the text, counted from 1. Null if no place is meant or O(config) was given.
      type: int
      sample: 5
    column:
      description: Column in the text, counted from 1. Null if no place is meant or O(config) was given.
      type: int
      sample: 18
    message:
      description: What is wrong.
      type: str
      sample: batch is also the name of profiles[0]
    hint:
      description: What to do about it, empty if nothing can be said.
      type: str
      sample: each profile needs a name of its own
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
    - The configuration as it belongs into a ConfigMap.
    - From O(config) it is YAML in block style with the keys in their order. A text stays as it is written, apart from a byte order
      mark, line ends and empty lines at the end.
  returned: when a text was found and the task does not fail
  type: str
  sample: |
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
hash:
  description: Twelve hexadecimal digits that change with RV(text) and with nothing else.
  returned: when a text was found
  type: str
  sample: 3f1f5a9c07be
found:
  description: Whether the ConfigMap and its key exist.
  returned: when O(config_map) is given
  type: bool
  sample: true
reason:
  description: Why nothing was found, empty otherwise.
  returned: when O(config_map) is given
  type: str
  sample: ""
labels:
  description: The labels of the ConfigMap, empty if it does not exist.
  returned: when O(config_map) is given
  type: dict
  sample: {"team": "batch"}
resource_version:
  description: The C(resourceVersion) of the ConfigMap, empty if it does not exist.
  returned: when O(config_map) is given
  type: str
  sample: "4711"
"""

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.text import content_hash, from_structure, normalize

SOURCES = ("config", "text", "src", "config_map")


def run(module):
    try:
        return _check(module)
    except ImportError as error:
        raise ClusterError(f"{error}: install PyYAML, or set ansible_python_interpreter to a Python that has it.") from None


def _check(module):
    params = module.params
    origin = {}
    source = ""
    if params["config"] is not None:
        text = from_structure(params["config"])
    elif params["text"] is not None:
        text, source = params["text"], "text"
    elif params["src"] is not None:
        text, source = _read(params["src"]), params["src"]
    else:
        text, source, origin = _read_config_map(module)
    if text is None:
        result = dict(origin, valid=False, findings=[], scheduler_names=[], api_version="")
        if params["fail"]:
            raise ClusterError(origin["reason"], **result)
        return dict(result, changed=False)
    return _result(text, source, origin, params["fail"])


def _result(text, source, origin, fail):
    with_position = bool(source)
    if isinstance(text, str):
        text = normalize(text)  # what is checked is what the ConfigMap will hold
    checked = check(text)
    findings = [finding.as_dict() for finding in checked.findings]
    if not with_position:
        for finding in findings:
            finding.update(line=None, column=None)
    result = dict(
        origin,
        changed=False,
        valid=checked.valid,
        findings=findings,
        scheduler_names=list(checked.scheduler_names),
        api_version=checked.api_version,
    )
    if isinstance(text, str):
        result["hash"] = content_hash(text)
    if fail and not checked.valid:
        # Ansible prints the whole result of a failure, so the text, which may hold a credential, is not in it.
        lines = [finding.format(source, with_position) for finding in checked.errors]
        raise ClusterError("\n".join(["This is no usable KubeSchedulerConfiguration:", *lines]), **result)
    return dict(result, text=text) if isinstance(text, str) else result


def _read(path):
    """The text of a file, or its bytes if they are no text."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise InputError(f"src: {path} cannot be read: {error.strerror}. It is a path on the host that the module runs on.") from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content


def _read_config_map(module):
    """(text or None, where it is from, the part of the result about the ConfigMap)."""
    from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import Client

    client = Client.from_module(module)
    name, namespace, key = (module.params["config_map"][option] for option in ("name", "namespace", "key"))
    source = f"ConfigMap {namespace}/{name}[{key}]"
    config_map = client.get(client.resource("v1", "ConfigMap"), name, namespace)
    if config_map is None:
        return None, source, _origin(f"The ConfigMap {name} does not exist in the namespace {namespace}.")
    data = config_map.get("data") or {}
    if key not in data:
        keys = ", ".join(sorted([*data, *(config_map.get("binaryData") or {})])) or "none"
        reason = f"The ConfigMap {namespace}/{name} has no text under the key {key}; its keys: {keys}."
        return None, source, _origin(reason, config_map["metadata"])
    return data[key], source, _origin("", config_map["metadata"])


def _origin(reason, metadata=None):
    """The part of the result about the ConfigMap; `reason` says why it gave no text."""
    metadata = metadata or {}
    return dict(
        found=not reason,
        reason=reason,
        labels=metadata.get("labels") or {},
        resource_version=metadata.get("resourceVersion", ""),
    )


def main():
    cluster_module(
        run,
        argument_spec=argument_spec(
            config=dict(type="dict"),
            text=dict(type="str"),
            src=dict(type="path"),
            config_map=dict(
                type="dict",
                options=dict(
                    name=dict(type="str", required=True),
                    namespace=dict(type="str", required=True),
                    key=dict(type="str", default="config.yaml", no_log=False),
                ),
            ),
            fail=dict(type="bool", default=True),
        ),
        mutually_exclusive=[SOURCES],
        required_one_of=[SOURCES],
        supports_check_mode=True,
    )


if __name__ == "__main__":
    main()
