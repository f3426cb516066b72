# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How far OLM is with a Subscription, and which of its objects is stuck and why. Answered from the objects alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Callable, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import readiness
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import complaint
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import one_line
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._olm import catalog as catalogs
from ansible_collections.osso.scheduler.plugins.module_utils._olm.install_plans import Versions, csvs_of, current, waits_for_approval
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import REINSTALL, conditions, name_of, spec, status

# READY and FAILED as of `readiness`; APPROVAL waits for a person; SHORT is installed, but not the newest version.
PENDING, READY, FAILED = readiness.PENDING, readiness.READY, readiness.FAILED
APPROVAL, SHORT = "approval", "short"

# The resolver's message for a CSV without a Subscription, and for a while for the one that an upgrade replaces
_ORPHAN = re.compile(r"clusterserviceversion (\S+) exists and is not referenced by a subscription")

# pkg/controller/bundle/bundle_unpacker.go; releases before 0.45 repeat the kubelet's reason.
_PULL_FAILED = re.compile("Bundle image pull failed|ErrImagePull|ImagePullBackOff")

# Reasons after which OLM tries again by itself: a catalog does not answer for now, also one that is nothing to this Subscription; an
# InstallPlan was written by two at once (pkg/controller/operators/catalog/operator.go).
_TRIED_AGAIN = ("ErrorPreventedResolution", "EnsureInstallPlanFailed")

# OLM's messages for the CustomResourceDefinitions in a plan (pkg/controller/operators/catalog/step.go); it tries for a minute, in vain.
_PLAN_REMEDIES = {
    "updated validation is too restrictive": "correct the object that it names, or choose another version of the operator",
    "field is immutable": "choose a version of the operator whose definition fits the existing one, or delete that, with all of its objects, first",
    "risk of data loss": "store the objects in a version that the new definition has, and remove the old one from status.storedVersions of the definition",
}
_FAILED_PLAN = f"OLM does not execute a failed InstallPlan again: then {REINSTALL}"

_REMEDIES = {
    "TooManyOperatorGroups": "delete all OperatorGroups in the namespace but one (kubectl delete operatorgroup NAME -n NAMESPACE). Where only one "
    "is left by now, OLM notices it when it checks again, which can take 15 minutes, or at once when the ClusterServiceVersion gets any annotation "
    "(kubectl annotate csv NAME -n NAMESPACE checked=now)",
    "NoOperatorGroup": "create an OperatorGroup in the namespace",
    "UnsupportedOperatorGroup": "the operator's install modes do not allow these namespaces; set other watch_namespaces",
    "InterOperatorGroupOwnerConflict": "an operator in another namespace that watches some of the same namespaces provides the same APIs; "
    "remove that one or set watch_namespaces apart",
    "OwnerConflict": "another ClusterServiceVersion in the namespace provides the same APIs; remove it",
}


class Seen(NamedTuple):
    """The objects as they are: each may be missing (None, or not in its list or dict)."""

    subscription: Object | None
    plans: list[Object]
    csvs: dict[str, Object]
    deployments: dict[str, Object]
    catalog: Object | None


class Goal(NamedTuple):
    """``reached(csv_name)``: is this CSV, when installed, the requested one?

    ``short(csv_name)``: may it stay at that CSV, if OLM offers nothing newer? ``config``: the part of the Subscription's config that the Deployments
    must have. ``approves``: does the module itself approve the waiting plan?
    """

    reached: Callable[[str], bool]
    short: Callable[[str], bool]
    config: Object
    approves: Callable[[Object], bool]


class Verdict(NamedTuple):
    state: str
    why: str = ""


def uninstalled(name: str, csv: Object | None) -> str:
    """Why the CSV ``name``, which a Subscription names as installed, is not; "" if it is."""
    what = f"ClusterServiceVersion {name}"
    if csv is None:
        return f"{what} does not exist"
    copied_from = (csv["metadata"].get("labels") or {}).get("olm.copiedFrom")
    if copied_from:
        return f"{what} is here only as a copy of the one in namespace {copied_from} ({status(csv, 'message', 'Copied')})"
    if "deletionTimestamp" in csv["metadata"]:
        return f"{what} is being deleted"
    return "" if status(csv, "phase") == "Succeeded" else f"{what} is {_phase_text(csv)}"


