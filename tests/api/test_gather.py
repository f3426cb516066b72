# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""playbooks/gather.yml where no pod runs: the bundle has the objects without credentials, and nothing is written."""

from __future__ import annotations

import json
import uuid

from support.bundles import unpacked
from support.objects import deployment
from support.secrets import holding


def test_the_bundle_contains_the_objects_without_credentials(play, kubectl, namespace, tmp_path, audit):
    planted = f"pl4nted-{uuid.uuid4().hex}"
    web = deployment(namespace, "web")
    web["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "PROM_TOKEN", "value": planted}]
    about = {"name": "planted", "namespace": namespace}
    kubectl.apply(
        web,
        {"apiVersion": "v1", "kind": "Secret", "metadata": about, "stringData": {"token": planted}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": {"a.txt": f"token: {planted}"}},
    )
    with audit:
        run = play("osso.scheduler.gather", variables={"gather_dest": str(tmp_path), "gather_namespaces": [namespace]})
    assert audit.writes() == []
    (path,) = tmp_path.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert str(path) in run.stdout
    files = unpacked(path)
    assert holding(planted, files) == []
    assert planted not in run.stdout
    (found,) = json.loads(files[f"namespaces/{namespace}/deployments.json"])["items"]
    assert [one["name"] for one in found["spec"]["template"]["spec"]["containers"][0]["env"]] == ["PROM_TOKEN"]
