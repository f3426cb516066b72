# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Durations, quantities, numbers, bytes and names: expectations are what the Go and Kubernetes libraries print."""

from __future__ import annotations

import re
from itertools import zip_longest

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import (
    Duration,
    Quantity,
    base64_bytes,
    dns1123_label,
    dns1123_subdomain,
    float32,
    label_value,
    qualified_name,
    quote,
)

SECOND = 10**9


@pytest.mark.parametrize(
    ("text", "nanoseconds", "written"),
    [
        ("15s", 15 * SECOND, "15s"),
        ("0", 0, "0s"),
        ("-0", 0, "0s"),
        ("+5s", 5 * SECOND, "5s"),
        ("-1s", -SECOND, "-1s"),
        ("1m30s", 90 * SECOND, "1m30s"),
        ("137s", 137 * SECOND, "2m17s"),
        ("60m", 3600 * SECOND, "1h0m0s"),
        ("1.5h", 5400 * SECOND, "1h30m0s"),
        (".5s", SECOND // 2, "500ms"),
        ("0" * 5000 + "1s", SECOND, "1s"),
        ("1.s", SECOND, "1s"),
        ("500ms", SECOND // 2, "500ms"),
        ("1500us", 1_500_000, "1.5ms"),
        ("1\u00b5s", 1000, "1\u00b5s"),
        ("1\u03bcs", 1000, "1\u00b5s"),
        ("1ns", 1, "1ns"),
        ("1s1ns", SECOND + 1, "1.000000001s"),
        ("2540400h10m10.000000000s", 9145440610 * SECOND, "2540400h10m10s"),
        ("-9223372036854775808ns", -(2**63), "-2562047h47m16.854775808s"),
        ("0.3333333333333333333h", 1200 * SECOND, "20m0s"),
    ],
)
def test_durations_are_parsed_and_written_as_go_does(text, nanoseconds, written):
    duration = Duration.parse(text)
    assert (int(duration), str(duration)) == (nanoseconds, written)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("s", 'time: invalid duration "s"'),
        ("-.s", 'time: invalid duration "-.s"'),
        ("1s ", 'time: unknown unit "s " in duration "1s "'),
        ("15", 'time: missing unit in duration "15"'),
        ("1m15", 'time: missing unit in duration "1m15"'),
        ("1d", 'time: unknown unit "d" in duration "1d"'),
        ("9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'),
        ("09223372036854775809ns", 'time: invalid duration "09223372036854775809ns"'),
        ("2562048h", 'time: invalid duration "2562048h"'),
        ('"s', 'time: invalid duration "\\"s"'),
    ],
)
def test_text_that_is_no_duration_is_rejected_as_go_does(text, message):
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        Duration.parse(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("0", "0"),
        ("1", "1"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("1.5", "1500m"),
        ("0.1n", "1n"),  # rounded up
        ("-0.1n", "-1n"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("1023Ki", "1023Ki"),
        ("512.5", "512500m"),
        ("0.5Ki", "512"),
        ("1000k", "1M"),
        ("12e6", "12e6"),
        ("1e-3", "1e-3"),
        ("1200e4", "12e6"),
        ("1E", "1E"),
        ("1Ei", "1Ei"),
        ("16Ei", "9223372036854775807"),  # no more than an int64 holds
        ("+5", "+5"),  # kept as it was written
        ("0100m", "0100m"),
        ("007", "007"),
        (" 1 ", "1"),
        ("m", "0"),
        ("-", "0"),
        (".", "0"),
        ("1000E", "1"),  # no suffix is so large
        ("1234567890123456789", "1234567890123456789"),
        ("12345678901234567890", "12345678901234567890"),
        ("0.00000000000000000001", "1n"),
        ("1200e4294967296", "1200e4294967296"),
        ("1000e4294967297", "10e3"),  # the exponent is cut to 32 bits
    ],
)
def test_quantities_are_written_in_canonical_form(text, written):
    assert str(Quantity.parse(text)) == written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "quantities must match the regular expression"),
        ("1 Gi", "quantities must match the regular expression"),
        ("1,5", "quantities must match the regular expression"),
        ("true", "quantities must match the regular expression"),
        ("1.5.5", "quantities must match the regular expression"),
        ("1gi", "quantities must match the regular expression"),
        ("1KI", "quantities must match the regular expression"),
        ("1i", "unable to parse quantity's suffix"),
        ("1e", "unable to parse quantity's suffix"),
        ("1mi", "unable to parse quantity's suffix"),
        ("1" * 100_000, "unable to parse numeric part of quantity"),
        ("Pi", "unable to parse numeric part of quantity"),
    ],
)
def test_text_that_is_no_quantity_is_rejected(text, message):
    with pytest.raises(ValueError, match=message):
        Quantity.parse(text)


