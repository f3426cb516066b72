# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Texts in ConfigMaps (cluster/config_maps.py)."""

from __future__ import annotations

import base64

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import config_maps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError


def encoded(content: bytes) -> dict:
    return {"data": {"other": "x"}, "binaryData": {"config.yaml": base64.b64encode(content).decode()}}


def test_a_text_is_read_from_data_and_from_binary_data():
    assert config_maps.text({"data": {"config.yaml": "a: ü"}}, "config.yaml") == "a: ü"
    assert config_maps.text(encoded("a: ü".encode()), "config.yaml") == "a: ü"
    assert config_maps.text(encoded(b""), "config.yaml") == ""
    assert config_maps.text({}, "config.yaml") is None
    assert config_maps.keys(encoded(b"")) == ["config.yaml", "other"]


def test_bytes_that_are_not_utf8_are_an_error():
    with pytest.raises(InputError, match=r"^binaryData.config.yaml is not UTF-8 text \(byte 3\)$"):
        config_maps.text(encoded(b"a: \xff"), "config.yaml")
