# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Schedulers without an operator: the variables of the role custom_scheduler, completed, and the values for the template of the Deployment.

The defaults are the objects of OpenShift's documentation ("Running a custom scheduler") with their names, where it has any.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._images import reference
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import images
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import SOURCES
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.plain_data import as_mapping, mappings_in
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.presets import API_VERSION
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import plugins_of
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.images import LOCAL_PROGRAM
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.needs import FIRST, METRICS_API, NEEDS, Need, Rule
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import LOAD_WATCHER_URL, PROM_TOKEN, PROM_URL
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import parse_release
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import dns1123_label
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import KIND
from ansible_collections.osso.scheduler.plugins.module_utils._operand.rollout import health
from ansible_collections.osso.scheduler.plugins.module_utils._variables.items import completed, default_scheduler, duplicates, shared_names
from ansible_collections.osso.scheduler.plugins.module_utils._variables.typed_values import NAMESPACE_REMEDY, typed

VARIABLE = "custom_schedulers"
PORT = 10259
LAST_PORT = 65535
PROGRESS_SECONDS = 300
DOCUMENTED = "custom-scheduler"

DEFAULTS: dict[str, Any] = {
    # As in roles/custom_scheduler/meta/argument_specs.yml. None: derived from the others, see `_completed` and `_probes`.
    "name": DOCUMENTED,
    "namespace": "kube-system",
    "create_namespace": False,
    "state": "present",
    "image": "",
    "image_pull_policy": "",
    "pull_secrets": [],
    "kubernetes_version": "",
    "plugins": "",
    "ask_image": False,
    "config": {},
    "config_text": "",
    "config_file": "",
    "preset": "",
    "preset_parameters": {},
    "allow_default_scheduler": False,
    "config_map": None,
    "config_key": "scheduler-config.yaml",
    "config_folder": "/etc/config",
    "config_volume": "config-volume",
    "service_account": None,
    "kube_scheduler_binding": None,
    "volume_scheduler_binding": None,
    "plugins_role": None,
    "authentication_reader": True,
    "authentication_reader_binding": None,
    "replicas": 1,
    "leader_elect": None,
    "command": None,
    "args": [],
    "flags": [],
    "env": [],
    "container": "kube-second-scheduler",
    "port": PORT,
    "labels": None,
    "selector": None,
    "pod_labels": None,
    "pod_annotations": {},
    "resources": {"requests": {"cpu": "100m"}},
    "probes": None,
    # The image that the documentation builds runs as root.
    "pod_security_context": {"seccompProfile": {"type": "RuntimeDefault"}},
    "container_security_context": {
        "privileged": False,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    },
    "host_network": False,
    "host_pid": False,
    "priority_class": "",
    "node_selector": {},
    "tolerations": [],
    "affinity": {},
    "topology_spread_constraints": [],
    "volumes": [],
    "volume_mounts": [],
}

_BY_LEADER_ELECT = "leader_elect sets it, with a Lease of the scheduler's own"
_ENDS = "the scheduler would end at once"
TAKEN_FLAGS = {
    # flag of kube-scheduler: what does it instead
    "config": "config_folder and config_key set it",
    "leader-elect": _BY_LEADER_ELECT,
    "leader-elect-resource-lock": _BY_LEADER_ELECT,
    "leader-elect-resource-name": _BY_LEADER_ELECT,
    "leader-elect-resource-namespace": _BY_LEADER_ELECT,
    "secure-port": "port sets it, also for the probes",
    "bind-address": "the probes request the address of the pod; for another one set args and probes",
    "h": _ENDS,
    "help": _ENDS,
    "version": _ENDS,
    "write-config-to": _ENDS,
}

_EVERY_ADDRESS = ("--bind-address=0.0.0.0", "--bind-address=::")

CONFIG_HASH = "osso.scheduler/config"
"""On the pods: the hash of their configuration's content. A new one is a rollout, an edit that changes nothing is none."""

_UNFILLED = {
    # placeholder: the parameter of a preset in its place
    PROM_URL: "address",
    PROM_TOKEN: "token, to an empty text if Prometheus requires none",
    LOAD_WATCHER_URL: "watcher_address",
}

_INSTALL = (
    "apply its CustomResourceDefinition, roles/operator/files/plugins/{0}.crd.yaml of this collection, or run the role osso.scheduler.operator with "
    "operator_plugins that name the plugin."
)

# The longest name that is made of it is that of the set's inventory and its label: custom-NAME, at most 63 characters.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?")


