# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plain YAML scalars as kube-scheduler reads them.

kube-scheduler turns YAML into JSON with sigs.k8s.io/yaml, that is with the rules of go-yaml version 2 (resolve.go). They are
not PyYAML's: ``y`` is a boolean, ``0o10`` and ``1e3`` are numbers, ``1:30`` and dates are strings.
"""

from __future__ import annotations

import base64
import re
from typing import Union

Scalar = Union[None, bool, int, float, str]

TAG_PREFIX = "tag:yaml.org,2002:"

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_DATE = (
    r"[0-9]{4}-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:(?:[Tt]| +)([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})?)?\Z"
)
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_TYPES = {bool: "bool", int: "int", float: "float", str: "str", type(None): "null"}


class TagError(ValueError):
    """A tag such as ``!!int`` says something else than the text it belongs to."""


def resolve(text: str) -> Scalar:
    """The value of a plain (unquoted, untagged) scalar. Never raises."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    # After a leading point Go's own parser of floats reads the underscores, and requires digits around them.
    digits = text if text[0] == "." and re.search("(?<![0-9])_|_(?![0-9])", text) else text.replace("_", "")
    integer = _INTEGER.match(digits)
    if integer:
        sign, hexadecimal, binary, octal, decimal = integer.groups()
        # A number of more digits than any 64-bit integer is tried as a float by go-yaml too.
        if len(digits) <= 70:
            for number, base in ((hexadecimal, 16), (binary, 2), (octal, 8), (decimal, 10)):
                if number is not None:
                    value = int(sign + number, base)
                    if -(2**63) <= value < (2**63 if sign else 2**64):
                        return value
    if _FLOAT.match(digits):
        fraction = float(digits)
        if fraction not in (float("inf"), float("-inf")):
            return fraction
    return text


def resolve_tagged(tag: str, text: str) -> Scalar:
    """The value of a scalar with a tag, quoted or not; an empty tag is none. Raises TagError."""
    if tag == "":
        return resolve(text)
    if tag == TAG_PREFIX + "binary":
        try:
            return go_text(base64.b64decode(_padded(text), validate=True))
        except ValueError:
            raise TagError("!!binary value contains invalid base64 data") from None
    name = tag[len(TAG_PREFIX) :] if tag.startswith(TAG_PREFIX) else ""
    if name not in ("bool", "int", "float", "null", "timestamp"):
        return text  # !!str, and what is unknown
    value = resolve(text)
    if name == "timestamp":
        if _is_date(text):
            return text
    elif _TYPES[type(value)] == name and not (name == "str" or _is_date(text)):
        return value
    elif name == "float" and isinstance(value, int) and not isinstance(value, bool) and value < 2**63:
        return float(value)
    raise TagError(f"a value does not match its tag !!{name}")


def go_text(octets: bytes) -> str:
    """Text as Go writes it into JSON: each octet that is not UTF-8 becomes U+FFFD."""
    return replace_surrogates(octets.decode("utf-8", "surrogateescape"))


def replace_surrogates(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _padded(text: str) -> str:
    text = text.replace("\n", "").replace("\r", "")
    if len(text) % 4 or not text.isascii():
        raise ValueError("not base64")
    return text


def _is_date(text: str) -> bool:
    match = re.match(_DATE, text)
    if not match:
        return False
    month, day, hour, minute, second, _zone = match.groups()
    if not 1 <= int(month) <= 12 or not 1 <= int(day) <= _DAYS[int(month) - 1]:
        return False
    return hour is None or (int(hour) < 24 and int(minute) < 60 and int(second) < 60)