def _phase_text(csv: Object) -> str:
    phase, reason, message = (status(csv, field, "") for field in ("phase", "reason", "message"))
    return complaint(phase or "new", reason, one_line(message))


def evaluate(seen: Seen, goal: Goal) -> Verdict:
    """The `Verdict` on a Subscription."""
    subscription = seen.subscription
    if subscription is None:
        return Verdict(PENDING, "the Subscription does not exist")
    installed = status(subscription, "installedCSV")
    csv = seen.csvs.get(installed)
    lacking = uninstalled(installed, csv)
    if csv and "olm.copiedFrom" in (csv["metadata"].get("labels") or {}):
        remedy = "remove the operator there, or watch no namespace that it watches"
        return Verdict(FAILED, f"{_subscription(seen)}: {lacking}; {remedy}")
    well = csv if csv and not lacking else None
    if well and goal.reached(installed):
        why = _deployments(seen, well, goal.config)
        return Verdict(PENDING, why + _way_back(seen, well)) if why else Verdict(READY)
    busy = any(_true(conditions(subscription), kind) for kind in ("ResolutionFailed", "BundleUnpackFailed", "BundleUnpacking"))
    if well and not busy and goal.short(installed) and status(subscription, "state") == "AtLatestKnown":
        why = _deployments(seen, well, goal.config)
        return Verdict(PENDING, why) if why else Verdict(SHORT, f"{installed} is installed, and OLM sees no way from there to a newer one")
    return _stuck(seen, goal)


def _stuck(seen: Seen, goal: Goal) -> Verdict:
    """What keeps OLM, from the first step to the last."""
    found = conditions(seen.subscription)
    plan = current(seen.plans, seen.subscription)
    name = status(seen.subscription, "currentCSV")
    csv = seen.csvs.get(name)
    unresolved = _unresolved(seen, found)
    if unresolved is not None and not _follows_from_upgrade(seen, found):
        return unresolved
    if plan is not None and status(plan, "phase") == "Failed":
        return Verdict(FAILED, f"InstallPlan {name_of(plan)} failed: {_plan_failure(plan)}{_plan_remedy(plan)}; {_FAILED_PLAN}")
    if plan is not None and waits_for_approval(plan) and name in csvs_of(plan):
        return Verdict(PENDING if goal.approves(plan) else APPROVAL, waiting(plan))
    if plan is not None and status(plan, "phase") == "Installing" and status(plan, "message"):
        remedy = _plan_remedy(plan)
        way_out = f"{remedy}. OLM tries for about a minute. {_FAILED_PLAN}" if remedy else ""
        return Verdict(FAILED if remedy else PENDING, f"InstallPlan {name_of(plan)} is Installing: {_plan_failure(plan)}{way_out}")
    if csv is not None and uninstalled(name, csv):
        return _csv(seen, csv)
    if unresolved is not None:
        return unresolved
    if _true(found, "BundleUnpacking"):
        return Verdict(PENDING, f"{_subscription(seen)}: its bundle is being unpacked: {_condition_text(found['BundleUnpacking'])}")
    if _true(found, "CatalogSourcesUnhealthy"):
        return Verdict(PENDING, f"{_subscription(seen)}: {_condition_text(found['CatalogSourcesUnhealthy'])}")
    if seen.catalog is not None and catalogs.evaluate(seen.catalog).state != readiness.READY:
        return Verdict(PENDING, f"CatalogSource {name_of(seen.catalog)}: {catalogs.evaluate(seen.catalog).why}")
    if plan is not None and status(plan, "phase") != "Complete":
        return Verdict(PENDING, f"InstallPlan {name_of(plan)} is {status(plan, 'phase') or 'new'}: {_plan_failure(plan)}")
    if csv is not None:
        return Verdict(PENDING, f"{name} is installed; the Subscription is {status(seen.subscription, 'state') or 'not processed yet'}")
    if is_deleted(seen):
        return Verdict(
            FAILED,
            f"{_subscription(seen)}: its ClusterServiceVersion {name} was deleted, and OLM does not create it again. To restore it, {REINSTALL}",
        )
    if status(seen.subscription, "state"):
        return Verdict(PENDING, f"{_subscription(seen)} is {status(seen.subscription, 'state')}; its CSV {name} does not exist")
    return Verdict(PENDING, f"{_subscription(seen)}: OLM reports nothing about it; does its catalog-operator run?")


