# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The text of a configuration."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import (
    content_hash,
    from_structure,
    normalize,
)

CONFIG = {
    "kind": "KubeSchedulerConfiguration",
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "profiles": [{"schedulerName": "a", "plugins": {"score": {"enabled": [{"name": "X", "weight": 2}], "disabled": []}}}],
}


def test_the_text_has_block_style_and_the_order_of_the_keys():
    assert from_structure(CONFIG) == (
        "kind: KubeSchedulerConfiguration\n"
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "profiles:\n"
        "  - schedulerName: a\n"
        "    plugins:\n"
        "      score:\n"
        "        enabled:\n"
        "          - name: X\n"
        "            weight: 2\n"
        "        disabled: []\n"
    )


def test_equal_structures_give_equal_texts_without_anchors():
    shared = {"name": "X"}
    text = from_structure({"a": [shared, shared]})
    assert text == from_structure({"a": [{"name": "X"}, {"name": "X"}]})
    assert "&" not in text


@pytest.mark.parametrize(
    "value",
    [
        "y",
        "n",
        "off",
        "null",
        "~",
        "",
        "08",
        "0o10",
        "1e3",
        "1_0",
        ".5",
        "1:30",
        "2020-01-01",
        "<<",
        "=",
        "a: b",
        "# x",
        "- x",
    ]
    + [
        "{{ x }}",
        "*x",
        "&x",
        "!x",
        "%x",
        "@x",
        "`x",
        " x ",
        "x\n",
        "a\nb\n",
        "\ta\n b",
        "\xa0",
        "\u2028",
        "\ufeff",
        "日本",
        "x" * 500,
    ]
    + [1, 0, -1, 1.5, True, False, None, [], {}, 2**40],
)
def test_kube_scheduler_reads_the_given_values(value):
    """Above all strings that are something else for its parser."""
    text = from_structure({**CONFIG, "value": value, "list": [value]})
    result = check(text, None)
    assert result.valid, result.findings
    assert result.config == {**CONFIG, "value": value, "list": [value]}


def test_normalize_removes_byte_order_marks_and_unifies_line_ends():
    assert normalize("\ufeffa: 1\r\nb: 2\r\n\r\n") == "a: 1\nb: 2\n"
    assert normalize("a: 1") == "a: 1\n"


def test_hash_depends_on_content_only():
    assert content_hash("a: 1\r\n") == content_hash("a: 1") != content_hash("a: 2")
    # Names of objects in clusters hold it: it must stay the same in later releases.
    assert content_hash("a: 1\n") == "37b128c59f1f"
