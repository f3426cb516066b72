# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plain scalars as kube-scheduler reads them: expectations from go-yaml version 2, not from PyYAML."""

from __future__ import annotations

import math

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.scalars import TagError, resolve, resolve_tagged


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
        ("+18446744073709551615", float(2**64)),  # only a number without a sign goes beyond an int64
        ("1e400", "1e400"),  # too large for a float64
        (".5e400", ".5e400"),
        ("1e-400", 0.0),
        ("-9223372036854775808", -(2**63)),
        ("-9223372036854775809", float(-(2**63) - 1)),
        ("1:30", "1:30"),
        ("2020-01-01", "2020-01-01"),
        ("15s", "15s"),
        ("0xg", "0xg"),
        ("1e", "1e"),
        ("._5", "._5"),
        (".5_0", 0.5),
        (".5_", ".5_"),
        (".5e1_0", 5e9),
        (".5_e1", ".5_e1"),
        ("-", "-"),
        (".", "."),
        ("+.INF", math.inf),
        ("-.inf", -math.inf),
        ("<<", "<<"),
    ],
)
def test_plain_scalars_have_the_types_that_go_yaml_gives_them(text, value):
    assert (type(resolve(text)), resolve(text)) == (type(value), value)


def test_nan_is_read_as_a_float():
    assert math.isnan(resolve(".NaN"))


def test_a_very_long_number_is_read_as_a_string():
    assert resolve("1" * 100000) == "1" * 100000  # too large for a float, so go-yaml leaves it a string


@pytest.mark.parametrize(
    ("tag", "text", "value"),
    [
        ("", "1", 1),
        ("!", "1", "1"),
        ("!foo", "1", "1"),
        ("tag:yaml.org,2002:str", "1", "1"),
        ("tag:yaml.org,2002:int", "0x10", 16),
        ("tag:yaml.org,2002:float", "1", 1.0),
        ("tag:yaml.org,2002:float", "1.5", 1.5),
        ("tag:yaml.org,2002:bool", "on", True),
        ("tag:yaml.org,2002:null", "", None),
        ("tag:yaml.org,2002:timestamp", "2020-02-29T1:02:03.5Z", "2020-02-29T1:02:03.5Z"),
        ("tag:yaml.org,2002:binary", "aG\nk=", "hi"),
        ("tag:yaml.org,2002:binary", "4oI=", "\ufffd\ufffd"),
        ("tag:yaml.org,2002:map", "1", "1"),
    ],
)
def test_tagged_scalars_have_the_types_that_go_yaml_gives_them(tag, text, value):
    assert (type(resolve_tagged(tag, text)), resolve_tagged(tag, text)) == (type(value), value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("int", "x"),
        ("int", "1.5"),
        ("int", ""),
        ("int", "true"),
        ("float", "x"),
        ("float", "18446744073709551615"),
        ("bool", "1"),
        ("null", "x"),
        ("timestamp", "12:30"),
        ("timestamp", "2020-02-32"),
        ("binary", "a"),
        ("binary", "\u00e9=="),
    ],
)
def test_a_tag_that_does_not_match_its_value_is_an_error(name, text):
    with pytest.raises(TagError, match=f"!!{name}"):
        resolve_tagged(f"tag:yaml.org,2002:{name}", text)