def waiting(plan: Object) -> str:
    return f"InstallPlan {name_of(plan)} waits for approval; it installs {', '.join(csvs_of(plan))}"


def is_deleted(seen: Seen) -> bool:
    """Does the Subscription refer to an installed CSV that does not exist? OLM stays there, whoever deleted the CSV."""
    name = status(seen.subscription, "currentCSV")
    return bool(name) and name == status(seen.subscription, "installedCSV") and name not in seen.csvs


def _unresolved(seen: Seen, found: Mapping[str, Object]) -> Verdict | None:
    """The `Verdict` if OLM cannot resolve the Subscription; None if OLM does not report this."""
    for kind, what in (("ResolutionFailed", "OLM cannot resolve it"), ("BundleUnpackFailed", "its bundle cannot be unpacked")):
        if _true(found, kind):
            text = f"{_subscription(seen)}: {what}: {_condition_text(found[kind])}"
            if _follows_from_upgrade(seen, found) or found[kind].get("reason") in _TRIED_AGAIN:
                return Verdict(PENDING, text)
            orphan = _orphan(found)
            return Verdict(FAILED, text + (f"; {_without_subscription(seen, orphan)}" if orphan else ""))
    return None


def _without_subscription(seen: Seen, csv: str) -> str:
    versions = Versions(spec(seen.subscription, "name", ""))
    versions.learn(seen.plans, seen.csvs.values())
    if versions.is_ours(csv):
        return f"OLM does not connect {csv} with this Subscription: {REINSTALL}"
    return f"{csv} belongs to another operator, whose Subscription was deleted: delete this ClusterServiceVersion, or subscribe to that operator again"


def _orphan(found: Mapping[str, Object]) -> str | None:
    told = _ORPHAN.search(found.get("ResolutionFailed", {}).get("message", ""))
    return told.group(1) if told else None


def _follows_from_upgrade(seen: Seen, found: Mapping[str, Object]) -> bool:
    """Is the CSV without a Subscription the one that our upgrade replaces? Then the reason is the obstacle to the upgrade."""
    name = _orphan(found)
    if not name or not _true(found, "ResolutionFailed"):
        return False
    phase = status(seen.csvs.get(name), "phase")
    return (
        name not in seen.csvs
        or name == status(seen.subscription, "installedCSV") != status(seen.subscription, "currentCSV")
        or phase in ("Replacing", "Deleting")
        or any(spec(csv, "replaces") == name for csv in seen.csvs.values())
    )


def _plan_remedy(plan: Object) -> str:
    text = _plan_failure(plan)
    return next(("; " + remedy for pattern, remedy in _PLAN_REMEDIES.items() if pattern in text), "")


def _subscription(seen: Seen) -> str:
    return "Subscription " + (name_of(seen.subscription) if seen.subscription else "")


def _csv(seen: Seen, csv: Object) -> Verdict:
    """A CSV that is not well."""
    phase, reason = status(csv, "phase"), status(csv, "reason")
    text = uninstalled(name_of(csv), csv)
    missing = _requirements(csv) if reason in ("RequirementsNotMet", "RequirementsUnknown") or phase == "Pending" else []
    if missing:
        text += "; " + "; ".join(missing)
    if reason in _REMEDIES:
        text += "; " + _REMEDIES[reason]
    if phase in ("Installing", "Failed"):
        slow = _deployments(seen, csv, {})
        text += "; " + slow + _way_back(seen, csv) if slow else ""
    return Verdict(FAILED if phase == "Failed" else PENDING, text)


def _way_back(seen: Seen, csv: Object) -> str:
    """How to return to the version that this CSV replaced, if its Deployments are not available and the old one was installed; else nothing.

    OLM deletes the old CSV as soon as the new Deployments are available, if only for a second before they crash; its InstallPlan stays.
    """
    before = spec(csv, "replaces")
    was_installed = before in seen.csvs or any(before in csvs_of(plan) and status(plan, "phase") == "Complete" for plan in seen.plans)
    if not was_installed or not _deployments(seen, csv, {}):
        return ""
    return f". OLM does not return to {before}: to install it again, {REINSTALL} with starting_csv: {before} and upgrade: none"


