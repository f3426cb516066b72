# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Admission policies of a pool, and what its scheduler's configuration has to contain. Pure: no requests.

Source: https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/ and KEP-3962.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import json_copy
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import from_structure
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.plain_data import as_list, as_mapping, mappings_in
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import DEFAULT_SCHEDULER_NAME
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pool_items import ALL, POOL_KEY, SYSTEM_NAMESPACES, SYSTEM_PREFIXES

GROUP = "admissionregistration.k8s.io"
# The newest first, with the release of Kubernetes from which a server has it, and whether it is served by default
VERSIONS = (("v1", 36, True), ("v1beta1", 34, False), ("v1alpha1", 32, False))
KIND = "MutatingAdmissionPolicy"
_NAME_PREFIX = "osso-scheduler-pool-"
_TOLERATION_PREFIX = "osso-scheduler-toleration-"
_NODES = "osso.scheduler/pool-nodes"
"""Annotation of a binding: the selector of the pool's nodes, for later runs with other pools."""
_VALIDATING = f"{GROUP}/v1"
_IS_READY = (
    "!has(params.metadata.deletionTimestamp) && has(params.status.conditions)"
    " && params.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')"
)
_DIGITS = "0123456789abcdef"
_CONSTRAINTS = {
    "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
}


def routing(
    item: Mapping[str, Any], api_version: str, excluded: Sequence[str], scheduler_pods: Mapping[str, Any] | None = None
) -> list[Object]:
    """The policy that sets schedulerName, and its binding.

    ``excluded``: namespaces that are never routed, beside those of the cluster. ``scheduler_pods``: ``namespace`` and label ``selector`` of the
    scheduler's pods, of which one has to be ready; None: pods are routed in any case.
    """
    name = policy_name(item)
    # One mutation, which is applied or not: with several, the toleration would remain where setting the schedulerName fails.
    operations = f"[JSONPatch{{op: 'add', path: '/spec/schedulerName', value: {_text(item['scheduler_name'])}}}]"
    if item["exclusive"]:
        operations += f" + ({_add_toleration(item['scheduler_name'])})"
    policy = _mutating(name, api_version, conditions(item, excluded), operations)
    selectors = {"namespaceSelector": _namespace_selector(item)}
    if item["pods"]["match_labels"]:
        selectors["objectSelector"] = {"matchLabels": item["pods"]["match_labels"]}
    binding = _mutating_binding(name, api_version, selectors)
    binding["metadata"]["annotations"] = {_NODES: json.dumps({**item["nodes"], "names": sorted(item["nodes"]["names"])}, sort_keys=True)}
    if scheduler_pods:
        # The API server evaluates the policy for each of these pods, so no operator has to suspend the binding. Without such a pod nothing is routed.
        # It watches all pods from its start, for its own use. What it watches for policies only, such as Deployments, it never reads again once no
        # policy refers to it (kubernetes issue 130887): a later pool would go by what was true then.
        policy["spec"]["paramKind"] = {"apiVersion": "v1", "kind": "Pod"}
        policy["spec"]["matchConditions"].append({"name": "scheduler-is-available", "expression": _IS_READY})
        binding["spec"]["paramRef"] = {**scheduler_pods, "parameterNotFoundAction": "Allow"}
    return [policy, binding]


def tolerating(item: Mapping[str, Any], api_version: str, excluded: Sequence[str]) -> list[Object]:
    """The policy, with its binding, that adds the toleration to pods of the pool's namespaces that name the scheduler themselves.

    It applies to all of them: also without the pool's labels, and while the scheduler is unavailable.
    """
    name = f"{_TOLERATION_PREFIX}{item['scheduler_name']}"
    found = {
        "names-the-scheduler": f"object.spec.schedulerName == {_text(item['scheduler_name'])}",
        **_routable(excluded),
    }
    return [
        _mutating(name, api_version, found, _add_toleration(item["scheduler_name"])),
        _mutating_binding(name, api_version, {"namespaceSelector": _namespace_selector(item)}),
    ]


