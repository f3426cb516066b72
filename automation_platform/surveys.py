# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Questions of surveys, out of the specifications that roles and modules have.

What Platform does with answers: text is given as it is, also if it is empty; of choices only one of them is taken, and nothing is given
where none was chosen. So a question with choices may stay without an answer, and a text must be answered where the option does not take an empty one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.osso.scheduler.plugins.doc_fragments import preview
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import PRESETS
from antsibull_docs_parser.ansible_doc_text import to_ansible_doc_text
from antsibull_docs_parser.parser import Context, parse

ROOT = Path(__file__).resolve().parents[1]
CHOICES = {"presets": list(PRESETS), "load_aware_presets": [name for name, preset in PRESETS.items() if preset.load]}
# By the type of an option; with choices it is a choice, whatever the type.
TYPES = {"str": "text", "path": "text", "int": "integer", "float": "float"}
AS = {"textarea": "str", "yaml": "dict", "list": "list"}
FORMATS = {"yaml": "As YAML, such as {a: 1}.", "list": "Comma-separated, without blanks."}
# Characters of a question's help.
HELP = 160


@dataclass
class Question:
    """variable: what the answer is given to. kind: Platform's type of question. spec: the option, as in an argument specification."""

    variable: str
    label: str
    kind: str
    description: str
    format: str
    required: bool
    default: Any
    choices: list[str]
    spec: dict

    def controller(self) -> dict:
        """As the controller's API takes it, and with it infra.aap_configuration: a default has the type of its question."""
        question = {
            "question_name": self.label,
            "question_description": self.help(self.format),
            "variable": self.variable,
            "type": self.kind,
            "required": self.required,
        }
        if self.choices:
            question["choices"] = self.choices
        if self.default is not None:
            question["default"] = self.default
        return question

    def pattern(self) -> dict:
        """As a pattern has it, in which a default is a text, while the controller refuses a text as default of a number."""
        question = self.controller()
        if self.kind in ("integer", "float") and self.default is not None:
            del question["default"]
            question["required"] = False
            question["question_description"] = self.help(f"If not given, {self.default}.")
        return question

    def help(self, end: str) -> str:
        """As many sentences of the description as fit into `HELP` characters, then ``end``. Raises ValueError if the first one does not fit."""
        sentences = re.split(r"(?<=\.) ", self.description)
        for count in range(len(sentences), 0, -1):
            text = " ".join([*sentences[:count], end]).rstrip()
            if len(text) <= HELP:
                return text
        raise ValueError(f"{self.variable}: a survey shows {HELP} characters of help, and these are {len(text)}: {text}")


def questions(survey: list[Mapping[str, Any]]) -> list[Question]:
    """The questions of a job template. Raises ValueError for what no survey can ask."""
    asked: list[Question] = []
    for source in survey:
        if "own" in source:
            asked += [
                question(name, name, spec, {key: spec[key] for key in ("as",) if key in spec}) for name, spec in source["own"].items()
            ]
            continue
        specs = options_of(source)
        for entry in source["options"]:
            told = entry if isinstance(entry, Mapping) else {"name": entry}
            if told["name"] not in specs:
                raise ValueError(f"{source.get('role') or source['module']} has no option {told['name']}")
            asked.append(question(source.get("prefix", "") + told["name"], told["name"], specs[told["name"]], told))
    return asked


def options_of(source: Mapping[str, Any]) -> dict[str, dict]:
    """The options of the role or module that a source of questions names, by name."""
    options = module_options(source["module"]) if "module" in source else role_options(source["role"])
    if "within" not in source:
        return options
    within: dict[str, dict] = options[source["within"]]["suboptions" if "module" in source else "options"]
    return within


def role_options(role: str) -> dict[str, dict]:
    return yaml.safe_load((ROOT / f"roles/{role}/meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]


def module_options(module: str) -> dict[str, dict]:
    """The options of a module, with those of the fragments about previews, which surveys ask for, too."""
    for node in ast.parse((ROOT / f"plugins/modules/{module}.py").read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "DOCUMENTATION":
            documentation = yaml.safe_load(ast.literal_eval(node.value))
            if "osso.scheduler.preview" not in documentation["extends_documentation_fragment"]:
                return documentation["options"]
            texts = (preview.ModuleDocFragment.DOCUMENTATION, preview.ModuleDocFragment.BASELINE)
            return {name: spec for text in texts for name, spec in yaml.safe_load(text)["options"].items()} | documentation["options"]
    raise ValueError(f"module {module} has no DOCUMENTATION")


def question(variable: str, option: str, spec: Mapping[str, Any], told: Mapping[str, Any]) -> Question:
    """The question for one option: ``spec`` is its specification, ``told`` its further properties in the definition."""
    way = told.get("as")
    if way and AS[way] != spec.get("type", "str"):
        raise ValueError(f"{variable}: as {way} is for the type {AS[way]}, and {option} is {spec.get('type', 'str')}")
    if way and spec.get("no_log"):
        raise ValueError(f"{variable}: as {way} shows the answer, and {option} is a secret")
    choices = told.get("choices", spec.get("choices", []))
    choices = CHOICES[choices] if isinstance(choices, str) else choices
    choices = [choice for choice in choices if choice != ""]
    if way:
        kind = "text" if way == "list" else "textarea"
    elif choices:
        kind = "multiplechoice"
    elif spec.get("type", "str") in TYPES:
        kind = "password" if spec.get("no_log") else TYPES[spec.get("type", "str")]
    else:
        raise ValueError(f"{variable}: a survey has no answers of the type {spec['type']}; leave {option} out, or say how it is asked for")
    default = told.get("default", spec.get("default"))
    if default in ("", [], {}):
        default = None
    elif way == "list":
        default = ",".join(default)
    if kind == "multiplechoice" and default not in (None, *choices):
        raise ValueError(f"{variable}: the default {default} is none of the choices {', '.join(choices)}")
    words = option.replace("_", " ")
    return Question(
        variable=variable,
        label=words[0].upper() + words[1:],
        kind=kind,
        description=description(spec),
        format=FORMATS.get(way, ""),
        required=bool(told.get("required") or spec.get("required") or default is not None),
        default=default,
        choices=choices,
        spec={**spec, "default": default} if default is not None else {key: value for key, value in spec.items() if key != "default"},
    )


def description(spec: Mapping[str, Any]) -> str:
    """Plain text: a survey shows no markup, and knows no links."""
    told = spec["description"]
    text = " ".join(told) if isinstance(told, list) else told
    text = to_ansible_doc_text(parse(text, Context()))
    text = re.sub(r" \(of (?:role|module) [^)]*\)", "", text)
    text = re.sub(r"`([^`']*)'", r"\1", text)
    return re.sub(r"\[(osso\.scheduler\.\w+)\]", r"\1", " ".join(text.split()))
