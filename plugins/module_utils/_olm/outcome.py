# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the module returns of OLM's objects: short, and with the same keys whatever there is."""

from __future__ import annotations

from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._olm import catalog as catalogs
from ansible_collections.osso.scheduler.plugins.module_utils._olm import install_plans as plans
from ansible_collections.osso.scheduler.plugins.module_utils._olm.catalog import Offer
from ansible_collections.osso.scheduler.plugins.module_utils._olm.diagnose import Seen
from ansible_collections.osso.scheduler.plugins.module_utils._olm.install_plans import Versions
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import Options, conditions, name_of, spec, status


def result(
    seen: Seen, options: Options, offer: Offer, channel: str | None, versions: Versions, message: str, approved: str | None = None
) -> dict[str, Any]:
    """The part of the module's result that is not in `apply_result.Report`. ``approved`` is the plan that this run approved."""
    subscription = seen.subscription
    name = status(subscription, "installedCSV") or status(subscription, "currentCSV")
    return {
        "csv": csv(seen.csvs.get(name), name, versions),
        "subscription": _subscription(subscription, options),
        "install_plan": _plan(shown_plan(seen, approved)),
        "catalog": _catalog(seen.catalog, options, offer),
        "upgrade": _upgrade(subscription, offer, channel, versions, options.approval == "Manual"),
        "msg": message,
    }


def shown_plan(seen: Seen, approved: str | None) -> Object | None:
    """The InstallPlan of the result: the one that this run approved, else the one that the Subscription refers to."""
    return next((one for one in seen.plans if name_of(one) == approved), None) or plans.current(seen.plans, seen.subscription)


def csv(live: Object | None, name: str | None, versions: Versions) -> dict[str, Any]:
    return {
        "name": name,
        "version": str(spec(live, "version")) if spec(live, "version") else versions.version(name),
        "phase": status(live, "phase"),
        "reason": status(live, "reason"),
        "message": status(live, "message"),
    }


def _subscription(live: Object | None, options: Options) -> dict[str, Any]:
    return {
        "name": options.name,
        "namespace": options.namespace,
        "package": options.package,
        "channel": spec(live, "channel"),
        "source": spec(live, "source"),
        "source_namespace": spec(live, "sourceNamespace"),
        "approval": spec(live, "installPlanApproval"),
        "starting_csv": spec(live, "startingCSV"),
        "state": status(live, "state"),
        "current_csv": status(live, "currentCSV"),
        "installed_csv": status(live, "installedCSV"),
        "conditions": [
            {"type": one["type"], "reason": one.get("reason", ""), "message": one.get("message", "")}
            for one in conditions(live).values()
            if one.get("status") == "True"
        ],
    }


def _plan(live: Object | None) -> dict[str, Any]:
    return {
        "name": name_of(live) if live else None,
        "approved": bool(spec(live, "approved", False)) if live else None,
        "csvs": plans.csvs_of(live) if live else [],
        "phase": status(live, "phase"),
    }


def _catalog(live: Object | None, options: Options, offer: Offer) -> dict[str, Any]:
    return {
        "name": options.source,
        "namespace": options.source_namespace,
        "state": catalogs.state(live) if live else None,
        "packages": offer.packages or [],
        "channels": sorted(offer.package.channels) if offer.package else [],
    }


def _upgrade(subscription: Object | None, offer: Offer, channel: str | None, versions: Versions, manual: bool) -> str | None:
    """The version that is offered and not installed, or None. With ``manual`` approval it is the next one, as far as it is known."""
    installed, current = status(subscription, "installedCSV"), status(subscription, "currentCSV")
    if not installed:
        return None
    newer = offered(offer, channel, versions, installed)
    there, planned = versions.version(installed) or "", versions.version(current) or ""
    next_one = planned if plans.precedes(there, planned) else None
    if manual:
        # OLM upgrades step by step, and a catalog does not list which version replaces which.
        return next_one or (newer[0] if len(newer) == 1 else None)
    return newer[-1] if newer else next_one


def offered(offer: Offer, channel: str | None, versions: Versions, installed: str) -> list[str]:
    """The versions of the channel that are newer than the CSV ``installed``, up to the channel's head, the oldest first."""
    head = offer.package.heads.get(channel) if offer.package and channel else None
    there, last = versions.version(installed), versions.version(head)
    if offer.package is None or channel is None or there is None or last is None or not plans.precedes(there, last):
        return []
    known = {versions.version(name) for name, _version in offer.package.channels[channel]}
    between = [one for one in known if one and plans.precedes(there, one) and plans.precedes(one, last)]
    return [*sorted(between, key=plans.precedence), last]
