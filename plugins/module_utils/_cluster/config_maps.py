# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Texts in ConfigMaps. A volume shows ``data`` and ``binaryData`` alike, so both can contain a program's configuration."""

from __future__ import annotations

import base64

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object


def text(config_map: Object, key: str) -> str | None:
    """The text under ``key``, None where there is none. Raises `InputError` for bytes that are no UTF-8."""
    data = config_map.get("data") or {}
    if key in data:
        found: str = data[key]
        return found
    encoded = (config_map.get("binaryData") or {}).get(key)
    if encoded is None:
        return None
    try:
        return base64.b64decode(encoded).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"binaryData.{key} is not UTF-8 text (byte {error.start})") from None


def keys(config_map: Object) -> list[str]:
    return sorted([*(config_map.get("data") or {}), *(config_map.get("binaryData") or {})])
