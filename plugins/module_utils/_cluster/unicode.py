# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Texts that are whole Unicode: characters outside the Basic Multilingual Plane are one character, and there are no halves of one.

JSON writes such a character as two escapes, a surrogate pair (RFC 8259, section 7). PyYAML reads them as two characters, which no UTF-8 can hold.
"""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError

_HALF = re.compile("[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]")


def joined(value: Any, where: str) -> Any:
    """The value, made of mappings, lists and scalars, with surrogate pairs as the characters that they stand for.

    where: what it is, for the message. Raises InputError for half a pair.
    """
    if isinstance(value, str):
        return _joined(value, where)
    if isinstance(value, dict):
        return {joined(key, f"{where}, a key"): joined(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [joined(item, f"{where}[{index}]") for index, item in enumerate(value)]
    return value


def replaced(text: str) -> str:
    """A text from outside, with U+FFFD for each unpaired surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def replaced_in(value: Any) -> Any:
    """A value of JSON from outside, with `replaced` texts."""
    if isinstance(value, str):
        return replaced(value)
    if isinstance(value, dict):
        return {replaced(key): replaced_in(item) for key, item in value.items()}
    return [replaced_in(item) for item in value] if isinstance(value, list) else value


def _joined(text: str, where: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        half = _HALF.search(text)
        if half:
            raise InputError(
                f"{replaced(where)} contains \\u{ord(half[0]):04x}, which is half of a surrogate pair and no character. Remove it, or write the "
                r"whole character: \U0001F600 in YAML, \ud83d\ude00 in JSON."
            ) from None
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    return text
