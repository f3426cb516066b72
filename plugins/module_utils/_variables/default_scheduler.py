# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of the role default_scheduler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.flags import ELECTION_DEFAULTS
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import DEFAULT_SCHEDULER_NAME

_LEASE_FLAGS = {"resourceName": "leader-elect-resource-name", "resourceNamespace": "leader-elect-resource-namespace"}
_LEASE = {field: str(ELECTION_DEFAULTS[flag]) for field, flag in _LEASE_FLAGS.items()}
_BOTH = ("provider", "profile", "log_level")
_STATIC_POD = (
    *("state", "config", "profiling", "flags", "kubernetes_version", "manifest", "config_folder", "health_host", "restart_timeout"),
    *("probe", "probe_namespace", "probe_image"),
)
"""Variables that the provider static_pod alone has; those that are in neither tuple are for OpenShift."""


def complete(given: Mapping[str, Any], changed: Sequence[str], refusals: Sequence[str] | None = None) -> dict[str, Any]:
    """``errors``: what of ``given``, the variables, contradicts itself or has to be confirmed, with value and remedy.

    ``changed``: the variables that differ from their defaults.
    ``refusals``: what default_scheduler_info returns against the change; None before it was called, as all errors are reported at once.
    """

    def of(name: str, default: Any = None) -> Any:
        value = given.get(f"default_scheduler_{name}")
        return default if value is None else value

    found = [*_of_the_other_provider(given, changed, of("provider", "openshift")), *(refusals or ())]
    if of("provider") == "static_pod":
        if of("profile") and of("config"):
            found.append(
                "default_scheduler_profile and default_scheduler_config are both set. Set one of them, the profile inside of your configuration is yours."
            )
        if of("state") == "absent":
            return {"errors": found}
        flags = {str(name).replace("_", "-"): value for name, value in of("flags", {}).items()}
        found += [
            f"default_scheduler_flags: {name} has no value. Set one, such as true, or remove the flag."
            for name, value in flags.items()
            if value is None
        ]
        leases = {field: flags.get(flag) for field, flag in _LEASE_FLAGS.items()}
        found += _other_lease("default_scheduler_flags", {_LEASE_FLAGS[field]: (leases[field], _LEASE[field]) for field in leases})
        return {"errors": [*found, *_not_the_default_one(of("config", {}))]}
    if refusals is None:
        return {"errors": found}
    if not of("operator_managed", True) and not of("i_understand_unmanaged_operator"):
        found.append(
            "default_scheduler_operator_managed is false. The cluster cannot be upgraded then, and the operator is not repaired: set "
            "default_scheduler_i_understand_unmanaged_operator to true if you mean it. default_scheduler_operator_managed true is the way back."
        )
    if of("operator_image") and not of("i_understand_custom_operator_image"):
        found.append(
            "default_scheduler_operator_image is set. Red Hat does not support a cluster with another operator: set "
            "default_scheduler_i_understand_custom_operator_image to true if you mean it. Without it, default_scheduler_operator_managed true is the way "
            "back."
        )
    if of("operator_image") and of("operator_managed", True):
        found.append(
            "default_scheduler_operator_image is set, but the cluster-version operator would put its own image back: set "
            "default_scheduler_operator_managed to false, too."
        )
    if of("cluster_version_operator") == "stopped" and not of("i_understand_stopped_cluster_version_operator"):
        found.append(
            "default_scheduler_cluster_version_operator is stopped. Nothing of the cluster is repaired or upgraded then; "
            "default_scheduler_operator_managed false does for the scheduler's operator alone. Set "
            "default_scheduler_i_understand_stopped_cluster_version_operator to true if you mean it; running is the way back."
        )
    return {"errors": found}


def _of_the_other_provider(given: Mapping[str, Any], changed: Sequence[str], provider: str) -> list[str]:
    """Variables that this provider cannot honour. Blank answers of a form do not count."""
    own = [f"default_scheduler_{name}" for name in _STATIC_POD]
    both = [f"default_scheduler_{name}" for name in _BOTH]
    beyond = [
        name
        for name in changed
        if name not in both and (name in own) != (provider == "static_pod") and given[name] not in (None, "", {}, [])
    ]
    if not beyond:
        return []
    other = "openshift" if provider == "static_pod" else "static_pod"
    names = ", ".join(sorted(beyond))
    why = f"{names} cannot be honoured with default_scheduler_provider {provider}: only the provider {other} has that."
    return [f"{why} Leave it out, or set default_scheduler_provider to {other}."]


def _not_the_default_one(config: Mapping[str, Any]) -> list[str]:
    """Why a scheduler with this configuration is not the default one. Its structure is validated later."""
    found = []
    profiles, election = config.get("profiles"), config.get("leaderElection")
    names = (
        [profile.get("schedulerName") or DEFAULT_SCHEDULER_NAME for profile in profiles if isinstance(profile, Mapping)]
        if isinstance(profiles, list)
        else []
    )
    if names and DEFAULT_SCHEDULER_NAME not in names:
        found.append(
            f"default_scheduler_config: profiles have the names {', '.join(map(str, names))}. Then nothing schedules pods without a schedulerName: name one "
            f"of the profiles {DEFAULT_SCHEDULER_NAME}. For an additional scheduler, use the role custom_scheduler or secondary_scheduler."
        )
    fields = election if isinstance(election, Mapping) else {}
    return found + _other_lease("default_scheduler_config", {f"leaderElection.{name}": (fields.get(name), _LEASE[name]) for name in _LEASE})


def _other_lease(variable: str, values: Mapping[str, tuple[Any, str]]) -> list[str]:
    """values: what is given and the default, by the name of a field or flag."""
    return [
        f"{variable}: {name} is {own}. While hosts are changed one after the other, schedulers with different Leases would place the same pods: remove "
        f"it. The default is {default}."
        for name, (own, default) in values.items()
        if own not in (None, "", default)
    ]
