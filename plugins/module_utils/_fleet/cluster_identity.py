# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which cluster a host of an inventory is: whether its ``cluster_access`` names one by itself, and whether two hosts name the same one.

The client of kubernetes.core takes each option that is not given from ``K8S_AUTH_*``, and what is still missing from the pod that it runs in or from
``~/.kube/config``. For one host of many that is another cluster, or the credentials for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_MAP
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import similar_names

VARIABLE = "cluster_access"
# Of hosts that are a cluster each
GROUP = "clusters"
# Credentials that are enough beside `host`
CREDENTIALS = (("api_key",), ("username", "password"), ("client_cert", "client_key"))
# What the environment may add: it belongs to the machine, not to a cluster.
OF_THE_MACHINE = {"proxy", "no_proxy", "proxy_headers", "persist_config"}
FALSE = ("0", "false", "no")


def problems(variables: Mapping[str, Any], environment: Mapping[str, str], required: bool) -> list[str]:
    """Why this is no access to one certain cluster, one sentence each; empty if it is.

    ``variables``: of the host; ``environment``: ``os.environ``; ``required``: whether the host is in the group ``clusters``, so that nothing of the
    environment may take the place of an option.
    """
    access = variables.get(VARIABLE)
    if access is None:
        return [_missing(variables)] if required else []
    if not isinstance(access, Mapping):
        return [f"{VARIABLE} is not a mapping of options such as kubeconfig and context, or host, api_key and ca_cert"]
    names = option_names()
    unknown = [f"{VARIABLE}.{key} is not an option{_hint(key, names)}" for key in map(str, access) if key not in names]
    if unknown or not required:
        return unknown
    given = {names[key]: value for key, value in access.items() if value not in (None, "", {}, [])}
    incomplete = _incomplete(given)
    return [incomplete] if incomplete else _absent_files(given) + _mixed(given, environment)


def twins(found: Mapping[str, Mapping[str, str | None]]) -> list[list[str]]:
    """Names of hosts that are one cluster, a list for each such cluster.

    ``found``: by name, ``uid``, that of the namespace kube-system, and ``server``, the URL of the API server. If the user must not read the uid, the
    URL has to do.
    """
    uids: dict[str | None, set[str]] = {}
    for cluster in found.values():
        if cluster["uid"]:
            uids.setdefault(cluster["server"], set()).add(cluster["uid"])
    groups: dict[str | None, list[str]] = {}
    for name, cluster in found.items():
        # Unknown here and known of another host
        of_server = uids.get(cluster["server"], ())
        uid = cluster["uid"] or (next(iter(of_server)) if len(of_server) == 1 else None)
        groups.setdefault(uid or cluster["server"], []).append(name)
    return [names for names in groups.values() if len(names) > 1]


@cache
def option_names() -> dict[str, str]:
    """Every name that an option may be given by, with the one that it has in the documentation."""
    spec = argument_spec()
    return {alias: name for name, about in spec.items() for alias in (name, *about.get("aliases", ()))}


def similar(variables: Iterable[str]) -> str:
    """The variable whose name is probably a misspelt ``cluster_access``; empty without one."""
    return similar_names.similar(VARIABLE, [name for name in variables if isinstance(name, str) and name != VARIABLE], 0.8)


def _missing(variables: Mapping[str, Any]) -> str:
    close = similar(variables)
    return f"{VARIABLE} is missing{f'; the host has {close}' if close else ''}"


def _hint(key: str, names: Mapping[str, str]) -> str:
    meant = similar_names.similar(key, names)
    return f"; the closest one is {meant}" if meant else f"; choose from {', '.join(sorted(set(names.values())))}"


def _incomplete(given: Mapping[str, Any]) -> str:
    """What the client would look for elsewhere."""
    if "kubeconfig" in given or "context" in given:
        return ""
    if "host" not in given:
        return f"{VARIABLE} names no cluster: kubeconfig, context or host is missing"
    if any(all(name in given for name in names) for names in CREDENTIALS):
        return ""
    return f"{VARIABLE} has host without credentials for it: api_key, or client_cert with client_key, is missing"


def _absent_files(given: Mapping[str, Any]) -> list[str]:
    """Files that do not exist. A kubeconfig may be a list of paths, of which one is enough; it may also be its content."""
    paths = {name: [given[name]] for name in ("ca_cert", "client_cert", "client_key") if isinstance(given.get(name), str)}
    if isinstance(given.get("kubeconfig"), str):
        paths["kubeconfig"] = given["kubeconfig"].split(os.pathsep)
    # Where a relative path begins depends on the module.
    missing = {
        name: path
        for name, several in paths.items()
        for path in several[:1]
        if not any(os.path.exists(os.path.expanduser(one)) or not os.path.isabs(os.path.expanduser(one)) for one in several)
    }
    return [f"{VARIABLE}.{name} is {path}, which does not exist" for name, path in sorted(missing.items())]


def _mixed(given: Mapping[str, Any], environment: Mapping[str, str]) -> list[str]:
    """Options that the client would take from the environment."""
    by_host = "host" in given and any(all(name in given for name in names) for names in CREDENTIALS)
    # A kubeconfig of the environment is not read, or it is the one that the context is in.
    unused = OF_THE_MACHINE | {"kubeconfig", *given}
    if by_host:
        unused.add("context")
    found = []
    for name in argument_spec():
        variable = _variable(name, environment)
        if name in unused or not variable or (name == "validate_certs" and environment[variable].lower() not in FALSE):
            continue
        found.append(f"{variable} of the environment would be used as its {name}: add {name} to {VARIABLE}, or unset the variable")
    return found


def _variable(option: str, environment: Mapping[str, str]) -> str | None:
    """The variable of the environment that sets an option, if there is one."""
    others = [name for name, documented in AUTH_ARG_MAP.items() if documented == option]
    return next((name for name in (f"K8S_AUTH_{one.upper()}" for one in (option, *others)) if environment.get(name)), None)
