# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which operators are in the way of another."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._variables.operator import rivals


def operator(*watches, variant="upstream", namespace="one", replicas=1):
    return {"variant": variant, "namespace": namespace, "watches": list(watches), "replicas": replicas}


@pytest.mark.parametrize(
    ("other", "watched", "is_rival"),
    [
        pytest.param(operator("one"), ["one"], True, id="the same namespace"),
        pytest.param(operator("one"), ["*"], True, id="all of ours"),
        pytest.param(operator("*"), ["two"], True, id="all of its"),
        pytest.param(operator("one"), ["two"], False, id="another namespace"),
        pytest.param(operator("one", replicas=0), ["one"], False, id="scaled to zero"),
        pytest.param(operator("one", variant="osso"), ["one"], False, id="ours itself"),
        pytest.param(operator("one", variant="osso", namespace="two"), ["one"], True, id="another of ours"),
    ],
)
def test_operators_that_watch_a_common_namespace_are_rivals(other, watched, is_rival):
    assert rivals([other], "one", watched) == ([other] if is_rival else [])


def test_an_operator_of_the_same_variant_is_not_its_own_rival():
    theirs = operator("one")
    assert rivals([theirs], "one", ["one"], "upstream") == []
    assert rivals([operator("one", variant="osso")], "one", ["one"], "upstream") != []