def complete(given: list[dict[str, Any]], names: Sequence[Sequence[str]] = (), checked: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """``items``: the schedulers with all that was left out; ``errors``: what of ``given`` cannot be used, with place, value and remedy; ``warnings``.

    For each item with state present, where these are known already: ``names``, the scheduler names of its configuration, and ``checked``, the
    result of the module kube_scheduler_config.
    """
    items = [_completed(item) for item in completed(VARIABLE, given, DEFAULTS)]
    present = [item for item in items if item["state"] == "present"]
    errors = [error for item in items for error in _errors(item)] + duplicates(items) + _collisions(present)
    remedy = ": use another name, or set allow_default_scheduler to true."
    errors += default_scheduler(present, names, lambda item: bool(item["allow_default_scheduler"]), remedy) + shared_names(present, names)
    errors += [error for item, result in zip(present, checked) for error in [*_missing_kinds(item, result), *_unfilled(item, result)]]
    warnings = [warning for item, result in zip(present, checked) for warning in _advice_on_plugins(item, result)]
    return {"items": items, "errors": errors, "warnings": warnings if items else [f"{VARIABLE} is empty: no scheduler is configured."]}


def _completed(item: dict[str, Any]) -> dict[str, Any]:
    name, namespace = item["name"], item["namespace"]
    documented = name == DOCUMENTED
    # Names of cluster-wide objects hold the namespace, so that equal names in two namespaces are apart.
    binding = name if namespace == "kube-system" else f"{namespace}:{name}"
    # Two Deployments of one namespace must not select each other's pods.
    labels = item["labels"] or {"component": "scheduler" if documented else name, "tier": "control-plane"}
    derived = {
        "config_map": "scheduler-config" if documented else f"{name}-config",
        "service_account": name,
        "kube_scheduler_binding": f"{binding}-as-kube-scheduler",
        "volume_scheduler_binding": f"{binding}-as-volume-scheduler",
        "plugins_role": f"{binding}-plugins",
        "authentication_reader_binding": f"{binding}-extension-apiserver-authentication-reader",
        "labels": labels,
        "selector": labels,
        "pod_labels": {**labels, "version": "second"},
        "leader_elect": int(item["replicas"]) > 1,
    }
    item["leader_elect"] = typed(item["leader_elect"], "bool")
    # In an unknown image as in the one that the documentation builds
    item["command"] = item["command"] or [images.program(str(item["image"]), item["plugins"], LOCAL_PROGRAM)]
    item = {**item, **{key: value for key, value in derived.items() if item[key] is None}}
    # Pods without the labels that the Deployment selects by would be refused.
    item["pod_labels"] = {**item["pod_labels"], **item["selector"]}
    if not any(item[source] for source in SOURCES):
        item["config"] = documented_config(name)
    item["flags"] = _flags_of_args(item) if item["args"] else [*_flags(item), *item["flags"]]
    return item


def documented_config(name: str) -> dict[str, Any]:
    """The documentation's configuration, for kube-scheduler from 1.25 on."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "profiles": [{"schedulerName": name}],
        "leaderElection": {"leaderElect": False},
    }


def _flags(item: Mapping[str, Any]) -> list[str]:
    """The command line without ``--config`` and what the user adds.

    kube-scheduler elects a leader unless a flag disables that, with the Lease of the default scheduler: so without these flags many a
    configuration would have it wait for ever.
    """
    flags = ["--leader-elect=false"]
    if item["leader_elect"]:
        flags = [
            "--leader-elect=true",
            f"--leader-elect-resource-name={item['name']}",
            f"--leader-elect-resource-namespace={item['namespace']}",
        ]
    return flags if int(item["port"]) == PORT else [*flags, f"--secure-port={item['port']}"]


def _is_kube_scheduler(item: Mapping[str, Any]) -> bool:
    """Is the program called so? Another one can use arguments and configuration in its own way."""
    return str(item["command"][0]).rpartition("/")[2] == "kube-scheduler"


def _flags_of_args(item: Mapping[str, Any]) -> list[str]:
    """What of ``args`` decides how a kube-scheduler reads its configuration and elects a leader. Others can be flags of a build of its own."""
    args = map(str, item["args"]) if _is_kube_scheduler(item) else ()
    return [argument for argument in args if re.fullmatch(r"--leader-elect|--(leader-elect[a-z-]*|feature-gates)=(?!.*\$\().*", argument)]


def _taken_flags(item: Mapping[str, Any]) -> list[str]:
    """What is wrong with the ``flags`` of the user, which follow those of the role."""
    own = _flags(item)
    given = [] if item["args"] else [str(flag) for flag in item["flags"][len(own) :]]
    names = [flag.lstrip("-").partition("=")[0].replace("_", "-") for flag in given if flag not in (*own, *_EVERY_ADDRESS)]
    return [f"{_place(item)}: flags has --{name}: {TAKEN_FLAGS[name]}; remove it." for name in names if name in TAKEN_FLAGS]


def _errors(item: dict[str, Any]) -> list[str]:
    where, name = _place(item), item["name"]
    found = []
    if not _NAME.fullmatch(name):
        found.append(f"{item['where']}: name is {name}: use up to 52 lower-case letters, digits and hyphens, with none of these at an end.")
    elif name == "kube-scheduler":
        found.append(f"{item['where']}: name is kube-scheduler, which is the default scheduler's, and its Lease: use another one.")
    if dns1123_label(item["namespace"]):
        found.append(f"{item['where']}: namespace is {item['namespace']}: {NAMESPACE_REMEDY}.")
    if item["state"] != "present":
        return found
    if int(item["replicas"]) < 0:
        found.append(f"{where}: replicas is {item['replicas']}: set 0 or more.")
    if not 1 <= int(item["port"]) <= LAST_PORT:
        found.append(f"{where}: port is {item['port']}: set a number from 1 to {LAST_PORT}.")
    if not item["image"]:
        found.append(f"{where} has no image: give that of the scheduler, such as registry.k8s.io/kube-scheduler:v1.34.7.")
    elif problem := reference.problem(str(item["image"])):
        found.append(f"{where}: image: {problem}.")
    sources = [source for source in SOURCES if item[source]]
    if len(sources) > 1:
        found.append(f"{where} has {' and '.join(sources)}: give one of them, or none for the documentation's configuration.")
    if int(item["replicas"]) > 1 and not item["leader_elect"]:
        found.append(
            f"{where}: replicas is {item['replicas']} and leader_elect false, so all of them would place the same pods: leave leader_elect out."
        )
    found += _taken_flags(item)
    if not item["selector"]:
        found.append(f"{where}: selector is {item['selector']}: give at least one label.")
    return found


def _place(item: Mapping[str, Any]) -> str:
    return f"{item['where']}: {item['namespace']}/{item['name']}"


def _needs(checked: Mapping[str, Any]) -> dict[str, Need]:
    """Requirements of the enabled plugins of scheduler-plugins, by plugin."""
    return {name: NEEDS[name] for name in sorted(plugins_of(checked["effective"]) & set(NEEDS))}


def _unsupported(checked: Mapping[str, Any]) -> list[str]:
    """The plugins of a release for which this collection does not know the kinds that they read."""
    needs = _needs(checked)
    return [name for name in needs if needs[name].kinds and parse_release(checked["target"]["kubernetes_version"]) < FIRST]


def _rules(checked: Mapping[str, Any]) -> list[Rule]:
    """What the enabled plugins may read besides what every scheduler may, each once."""
    needs, unsupported = _needs(checked), _unsupported(checked)
    found = {rule: name for name, need in needs.items() if name not in unsupported for rule in need.rules}
    return [rule for rule in found if rule.group != METRICS_API or _read_metrics_api(checked)]


def _read_metrics_api(checked: Mapping[str, Any]) -> bool:
    """Does a plugin ask metrics-server, instead of Prometheus or a load-watcher service?"""
    profiles = mappings_in(as_mapping(checked["completed"]).get("profiles"))
    args = [as_mapping(one.get("args")) for profile in profiles for one in mappings_in(profile.get("pluginConfig"))]
    return any(
        as_mapping(one.get("metricProvider")).get("type") == "KubernetesMetricsServer" and not one.get("watcherAddress") for one in args
    )


def _missing_kinds(item: Mapping[str, Any], checked: Mapping[str, Any]) -> list[str]:
    """The kinds that the plugins of a scheduler read, and that the API server does not serve."""
    unsupported = _unsupported(checked)
    return [
        f"{_place(item)}: the plugin {name} reads {kind.api_version} {kind.kind}, which the API server does not serve: "
        + (f"install {kind.provider}." if kind.provider else _INSTALL.format(kind.definition))
        for name, need in _needs(checked).items()
        for kind in need.kinds
        if f"{kind.api_version}/{kind.kind}" in checked["missing_kinds"] and name not in unsupported
    ]


def _advice_on_plugins(item: Mapping[str, Any], checked: Mapping[str, Any]) -> list[str]:
    """What the plugins of a scheduler need and the role does not create."""
    unsupported = _unsupported(checked)
    if not unsupported:
        return []
    message = (
        f"{', '.join(unsupported)} of scheduler-plugins before v0.{FIRST}: the role does not create the CRDs and permissions that they need"
    )
    return [f"{_place(item)}: {message}: use an image of v0.{FIRST} or newer, or create them yourself."]


def _unfilled(item: Mapping[str, Any], checked: Mapping[str, Any]) -> list[str]:
    """The placeholders in the configuration of a scheduler, which kube-scheduler would use literally. In a comment they do no harm."""
    if not _is_kube_scheduler(item) or not any(finding["code"] == "placeholder" for finding in checked["findings"]):
        return []
    return [
        f"{_place(item)}: the configuration holds {name}, which only the operator fills: "
        + (f"set preset_parameters.{parameter}." if item["preset"] else "write the value itself.")
        for name, parameter in _UNFILLED.items()
        if name in (checked["text"] or "")
    ]


def _collisions(present: list[dict[str, Any]]) -> list[str]:
    """What two schedulers may not share. Two items for one scheduler share nothing: `duplicates` reports them."""
    found = []
    for option, scope in (
        ("config_map", "namespace"),
        ("service_account", "namespace"),
        ("kube_scheduler_binding", None),
        ("volume_scheduler_binding", None),
        ("plugins_role", None),
        ("authentication_reader_binding", None),
    ):
        uses = [((item[option], item[scope] if scope else ""), (item["namespace"], item["name"])) for item in present if item[option]]
        used = Counter(key for key, _scheduler in dict.fromkeys(uses))
        found += [
            f"custom_schedulers: {option} is {name} for {n} schedulers: give each its own." for (name, _scope), n in used.items() if n > 1
        ]
    selectors = {((item["namespace"], *sorted(item["selector"].items())), item["name"]) for item in present}
    if len({selector for selector, _name in selectors}) < len(selectors):
        found.append("custom_schedulers: two schedulers of one namespace have the same selector: give each labels of its own.")
    return found


def operand(item: dict[str, Any], checked: dict[str, Any], wait_timeout: int = PROGRESS_SECONDS) -> dict[str, Any]:
    """The values for the templates of the role operand for a scheduler (`completed`), with the result of its configuration's check.

    ``checked``: ``hash``, ``target``, ``completed`` and ``effective`` as the module kube_scheduler_config returns them. ``wait_timeout``: seconds
    that a run waits for the rollout, which must not be given up earlier.
    """
    overrides = {
        "command": item["command"],
        "env": item["env"],
        "imagePullPolicy": item["image_pull_policy"],
        "imagePullSecrets": [{"name": name} for name in item["pull_secrets"]],
        "podAnnotations": {**item["pod_annotations"], CONFIG_HASH: checked["hash"]},
        "progressDeadlineSeconds": max(PROGRESS_SECONDS, wait_timeout),
        "priorityClassName": item["priority_class"],
        "topologySpreadConstraints": item["topology_spread_constraints"],
        "resources": item["resources"],
        "volumes": item["volumes"],
        "volumeMounts": item["volume_mounts"],
        **({"affinity": item["affinity"]} if item["affinity"] else {}),
    }
    return {
        "replicas": item["replicas"],
        "labels": item["labels"],
        "authentication_reader": item["authentication_reader"],
        "elects_leader": item["leader_elect"],
        "plugin_rules": [rule.manifest() for rule in _rules(checked)] if item["plugins_role"] else [],
        "names": {
            "workload": item["name"],
            "namespace": item["namespace"],
            "service_account": item["service_account"],
            "plugins": item["plugins_role"],
            "bindings": {
                "system:kube-scheduler": item["kube_scheduler_binding"],
                "system:volume-scheduler": item["volume_scheduler_binding"],
                "extension-apiserver-authentication-reader": item["authentication_reader_binding"],
            },
        },
        "rollout": {
            "image": item["image"],
            "serving_cert": False,
            "placement": {"nodeSelector": item["node_selector"], "tolerations": item["tolerations"]},
            "overrides": overrides,
        },
        "shape": {
            "selector": item["selector"],
            "pod_labels": item["pod_labels"],
            "scc": {},
            "port": item["port"],
            "container": item["container"],
            "args": item["args"] or [f"--config={item['config_folder']}/{item['config_key']}", *item["flags"]],
            "probes": _probes(int(item["port"]), checked) if item["probes"] is None else item["probes"],
            "config_map": item["config_map"],
            "config_volume": item["config_volume"],
            "config_folder": item["config_folder"],
            "pod_security": item["pod_security_context"],
            "container_security": item["container_security_context"],
            "host_network": item["host_network"],
            "host_pid": item["host_pid"],
        },
    }


def _probes(port: int, checked: dict[str, Any]) -> dict[str, Any]:
    """The documentation's probes, with the paths that the release has: a scheduler that has not synced is not ready."""
    paths = health(checked["target"]["kubernetes_version"], checked["completed"])
    live, ready = (
        {"httpGet": {"path": path, "port": port, "scheme": "HTTPS"}, "timeoutSeconds": 10} for path in (paths["live"], paths["ready"])
    )
    return {"livenessProbe": {**live, "initialDelaySeconds": 15}, "readinessProbe": ready}
