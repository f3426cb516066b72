# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of registries that the nodes of the throwaway cluster resolve. Without a declaration these are registry.k8s.io and the cluster's own registry."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cluster.throwaway.layout import STATE_IN_NODE
from cluster.throwaway.nodes import hosts_toml


@contextmanager
def known_to_nodes(cluster: Path, host: str, files: Mapping[str, str]) -> Iterator[None]:
    """Meanwhile the container runtime of each node has these files for a registry; `{here}` in them is their folder as the node sees it."""
    folders = [node / "registries" / host for node in (cluster / "nodes").iterdir()]
    for folder in folders:
        folder.mkdir()
        here = str(STATE_IN_NODE / folder.relative_to(cluster))
        for name, text in files.items():
            (folder / name).write_text(text.replace("{here}", here))
    try:
        yield
    finally:
        for folder in folders:
            shutil.rmtree(folder)


@contextmanager
def stands_in_for(cluster: Path, host: str) -> Iterator[None]:
    """Meanwhile the cluster's own registry stands in for the registry `host`: an image that was pushed there is `host/...`, too."""
    own = (cluster / "registry").read_text().strip()
    with known_to_nodes(cluster, host, {"hosts.toml": hosts_toml(f"http://{own}")}):
        yield
