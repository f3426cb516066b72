# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the modules that run a kube-scheduler against a copy of a cluster have in common (plugins/doc_fragments/preview.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import progress_pipe
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.operators import UPSTREAM_NAMESPACE
from ansible_collections.osso.scheduler.plugins.module_utils._preview import snapshot
from ansible_collections.osso.scheduler.plugins.module_utils._preview.progress import Progress

SIDE = dict(
    config=dict(type="dict"),
    config_text=dict(type="str"),
    config_file=dict(type="path"),
    preset=dict(type="str"),
    preset_parameters=dict(type="dict"),
    binary=dict(type="path"),
    image=dict(type="str"),
    auth_file=dict(type="path"),
    validate_certs=dict(type="bool", default=True),
    skopeo=dict(type="str", default="skopeo"),
    release=dict(type="str"),
    plugins=dict(type="raw"),
    flags=dict(type="list", elements="str"),
    feature_gates=dict(type="dict"),
    as_scheduler=dict(type="str"),
    allow_extenders=dict(type="bool", default=False),
)
PRESENT = dict(name=dict(type="str", default="cluster"), namespace=dict(type="str", default=UPSTREAM_NAMESPACE))
COMMON = dict(
    candidate=dict(type="dict", required=True, options=SIDE),
    snapshot=dict(type="path"),
    timeout=dict(type="int", default=600),
)
JOB = dict(type="dict", options=dict(namespace=dict(type="str", default="default"), image=dict(type="str")))


class Inputs:
    """The cluster, connected when it is first needed, and the copy of it.

    params: of the module; warn: gets texts. run_command: as that of a module.
    """

    def __init__(self, params: Mapping[str, Any], warn: Callable[[str], None], run_command: Callable[..., Any]) -> None:
        self._params = params
        self._warn = warn
        self._client: Client | None = None
        self.run_command = partial(run_command, expand_user_and_vars=False, handle_exceptions=False)
        self.progress = Progress(progress_pipe.show)

    @property
    def client(self) -> Client:
        self._client = self._client or Client.connect(self._params, self._warn)
        return self._client

    def snapshot(self) -> snapshot.Snapshot:
        path = self._params["snapshot"]
        return snapshot.read(path) if path else snapshot.take(self.client)