def reservation(item: Mapping[str, Any], excluded: Sequence[str]) -> list[Object]:
    """The policy that rejects pods of other namespaces that name the scheduler, and its binding."""
    name = f"{policy_name(item)}-reserved"
    policy = {
        "apiVersion": _VALIDATING,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": _CONSTRAINTS,
            "matchConditions": [
                {"name": "names-the-scheduler", "expression": f"object.spec.schedulerName == {_text(item['scheduler_name'])}"},
                {"name": "is-in-a-user-namespace", "expression": _user_namespace(excluded)},
            ],
            "validations": [
                {
                    "expression": _selected_namespace(item),
                    "message": f"schedulerName {item['scheduler_name']} is reserved for the namespaces of its pool. Create the pod in one of these "
                    "namespaces, or remove schedulerName from it.",
                }
            ],
        },
    }
    binding = {
        "apiVersion": _VALIDATING,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }
    return [policy, binding]


def policy_name(item: Mapping[str, Any]) -> str:
    return f"{_NAME_PREFIX}{item['scheduler_name']}"


def item_of(binding: Mapping[str, Any]) -> dict[str, Any] | None:
    """The name and the selectors of the pool of a binding, as in an item; None for the binding of others, or one that others have rewritten."""
    name, resources = binding["metadata"]["name"], binding["spec"].get("matchResources") or {}
    selector = resources.get("namespaceSelector") or {}
    expressions = selector.get("matchExpressions") or [{}]
    namespaces = {"names": expressions[0].get("values") or [], "match_labels": selector.get("matchLabels") or {}}
    if not name.startswith(_NAME_PREFIX) or not any(namespaces.values()):
        return None
    pods: Object = {"names": [], "match_labels": (resources.get("objectSelector") or {}).get("matchLabels") or {}}
    return {
        "where": "an earlier pool",
        "scheduler_name": name[len(_NAME_PREFIX) :],
        "namespaces": namespaces,
        "pods": pods,
        "nodes": _recorded_nodes(binding),
    }


def conditions(item: Mapping[str, Any], excluded: Sequence[str]) -> dict[str, str]:
    """The CEL expressions by name; a pod for which one of them is false is not routed."""
    # The API server sets the default before admission.
    found = {"names-no-scheduler": f"object.spec.schedulerName == {_text(DEFAULT_SCHEDULER_NAME)}", **_routable(excluded)}
    if item["share"] < ALL:
        digits = ", ".join(f"'{digit}'" for digit in _DIGITS[: item["share"]])
        found["is-in-the-share"] = (
            "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, "
            f"has(o.controller) && o.controller && size(o.uid) > 0 && o.uid.substring(size(o.uid) - 1) in [{digits}])"
        )
    return found


def toleration(scheduler_name: str) -> dict[str, str]:
    return {"key": POOL_KEY, "operator": "Equal", "value": scheduler_name, "effect": "NoSchedule"}


def node_labels(item: Mapping[str, Any]) -> dict[str, str]:
    """The labels that all nodes of a pool have; empty without nodes."""
    if item["nodes"]["names"]:
        return {POOL_KEY: item["scheduler_name"]}
    labels: dict[str, str] = item["nodes"]["match_labels"]
    return labels


def plugin_config(item: Mapping[str, Any]) -> Object:
    """The entry of a profile's pluginConfig that keeps the scheduler on the nodes of its pool."""
    expressions = [{"key": key, "operator": "In", "values": [value]} for key, value in sorted(node_labels(item).items())]
    terms = [{"matchExpressions": expressions}]
    return {
        "name": "NodeAffinity",
        "args": {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}},
    }


