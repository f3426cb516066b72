# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which tolerations match which taints, as in k8s.io/api core/v1 toleration_test.go."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.taints import tolerates

GPU = {"key": "gpu", "value": "a", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "wanted"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "", "operator": "Exists", "effect": ""}, True),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "gpu", "value": "a"}, True),
        ({"key": "gpu", "operator": "", "value": "a", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "operator": "Equal", "value": "a", "effect": "NoExecute"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "gpu", "value": "b"}, False),
        ({"key": "gpu"}, False),
        ({"key": "gpu", "operator": "Gt", "value": "a"}, False),
        ({"key": "gpu", "operator": "Unknown", "value": "a"}, False),
    ],
)
def test_a_toleration_matches_by_key_value_and_effect(toleration, wanted):
    assert tolerates(toleration, GPU) is wanted


def test_a_taint_without_a_value_has_an_empty_one():
    assert tolerates({"key": "k"}, {"key": "k", "effect": "NoExecute"})
    assert tolerates({"key": "k", "value": ""}, {"key": "k", "effect": "NoExecute", "value": None})


@pytest.mark.parametrize(
    ("taint", "operator", "value", "wanted"),
    [
        ("200", "Gt", "100", True),
        ("100", "Gt", "100", False),
        ("100", "Gt", "200", False),
        ("100", "Lt", "200", True),
        ("100", "Lt", "100", False),
        ("200", "Lt", "100", False),
        # Numbers, not texts
        ("10", "Gt", "9", True),
        ("-100", "Lt", "-50", True),
        ("0", "Gt", "-1", True),
        ("9223372036854775807", "Gt", "9223372036854775806", True),
        ("-9223372036854775808", "Lt", "0", True),
        # No integers of 64 bits
        ("9223372036854775808", "Gt", "0", False),
        ("-9223372036854775809", "Lt", "0", False),
        ("0200", "Gt", "100", False),
        ("200", "Gt", "0100", False),
        ("200", "Gt", "+100", False),
        ("-0", "Lt", "1", False),
        ("200", "Gt", "100.5", False),
        (" 200 ", "Gt", "100", False),
        ("200\n", "Gt", "100", False),
        ("٢٠٠", "Gt", "100", False),
        ("high", "Gt", "100", False),
        ("", "Lt", "100", False),
        ("200", "Gt", "", False),
    ],
)
def test_gt_and_lt_compare_the_taint_with_the_toleration_as_integers(taint, operator, value, wanted):
    toleration = {"key": "k", "operator": operator, "value": value}
    assert tolerates(toleration, {"key": "k", "value": taint, "effect": "NoSchedule"}) is wanted
