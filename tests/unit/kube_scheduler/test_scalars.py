# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plain scalars as kube-scheduler reads them: expectations from go-yaml version 2, not from PyYAML."""

from __future__ import annotations

import math

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.scalars import resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("Null", None),
        ("y", True),
        ("Y", True),
        ("On", True),
        ("n", False),
        ("OFF", False),
        ("tRUE", "tRUE"),
        ("0", 0),
        ("-0", 0),
        ("+1", 1),
        ("1_000", 1000),
        ("010", 8),
        ("0o10", 8),
        ("0x1F", 31),
        ("-0b11", -3),
        ("08", 8.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", float(2**64)),
        ("-9223372036854775808", -(2**63)),
        ("-9223372036854775809", float(-(2**63) - 1)),
        ("1:30", "1:30"),
        ("2020-01-01", "2020-01-01"),
        ("15s", "15s"),
        ("0xg", "0xg"),
        ("1e", "1e"),
        ("._5", "._5"),
        ("-", "-"),
        (".", "."),
        ("+.INF", math.inf),
        ("-.inf", -math.inf),
        ("<<", "<<"),
    ],
)
def test_resolve(text, value):
    assert (type(resolve(text)), resolve(text)) == (type(value), value)


def test_not_a_number():
    assert math.isnan(resolve(".NaN"))


def test_a_very_long_number_is_no_work():
    assert resolve("1" * 100000) == math.inf