def keeps_to_nodes(tree: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """Whether a configuration (``Result.tree``) keeps the pool's profile on the pool's nodes: each term of its addedAffinity requires their labels."""
    terms = added_terms(tree, item["scheduler_name"]) or []
    return bool(terms) and all(_requires(term, key, value) for term in terms for key, value in node_labels(item).items())


def with_nodes(tree: Mapping[str, Any], item: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration whose profile for the pool keeps to the pool's nodes. A profile with an addedAffinity stays as it is."""
    profiles = tree.get("profiles")
    if not isinstance(profiles, list):
        return dict(tree)
    return {**tree, "profiles": [_profile_with_nodes(one, item) if _is_of(one, item) else one for one in profiles]}


def missing_lines(item: Mapping[str, Any], which: str) -> str:
    """The error for a scheduler (``which``) that also places pods on nodes outside of its pool."""
    return (
        f"{item['where']}.nodes: {which} also places pods on other nodes. Add these lines to the profile {item['scheduler_name']} of its configuration, or "
        f"merge them with its NodeAffinity:\n{lines(item)}"
    )


def lines(item: Mapping[str, Any]) -> str:
    return from_structure({"pluginConfig": [plugin_config(item)]})


def _mutating(name: str, api_version: str, expressions: Mapping[str, str], operations: str) -> Object:
    return {
        "apiVersion": api_version,
        "kind": KIND,
        "metadata": {"name": name},
        "spec": {
            # Without an answer of the policy, the pod stays as it is, so the default scheduler places it.
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "Never",
            "matchConstraints": _CONSTRAINTS,
            "matchConditions": [{"name": key, "expression": text} for key, text in expressions.items()],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": operations}}],
        },
    }


def _mutating_binding(name: str, api_version: str, selectors: Object) -> Object:
    return {
        "apiVersion": api_version,
        "kind": f"{KIND}Binding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "matchResources": selectors},
    }


def _recorded_nodes(binding: Mapping[str, Any]) -> dict[str, Any]:
    """The selector in the annotation; one of nothing if others have removed or rewritten it."""
    found = as_mapping(json_copy((binding["metadata"].get("annotations") or {}).get(_NODES)))
    return {
        "names": [name for name in as_list(found.get("names")) if isinstance(name, str)],
        "match_labels": as_mapping(found.get("match_labels")),
    }


def _routable(excluded: Sequence[str]) -> dict[str, str]:
    """The conditions of pods that a pool may change."""
    return {
        "is-in-a-user-namespace": _user_namespace(excluded),
        "has-no-node": "!has(object.spec.nodeName) || object.spec.nodeName == ''",
        "is-no-mirror-pod": "!has(object.metadata.annotations) || !('kubernetes.io/config.mirror' in object.metadata.annotations)",
        "is-of-no-daemon-set": "!has(object.metadata.ownerReferences) || !object.metadata.ownerReferences.exists(o, o.kind == 'DaemonSet')",
    }


def _is_of(profile: Any, item: Mapping[str, Any]) -> bool:
    return isinstance(profile, dict) and profile.get("schedulerName") == item["scheduler_name"]


def _profile_with_nodes(profile: dict[str, Any], item: Mapping[str, Any]) -> dict[str, Any]:
    wanted, configs = plugin_config(item), profile.get("pluginConfig") or []
    present = next((one for one in mappings_in(configs) if one.get("name") == wanted["name"]), None)
    if present is None:
        return {**profile, "pluginConfig": [*configs, wanted]} if isinstance(configs, list) else profile
    args = present.get("args") or {}
    if not isinstance(args, dict) or args.get("addedAffinity"):
        return profile
    merged = {**present, "args": {**args, **wanted["args"]}}
    return {**profile, "pluginConfig": [merged if one is present else one for one in configs]}


def scheduler_names(tree: Mapping[str, Any]) -> list[str]:
    """The names of the profiles that have one."""
    return [name for one in mappings_in(tree.get("profiles")) for name in [one.get("schedulerName")] if isinstance(name, str)]


def added_terms(tree: Mapping[str, Any], scheduler_name: str) -> list[dict[str, Any]] | None:
    """The nodeSelectorTerms of the required addedAffinity of a profile, of which a node has to match one; None without it."""
    profiles = [one for one in mappings_in(tree.get("profiles")) if one.get("schedulerName") == scheduler_name]
    configs = [
        config for profile in profiles for config in mappings_in(profile.get("pluginConfig")) if config.get("name") == "NodeAffinity"
    ]
    affinities = [as_mapping(as_mapping(config.get("args")).get("addedAffinity")) for config in configs]
    required = [
        one["requiredDuringSchedulingIgnoredDuringExecution"]
        for one in affinities
        if "requiredDuringSchedulingIgnoredDuringExecution" in one
    ]
    return [term for one in required for term in mappings_in(as_mapping(one).get("nodeSelectorTerms"))] if required else None


def unserved(version: str, openshift: bool) -> str:
    """The error for an API server without MutatingAdmissionPolicy. ``version``: of Kubernetes, such as 1.34."""
    first = f"1.{VERSIONS[0][1]}"
    start = f"The API server of Kubernetes {version} serves no MutatingAdmissionPolicy, which routes pods to a scheduler. "
    if openshift:
        # A feature set that enables it would block upgrades for ever.
        return f"{start}Upgrade OpenShift to a version with Kubernetes {first} or later."
    minor = version.partition(".")[2]
    gated = [name for name, since, default in VERSIONS if not default and minor.isdecimal() and since <= int(minor)]
    if not gated:
        return f"{start}Upgrade to Kubernetes {first} or later."
    return (
        f"{start}Upgrade to Kubernetes {first} or later, or start all API servers with --feature-gates=MutatingAdmissionPolicy=true "
        f"--runtime-config={GROUP}/{gated[0]}=true."
    )


def _namespace_selector(item: Mapping[str, Any]) -> Object:
    if item["namespaces"]["names"]:
        return {
            "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": sorted(item["namespaces"]["names"])}]
        }
    return {"matchLabels": item["namespaces"]["match_labels"]}


