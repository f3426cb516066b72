# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What check mode reports of objects whose namespace or kind does not exist (cluster/dry_run.py)."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.dry_run import Forecast
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "namespace": None, "name": "new", "uid": None}
DEFINITION = {**NAMESPACE, "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "name": "things.example.com"}


def missing_namespace():
    raise ApiError(404, "NotFound", "no", {"kind": "namespaces", "name": "new"})


@pytest.mark.parametrize(
    ("created", "warned"),
    [
        ([], 2),
        ([{**NAMESPACE, "action": "created"}, {**DEFINITION, "action": "created"}], 0),
        ([{**NAMESPACE, "action": "unchanged"}, {**DEFINITION, "action": "created"}], 1),
        ([{**NAMESPACE, "name": "other", "action": "created"}], 2),
    ],
)
def test_what_an_earlier_task_creates_is_not_missing(created, warned):
    warnings = []
    forecast = Forecast((), warnings.append, created)
    config_map, thing = Identity("v1", "ConfigMap", "new", "a"), Identity("example.com/v1", "Thing", "elsewhere", "a")
    for identity, resource in ((config_map, object()), (thing, None)):
        before, after, obstacle = forecast.ask(identity, {"kind": identity.kind}, None, resource, missing_namespace)
        assert (before, after) == (None, {"kind": identity.kind})
        assert obstacle
    assert len(warnings) == warned, warnings
