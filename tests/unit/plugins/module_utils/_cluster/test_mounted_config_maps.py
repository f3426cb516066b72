# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods that may have read a ConfigMap as others edited it."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.mounted_config_maps import (
    RESTORED,
    is_edited,
    is_rolled_out,
    with_restored,
)
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.pod_templates import mounted


def workload(*volumes, **annotations):
    return {"spec": {"template": {"metadata": {"annotations": annotations}, "spec": {"volumes": list(volumes)}}}}


def test_the_names_are_those_of_mounted_config_maps():
    volumes = [{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "y"}}, {"name": "c", "configMap": {"name": "x"}}]
    assert mounted(workload(*volumes), "ConfigMap") == ["x", "y"]
    assert mounted({"spec": {"template": {"spec": {}}}}, "ConfigMap") == []


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        ({"data": {"a": "1"}}, False),
        ({"data": {"a": "1", "b": "2"}}, False),
        ({"data": {"a": "2"}}, True),
        ({"binaryData": {"a": "MQ=="}}, True),
        # Without the key a scheduler has read nothing; it does not start.
        ({}, False),
        ({"data": {"b": "1"}}, False),
    ],
)
def test_only_another_content_under_a_key_of_the_manifest_is_an_edit(live, expected):
    assert is_edited({"data": {"a": "1"}}, live) is expected


def test_other_annotations_of_the_pods_are_a_rollout():
    assert is_rolled_out(workload(hash="1"), workload(hash="1", other="2"))
    assert not is_rolled_out(workload(hash="2"), workload(hash="1"))
    assert is_rolled_out({"spec": {"template": {}}}, workload())


def test_pods_keep_the_version_that_they_were_replaced_for():
    wanted, replaced = workload(hash="1"), workload(hash="1", **{RESTORED: "7"})
    assert with_restored(wanted, wanted, "") == wanted
    assert with_restored(wanted, wanted, "7") == replaced
    assert with_restored(wanted, replaced, "") == replaced
    assert with_restored(replaced, workload(**{RESTORED: "5"}), "") == replaced
    assert with_restored(wanted, replaced, "9") == workload(hash="1", **{RESTORED: "9"})
