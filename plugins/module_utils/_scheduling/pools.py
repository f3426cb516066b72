# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Apply and remove pools: read the cluster, report everything that contradicts them, then write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import apply_result
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.api_errors import refusal
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply import Options, Run
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_result import Report
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import ApiError, Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import document
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import pool_items, pool_nodes, pool_policies
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pool_items import is_system
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pool_nodes import Marks
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import SchedulerDiscovery

SET = "scheduler-pools"
_NODE_RACES = 5

Item = Mapping[str, Any]


class Settings(NamedTuple):
    """The meaning of each is documented in the module ``scheduler_pool``."""

    check: bool = False
    namespaces: Sequence[str] = ()
    configurations: Sequence[str] = ()
    replaced: Sequence[str] = ()
    planned_namespaces: Sequence[str] = ()
    force_conflicts: bool = False
    prepare: bool = False


class Pools:
    """One run over ``items``, as `pool_items.complete` returns them. Raises `InputError` with everything that prevents it, before the first write."""

    def __init__(self, client: Client, items: Sequence[Item], settings: Settings, report: Report, warn: Callable[[str], None]) -> None:
        self._client, self._settings, self._report, self._warn = client, settings, report, warn
        self._names = [item["scheduler_name"] for item in items]
        self._present = [item for item in items if item["state"] == "present"]
        self._absent = [item for item in items if item["state"] == "absent"]
        self._node_kind = client.resource("v1", "Node")
        self._scheduler_pods: dict[str, dict[str, Any]] = {}

    def apply(self) -> list[dict[str, Any]]:
        """Apply all items. Returns nodes, and the DaemonSets that are kept out of them, of each pool that is present."""
        api_version = self._api_version()
        earlier = self._earlier(api_version)
        excluded, errors = self._schedulers(earlier) if self._present or (earlier and self._settings.replaced) else ([], [])
        if not self._names:
            _fail(errors)
            return []
        nodes = {node["metadata"]["name"]: node for node in self._client.list(self._node_kind)}
        members, contradictions = pool_nodes.members(self._present, list(nodes.values()), earlier)
        wanted = pool_nodes.wanted_marks(self._present, members)
        if self._settings.prepare:
            wanted = pool_nodes.marks_before_deployment(nodes, wanted, [item["scheduler_name"] for item in self._present])
        patches, taken = self._patches(nodes, wanted)
        errors += contradictions + taken + self._shared_namespaces(earlier, excluded)
        _fail(errors)
        described = [] if self._settings.prepare else self._present
        results = [self._result(item, [nodes[name] for name in members[item["scheduler_name"]]]) for item in described]
        exclusive = any(item["exclusive"] for item in described)
        if exclusive and not pool_nodes.open_to_all(list(nodes.values()), wanted, self._names):
            self._warn(
                "Every node has a taint, so new pods without tolerations stay pending, such as those of the schedulers, of their operator, and of the "
                "cluster's DNS. Leave a node out of the exclusive pools."
            )
        dry = {name: self._patch_node(name, nodes[name], operations, wanted, dry_run=True) for name, operations in patches.items()}
        self._policies(api_version, excluded)
        for name, operations in patches.items():
            after = dry[name] if self._settings.check else self._patch_node(name, nodes[name], operations, wanted)
            self._report.add(Identity("v1", "Node", None, name), apply_result.UPDATED, nodes[name], after)
        return results

    def _api_version(self) -> str:
        """The newest served version of MutatingAdmissionPolicy. Raises `InputError` if there is none and a pool requires one."""
        versions = [f"{pool_policies.GROUP}/{name}" for name, _minor, _default in pool_policies.VERSIONS]
        for version in versions:
            try:
                self._client.resource(version, pool_policies.KIND)
                return version
            except ApiError as error:
                if error.status != 404:
                    raise
        if self._present:
            platform = SchedulerDiscovery(self._client, []).platform()
            raise InputError(pool_policies.unserved(platform["kubernetes_version"], platform["openshift"]))
        return versions[0]

    def _earlier(self, api_version: str) -> list[dict[str, Any]]:
        """Pools of earlier runs that this one does not name, as `pool_policies.item_of` returns them."""
        try:
            bindings = self._client.list(self._client.resource(api_version, f"{pool_policies.KIND}Binding"))
        except ApiError as error:
            if error.status == 403 and not self._present:
                self._warn(
                    "No permission to list MutatingAdmissionPolicyBindings, so it is unknown whether a pool would stay without its scheduler."
                )
            elif error.status != 404:
                raise
            # 404: the API server has no such policies, so there are no pools.
            return []
        return [one for one in map(pool_policies.item_of, bindings) if one and one["scheduler_name"] not in self._names]

    def _schedulers(self, earlier: Sequence[Item]) -> tuple[list[str], list[str]]:
        """Namespaces of schedulers and operators, whose own pods are never routed, and why some pools cannot be."""
        discovery = SchedulerDiscovery(self._client, self._settings.namespaces)
        found = discovery.schedulers()
        homes = {one["namespace"]: f"{one['kind']} {one['name']} runs" for one in [*found, *discovery.operators()]}
        homes = {**dict.fromkeys(self._settings.planned_namespaces, "this run deploys a scheduler"), **homes}
        homes = {namespace: what for namespace, what in homes.items() if not is_system(namespace)}
        available = [one for one in found if one["serving"] is not False]
        trees = [document.tree(text) for text in self._settings.configurations]
        planned = {name: tree for tree in trees for name in pool_policies.scheduler_names(tree)}
        errors = [self._stays_without(f"An earlier pool routes pods to {item['scheduler_name']}", item, found, planned) for item in earlier]
        for item in self._present:
            name, where = item["scheduler_name"], item["where"]
            own = [one for one in available if name in one["scheduler_names"]]
            staying = [one for one in own if not self._is_replaced(one)]
            errors.append(self._stays_without(f"{where}.scheduler_name is {name}", item, own, planned))
            if not own and name not in planned:
                others = sorted({other for one in available for other in one["scheduler_names"]})
                errors.append(
                    f"{where}.scheduler_name is {name}, but no available scheduler has this name, so routed pods would stay pending. Available: "
                    f"{', '.join(others) or 'none'}. Correct the name, or deploy the scheduler first."
                )
            if item["when_unavailable"] == "default":
                errors += self._find_pods(item, own)
            errors += [
                f"{where}.namespaces.names has {namespace}, where {homes[namespace]}: its own pods would wait for it. "
                "Remove the namespace, or move the scheduler to another one."
                for namespace in item["namespaces"]["names"]
                if namespace in homes
            ]
            if not pool_policies.node_labels(item):
                continue
            if name not in planned:
                errors += [self._leaves_its_nodes(item, one, discovery.configuration(one)) for one in staying]
            elif not pool_policies.keeps_to_nodes(planned[name], item):
                errors.append(pool_policies.missing_lines(item, f"the scheduler {name}"))
        return sorted(homes), [error for error in errors if error]

    def _stays_without(self, pool: str, item: Item, schedulers: Sequence[Mapping[str, Any]], planned: Mapping[str, Any]) -> str:
        """Why a pool cannot stay: this run removes or renames its scheduler, which is one of ``schedulers``. Empty if it can. ``pool``: for the error."""
        name = item["scheduler_name"]
        own = [one for one in schedulers if name in one["scheduler_names"]]
        if not own or name in planned or not all(map(self._is_replaced, own)):
            return ""
        return (
            f"{pool}, but this run removes {_key(own[0])}, or gives it another schedulerName, so routed pods would stay "
            f"pending. Remove the pool before, with osso.scheduler.pools, or in the same run (scheduler_pools: [{{scheduler_name: {name}, state: absent}}]), "
            "or keep the scheduler and its schedulerName."
        )

    def _is_replaced(self, scheduler: Mapping[str, Any]) -> bool:
        return _key(scheduler) in self._settings.replaced or scheduler["kind"] in self._settings.replaced

    def _shared_namespaces(self, earlier: Sequence[Item], excluded: Sequence[str]) -> list[str]:
        """Why namespaces are in several pools, of this run or of earlier ones."""
        if not self._present or len(self._present) + len(earlier) < 2:
            return []
        namespaces = self._client.list(self._client.resource("v1", "Namespace"), metadata_only=True)
        return pool_items.shared_namespaces(
            [*self._present, *earlier], [one for one in namespaces if one["metadata"]["name"] not in excluded]
        )

    def _find_pods(self, item: Item, own: Sequence[Mapping[str, Any]]) -> list[str]:
        """Remember of which pods the API server checks the readiness. Returns why there are none. In check mode the play may not have deployed them yet."""
        found = [(one["namespace"], one["workload"].partition("/")[2]) for one in own if (one["workload"] or "").startswith("Deployment/")]
        for namespace, name in found[:1]:
            deployment = self._client.get(self._client.resource("apps/v1", "Deployment"), name, namespace)
            if deployment:
                self._scheduler_pods[item["scheduler_name"]] = {"namespace": namespace, "selector": deployment["spec"]["selector"]}
        if own and not found:
            kinds = ", ".join(map(_key, own))
            return [
                f"{item['where']}.when_unavailable is default, which requires a Deployment of the scheduler, but it is {kinds}: set wait."
            ]
        return []

    def _leaves_its_nodes(self, item: Item, scheduler: Mapping[str, Any], config: str | None) -> str:
        """Why a scheduler of the pool places pods on other nodes, too; empty if it does not, or if this is unknown, which is a warning."""
        which = _key(scheduler)
        if config is None:
            self._warn(
                f"{item['where']}.nodes: the configuration of {which} cannot be read, so it is unknown whether it keeps to the nodes of the "
                f"pool. Its profile {item['scheduler_name']} requires:\n{pool_policies.lines(item)}"
            )
            return ""
        return "" if pool_policies.keeps_to_nodes(document.tree(config), item) else pool_policies.missing_lines(item, which)

    def _patches(self, nodes: Mapping[str, Object], wanted: Mapping[str, Marks]) -> tuple[dict[str, list[Object]], list[str]]:
        found = {name: pool_nodes.patch(node, wanted.get(name), self._names) for name, node in nodes.items()}
        return {name: operations for name, (operations, _why) in found.items() if operations}, [why for _ops, why in found.values() if why]

    def _result(self, item: Item, nodes: Sequence[Object]) -> dict[str, Any]:
        pool: str = item["scheduler_name"]
        out: list[str] = []
        if pool_policies.node_labels(item) and not nodes:
            self._warn(f"{item['where']}.nodes selects no node, so pods of the pool {pool} stay pending. Add nodes with these labels.")
        if item["exclusive"]:
            out = pool_nodes.kept_out(self._client.list(self._client.resource("apps/v1", "DaemonSet")), nodes, pool)
        if out:
            self._warn(
                f"The taint {pool_items.POOL_KEY}={pool}:NoSchedule keeps new pods of the DaemonSets {', '.join(out)} away from the nodes of "
                f"the pool {pool}. Add a toleration to those that have to run there."
            )
        return {"scheduler_name": pool, "nodes": [node["metadata"]["name"] for node in nodes], "daemon_sets_kept_out": out}

    def _policies(self, api_version: str, excluded: Sequence[str]) -> None:
        present: list[Object] = []
        absent: list[Object] = []
        for item in [] if self._settings.prepare else self._present:
            present += pool_policies.routing(item, api_version, excluded, self._scheduler_pods.get(item["scheduler_name"]))
            (present if item["exclusive"] else absent).extend(pool_policies.tolerating(item, api_version, excluded))
            (present if item["reserved"] else absent).extend(pool_policies.reservation(item, excluded))
        for item in self._absent:
            absent += pool_policies.routing(item, api_version, excluded) + pool_policies.tolerating(item, api_version, excluded)
            absent += pool_policies.reservation(item, excluded)
        options = Options([], check=self._settings.check, force_conflicts=self._settings.force_conflicts, set_name=SET)
        if present:
            Run(self._client, options._replace(manifests=present), self._report, self._warn).present()
        if absent:
            Run(self._client, options._replace(manifests=absent), self._report, self._warn).absent()

    def _patch_node(self, name: str, node: Object, operations: list[Object], wanted: Mapping[str, Marks], dry_run: bool = False) -> Object:
        """The node after the patch; computed again where others have changed its taints since."""
        for race in range(_NODE_RACES):
            try:
                return self._client.json_patch(self._node_kind, name, None, operations, dry_run=dry_run)
            except ApiError as error:
                changed = error.status in (409, 422) and race + 1 < _NODE_RACES and self._client.get(self._node_kind, name)
                if not changed:
                    raise refusal(error, Identity("v1", "Node", None, name), "patch") from None
                operations, problem = pool_nodes.patch(changed, wanted.get(name), self._names)
                if problem:
                    raise InputError(problem) from None
                if not operations:
                    return changed
        raise AssertionError(name)


def _fail(errors: Sequence[str]) -> None:
    if errors:
        raise InputError("\n".join([*errors, "Nothing was written."]))


def _key(scheduler: Mapping[str, Any]) -> str:
    """How `Settings.replaced` names a scheduler of `SchedulerDiscovery.schedulers`."""
    return f"{scheduler['kind']} {scheduler['namespace']}/{scheduler['name']}"
