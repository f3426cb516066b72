# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The scheduler of the connected cluster that places pods with a schedulerName, the default scheduler included, as a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._preview.scheduler_process import GATED_BY_FLAGS
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.foreign_schedulers import KUBE_SCHEDULER
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import SchedulerDiscovery

_DEFAULTS = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
"""What a kube-scheduler without ``--config`` runs with."""


def read(client: Client, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a side whose ``scheduler_name`` is set, completed with what now places pods with this schedulerName. Raises ClusterError."""
    name = given["scheduler_name"]
    option = f"baseline.scheduler_name: {name}"
    discovery = SchedulerDiscovery(client, [])
    schedulers = discovery.schedulers()
    found = [one for one in schedulers if name in one["scheduler_names"]]
    if not found:
        known = ", ".join(sorted({known for one in schedulers for known in one["scheduler_names"]}))
        unread = f" Could not be read: {'; '.join(discovery.unknown)}." if discovery.unknown else ""
        raise InputError(f"{option}: no scheduler of the cluster has this schedulerName. Known are: {known}.{unread}")
    # Of several, one that is available
    entry = min(found, key=lambda one: not one["serving"])
    where = f"{entry['kind']} {entry['namespace']}/{entry['name']}"
    if entry["software"] != KUBE_SCHEDULER:
        raise InputError(f"{option}: {where} is {entry['software']}, and a preview runs only kube-schedulers. Set another baseline.")
    command, text = discovery.running(entry).command, discovery.configuration(entry)
    if text is None:
        if command is None or command.config_path is not None:
            why = entry["message"] if command is None else f"it is the file {command.config_path} of its node, or cannot be read"
            raise InputError(
                f"{option}: the configuration of {where} is unknown: {why}. In the place of scheduler_name, set baseline.config_file to a "
                "copy of it; for a default scheduler without --config, set baseline.config to apiVersion and kind."
            )
        text = _DEFAULTS
    own = {key: value for key, value in given.items() if value is not None and key != "scheduler_name"}
    flags = [f"--{flag}={command.flags[flag]}" for flag in GATED_BY_FLAGS if command and flag in command.flags]
    return {
        "image": entry["image"],
        "config_text": text,
        "flags": flags,
        "as_scheduler": name,
        "source": f"{option} ({where})",
        **own,
    }
