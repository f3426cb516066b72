# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A role that keeps a set finds each kind of its templates also without the inventory of the set."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._operand import reconcile

ROLES = Path(__file__).parents[2] / "roles"
KIND = re.compile(r"^kind: (\w+)$|^\{\{ allow\('(\w+)'|\{\{ '(\w+)' if minimal else '(\w+)' \}\}\nmetadata", re.MULTILINE)


def rendered(*folders) -> set[str]:
    """The kinds of which the templates in these roles make objects."""
    text = "\n".join(path.read_text() for folder in folders for path in sorted((ROLES / folder / "templates").glob("*.j2")))
    found = {kind for match in KIND.findall(text) for kind in match if kind}
    return found | ({"RoleBinding", "ClusterRoleBinding"} if "kind: {{ kind }}Binding" in text else set())


def test_every_kind_of_the_operand_is_listed():
    assert rendered("operand") <= {kind["kind"] for kind in (*reconcile.KINDS, *reconcile.KINDS_ELSEWHERE)}


@pytest.mark.parametrize(
    ("role", "names", "templates"),
    [
        ("operator", ("operator_kinds",), rendered("operator") | {"CustomResourceDefinition"}),
        ("monitoring", ("monitoring_kinds",), rendered("monitoring")),
        # Of the operand's templates it has the scheduler and its permissions.
        (
            "custom_scheduler",
            ("custom_scheduler_kinds",),
            rendered("custom_scheduler")
            | {"Deployment", "PodDisruptionBudget", "ServiceAccount", "ClusterRoleBinding", "Role", "RoleBinding"},
        ),
    ],
)
def test_every_kind_of_a_roles_templates_is_listed(role, names, templates):
    text = (ROLES / role / "vars/main.yml").read_text()
    listed = {
        kind for name in names for kind in re.findall(r"'?kind'?: '?(\w+)", re.search(rf"^{name}:.*\n((?:  .*\n)+)", text, re.MULTILINE)[1])
    }
    assert len(templates) > 4
    assert templates <= listed