def _selected_namespace(item: Mapping[str, Any]) -> str:
    if item["namespaces"]["names"]:
        return f"request.namespace in {_list(sorted(item['namespaces']['names']))}"
    labels = "namespaceObject.metadata.labels"
    wanted = sorted(item["namespaces"]["match_labels"].items())
    return " && ".join(
        [f"has({labels})", *(f"{_text(key)} in {labels} && {labels}[{_text(key)}] == {_text(value)}" for key, value in wanted)]
    )


def _user_namespace(excluded: Sequence[str]) -> str:
    prefixes = " || ".join(f"request.namespace.startsWith({_text(prefix)})" for prefix in SYSTEM_PREFIXES)
    return f"!({prefixes} || request.namespace in {_list([*SYSTEM_NAMESPACES, *excluded])})"


def _add_toleration(scheduler_name: str) -> str:
    """The operations on a pod without this toleration. It can have it already: the policy is evaluated for each pod of the scheduler."""
    wanted = toleration(scheduler_name)
    value = f"Object.spec.tolerations{{{', '.join(f'{key}: {_text(text)}' for key, text in wanted.items())}}}"
    present = " && ".join(f"has(t.{key}) && t.{key} == {_text(text)}" for key, text in wanted.items())
    return (
        f"!has(object.spec.tolerations) ? [JSONPatch{{op: 'add', path: '/spec/tolerations', value: [{value}]}}]"
        f" : object.spec.tolerations.exists(t, {present}) ? []"
        f" : [JSONPatch{{op: 'add', path: '/spec/tolerations/-', value: {value}}}]"
    )


def _text(value: str) -> str:
    """A CEL string. Names and labels consist of characters that need no escape, which validation has ensured."""
    return json.dumps(value)


def _list(values: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, values))}]"


def _requires(term: Mapping[str, Any], key: str, value: str) -> bool:
    return any(
        one.get("key") == key and one.get("operator") == "In" and one.get("values") == [value]
        for one in mappings_in(term.get("matchExpressions"))
    )
