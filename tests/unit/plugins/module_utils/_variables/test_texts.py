# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A bool or an int that is given with ``-e name=value`` is a text: every expression of roles and playbooks converts it, or leaves that to a module.

ansible-core from 2.19 on fails for a condition that is a text, and before that the text "false" is true in many a place. Every variable of these types,
of every role, by the argument specifications.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from jinja2 import Environment, nodes

ROOT = Path(__file__).resolve().parents[5]
CONDITIONS = ("when", "until", "failed_when", "changed_when")
FILES = sorted(path for folder in ("roles", "playbooks") for path in (ROOT / folder).rglob("*") if path.suffix in (".yml", ".j2"))


def variables():
    """Type of each bool and int, by name. Those of the role operand are the operator's alone."""
    found = {}
    for path in set(ROOT.glob("roles/*/meta/argument_specs.yml")) - {ROOT / "roles/operand/meta/argument_specs.yml"}:
        for entry in yaml.safe_load(path.read_text())["argument_specs"].values():
            found.update({name: about["type"] for name, about in entry["options"].items() if about.get("type") in ("bool", "int")})
    return found


def expressions(value, key=""):
    """Every template in a YAML document; conditions as one."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from expressions(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from expressions(inner, key)
    elif isinstance(value, str):
        yield f"{{% if {value} %}}{{% endif %}}" if key in CONDITIONS else value


def unconverted(template, types):
    """Names of ``types`` that an expression uses by themselves. What is nothing but the variable is converted by the module that gets it."""
    tree = Environment(extensions=["jinja2.ext.do"]).parse(template)
    parents = {child: node for node in tree.find_all(nodes.Node) for child in node.iter_child_nodes()}
    parents.update(dict.fromkeys(tree.iter_child_nodes(), tree))
    found = []
    for name in tree.find_all(nodes.Name):
        if name.name not in types or name.ctx != "load":
            continue
        node, filters = name, []
        while isinstance(parents[node], nodes.Filter) and parents[node].node is node:
            node = parents[node]
            filters.append(node.name)
        asked = isinstance(parents[node], nodes.Test) and parents[node].name in ("defined", "undefined")
        alone = isinstance(parents[node], nodes.Output) and set(filters) <= {"default"}
        if not asked and not alone and types[name.name] not in filters:
            found.append(name.name)
    return found


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("{{ x }}", []),
        ("{{ x | default(omit) }}", []),
        ("{{ x | bool }}{% if x is defined and x | default(true) | bool %}{% endif %}", []),
        ("{% if a and not x %}{% endif %}", ["x"]),
        ("{{ x | to_json }}", ["x"]),
        ("{{ 1 if x else 2 }}", ["x"]),
        ("{{ {'a': x} }}", ["x"]),
    ],
)
def test_variables_that_a_template_does_not_convert_are_found(template, found):
    assert unconverted(template, {"x": "bool"}) == found


def test_every_bool_and_int_is_converted():
    types = variables()
    assert len(types) > 40
    wrong = []
    for path in FILES:
        text = path.read_text()
        if path.name in ("argument_specs.yml", "vars.yml"):
            continue
        found = [text] if path.suffix == ".j2" else [one for document in yaml.safe_load_all(text) for one in expressions(document)]
        wrong += [f"{path.relative_to(ROOT)}: {name}" for template in found for name in unconverted(template, types)]
    assert wrong == []
