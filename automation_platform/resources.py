# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The definition as what others read: an Ansible pattern, and the variables of infra.aap_configuration.

The shape of a pattern is that of ansible/pattern-service (pattern-schema-1.0.0); the variables are those of the collection's roles
controller_projects, controller_execution_environments, controller_inventories, controller_host_groups, controller_credentials,
controller_job_templates and controller_workflow_job_templates.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from surveys import ROOT, Question, questions

HERE = Path(__file__).resolve().parent
GENERATED = "# Made by `make aap` of automation_platform/definition.yml and of the specifications of roles and modules.\n"
# Not the count of slices: one without a host of the group clusters would go to the cluster of the credential.
AT_LAUNCH = ("job_type", "diff_mode", "limit", "variables", "verbosity", "inventory", "credential", "instance_groups", "forks")


def definition() -> dict[str, Any]:
    return yaml.safe_load((HERE / "definition.yml").read_text())


def files() -> dict[Path, str]:
    """Content of all files that are made, by path."""
    told = definition()
    galaxy = yaml.safe_load((ROOT / "galaxy.yml").read_text())
    folder = ROOT / "extensions/patterns" / told["pattern"]["name"]
    made = {
        folder / "meta/pattern.json": json.dumps(pattern(told, galaxy), indent=2) + "\n",
        ROOT / "playbooks/aap/vars.yml": f"---\n{GENERATED}{text(configuration(told, galaxy))}",
    }
    for template in told["job_templates"]:
        made[folder / "playbooks" / f"{template['playbook']}.meta.yml"] = f"---\n{GENERATED}{text(specification(template))}"
    return made


def text(data: Any) -> str:
    return yaml.dump(data, Dumper=Dumper, sort_keys=False, width=120, allow_unicode=True)


class Dumper(yaml.SafeDumper):
    """Indents lists as this project's files do, and refers to nothing by anchors."""

    def increase_indent(self, flow=False, indentless=False):
        return super().increase_indent(flow, False)

    def ignore_aliases(self, data):
        return True


def pattern(told: Mapping[str, Any], galaxy: Mapping[str, Any]) -> dict[str, Any]:
    """meta/pattern.json. A pattern knows neither credentials nor inventories nor workflows: who starts a job is asked for them."""
    environment = told["execution_environment"]
    templates = []
    for template in told["job_templates"]:
        templates.append(
            {
                "name": template["name"],
                "description": template["description"],
                "execution_environment": environment["name"],
                "playbook": f"{template['playbook']}.yml",
                "primary": template.get("primary", False),
                "ask_credential_on_launch": True,
                "ask_inventory_on_launch": True,
                "ask_verbosity_on_launch": True,
                "labels": [told["label"]],
                "survey": survey(template, [question.pattern() for question in questions(template["survey"])]),
            }
        )
    return {
        "schema_version": "1.0",
        **{key: told["pattern"][key] for key in ("name", "title", "description", "short_description", "tags")},
        "aap_resources": {
            "controller_project": dict(told["project"]),
            "controller_execution_environment": {
                "name": environment["name"],
                "description": environment["description"],
                "image_name": f"{environment['image']}:{galaxy['version']}",
                "pull": "missing",
            },
            "controller_labels": [told["label"]],
            "controller_job_templates": templates,
        },
    }


def survey(template: Mapping[str, Any], spec: list[dict]) -> dict[str, Any]:
    return {"name": template["name"], "description": template["description"], "spec": spec}