def _requirements(csv: Object) -> list[str]:
    """What the cluster lacks of what a CSV requires."""
    lacking = []
    for one in status(csv, "requirementStatus", []):
        if one.get("status") not in ("Present", "Satisfied"):
            lacking.append("{kind} {name} is {status}: {message}".format(**{"message": "", "name": "?", "kind": "?", **one}))
            lacking[-1] = lacking[-1].rstrip(": ")
        for dependent in one.get("dependents") or []:
            if one.get("status") not in ("Present", "Satisfied") and dependent.get("status") != "Satisfied":
                lacking.append("{0} {1}: {2}".format(dependent.get("kind", ""), dependent.get("status", ""), dependent.get("message", "")))
    return lacking


def _deployments(seen: Seen, csv: Object, config: Mapping[str, Any]) -> str:
    """Why the Deployments of a CSV are not as they should be; "" when they are."""
    for name in deployments_of(csv):
        live = seen.deployments.get(name)
        if live is None:
            return f"Deployment {name} does not exist"
        verdict = readiness.rollout(live)
        if verdict.state != readiness.READY:
            return f"Deployment {name}: {verdict.why}"
        if not carries(live, config):
            return f"Deployment {name} does not have the Subscription's config yet"
    return ""


def deployments_of(csv: Object) -> list[str]:
    """Names of the Deployments that a CSV makes."""
    install = (spec(csv, "install") or {}).get("spec") or {}
    return [one["name"] for one in install.get("deployments") or []]


def carries(deployment: Object, config: Mapping[str, Any]) -> bool:
    """Does the Deployment have the Subscription's config? Only values that OLM copies unchanged are compared."""
    pod = deployment["spec"]["template"]["spec"]
    for container in pod.get("containers", []):
        # An empty value in the server's answer counts as missing.
        env = {one["name"]: one.get("value", "") for one in container.get("env") or [] if "valueFrom" not in one}
        if any("value" in one and env.get(one["name"]) != str(one["value"]) for one in config.get("env") or []):
            return False
        if any(one not in (container.get("envFrom") or []) for one in config.get("envFrom") or []):
            return False
        mounted = [one["name"] for one in container.get("volumeMounts") or []]
        if any(one["name"] not in mounted for one in config.get("volumeMounts") or []):
            return False
        if not _resources_match(config.get("resources") or {}, container.get("resources") or {}):
            return False
    if "nodeSelector" in config and (pod.get("nodeSelector") or {}) != (config["nodeSelector"] or {}):
        return False
    keys = [one.get("key") for one in pod.get("tolerations") or []]
    volumes = [one["name"] for one in pod.get("volumes") or []]
    return all(one.get("key") in keys for one in config.get("tolerations") or []) and all(
        one["name"] in volumes for one in config.get("volumes") or []
    )


def _resources_match(wanted: Any, live: Any) -> bool:
    from kubernetes.utils import parse_quantity

    for field in ("limits", "requests"):
        for name, quantity in (wanted.get(field) or {}).items():
            if name not in (live.get(field) or {}) or parse_quantity(live[field][name]) != parse_quantity(quantity):
                return False
    return True


def _plan_failure(plan: Object) -> str:
    texts = [status(plan, "message", "")]
    for one in status(plan, "conditions", []):
        if one.get("status") != "True":
            texts.append(_condition_text(one))
    for lookup in status(plan, "bundleLookups", []):
        for one in lookup.get("conditions") or []:
            if one.get("status") == "True":
                texts.append("bundle {0}: {1}".format(lookup.get("identifier", ""), _condition_text(one)))
    return "; ".join(dict.fromkeys(text for text in texts if text)) or "it gives no reason"


def _true(found: Mapping[str, Object], kind: str) -> bool:
    return found.get(kind, {}).get("status") == "True"


def _condition_text(condition: Object) -> str:
    return ": ".join(part.strip() for part in (condition.get("reason"), condition.get("message")) if part) or condition.get("type", "")


def needs_unpack_pods(seen: Seen) -> bool:
    """Is OLM at unpacking a bundle, so that the pods which do it say more?"""
    found = conditions(seen.subscription)
    return _true(found, "BundleUnpacking") or _true(found, "BundleUnpackFailed")


def bundle_cannot_be_pulled(seen: Seen) -> bool:
    """Does OLM report this for a bundle that it unpacks? The pods alone are not sufficient, because they can belong to other Subscriptions."""
    found = conditions(seen.subscription)
    return _true(found, "BundleUnpacking") and bool(_PULL_FAILED.search(found["BundleUnpacking"].get("message", "")))
