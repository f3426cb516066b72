# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plain YAML scalars as kube-scheduler reads them.

kube-scheduler turns YAML into JSON with sigs.k8s.io/yaml, that is with the rules of go-yaml version 2. They are not
PyYAML's: ``y`` is a boolean, ``0o10`` and ``1e3`` are numbers, ``1:30`` and dates are strings.
"""

from __future__ import annotations

import re
from typing import Union

Scalar = Union[None, bool, int, float, str]

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


def resolve(text: str) -> Scalar:
    """The value of a plain (unquoted, untagged) scalar. Never raises."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    # A leading point is tried as a float with its underscores in place.
    digits = text if text[0] == "." else text.replace("_", "")
    integer = _INTEGER.match(digits)
    if integer:
        sign, hexadecimal, binary, octal, decimal = integer.groups()
        # A number of more digits than any 64-bit integer is a float for go-yaml too.
        if len(digits) <= 70:
            for number, base in ((hexadecimal, 16), (binary, 2), (octal, 8), (decimal, 10)):
                if number is not None:
                    value = int(sign + number, base)
                    if -(2**63) <= value < 2**64:
                        return value
    return float(digits) if _FLOAT.match(digits) else text
