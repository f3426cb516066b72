# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What pods ask for and nodes have, counted as kube-scheduler counts it. Pure.

From k8s.io/component-helpers/resource (helpers.go) and pkg/scheduler/framework (types.go, Resource).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.dump_parser import Resources
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import Quantity

_PLAIN = ("cpu", "memory", "ephemeral-storage", "pods")
Amounts = dict[str, Fraction]


def allocatable(node: Mapping[str, Any]) -> Resources:
    """What a node has for pods; ``node`` as the API server returns it."""
    return _resources(_amounts((node.get("status") or {}).get("allocatable")))


def used(usages: Iterable[Mapping[str, Any] | None]) -> Resources:
    """What containers, or a node, use together; ``usages`` as the metrics API returns them."""
    total: Amounts = {}
    for usage in usages:
        total = _sum(total, _amounts(usage))
    return _resources(total)


def requested(pods: Iterable[Mapping[str, Any]]) -> Resources:
    """What the pods of a node ask for together; ``pods`` as the API server returns them."""
    total = Resources()
    for pod in pods:
        one = _resources(_of_pod(pod))
        scalar = dict(total.scalar)
        for name, amount in one.scalar.items():
            scalar[name] = scalar.get(name, 0) + amount
        total = Resources(
            total.cpu_millis + one.cpu_millis, total.memory + one.memory, total.ephemeral_storage + one.ephemeral_storage, 0, scalar
        )
    return total


def _of_pod(pod: Mapping[str, Any]) -> Amounts:
    """Containers and sidecars together, or what an init container needs where that is more, and the pod's overhead."""
    spec, status = pod["spec"], pod.get("status") or {}
    statuses = {one["name"]: one for key in ("containerStatuses", "initContainerStatuses") for one in status.get(key) or []}
    infeasible = "Infeasible" in (conditions.find(pod, "PodResizePending").get("reason"), status.get("resize"))
    total: Amounts = {}
    for container in spec.get("containers") or []:
        total = _sum(total, _of_container(container, statuses, infeasible))
    sidecars: Amounts = {}
    most: Amounts = {}
    for container in spec.get("initContainers") or []:
        asked = _of_container(container, statuses, infeasible)
        if container.get("restartPolicy") == "Always":
            total, sidecars = _sum(total, asked), _sum(sidecars, asked)
            asked = sidecars
        else:
            asked = _sum(asked, sidecars)
        most = _most(most, asked)
    total = _most(total, most)
    for name, amount in _amounts((spec.get("resources") or {}).get("requests")).items():
        if name in ("cpu", "memory") or name.startswith("hugepages-"):
            total[name] = amount
    return _sum(total, _amounts(spec.get("overhead")))


def _of_container(container: Mapping[str, Any], statuses: Mapping[str, Mapping[str, Any]], infeasible: bool) -> Amounts:
    """While it is being resized: the most of what it shall have, has been granted and has."""
    asked = _amounts((container.get("resources") or {}).get("requests"))
    status = statuses.get(container["name"]) or {}
    if not status.get("resources"):
        return asked
    present = _most(_amounts(status["resources"].get("requests")), _amounts(status.get("allocatedResources")))
    return present if infeasible else _most(asked, present)


def _amounts(quantities: Mapping[str, Any] | None) -> Amounts:
    found = {}
    for name, text in (quantities or {}).items():
        quantity = Quantity.parse(str(text))
        found[name] = quantity.number * Fraction(10) ** quantity.exponent
    return found


def _sum(one: Amounts, other: Amounts) -> Amounts:
    return {name: one.get(name, Fraction(0)) + other.get(name, Fraction(0)) for name in [*one, *other]}


def _most(one: Amounts, other: Amounts) -> Amounts:
    return {name: max(one.get(name, Fraction(0)), other.get(name, Fraction(0))) for name in [*one, *other]}


def _resources(amounts: Amounts) -> Resources:
    whole = {name: _ceiling(amount * 1000 if name == "cpu" else amount) for name, amount in amounts.items()}
    scalar = {name: amount for name, amount in whole.items() if name not in _PLAIN and _is_scalar(name)}
    cpu, memory, storage, pods = (whole.get(name, 0) for name in _PLAIN)
    return Resources(cpu, memory, storage, pods, scalar)


def _is_scalar(name: str) -> bool:
    """Extended resources, huge pages, and volumes that can be attached (pkg/scheduler/util, IsScalarResourceName)."""
    return "/" in name or name.startswith(("hugepages-", "attachable-volumes-"))


def _ceiling(amount: Fraction) -> int:
    return -(-amount.numerator // amount.denominator)
