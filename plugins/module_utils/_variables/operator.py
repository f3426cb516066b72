# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of the role operator: which of them this operator, this method or this cluster cannot honour, and what follows from the others."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._images import reference
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.operators import (
    OSSO_SINCE,
    UPSTREAM,
    UPSTREAM_NAMESPACE,
    UPSTREAM_SINCE,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.releases import OPENSHIFT, OpenShift
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import dns1123_label
from ansible_collections.osso.scheduler.plugins.module_utils._variables.typed_values import NAMESPACE_REMEDY

# Variables that an operator or a method cannot honour
CANNOT = {
    "upstream": (
        "operator_plugins",
        "operator_prometheus_namespace",
        "operator_prometheus_service_account",
        "operator_monitoring_labels",
    ),
    "olm": ("operator_replicas",),
}
# Those that tell the other method where it gets the operator from: with operator_method auto both kinds can stand side by side.
OF_THE_OTHER_METHOD = {
    "olm": ("operator_image", "operator_image_pull_policy", "operator_image_pull_secrets"),
    "manifests": (
        "operator_catalog_image",
        "operator_catalog_source",
        "operator_catalog_source_namespace",
        "operator_catalog_pull_secrets",
        "operator_channel",
        "operator_version",
        "operator_upgrade",
        "operator_approval",
        "operator_approve",
        "operator_subscription_config",
    ),
}
WHY = {
    "upstream": "upstream's operator has nothing of that kind",
    "olm": "OLM takes the operator's image and the number of its pods from the bundle",
    "manifests": "there are neither catalogs nor versions without OLM",
}
WITHOUT_OPERATOR = (
    "operator_state is absent, but secondary_schedulers has schedulers to deploy, which need the operator. Use ansible-playbook osso.scheduler.remove to "
    "remove everything, or leave operator_state out."
)
IMAGE_WAYS = {
    "osso": "operator_image is missing, and with this version of the collection no image of the operator was published. There are three ways. Build one "
    "from a checkout of the collection, with make images REGISTRY=registry.example.com/team or the playbook osso.scheduler.build_and_publish, which "
    "prints its name. Or set operator_image to an image that your cluster can pull. Or set operator_variant to upstream, for Red Hat's operator.",
    "upstream": "operator_image is missing: with operator_variant upstream and operator_method manifests it names the image of upstream's operator for "
    "this cluster, such as quay.io/openshift/secondary-scheduler-operator:4.20.",
}


def complete(given: Mapping[str, Any], changed: Sequence[str], facts: Mapping[str, Any]) -> dict[str, Any]:
    """What the role does with its variables on a cluster.

    ``given``: the variables; ``changed``: those that differ from their defaults; ``facts``: what scheduler_info returns of operators and platform
    (and ``schedulers`` for a removal), with ``image``, the one that was chosen, and ``scheduler_namespaces``, those of the schedulers that the same
    play deploys. Returns

    - ``errors``: sentences; nothing may be written while there are any
    - ``method``, by which the operator is to be installed; ``installed``: the methods by which it is installed now
    - ``upgrade``: how far OLM goes; ``config``: of its Subscription
    """
    variant, namespace = given["operator_variant"], given["operator_namespace"]
    watched = [str(name) for name in given["operator_watch_namespaces"] or [namespace]]
    # Null where they must not be read
    operators = facts["operators"] or []
    rival = next(iter(rivals(operators, namespace, watched, variant)), None)
    if given["operator_state"] == "absent":
        found = [WITHOUT_OPERATOR] if facts.get("scheduler_namespaces") else []
        return {"errors": found + _schedulers_of_others(watched, facts) + ([_rival_of_removal(rival)] if rival else [])}
    here = [one for one in operators if one["namespace"] == namespace and one["variant"] == variant]
    installed = sorted({one["method"] for one in here})
    method = given["operator_method"]
    if method == "auto":
        method = "olm" if facts["olm"] and "manifests" not in installed else "manifests"
    found = _malformed(namespace, watched, str(facts["image"]) if method != "olm" else "")
    found += [_rival_of_installation(rival)] if rival else []
    found += _beyond(given, changed, variant, method) + _impossible(given, facts, method, installed, watched)
    others = [name for one in operators if one["replicas"] and one not in here for name in one["watches"]]
    found += _unwatched(watched, others, facts.get("scheduler_namespaces") or ())
    # A bundle says itself what its operator needs.
    placement = {
        "resources": given["operator_resources"] if "operator_resources" in changed else {},
        "nodeSelector": given["operator_node_selector"],
        "tolerations": given["operator_tolerations"],
    }
    config = {**{key: value for key, value in placement.items() if value}, **given["operator_subscription_config"]}
    upgrade = given["operator_upgrade"] or ("version" if given["operator_version"] else "channel")
    return {"errors": found, "method": method, "installed": installed, "config": config, "upgrade": upgrade}


def _malformed(namespace: str, watched: Sequence[str], image: str) -> list[str]:
    found = [f"operator_namespace is {namespace}: {NAMESPACE_REMEDY}."] if dns1123_label(namespace) else []
    found += [
        f"operator_watch_namespaces has {name}: {NAMESPACE_REMEDY}, or * for all namespaces."
        for name in watched
        if name not in ("*", namespace) and dns1123_label(name)
    ]
    problem = reference.problem(image) if image else ""
    return found + ([f"operator_image: {problem}."] if problem else [])


def rivals(
    operators: Sequence[Mapping[str, Any]], namespace: str, watched: Sequence[str], variant: str = "osso"
) -> list[Mapping[str, Any]]:
    """Those of ``operators`` that watch a namespace which the one in ``namespace`` is to watch; ``["*"]`` is all namespaces."""
    return [
        operator
        for operator in operators
        if operator["replicas"]
        and not (operator["variant"] == variant and operator["namespace"] == namespace)
        and ("*" in watched or "*" in operator["watches"] or set(watched) & set(operator["watches"]))
    ]


def _rival_of_installation(rival: Mapping[str, Any]) -> str:
    return (
        f"The operator {rival['namespace']}/{rival['name']} already watches {', '.join(rival['watches'])}. Two operators would undo each other's work. "
        f"Scale that one to zero or remove it first (oc delete deployment -n {rival['namespace']} {rival['name']}, or its Subscription and "
        "ClusterServiceVersion where OLM installed it), or choose other namespaces in operator_watch_namespaces."
    )


def _rival_of_removal(rival: Mapping[str, Any]) -> str:
    return (
        f"The operator {rival['namespace']}/{rival['name']} ({rival['variant']}) watches {', '.join(rival['watches'])}: the schedulers there are its own, "
        f"and would be deleted. Set operator_variant to {rival['variant']} to remove that one, or scale it to zero first."
    )


def _schedulers_of_others(watched: Sequence[str], facts: Mapping[str, Any]) -> list[str]:
    """A removal deletes the CRD, and with it every SecondaryScheduler of the cluster."""
    foreign = [
        one
        for one in facts["schedulers"] or ()
        if one["kind"] == "SecondaryScheduler" and "*" not in watched and one["namespace"] not in watched
    ]
    return [
        f"SecondaryScheduler {one['namespace']}/{one['name']} is in a namespace that this operator does not watch, and would be deleted together with "
        "the definition of its kind. Delete it first, or add its namespace to operator_watch_namespaces if this operator is its own."
        for one in foreign
    ]


def _unwatched(watched: Sequence[str], others: Sequence[str], namespaces: Sequence[str]) -> list[str]:
    """Namespaces of the schedulers of the same play in which no operator would deploy them. others: what further operators watch."""
    known = {*watched, *others}
    missing = [] if "*" in known else sorted(set(namespaces) - known)
    if not missing:
        return []
    message = (
        f"secondary_schedulers has schedulers in {' and '.join(missing)}, but the operator watches {', '.join(watched)} alone, and would never deploy "
        f"them. Set operator_watch_namespaces to {json.dumps([*watched, *missing])}, or leave the namespace out."
    )
    return [message]


def _beyond(given: Mapping[str, Any], changed: Sequence[str], variant: str, method: str) -> list[str]:
    """Variables that were changed although the operator or the method cannot honour them."""
    other = () if given["operator_method"] == "auto" else OF_THE_OTHER_METHOD.get(method, ())
    reasons = {**dict.fromkeys((*CANNOT.get(method, ()), *other), method), **dict.fromkeys(CANNOT.get(variant, ()), variant)}
    found = []
    for reason in dict.fromkeys(reasons.values()):
        names = sorted(name for name, why in reasons.items() if why == reason and name in changed)
        if names:
            found.append(
                f"{', '.join(names)} cannot be honoured with operator_variant {variant} and operator_method {method}: {WHY[reason]}. Leave it out, or "
                "choose another of these."
            )
    return found


def _impossible(
    given: Mapping[str, Any], facts: Mapping[str, Any], method: str, installed: Sequence[str], watched: Sequence[str]
) -> list[str]:
    variant, namespace, version = given["operator_variant"], given["operator_namespace"], given["operator_version"]
    approval, approve = given["operator_approval"], given["operator_approve"]
    found = []
    if method == "olm" and not facts["olm"]:
        found.append(
            "operator_method is olm, but the cluster does not serve operators.coreos.com: the Operator Lifecycle Manager is not installed. Install it, or "
            "set operator_method to manifests, or to auto."
        )
    unsupported = support(facts["kubernetes_version"], variant, version)
    if unsupported:
        found.append(unsupported)
    if variant == "upstream" and namespace != UPSTREAM_NAMESPACE:
        found.append(
            f"operator_namespace is {namespace}, but upstream's operator works in {UPSTREAM_NAMESPACE} alone. Leave it out, or set operator_variant to osso."
        )
    if variant == "upstream" and watched != [UPSTREAM_NAMESPACE]:
        found.append(
            f"operator_watch_namespaces is {', '.join(watched)}, but upstream's operator watches {UPSTREAM_NAMESPACE} alone. Leave it out, or set "
            "operator_variant to osso."
        )
    if method != "olm" and not facts["image"]:
        found.append(IMAGE_WAYS[variant] + (" The operator that is installed was left as it is." if installed else ""))
    if given["operator_upgrade"] == "version" and not version:
        found.append("operator_upgrade is version, but operator_version is missing. Specify a version, such as 1.0.0.")
    if approval == "Manual" and not approve and method == "olm" and "manifests" in installed:
        found.append(
            "operator_approval is Manual and operator_approve is missing: moving from manifests to OLM would remove the operator and then wait for an "
            "approval. Set operator_approve to the version that is to be installed."
        )
    if approve and approval != "Manual":
        found.append(
            f"operator_approve is {approve}, but operator_approval is {approval}, which approves all. Set operator_approval to Manual, or leave "
            "operator_approve out."
        )
    return found


def support(kubernetes: str, variant: str, version: str = "") -> str:
    """Why an operator is not made for a release of Kubernetes, with what to choose instead; empty if it is, or if this is unknown.

    Ours needs a release or a later one. Of the upstream operator each minor release is for two minor releases of OpenShift, and catalogs offer
    others as well, as steps of an upgrade. ``version``: what is to be installed; empty for whatever the catalog offers.
    """
    match = re.fullmatch(r"1\.([0-9]{1,4})", kubernetes)
    if match is None:
        return ""
    minor = int(match.group(1))
    if variant == "osso":
        if minor < OSSO_SINCE:
            return f"The cluster runs Kubernetes {kubernetes}, and the operator needs 1.{OSSO_SINCE}. Upgrade the cluster first."
        return ""
    clusters = {release for release, runs in OPENSHIFT.items() if runs == minor}
    cluster = f"Kubernetes {kubernetes}" + (f", as OpenShift {' and '.join(map(str, sorted(clusters)))}" if clusters else "")
    oldest = min(release for releases, _versions in UPSTREAM.values() for release in releases)
    if minor < OPENSHIFT[oldest]:
        return f"The cluster runs {cluster}, and the first upstream operator was for {oldest}. Set operator_variant to osso."
    wrong = _wrong(version, clusters, minor > max(OPENSHIFT.values())) if version else ""
    if not wrong:
        return ""
    fitting = _fitting(clusters)
    remedy = f"Choose {' or '.join(filter(None, [', '.join(fitting[:-1]), fitting[-1]]))}, or leave it out" if fitting else "Leave it out"
    return f"operator_version is {version}, {wrong}. {remedy}: the cluster runs {cluster}."


def _wrong(version: str, clusters: set[OpenShift], newest: bool) -> str:
    """Why an upstream version is for none of these releases of OpenShift; empty if it is, or if it is newer than the table.

    newest: whether the cluster is newer than the table. The newest line of the operator can be for it: its catalog decides.
    """
    number = _number(version)
    releases, versions = UPSTREAM.get(number[1], ((), ())) if number else ((), ())
    if number and number[0] == 1 and (number[1] > max(UPSTREAM) or (clusters & set(releases) and number > (_number(versions[-1]) or ()))):
        return ""
    if not clusters and newest and number and number[:2] == (1, max(UPSTREAM)):
        return ""
    if version not in versions:
        return "which is no version of the upstream operator"
    if not clusters & set(releases):
        return f"which is for OpenShift {' and '.join(map(str, releases))}"
    if version not in _fitting(clusters):
        return f"which is for OpenShift {UPSTREAM_SINCE[version]} and later"
    return ""


def _fitting(clusters: set[OpenShift]) -> list[str]:
    return [
        version
        for releases, versions in UPSTREAM.values()
        for version in versions
        if any(release in clusters and UPSTREAM_SINCE.get(version, release) <= release for release in releases)
    ]


def _number(version: str) -> tuple[int, ...] | None:
    """(1, 5, 1) of ``1.5.1``, else None."""
    match = re.fullmatch(r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})", version)
    return tuple(map(int, match.groups())) if match else None
