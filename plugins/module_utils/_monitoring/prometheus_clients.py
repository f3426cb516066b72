# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which plugins of a KubeSchedulerConfiguration ask Prometheus, themselves or by a load-watcher service. No I/O.

``config`` is everywhere a configuration as plain data, as it was written (``kube_scheduler.result.Result.tree``) or completed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.plain_data import as_list, as_mapping
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import LOAD_WATCHER_URL, PROM_TOKEN
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.validation_args import second_watchers
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import DEFAULT_SCHEDULER_NAME
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.findings import Finding, error
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.node_metrics import DEFAULT_TARGET_UTILIZATION, load_aware
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.prometheus import credentials_in, without_credentials

DEFAULT_ADDRESS = "http://prometheus-k8s:9090"
"""Whom load-watcher asks without an address (pkg/watcher/internal/metricsprovider/prometheus.go of paypal/load-watcher)."""


class Asked(NamedTuple):
    """The Prometheus that a configuration names, and the plugins that ask it."""

    address: str
    token: str
    insecure_skip_verify: bool
    plugins: list[str]

    def __repr__(self) -> str:
        return f"<Prometheus at {without_credentials(self.address)}, asked by {', '.join(self.plugins)}>"


def queried_prometheus(config: Mapping[str, Any]) -> Asked | None:
    """Whom the plugins of a configuration ask themselves, None where none asks Prometheus. One process has one load-watcher, so there is one answer."""
    asking = [(name, args["metricProvider"]) for _profile, name, args in _instances(config) if _asks_itself(args)]
    if not asking:
        return None
    found = asking[0][1]
    skip = found.get("insecureSkipVerify") is True
    return Asked(
        str(found.get("address") or DEFAULT_ADDRESS), str(found.get("token") or ""), skip, sorted({name for name, _provider in asking})
    )


def watched_by(config: Mapping[str, Any], address: str) -> list[str]:
    """The load-aware plugins of a configuration that ask the load-watcher service at this address."""
    every = _instances(config)
    return sorted({name for _profile, name, args in every if address in (args.get("watcherAddress"), args.get("WatcherAddress"))})


def holds_token(config: Mapping[str, Any]) -> bool:
    """Whether a configuration contains any credential, or a placeholder for the token of a metric provider."""
    profiles = as_list(config.get("profiles"))
    every = [
        as_mapping(as_mapping(entry).get("args")) for profile in profiles for entry in as_list(as_mapping(profile).get("pluginConfig"))
    ]
    providers = [as_mapping(args.get("metricProvider")) for args in every]
    return any(provider.get("token") for provider in providers) or bool(secret_texts(config))


def holds_password(config: Mapping[str, Any]) -> bool:
    """Whether a text of a configuration is an address with a credential, an extender has any, or another field than ``token`` has the placeholder
    of the token: kube-scheduler logs these by themselves."""
    return bool(secret_texts(config.get("extenders"))) or _is_logged(config)


def _is_logged(value: Any, field: str = "") -> bool:
    if isinstance(value, Mapping):
        return any(_is_logged(content, name) for name, content in value.items())
    if isinstance(value, (list, tuple)):
        return any(map(_is_logged, value))
    return isinstance(value, str) and (bool(credentials_in(value)) or (PROM_TOKEN in value and field != "token"))


def _asks_itself(args: Mapping[str, Any]) -> bool:
    return as_mapping(args.get("metricProvider")).get("type") == "Prometheus" and not args.get("watcherAddress")


def asking_prometheus(config: Mapping[str, Any]) -> list[str]:
    """Names of the load-aware plugins that are enabled in a profile and configured to query Prometheus; each once.

    So are those that query the load-watcher service of the operator, by its placeholder: it queries Prometheus. Plugins that query another
    load-watcher service or another provider are not included.
    """
    itself = {name for _profile, name, args in _instances(config) if _asks_itself(args)}
    return sorted(itself.union(watched_by(config, LOAD_WATCHER_URL)))


def target_utilization(config: Mapping[str, Any]) -> float:
    """The lowest that a TargetLoadPacking of the configuration has."""
    given = [args.get("targetUtilization") for _profile, name, args in _instances(config) if name == "TargetLoadPacking"]
    return min((one for one in given if isinstance(one, (int, float)) and one > 0), default=DEFAULT_TARGET_UTILIZATION)


def too_many(config: Mapping[str, Any]) -> list[Finding]:
    """What is wrong where more than one plugin of the process watches the load itself: kube-scheduler ends with a panic."""
    return [
        error("second-watcher", f"The plugin {name} of the profile {profile}: {message}", hint)
        for (profile, name), message, hint in second_watchers(((profile, name), name, args) for profile, name, args in _instances(config))
    ]


def _instances(config: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Each load-aware plugin of each profile: scheduler name, plugin, arguments."""
    known = set(load_aware())
    for profile in as_list(config.get("profiles")):
        profile = as_mapping(profile)
        args = {as_mapping(entry).get("name"): as_mapping(as_mapping(entry).get("args")) for entry in as_list(profile.get("pluginConfig"))}
        enabled = {
            as_mapping(entry).get("name")
            for point in as_mapping(profile.get("plugins")).values()
            for entry in as_list(as_mapping(point).get("enabled"))
        }
        for name in sorted(name for name in known if name in enabled):
            yield str(profile.get("schedulerName") or DEFAULT_SCHEDULER_NAME), name, args.get(name, {})
