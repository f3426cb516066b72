# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The syntax that Go and Kubernetes give to texts in a configuration: durations, quantities, bytes, names.

Errors are ValueError with the words of the Go library, the text that was given included; what may be secret is not.
"""

from __future__ import annotations

import base64
import re
import struct

from .document_nodes import always

# --- time.Duration (Go, time/format.go: ParseDuration, time/time.go: String) ---

_UNITS = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,  # micro sign
    "\u03bcs": 10**3,  # Greek letter mu
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_DURATION_PART = r"([0-9]*)(?:\.([0-9]*))?([^.0-9]*)"
_MAX_DURATION = 2**63 - 1


class Duration(int):
    """A duration in nanoseconds; ``str`` writes it as Go does: ``2m17s``, ``1.5ms``, ``0s``."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Duration:
        """``15s``, ``1h30m``, ``+1.5h``, ``0``. Raises ValueError, for a number without a unit as well."""
        digits = text[1:] if text[:1] in ("-", "+") else text
        if digits == "0":
            return cls(0)
        invalid = ValueError(f"time: invalid duration {quote(text)}")
        if not digits:
            raise invalid
        total = position = 0
        part_at = always(_DURATION_PART)
        while position < len(digits):
            match = part_at(digits, position)
            whole, fraction, unit = match.groups()
            position = match.end()
            if not (whole or fraction):
                raise invalid
            whole = whole.lstrip("0") or "0"
            if len(whole) > 19 or int(whole) > 2**63:
                raise invalid
            if not unit:
                raise ValueError(f"time: missing unit in duration {quote(text)}")
            if unit not in _UNITS:
                raise ValueError(f"time: unknown unit {quote(unit)} in duration {quote(text)}")
            total += int(whole) * _UNITS[unit] + _fraction_of(fraction or "", _UNITS[unit])
            if total > _MAX_DURATION + 1:
                raise invalid
        if text[0] == "-":
            return cls(-total)
        if total > _MAX_DURATION:
            raise invalid
        return cls(total)

    def __str__(self) -> str:
        size = abs(self)
        if size == 0:
            return "0s"
        sign = "-" if self < 0 else ""
        for unit, length in (("ns", 10**3), ("\u00b5s", 10**6), ("ms", 10**9)):
            if size < length:
                return sign + _decimal(size, length // 10**3) + unit
        minutes = size // _UNITS["m"]
        text = _decimal(size % _UNITS["m"], 10**9) + "s"
        if minutes:
            text = f"{minutes % 60}m{text}"
        if minutes >= 60:
            text = f"{minutes // 60}h{text}"
        return sign + text

    def __repr__(self) -> str:
        return f"Duration({int(self)})"


def _fraction_of(digits: str, unit: int) -> int:
    """The digits after the point, in nanoseconds; like Go with a float64 and without the digits that overflow an int64."""
    value, scale = 0, 1.0
    for digit in digits[:40]:
        if value > _MAX_DURATION // 10 or value * 10 + int(digit) > 2**63:
            break
        value = value * 10 + int(digit)
        scale *= 10
    return int(value * (unit / scale))


def _decimal(number: int, unit: int) -> str:
    """number / unit with no more digits than needed; unit is a power of ten."""
    whole, rest = divmod(number, unit)
    if not rest:
        return str(whole)
    digits = str(rest).zfill(len(str(unit)) - 1).rstrip("0")
    return f"{whole}.{digits}"


# --- resource.Quantity (k8s.io/apimachinery/pkg/api/resource: quantity.go, suffix.go) ---

_QUANTITY = r"([-+]?)([0-9]*)(?:(\.)([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)"
_DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL, _BINARY, _EXPONENT = "DecimalSI", "BinarySI", "DecimalExponent"
_INT64_DIGITS = 18
_MAX_QUANTITY_DIGITS = 1000  # Kubernetes knows no limit
_QUANTITY_SYNTAX = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"  # the words of Kubernetes


class Quantity:
    """A quantity such as ``100m`` or ``1.5Gi``: ``number`` times ten to the power of ``exponent``.

    ``str`` writes it as Kubernetes does (canonical: ``1536Mi``). Quantities of one size are equal, however they are written.
    """

    __slots__ = ("_form", "_written", "exponent", "number")

    def __init__(self, number: int, exponent: int = 0, form: str = _DECIMAL, written: str | None = None):
        self.number = number
        self.exponent = exponent
        self._form = form
        self._written = written

    @classmethod
    def parse(cls, text: str) -> Quantity:
        """Also the text of a number: ``1.5``. White space around it is allowed. Raises ValueError."""
        text = text.strip("\t\n\v\f\r \x85\xa0")
        match = re.fullmatch(_QUANTITY, text)
        if not match or not text:
            raise ValueError(_QUANTITY_SYNTAX)
        sign, whole, _point, fraction, suffix = match.groups()
        whole, fraction = whole.lstrip("0") or "0", fraction or ""
        exponent, binary_exponent, form = _suffix(suffix)
        digits = whole + fraction
        if len(digits) > _MAX_QUANTITY_DIGITS:
            raise ValueError("unable to parse numeric part of quantity")
        if form == _BINARY:
            small = not fraction and len(whole) + binary_exponent * 3 // 10 < 15
        else:
            small = len(digits) <= _INT64_DIGITS and exponent - len(fraction) >= -9
        number = int(digits) << binary_exponent
        exponent -= len(fraction)
        if sign == "-":
            number = -number
        if small:
            if form == _BINARY:
                canonical = int(digits) % 8 != 0
            else:
                canonical = exponent % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
            # Kubernetes keeps the written form if it looks canonical at a quick check: "+5" and "0100m" stay.
            return cls(number, exponent, form, text if canonical else None)
        if not re.search("[0-9]", text[: match.start(5)]):
            raise ValueError("unable to parse numeric part of quantity")
        if exponent < -9:
            number, exponent = _round_up(number, -9 - exponent), -9
        if form == _BINARY:
            limit = (2**63 - 1) * 10**-exponent
            number = max(-limit, min(limit, number))
            if 0 < abs(number) < 10**-exponent:
                form = _DECIMAL
        return cls(number, exponent, form)

    def __str__(self) -> str:
        if self._written is not None:
            return self._written
        number, exponent, form = self.number, self.exponent, self._form
        if number == 0:
            return "0"
        if form == _BINARY:
            whole, rest = (number * 10**exponent, 0) if exponent >= 0 else divmod(number, 10**-exponent)
            if rest == 0 and abs(whole) >= 1024:
                power = 0
                while whole % 1024 == 0:
                    whole //= 1024
                    power += 10
                return f"{whole}{_suffix_for(_BINARY_SUFFIXES, power)}"
            form = _DECIMAL
        while number % 10 == 0:
            number //= 10
            exponent += 1
        shift = exponent % 3
        number, exponent = number * 10**shift, exponent - shift
        if form == _EXPONENT:
            return f"{number}e{exponent}" if exponent else str(number)
        return f"{number}{_suffix_for(_DECIMAL_SUFFIXES, exponent)}"

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def _nano(self) -> int:
        nano: int = self.number * 10 ** min(self.exponent + 9, 1000)
        return nano

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self._nano() == other._nano()

    def __lt__(self, other: Quantity) -> bool:
        return self._nano() < other._nano()

    def __le__(self, other: Quantity) -> bool:
        return self._nano() <= other._nano()

    def __hash__(self) -> int:
        return hash(self._nano())


def _suffix(suffix: str) -> tuple[int, int, str]:
    """Powers of ten and of two, and the form in which the quantity is written again."""
    if suffix in _DECIMAL_SUFFIXES:
        return _DECIMAL_SUFFIXES[suffix], 0, _DECIMAL
    if suffix in _BINARY_SUFFIXES:
        return 0, _BINARY_SUFFIXES[suffix], _BINARY
    if re.fullmatch("[eE][-+]?[0-9]{1,20}", suffix) and -(2**63) <= int(suffix[1:]) < 2**63:
        exponent = int(suffix[1:])
        return (exponent + 2**31) % 2**32 - 2**31, 0, _EXPONENT  # Kubernetes cuts it to 32 bits
    raise ValueError("unable to parse quantity's suffix")


def _suffix_for(suffixes: dict[str, int], power: int) -> str:
    """No suffix where there is none so large: Kubernetes writes 1000E as 1."""
    return next((suffix for suffix, of in suffixes.items() if of == power), "")


def _round_up(number: int, digits: int) -> int:
    """Without its last digits, away from zero."""
    if number == 0:
        return 0
    if digits > len(str(abs(number))):
        return 1 if number > 0 else -1
    size: int = -(-abs(number) // 10**digits)
    return size if number > 0 else -size


# --- numbers and bytes (Go, strconv and encoding/base64) ---


_MAX_FLOAT32 = 3.4028235e38


def float32(number: float) -> float:
    """The number as a Go float32 holds it, with the shortest digits that name it: 0.1 stays 0.1. Raises ValueError."""
    try:
        packed = struct.pack("<f", number)
    except OverflowError:
        raise ValueError("value out of range") from None
    (exact,) = struct.unpack("<f", packed)
    for digits in range(1, 9):
        short = float(f"{exact:.{digits}g}")
        if abs(short) <= _MAX_FLOAT32 and struct.pack("<f", short) == packed:
            return short
    return float(f"{exact:.9g}")


def base64_bytes(text: str) -> str:
    """Base64 as Go reads it (line ends anywhere, padding required) and writes it again. Raises ValueError."""
    digits = text.replace("\r", "").replace("\n", "")
    if len(digits) % 4 or not re.fullmatch("[A-Za-z0-9+/]*={0,2}", digits):
        raise ValueError("illegal base64 data")
    return base64.b64encode(base64.b64decode(digits)).decode("ascii")


_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", '"': '\\"', "\\": "\\\\"}


def quote(text: str) -> str:
    """The text between double quotes as Go's ``%q`` writes it."""
    return '"{}"'.format("".join(_quoted(character) for character in text))


def _quoted(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# --- names (k8s.io/apimachinery/pkg/util/validation/validation.go) ---

_QUALIFIED_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN = _DNS_LABEL + r"(\." + _DNS_LABEL + ")*"
_NAME_CHARACTERS = "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"


def qualified_name(text: str) -> list[str]:
    """What is wrong with a name such as ``example.com/gpu`` or ``zone`` (IsQualifiedName); nothing: an empty list."""
    syntax = f"must {_NAME_CHARACTERS}" + _examples(("MyName", "my.name", "123-abc"), _QUALIFIED_NAME)
    parts = text.split("/")
    if len(parts) > 2:
        return [f"a qualified name {syntax} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    errors = []
    if len(parts) == 2:
        if parts[0]:
            errors += [f"prefix part {error}" for error in dns1123_subdomain(parts[0])]
        else:
            errors.append("prefix part must be non-empty")
    name = parts[-1]
    if not name:
        errors.append("name part must be non-empty")
    elif _bytes(name) > 63:
        errors.append("name part must be no more than 63 characters")
    if not re.fullmatch(_QUALIFIED_NAME, name):
        errors.append(f"name part {syntax}")
    return errors


def label_value(text: str) -> list[str]:
    """What is wrong with the value of a label (IsValidLabelValue)."""
    errors = []
    if _bytes(text) > 63:
        errors.append("must be no more than 63 characters")
    if text and not re.fullmatch(_QUALIFIED_NAME, text):
        examples = _examples(("MyValue", "my_value", "12345"), f"({_QUALIFIED_NAME})?")
        errors.append(f"a valid label must be an empty string or {_NAME_CHARACTERS}{examples}")
    return errors


def dns1123_subdomain(text: str) -> list[str]:
    """What is wrong with a DNS name such as ``example.com`` (IsDNS1123Subdomain)."""
    errors = []
    if _bytes(text) > 253:
        errors.append("must be no more than 253 characters")
    if not re.fullmatch(_DNS_SUBDOMAIN, text):
        errors.append(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',"
            " and must start and end with an alphanumeric character" + _examples(("example.com",), _DNS_SUBDOMAIN)
        )
    return errors


def dns1123_label(text: str) -> list[str]:
    """What is wrong with one part of a DNS name, such as a namespace (IsDNS1123Label)."""
    errors = []
    if _bytes(text) > 63:
        errors.append("must be no more than 63 characters")
    if not re.fullmatch(_DNS_LABEL, text):
        if re.fullmatch(_DNS_SUBDOMAIN, text):
            errors.append("must not contain dots")
        else:
            errors.append(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-',"
                " and must start and end with an alphanumeric character" + _examples(("my-name", "123-abc"), _DNS_LABEL)
            )
    return errors


def _examples(examples: tuple[str, ...], syntax: str) -> str:
    names = " or ".join(f"'{example}', " for example in examples)
    return f" (e.g. {names}regex used for validation is '{syntax}')"


def _bytes(text: str) -> int:
    """Its length as Go counts it."""
    return len(text.encode("utf-8", "replace"))
