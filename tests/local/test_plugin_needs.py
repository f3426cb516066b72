# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter plugin_needs, and the definitions that the role operator brings, against the table of what plugins need."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from ansible_collections.osso.scheduler.plugins.filter.operator import plugin_needs
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.needs import CONTROLLER, NEEDS
from ansible_collections.osso.scheduler.plugins.module_utils._operand import plugin_requirements

FILES = Path(__file__).parents[2] / "roles/operator/files/plugins"


def names(found):
    return [role["name"] for role in found["cluster_roles"]]


def test_all_plugins_need_all_roles_and_crds_of_the_collection():
    found = plugin_needs(["*"])
    assert set(names(found)) == set(plugin_requirements.cluster_roles({"all": {"score": [(name, 1) for name in NEEDS]}})), (
        "as the operator binds"
    )
    assert [f"{name}.crd.yaml" for name in found["definitions"]] == sorted(path.name for path in FILES.iterdir())


def test_named_plugins_need_only_their_roles_and_crds():
    assert plugin_needs([]) == {"definitions": [], "cluster_roles": []}
    assert plugin_needs(["QOSSort", "SySched"]) == {
        "definitions": [],
        "cluster_roles": [
            {
                "name": "osso-scheduler:plugin:SySched",
                "rules": [
                    {
                        "apiGroups": ["security-profiles-operator.x-k8s.io"],
                        "resources": ["seccompprofiles"],
                        "verbs": ["get", "list", "watch"],
                    }
                ],
            }
        ],
    }
    gangs = plugin_needs(["Coscheduling"])
    assert gangs["definitions"] == ["elasticquotas.scheduling.x-k8s.io", "podgroups.scheduling.x-k8s.io"], "the controller's, too"
    assert names(gangs) == ["osso-scheduler:plugin:Coscheduling", CONTROLLER.role, CONTROLLER.lease_role]
    assert gangs["cluster_roles"][-1]["rules"][-1]["resourceNames"] == ["sched-plugins-controllers"]


@pytest.mark.parametrize(
    ("name", "hint"), [("Cosheduling", "did you mean Coscheduling"), ("NodeName", "choose from"), ("*", "choose from")]
)
def test_unknown_plugins_are_rejected(name, hint):
    with pytest.raises(AnsibleFilterError, match=hint):
        plugin_needs(["Coscheduling", name])


@pytest.mark.parametrize("kind", sorted({kind for need in NEEDS.values() for kind in need.kinds if not kind.provider}))
def test_each_crd_defines_the_kind_of_its_table_row(kind):
    definition = yaml.safe_load((FILES / f"{kind.definition}.crd.yaml").read_text())
    assert definition["metadata"]["name"] == kind.definition
    spec = definition["spec"]
    assert (spec["names"]["kind"], spec["names"]["plural"]) == (kind.kind, kind.plural)
    served = [f"{spec['group']}/{version['name']}" for version in spec["versions"] if version["served"]]
    assert kind.api_version in served
