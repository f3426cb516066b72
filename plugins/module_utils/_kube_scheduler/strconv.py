# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Numbers and truth values in texts, as Go's package strconv reads them. Errors are ValueError with its words."""

from __future__ import annotations

import re

_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_FALSE = ("0", "f", "F", "false", "FALSE", "False")

_DECIMAL = "[0-9](?:_?[0-9])*"
_HEXADECIMAL = "[0-9a-f](?:_?[0-9a-f])*"
_FLOAT = (
    rf"[-+]?(?:inf(?:inity)?|(?:{_DECIMAL}\.?(?:{_DECIMAL})?|\.{_DECIMAL})(?:e[-+]?{_DECIMAL})?"
    rf"|0x_?(?:{_HEXADECIMAL}\.?(?:{_HEXADECIMAL})?|\.{_HEXADECIMAL})p[-+]?[0-9]+)|nan"
)


def parse_bool(text: str) -> bool:
    if text not in _TRUE + _FALSE:
        raise _invalid("ParseBool", text)
    return text in _TRUE


def parse_int(text: str, base: int = 10, bits: int = 64) -> int:
    """A signed number. base 0: by its prefix, with ``_`` between digits: ``0x1f``, ``0b1``, ``0o17``, ``017``, ``1_000``."""
    sign, digits = (text[0], text[1:]) if text[:1] in ("-", "+") else ("", text)
    return _in_range("ParseInt", text, int(f"{sign}{_digits('ParseInt', text, digits, base)}"), -(2 ** (bits - 1)), 2 ** (bits - 1))


def parse_uint(text: str, base: int = 10, bits: int = 64) -> int:
    """A number without a sign."""
    return _in_range("ParseUint", text, _digits("ParseUint", text, text, base), 0, 2**bits)


def parse_float(text: str) -> float:
    """A 64-bit floating-point number; also ``inf``, ``nan``, ``0x1p-2`` and ``1_000``."""
    if not re.fullmatch(_FLOAT, text, re.IGNORECASE | re.ASCII):
        raise _invalid("ParseFloat", text)
    digits = text.replace("_", "").lower()
    try:
        number = float.fromhex(digits) if "0x" in digits else float(digits)
    except OverflowError:
        number = float("inf")
    if number in (float("inf"), float("-inf")) and "inf" not in digits:
        raise _out_of_range("ParseFloat", text)
    return number


def _digits(function: str, text: str, digits: str, base: int) -> int:
    if base == 0 and re.match("0[0-9_]", digits):
        digits = f"0o{digits[1:]}"
    if not re.fullmatch("[0-9]+" if base == 10 else "[0-9][0-9A-Za-z_]*", digits):
        raise _invalid(function, text)
    try:
        return int(digits, base)
    except ValueError:
        raise _invalid(function, text) from None


def _in_range(function: str, text: str, number: int, first: int, end: int) -> int:
    if not first <= number < end:
        raise _out_of_range(function, text)
    return number


def _invalid(function: str, text: str) -> ValueError:
    return ValueError(f'strconv.{function}: parsing "{text}": invalid syntax')


def _out_of_range(function: str, text: str) -> ValueError:
    return ValueError(f'strconv.{function}: parsing "{text}": value out of range')