def configuration(told: Mapping[str, Any], galaxy: Mapping[str, Any]) -> dict[str, Any]:
    """playbooks/aap/vars.yml. What differs between installations are variables that start with osso_."""
    organization = f"{{{{ osso_organization | default('{told['organization']}') }}}}"
    environment, inventory, credential, workflow = (told[key] for key in ("execution_environment", "inventory", "credential", "workflow"))
    folder = f"extensions/patterns/{told['pattern']['name']}/playbooks"
    ours = {"organization": organization}
    by_name = {template["name"]: template for template in told["job_templates"]}
    templates = []
    for template in told["job_templates"]:
        templates.append(
            {
                "name": template["name"],
                "description": template["description"],
                **ours,
                "project": told["project"]["name"],
                "playbook": f"{folder}/{template['playbook']}.yml",
                "execution_environment": environment["name"],
                "inventory": inventory["name"],
                "credentials": [credential["name"]],
                "job_type": "run",
                **{f"ask_{name}_on_launch": True for name in AT_LAUNCH},
                "survey_enabled": True,
                "survey_spec": survey(template, [question.controller() for question in questions(template["survey"])]),
            }
        )
    return {
        "controller_execution_environments": [
            {
                "name": environment["name"],
                "description": environment["description"],
                **ours,
                "image": f"{{{{ osso_execution_environment_registry }}}}/{environment['image']}:{galaxy['version']}",
                "pull": "missing",
            }
        ],
        "controller_projects": [
            {
                **told["project"],
                **ours,
                "scm_type": "git",
                "scm_url": f"{{{{ osso_project_url | default('{galaxy['repository']}') }}}}",
                "scm_branch": f"{{{{ osso_project_branch | default('{galaxy['version']}') }}}}",
                "default_environment": environment["name"],
            }
        ],
        "controller_credentials": [
            {
                "name": credential["name"],
                "description": credential["description"],
                **ours,
                "credential_type": credential["type"],
                "inputs": {
                    "host": "{{ osso_cluster_host }}",
                    "bearer_token": "{{ osso_cluster_token }}",
                    "verify_ssl": True,
                    "ssl_ca_cert": "{{ osso_cluster_ca }}",
                },
            }
        ],
        "controller_inventories": [{"name": inventory["name"], "description": inventory["description"], **ours}],
        "controller_hosts": [
            {"name": "localhost", "inventory": inventory["name"], "variables": {"ansible_connection": "local"}},
        ],
        "controller_groups": [
            {"name": name, "description": description, "inventory": inventory["name"], "preserve_existing_hosts": True}
            for name, description in inventory["groups"].items()
        ],
        "controller_templates": templates,
        "controller_workflows": [
            {
                "name": workflow["name"],
                "description": workflow["description"],
                **ours,
                "inventory": inventory["name"],
                "ask_variables_on_launch": True,
                "survey_enabled": True,
                "survey_spec": survey(
                    workflow, [question.controller() for question in questions(by_name[workflow["job_template"]]["survey"])]
                ),
                "simplified_workflow_nodes": [node(told, entry) for entry in workflow["nodes"]],
            }
        ],
    }


def node(told: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    then = {"success_nodes": [entry["then"]]} if "then" in entry else {}
    if "approval" in entry:
        approval = {"name": entry["approval"], "description": told["workflow"]["description"], "timeout": entry["timeout"]}
        return {"identifier": entry["identifier"], "approval_node": approval, **then}
    job = {"unified_job_template": told["workflow"]["job_template"], "job_type": entry["job_type"], "limit": entry["limit"]}
    return {"identifier": entry["identifier"], **job, "diff_mode": True, **then}


def specification(template: Mapping[str, Any]) -> dict[str, Any]:
    """The variables of a pattern's playbook, in the description format of patterns."""
    return {
        "short_description": template["name"],
        "description": template["description"],
        "argument_specs": {
            "main": {
                "short_description": template["name"],
                "description": [template["description"]],
                "options": {question.variable: option(question) for question in questions(template["survey"])},
                "examples": f"ansible-playbook {template['playbook']}.yml",
            }
        },
    }


def option(question: Question) -> dict[str, Any]:
    made = {
        "description": f"{question.description} {question.format}".rstrip(),
        "type": question.spec.get("type", "str"),
        "required": question.required and question.default is None,
    }
    if question.choices:
        made["choices"] = question.choices
    if question.default is not None:
        made["default"] = question.default
    return made
