# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cluster's network: a bridge, and a cable from it to each node and to the machine.

The bridge is in a network namespace of its own. On the machine itself, its packet filter would rule the nodes' traffic,
and where Docker is installed that filter drops what a bridge forwards.

Addresses are 10.<index>.0.0/16. The machine's end of its cable has 10.<index>.0.1, where the control plane listens. Nobody
forwards for the nodes: they reach each other and the machine at that address, and nothing else, so that a name or image from
outside fails at once instead of after a time limit.
"""

from __future__ import annotations

import ipaddress
import json
from contextlib import suppress

from . import build
from .layout import SERVICE_CIDR, Layout, Record, digest
from .prerequisites import find
from .processes import ensure_holder, owned_processes
from .progress import ClusterError, output

INDEXES = range(200, 220)

# The process that holds the bridge's namespace. Without it the kernel removes the bridge and all cables.
SWITCH = "node-init.switch"


def links(pid: int | None = None) -> dict[str, dict]:
    """All network links of the machine, or of the namespace of process `pid`, by name."""
    return {link["ifname"]: link for link in _ip_json("link", "show", pid=pid)}


def own_links(layout: Layout) -> list[str]:
    """The machine's end of this cluster's cable: the link whose alias is the state directory."""
    return [name for name, link in links().items() if link.get("ifalias") == str(layout.state)]


def choose(layout: Layout, recorded: Record | None) -> int:
    """The index of this cluster: that of its link, else the recorded one if still free, else the first free one."""
    for name in own_links(layout):
        return int(name.removeprefix("throwaway"))
    present = links()
    order = ([recorded.index] if recorded else []) + [index for index in INDEXES if not recorded or index != recorded.index]
    taken = _networks_in_use()
    for index in order:
        candidate = Record(index, 1)
        link = present.get(candidate.link)
        if link and _stale(link):
            output("ip", "link", "delete", candidate.link)
            taken = _networks_in_use()
            link = None
        network = ipaddress.ip_network(candidate.network)
        if not link and not any(network.overlaps(other) for other in taken):
            return index
    raise ClusterError(
        f"all of the networks 10.{INDEXES[0]}.0.0/16 to 10.{INDEXES[-1]}.0.0/16 are in use on this machine (see `ip route`): "
        "remove other throwaway clusters with `make cluster-clean` in their checkouts"
    )


def _stale(link: dict) -> bool:
    """Whether a cluster's link has been left behind: no process of its owner lives."""
    owner = link.get("ifalias")
    return bool(owner) and not owned_processes(owner)


def _networks_in_use() -> list[ipaddress.IPv4Network]:
    routes = [route["dst"] for route in _ip_json("-4", "route", "show", "table", "all") if route["dst"] != "default"]
    return [ipaddress.ip_network(destination, strict=False) for destination in routes]


def ensure_switch(layout: Layout, record: Record) -> int:
    """See that the bridge and the machine's cable to it exist; the pid of the process that holds the bridge's namespace."""
    argv = [find("unshare"), "--net", "--", str(layout.bin / "node-init")]
    inputs = digest(*argv, build.built(layout, "pause"), record.address)
    pid = ensure_holder(layout, SWITCH, argv, inputs, before=lambda: remove(layout))
    if "nodes" not in links(pid):
        _ip("link add nodes type bridge", "link set nodes up", pid=pid)
    if record.link not in links():
        # Whoever creates the link has the index: of two clusters that start at the same time one fails here.
        _ip(f"link add {record.link} type veth peer name machine netns {pid}")
        output("ip", "link", "set", record.link, "alias", str(layout.state))
    _ip("link set machine master nodes up", pid=pid)
    _ip(f"link set {record.link} up", f"address replace {record.address}/24 dev {record.link}")
    return pid


def connect(record: Record, switch: int, nodes: dict[str, int]) -> None:
    """See that each node (name -> pid of its first process) has its cable and address, and that all know the way to all pods."""
    present = links(switch)
    for node, pid in nodes.items():
        if node not in present:
            _ip(f"link add {node} type veth peer name eth0 netns {pid}", pid=switch)
        _ip(f"link set {node} master nodes up", pid=switch)
        _ip(
            f"address replace {record.node_address(node)}/24 dev eth0",
            "link set eth0 up",
            # kube-proxy rewrites a Service's address only after the kernel has found a route for it.
            f"route replace {SERVICE_CIDR} dev eth0",
            *(_route_to_pods(record, other, "eth0") for other in nodes if other != node),
            pid=pid,
        )
    _ip(*(_route_to_pods(record, node, record.link) for node in nodes))


def unplug(switch: int, node: str) -> None:
    """Remove the cable of a node that is gone, for the kernel takes its time to do so."""
    if node in links(switch):
        with suppress(ClusterError):  # the kernel was faster
            _ip(f"link delete {node}", pid=switch)


def remove(layout: Layout) -> None:
    """Remove the machine's link to this cluster, and with it the routes."""
    for link in own_links(layout):
        with suppress(ClusterError):  # the kernel was faster
            output("ip", "link", "delete", link)


def _route_to_pods(record: Record, node: str, device: str) -> str:
    return f"route replace {record.node_pod_cidr(node)} via {record.node_address(node)} dev {device}"


def _inside(pid: int | None) -> list[str]:
    return [find("nsenter"), f"--target={pid}", "--net"] if pid else []


def _ip(*commands: str, pid: int | None = None) -> None:
    """Run `ip` commands, in the network namespace of process `pid` if given."""
    output(*_inside(pid), "ip", "-batch", "-", input="\n".join(commands))


def _ip_json(*arguments: str, pid: int | None = None) -> list[dict]:
    return json.loads(output(*_inside(pid), "ip", "-json", *arguments) or "[]")


def networks_of(layout: Layout, recorded: Record | None) -> list[Record]:
    """The networks that this cluster has: the recorded one and that of its link."""
    indexes = {int(name.removeprefix("throwaway")) for name in own_links(layout)}
    if recorded:
        indexes.add(recorded.index)
    return [Record(index, 1) for index in sorted(indexes)]


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
    return [network for network in networks if present.get(network.link, {}).get("ifalias") in (None, str(layout.state))]
