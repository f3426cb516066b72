# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The inventory of a set."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import apply_set
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity

A = Identity("v1", "ConfigMap", "n", "a")
B = Identity("v1", "Namespace", None, "b")


def test_the_members_of_a_set_are_read_back_as_written():
    written = apply_set.manifest("mine", "home", [A, B])
    assert apply_set.members(written) == [A, B]
    assert Identity.of(written) == apply_set.identity("mine", "home") == Identity("v1", "ConfigMap", "home", "osso-set-mine")
    assert written["metadata"]["labels"] == {"osso.scheduler/inventory": "true", "osso.scheduler/set": "mine"}
    assert apply_set.members(None) == []
    assert apply_set.members(apply_set.manifest("mine", "home", [])) == []


def test_the_order_of_members_does_not_change_the_text():
    assert apply_set.manifest("mine", "home", [A, B]) == apply_set.manifest("mine", "home", [B, A])


@pytest.mark.parametrize(
    "broken",
    [{}, {"data": None}, *({"data": {"objects": text}} for text in ("nonsense", "{}", "1", "[" * 100_000))],
)
def test_an_unreadable_inventory_is_one_clear_error(broken):
    with pytest.raises(ClusterError, match="ConfigMap home/osso-set-mine does not hold the inventory"):
        apply_set.members({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "osso-set-mine", "namespace": "home"}, **broken})


def test_union_knows_an_object_in_two_versions_of_its_api():
    old, new = Identity("policy/v1beta1", "PodDisruptionBudget", "n", "a"), Identity("policy/v1", "PodDisruptionBudget", "n", "a")
    assert apply_set.union([A, old], [new, B]) == [A, new, B]


def test_labels_count_only_if_the_same_manager_applied_them():
    def obj(manager):
        fields = {"f:metadata": {"f:labels": {"f:osso.scheduler/set": {}, "f:osso.scheduler/set-namespace": {}}}}
        return {"metadata": {"managedFields": [{"manager": manager, "operation": "Apply", "fieldsV1": fields}]}}

    assert apply_set.was_labelled_by(obj("us"), "us")
    assert not apply_set.was_labelled_by(obj("kubectl"), "us")
    assert not apply_set.was_labelled_by({"metadata": {}}, "us")
