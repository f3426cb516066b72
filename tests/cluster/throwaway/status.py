# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`cluster status`: what runs, and whether it works."""

from __future__ import annotations

from . import addons, control_plane, images, network, nodes
from .api import Api
from .layout import Layout, Record, node_names
from .processes import running


def components(count: int) -> list[str]:
    """Names of all daemons of a cluster with that many nodes."""
    names = [network.SWITCH, *control_plane.COMPONENTS]
    for node in node_names(count):
        names += [f"{name}.{node}" for name in ("node-init", *nodes.COMPONENTS)]
    return names


def status(layout: Layout) -> bool:
    """Print the state of each component; whether all is well."""
    record = Record.load(layout)
    if record is None:
        print(f"there is no cluster in {layout.state}: start one with `make cluster`")
        return False
    alive = running(layout)
    well = True
    for component in components(record.nodes):
        process = alive.get(component)
        well = well and process is not None
        state = f"pid {process.pid:<8} {process.memory // 2**20:4} MiB" if process else "not running"
        print(f"{component:28} {state:24} {layout.logs / component}.log")

    api = Api(layout, record)
    answers = {
        f"API server {record.server}": api.ready(),
        f"registry {record.registry}": images.registry_ready(record),
    }
    ready = api.ready_nodes()
    answers |= {f"node {node}": node in ready for node in record.node_names()}
    answers |= {f"add-on {name}": addons.works(layout, record, name) for name in addons.REQUIRED}
    for what, good in answers.items():
        print(f"{what:28} {'ready' if good else 'NOT READY'}")
    print(f"kubeconfig {layout.kubeconfig}")
    return well and all(answers.values())
