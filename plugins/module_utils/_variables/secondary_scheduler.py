# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of the role secondary_scheduler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._images import reference
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import SOURCES
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.operators import UPSTREAM_NAMESPACE
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import (
    LOAD_WATCHER_URL,
    PLACEHOLDERS,
    PROM_TOKEN,
    PROM_URL,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import dns1123_label
from ansible_collections.osso.scheduler.plugins.module_utils._operand import overrides
from ansible_collections.osso.scheduler.plugins.module_utils._operand.resource_names import (
    ALLOW_DEFAULT_SCHEDULER,
    PREFIX,
    is_usable,
    names_of,
    unknown_annotations,
    value_problems,
)
from ansible_collections.osso.scheduler.plugins.module_utils._operand.rollout import HIGHLY_AVAILABLE, flags
from ansible_collections.osso.scheduler.plugins.module_utils._variables.items import completed, default_scheduler, duplicates, shared_names
from ansible_collections.osso.scheduler.plugins.module_utils._variables.typed_values import NAMESPACE_REMEDY

VARIABLE = "secondary_schedulers"
# As in roles/secondary_scheduler/meta/argument_specs.yml
DEFAULTS: dict[str, Any] = {
    "name": "cluster",
    "namespace": UPSTREAM_NAMESPACE,
    "state": "present",
    "image": "",
    "kubernetes_version": "",
    "plugins": "",
    "ask_image": False,
    "config": {},
    "config_text": "",
    "config_file": "",
    "preset": "",
    "preset_parameters": {},
    "management_state": "Managed",
    "log_level": "Normal",
    "operator_log_level": "Normal",
    "annotations": {},
    "overrides": {},
}
# As in the CRD
MODES = ("SingleReplica", HIGHLY_AVAILABLE)
OSSO_INSTEAD = "or set operator_variant to osso."


def complete(
    given: Sequence[Mapping[str, Any]],
    variant: str = "osso",
    names: Sequence[Sequence[str]] = (),
    upstream: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """``items``: the schedulers with all that was left out; ``errors``: what of ``given`` cannot be used, with place, value and remedy; ``warnings``.

    ``flags`` of an item are those that the operator starts its pods with: they override the configuration, so they belong to its check.
    ``placeholders``: those that the operator fills. ``workload``: the name of the Deployment, with which other names begin.
    ``variant``: of the operator that is to reconcile the resources; ``names``: for each item with state present, the scheduler names of its
    configuration, where these are known already; ``upstream``: see `_unfilled`, where that is known.
    """
    items = [{**item, **_derived(item["name"], item["namespace"])} for item in completed(VARIABLE, given, DEFAULTS)]
    found = [error for item in items for error in _errors(item)] + duplicates(items)
    present = [item for item in items if item["state"] == "present"]
    if variant == "upstream":
        found += [f"{item['where']}: {error}" for item in items for error in _beyond_upstream(item)]
    else:
        found += [f"{item['where']}: {error}" for item in present for error in _rejected(item)]
    found += shared_names(present, names)
    if variant == "osso":
        remedy = (
            f", and the operator rejects it: use another name, or set the annotation {ALLOW_DEFAULT_SCHEDULER} to 'true' in annotations."
        )
        found += default_scheduler(present, names, _is_allowed_as_default, remedy)
    found += _unfilled(upstream) if upstream else []
    told = [
        f"{item['where']}: annotations has {unknown}, which the operator does not know and ignores."
        for item in present
        for unknown in unknown_annotations(_texts_of(item["annotations"]))
        if variant == "osso"
    ]
    return {"items": items, "errors": found, "warnings": told if items else [f"{VARIABLE} is empty: no scheduler is configured."]}


def _derived(name: str, namespace: str) -> dict[str, Any]:
    """What follows from the name of an item."""
    workload = names_of({"metadata": {"name": name, "namespace": namespace}})["workload"]
    return {"flags": flags(name, namespace), "placeholders": list(PLACEHOLDERS), "workload": workload}


def _unfilled(upstream: Mapping[str, Any]) -> list[str]:
    """The placeholders that nothing fills in the ConfigMap of the upstream operator.

    ``upstream``: ``text`` of the configuration, ``url`` of Prometheus, ``has_token``, ``problem`` of the token, and the ``namespace``.
    """
    text, problem = upstream["text"], upstream["problem"]
    found = []
    if LOAD_WATCHER_URL in text:
        found.append((LOAD_WATCHER_URL, f"the upstream operator deploys no load-watcher. Write the address of one there, {OSSO_INSTEAD}"))
    if PROM_URL in text and not upstream["url"]:
        remedy = "Set secondary_scheduler_prometheus.url, or monitoring_url for the playbook site.yml."
        found.append((PROM_URL, f"no Prometheus is known. {remedy}"))
    if PROM_TOKEN in text and not upstream["has_token"]:
        remedy = (
            "Set secondary_scheduler_prometheus.token_secret to a Secret of the type kubernetes.io/service-account-token in "
            f"{upstream['namespace']}, such as the role monitoring makes."
        )
        found.append((PROM_TOKEN, f"there is no token to fill it with{': ' if problem else ''}{problem}. {remedy}"))
    return [f"{VARIABLE}: the configuration holds {placeholder}, but {message}" for placeholder, message in found]


def _errors(item: Mapping[str, Any]) -> list[str]:
    found, where = [], item["where"]
    name, namespace = str(item["name"]), str(item["namespace"])
    if not is_usable(name):
        found.append(f"{where}: name is {name}: use up to 43 lower-case letters, digits and hyphens, with no hyphen at an end.")
    if dns1123_label(namespace):
        found.append(f"{where}: namespace is {namespace}: {NAMESPACE_REMEDY}.")
    sources = [source for source in SOURCES if item[source]]
    if item["state"] == "present" and (not item["image"] or len(sources) != 1):
        told = ", ".join(["image"] * bool(item["image"]) + sources) or "none of these"
        found.append(f"{where}: {namespace}/{name} needs image, and one of config, config_text, config_file and preset. It has {told}.")
    elif item["image"] and (problem := reference.problem(str(item["image"]))):
        found.append(f"{where}: image: {problem}.")
    # Of another type only where the action validate_variables has not run. The API server would reject these when others have been removed.
    if not all(isinstance(item.get(name) or {}, Mapping) for name in ("annotations", "topology")):
        return found
    found += [
        f"{where}: annotations has {key} with the value {value}: an annotation is a text, so put it in quotes."
        for key, value in item["annotations"].items()
        if not isinstance(value, str)
    ]
    return found + _errors_of_topology(where, item.get("topology") or {})


def _errors_of_topology(where: str, topology: Mapping[str, Any]) -> list[str]:
    found = [
        f"{where}: topology has {key}: use mode and highlyAvailableTopology."
        for key in topology
        if key not in ("mode", "highlyAvailableTopology")
    ]
    mode = topology.get("mode") or MODES[0]
    if mode not in MODES:
        found.append(f"{where}: topology.mode is {mode}: set {' or '.join(MODES)}.")
    elif mode == MODES[0] and topology.get("highlyAvailableTopology"):
        found.append(f"{where}: topology.highlyAvailableTopology is for the mode {MODES[1]} only.")
    return found


def _is_allowed_as_default(item: Mapping[str, Any]) -> bool:
    return bool(item["annotations"].get(ALLOW_DEFAULT_SCHEDULER) == "true")


def _rejected(item: Mapping[str, Any]) -> list[str]:
    """What the operator would report as an invalid field or annotation of the resource."""
    problems = value_problems(_texts_of(item["annotations"]), str(item["image"]))
    return [*overrides.read(item["overrides"], "overrides")[1], *(f"annotations: {problem}" for problem in problems)]


def _texts_of(annotations: Any) -> dict[str, str]:
    """The annotations that are texts. Of another type only where the action validate_variables has not run, or where that is an error already."""
    return {key: value for key, value in annotations.items() if isinstance(value, str)} if isinstance(annotations, Mapping) else {}


def _beyond_upstream(item: Mapping[str, Any]) -> list[str]:
    """What the upstream operator cannot honour."""
    found = []
    if item["name"] != "cluster":
        found.append(
            f"name is {item['name']}, but upstream's operator reconciles the resource cluster alone. Name it cluster, {OSSO_INSTEAD}"
        )
    if item["namespace"] != UPSTREAM_NAMESPACE:
        found.append(
            f"namespace is {item['namespace']}, but upstream's operator works in {UPSTREAM_NAMESPACE} alone. Leave it out, {OSSO_INSTEAD}"
        )
    if item["overrides"]:
        told = ", ".join(item["overrides"])
        found.append(f"overrides has {told}, but upstream's operator ignores unsupportedConfigOverrides. Leave it out, {OSSO_INSTEAD}")
    own = [key for key in item["annotations"] if key.startswith(PREFIX)]
    if own:
        found.append(f"annotations has {', '.join(own)}, which upstream's operator does not know. Leave it out, {OSSO_INSTEAD}")
    return found