def test_quantities_compare_by_size():
    assert Quantity.parse("1") == Quantity.parse("1000m")
    assert hash(Quantity.parse("1")) == hash(Quantity.parse("1000m"))
    assert Quantity.parse("1Gi") != Quantity.parse("1G")
    assert Quantity.parse("999m") < Quantity.parse("1") <= Quantity.parse("1k")
    assert Quantity.parse("1") != "1"


def test_quantities_with_huge_exponents_are_parsed_quickly():
    assert str(Quantity.parse("1e-2000000000")) == "1e-9"
    assert str(Quantity.parse("1e2000000000")) == "100e1999999998"


@pytest.mark.parametrize(
    ("number", "rounded"),
    [(0.1, 0.1), (50, 50.0), (16777217, 16777216.0), (3.4028234e38, 3.4028235e38), (1e-45, 1e-45), (0.30000001192092896, 0.3)],
)
def test_numbers_are_rounded_to_single_precision(number, rounded):
    assert float32(number) == rounded


def test_a_float32_out_of_range_is_rejected():
    with pytest.raises(ValueError, match="out of range"):
        float32(3.5e38)


@pytest.mark.parametrize(
    ("text", "written"),
    [("", ""), ("aGk=", "aGk="), ("aG\nk=\r\n", "aGk="), ("aGl=", "aGk="), ("aGVsbG8h", "aGVsbG8h")],
)
def test_base64_is_rewritten_in_canonical_form(text, written):
    assert base64_bytes(text) == written


@pytest.mark.parametrize("text", ["a", "aGk", "aGk==", "aG k=", "aGk=aGk=", "aG-_", "="])
def test_invalid_base64_is_rejected_and_not_quoted(text):
    with pytest.raises(ValueError, match=r"^illegal base64 data$"):
        base64_bytes(text)


def test_quote_escapes_characters_as_go_does():
    assert (
        quote('a"\\\n\t\x00\x7f\u00e9\u200b\u2028\U000e0001\U0001f600')
        == '"a\\"\\\\\\n\\t\\x00\\x7f\u00e9\\u200b\\u2028\\U000e0001\U0001f600"'
    )


@pytest.mark.parametrize("text", ["a", "A.b_c-1", "x" * 63, "example.com/gpu", "a-b.c/" + "x" * 63])
def test_valid_qualified_names_have_no_errors(text):
    assert qualified_name(text) == []


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("", ["name part must be non-empty", "name part must consist of"]),
        ("/a", ["prefix part must be non-empty"]),
        ("-a", ["name part must consist of"]),
        ("a\n", ["name part must consist of"]),
        ("x" * 64, ["name part must be no more than 63 characters"]),
        ("\u00e9" * 32, ["name part must be no more than 63 characters", "name part must consist of"]),
        ("A.com/b", ["prefix part a lowercase RFC 1123 subdomain must consist of"]),
        ("a/b/c", ["a qualified name must consist of"]),
    ],
)
def test_invalid_qualified_names_have_all_their_errors(text, errors):
    assert [message[: len(expected)] for message, expected in zip_longest(qualified_name(text), errors, fillvalue="")] == errors


def test_the_message_about_an_invalid_name_is_that_of_kubernetes():
    (message,) = qualified_name("a b")
    assert message == (
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
        " (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is"
        " '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
    )


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (label_value, ["", "a", "A_b.c-d", "x" * 63], ["-", "a b", "a/b", "x" * 64]),
        (dns1123_subdomain, ["a", "a.b-c.1", "x" * 253], ["", "A", "a..b", ".a", "a_b", "x" * 254]),
        (dns1123_label, ["a", "a-1", "x" * 63], ["", "A", "a.b", "-a", "x" * 64]),
    ],
)
def test_label_values_and_dns_names_are_validated(check, good, bad):
    assert [check(text) for text in good] == [[]] * len(good)
    assert all(check(text) for text in bad)
