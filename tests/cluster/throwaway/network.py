# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cluster's network: a bridge that has no connection to the machine's own networks, and a cable to each node.

Addresses are 10.<index>.0.0/16. Nobody forwards for the nodes: they reach each other, the machine at the bridge's address,
and nothing else, so an image or name from outside fails at once instead of after a time limit.
"""

from __future__ import annotations

import ipaddress
import json

from .layout import SERVICE_CIDR, Layout, Record
from .processes import owned_processes
from .progress import ClusterError, output

INDEXES = range(200, 220)


def _ip_json(*arguments: str) -> list[dict]:
    return json.loads(output("ip", "-json", *arguments) or "[]")


def links() -> dict[str, dict]:
    """All network links of the machine by name."""
    return {link["ifname"]: link for link in _ip_json("-details", "link", "show")}


def own_bridges(layout: Layout) -> list[str]:
    """Bridges of this cluster; more than one only after an accident."""
    return [name for name, link in links().items() if link.get("ifalias") == str(layout.state)]


def choose(layout: Layout, recorded: Record | None) -> int:
    """The index of this cluster: that of its bridge, else the recorded one if still free, else the first free one."""
    present = links()
    for name, link in present.items():
        if link.get("ifalias") == str(layout.state):
            return int(name.removeprefix("throwaway"))
    order = ([recorded.index] if recorded else []) + [index for index in INDEXES if not recorded or index != recorded.index]
    taken = _networks_in_use()
    for index in order:
        candidate = Record(index, 1)
        link = present.get(candidate.bridge)
        if link and _stale(link):
            output("ip", "link", "delete", candidate.bridge)
            taken = _networks_in_use()
            link = None
        network = ipaddress.ip_network(candidate.network)
        if not link and not any(network.overlaps(other) for other in taken):
            return index
    raise ClusterError(
        f"all of the networks 10.{INDEXES[0]}.0.0/16 to 10.{INDEXES[-1]}.0.0/16 are in use on this machine (see `ip route`): remove other throwaway clusters with `make cluster-clean` in their checkouts"
    )


def _stale(bridge: dict) -> bool:
    """Whether a cluster's bridge has been left behind: no process of its owner lives."""
    owner = bridge.get("ifalias")
    return bool(owner) and not owned_processes(owner)


def _networks_in_use() -> list[ipaddress.IPv4Network]:
    routes = [route["dst"] for route in _ip_json("-4", "route", "show", "table", "all") if route["dst"] != "default"]
    return [ipaddress.ip_network(destination, strict=False) for destination in routes]


def ensure_bridge(layout: Layout, record: Record) -> None:
    present = links().get(record.bridge)
    if present is None:
        # Whoever creates the bridge has the index: of two clusters that start at the same time one fails here.
        output("ip", "link", "add", record.bridge, "type", "bridge")
        output("ip", "link", "set", record.bridge, "alias", str(layout.state))
        output("ip", "link", "set", record.bridge, "address", f"02:00:0a:{record.index:02x}:00:01")
        output("ip", "address", "add", f"{record.address}/24", "dev", record.bridge)
        output("ip", "link", "set", record.bridge, "up")


def connect(record: Record, node: str, pid: int) -> None:
    """Give the node whose first process is `pid` its cable, address and routes."""
    cable, address = record.node_link(node), record.node_address(node)
    inside = ["nsenter", "--target", str(pid), "--net", "ip"]
    if cable in links():
        output("ip", "link", "delete", cable)
    output("ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", str(pid))
    output("ip", "link", "set", cable, "master", record.bridge, "up")
    output(*inside, "address", "add", f"{address}/24", "dev", "eth0")
    output(*inside, "link", "set", "eth0", "up")
    # kube-proxy rewrites a Service's address only after the kernel has found a route for it.
    output(*inside, "route", "add", SERVICE_CIDR, "dev", "eth0")


def route(record: Record, pids: dict[str, int]) -> None:
    """Routes to the pods of each node, on the machine (for the API server) and on the other nodes."""
    for node in record.node_names():
        destination = [record.node_pod_cidr(node), "via", record.node_address(node)]
        output("ip", "route", "replace", *destination, "dev", record.bridge)
        for other, pid in pids.items():
            if other != node:
                output("nsenter", "--target", str(pid), "--net", "ip", "route", "replace", *destination, "dev", "eth0")


def remove(layout: Layout) -> None:
    """Remove this cluster's bridge, with it its routes, and cables that are still plugged in."""
    for bridge in own_bridges(layout):
        for name, link in links().items():
            if link.get("master") == bridge:
                output("ip", "link", "delete", name)
        output("ip", "link", "delete", bridge)


def networks_of(layout: Layout, recorded: Record | None) -> list[Record]:
    """The networks that this cluster has: the recorded one and those of its bridges."""
    indexes = {int(name.removeprefix("throwaway")) for name in own_bridges(layout)}
    if recorded:
        indexes.add(recorded.index)
    return [Record(index, 1) for index in sorted(indexes)]


def leftover_links(layout: Layout, networks: list[Record]) -> list[str]:
    names = tuple(f"tw{network.index}-" for network in _not_taken_over(layout, networks))
    return [name for name, link in links().items() if link.get("ifalias") == str(layout.state) or (names and name.startswith(names))]


def leftover_routes(layout: Layout, networks: list[Record]) -> list[str]:
    ours = [ipaddress.ip_network(network.network) for network in _not_taken_over(layout, networks)]
    return [str(used) for used in _networks_in_use() if any(used.subnet_of(network) for network in ours)]


def leftover_rules(layout: Layout, networks: list[Record]) -> list[str]:
    """Rules of the machine's own packet filter that name our addresses: the cluster makes its rules inside nodes only."""
    rules = output("nft", "list", "ruleset").splitlines()
    starts = [f"10.{network.index}." for network in _not_taken_over(layout, networks)]
    return [rule.strip() for rule in rules if any(start in rule for start in starts)]


def _not_taken_over(layout: Layout, networks: list[Record]) -> list[Record]:
    """Without those that another cluster has got hold of since this one let them go."""
    present = links()
    return [network for network in networks if present.get(network.bridge, {}).get("ifalias") in (None, str(layout.state))]
