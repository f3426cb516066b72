# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Automation Platform is told (automation_platform/definition.yml): generated files are up to date, and every job template can be run as it is
described: its playbook, the variables of its survey, and answers as the Platform gives them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from support.ansible_runs import play

ROOT = Path(__file__).resolve().parents[3]
HERE = ROOT / "automation_platform"
PATTERN = ROOT / "extensions/patterns/secondary_schedulers"
DEFINITION = yaml.safe_load((HERE / "definition.yml").read_text())
TEMPLATES = {template["name"]: template for template in DEFINITION["job_templates"]}
VARIABLES = yaml.safe_load((ROOT / "playbooks/aap/vars.yml").read_text())
CONTROLLER = {template["name"]: template for template in VARIABLES["controller_templates"]}
PATTERN_JSON = json.loads((PATTERN / "meta/pattern.json").read_text())
PATTERNS = {template["name"]: template for template in PATTERN_JSON["aap_resources"]["controller_job_templates"]}
# What the controller accepts as a default, by the type of a question (SURVEY_TYPE_MAPPING of AWX)
ANSWERS = {
    "text": str,
    "textarea": str,
    "password": str,
    "multiplechoice": str,
    "multiselect": (list, str),
    "integer": int,
    "float": (int, float),
}
# As the controller would: nothing listens there.
NOWHERE = {"K8S_AUTH_HOST": "https://127.0.0.1:9", "K8S_AUTH_API_KEY": "sha256~not-a-token", "KUBECONFIG": "/dev/null"}

every_template = pytest.mark.parametrize("name", TEMPLATES)


@pytest.fixture(scope="module")
def surveys():
    """automation_platform/surveys.py"""
    sys.path.insert(0, str(HERE))
    try:
        import surveys
    finally:
        sys.path.remove(str(HERE))
    return surveys


@pytest.fixture(scope="module")
def resources(surveys):
    """automation_platform/resources.py"""
    sys.path.insert(0, str(HERE))
    try:
        import resources
    finally:
        sys.path.remove(str(HERE))
    return resources


def defaults(name: str) -> dict:
    """The answers of somebody who leaves all questions as they are."""
    return {entry["variable"]: entry["default"] for entry in CONTROLLER[name]["survey_spec"]["spec"] if "default" in entry}


def playbook(name: str) -> Path:
    return PATTERN / "playbooks" / f"{TEMPLATES[name]['playbook']}.yml"


def used(path: Path) -> tuple[set[str], set[str], str]:
    """Roles and modules of ours that a playbook uses, and its text, with those of the files that it imports."""
    roles, modules, text = set(), set(), path.read_text()

    def look(data):
        if isinstance(data, list):
            for item in data:
                look(item)
        if not isinstance(data, dict):
            return
        for key, value in data.items():
            short = key.removeprefix("ansible.builtin.")
            if short in ("import_role", "include_role"):
                roles.add(value["name"].removeprefix("osso.scheduler."))
            # Of one cluster or of many, the tasks are those of fleet_job.
            elif short in ("import_tasks", "include_tasks", "import_playbook", "fleet_job") and "{{" not in value:
                other = path.parent / value
                if short == "fleet_job":
                    other = ROOT / "playbooks/tasks" / value
                elif value.startswith("osso.scheduler."):
                    other = ROOT / "playbooks" / f"{value.removeprefix('osso.scheduler.')}.yml"
                nonlocal text
                more = used(other)
                roles.update(more[0])
                modules.update(more[1])
                text += more[2]
            elif key.startswith("osso.scheduler."):
                modules.add(key.removeprefix("osso.scheduler."))
            look(value)

    look(yaml.safe_load(text))
    return roles, modules, text


def test_generated_files_in_the_repository_are_up_to_date():
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".cache/collections")}
    done = subprocess.run([HERE / "generate", "check"], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_survey_that_drifted_from_its_role_would_be_found(surveys, monkeypatch):
    options = surveys.role_options("operator")
    options["operator_method"]["choices"].remove("auto")
    options["operator_wait_timeout"]["default"] = 301
    monkeypatch.setattr(surveys, "role_options", {"operator": options}.get)
    changed = surveys.questions(TEMPLATES["Install schedulers"]["survey"])
    committed = {entry["variable"]: entry for entry in CONTROLLER["Install schedulers"]["survey_spec"]["spec"]}
    drifted = [question.variable for question in changed if question.controller() != committed[question.variable]]
    assert drifted == ["operator_method", "operator_wait_timeout"]


@pytest.mark.parametrize(
    ("told", "spec", "said"),
    [
        ({}, {"type": "dict", "description": "d"}, "a survey has no answers of the type dict"),
        ({"as": "yaml"}, {"type": "str", "description": "d"}, "as yaml is for the type dict, and option is str"),
        ({"default": "c"}, {"type": "str", "description": "d", "choices": ["a", "b"]}, "the default c is none of the choices a, b"),
        ({"as": "textarea"}, {"type": "str", "description": "d", "no_log": True}, "as textarea shows the answer, and option is a secret"),
    ],
)
def test_an_option_that_no_survey_can_contain_is_rejected(surveys, told, spec, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        surveys.question("variable", "option", spec, told)


def test_an_option_that_the_role_no_longer_has_is_rejected(surveys):
    with pytest.raises(ValueError, match="operator has no option operator_gone"):
        surveys.questions([{"role": "operator", "options": ["operator_gone"]}])


def test_help_is_plain_text(surveys):
    text = surveys.description(
        {"description": ["V(a) and O(osso.scheduler.operand#role:main:b), see M(osso.scheduler.apply).", "C(c)  is I(d)."]}
    )
    assert text == "a and b, see osso.scheduler.apply. c is d."


def test_help_is_cut_after_a_sentence(surveys):
    spec = {"type": "list", "default": [], "description": ["First. " + "b" * 150 + ".", "Third."]}
    question = surveys.question("variable", "option", spec, {"as": "list"})
    assert question.controller()["question_description"] == "First. Comma-separated, without blanks."
    question = surveys.question("variable", "option", {"type": "int", "default": 3, "description": "One. " + "b" * 144 + ". Three."}, {})
    assert question.controller()["question_description"] == "One. " + "b" * 144 + "." + " Three."
    assert question.pattern()["question_description"] == "One. If not given, 3."


def test_a_help_text_that_is_too_long_for_a_survey_is_rejected(surveys):
    question = surveys.question("variable", "option", {"type": "str", "description": "b" * 161}, {})
    with pytest.raises(ValueError, match="variable: a survey shows 160 characters of help, and these are 161: b"):
        question.controller()


@every_template
def test_every_playbook_exists_and_uses_the_variables_of_its_survey(surveys, name):
    template = TEMPLATES[name]
    assert yaml.safe_load(playbook(name).read_text())[0]["ansible.builtin.import_playbook"] == f"osso.scheduler.{template['runs']}"
    assert CONTROLLER[name]["playbook"] == str(playbook(name).relative_to(ROOT))
    roles, modules, text = used(playbook(name))
    assert roles | modules
    for source in template["survey"]:
        if "own" in source:
            assert [variable for variable in source["own"] if not re.search(rf"\b{variable}\b", text)] == []
            continue
        assert source.get("role") in roles or source.get("module") in modules, source
        for entry in source["options"]:
            option = entry if isinstance(entry, str) else entry["name"]
            if "prefix" in source:
                # The playbook hands it on.
                assert re.search(rf"\b{option}: .*\b{source['prefix']}{option}\b", text), (
                    f"{option} is not given {source['prefix']}{option}"
                )
            assert option in surveys.options_of(source)


@every_template
def test_default_answers_pass_the_syntax_check(name):
    done = play(str(playbook(name)), variables=defaults(name), args=["--syntax-check"], succeed=False)
    assert done.rc == 0, done.output()


def of_role(source: dict) -> bool:
    """Whether a source of questions asks for variables of a role."""
    return "role" in source and "within" not in source


@pytest.mark.parametrize("name", [name for name, template in TEMPLATES.items() if any(map(of_role, template["survey"]))])
def test_roles_take_the_default_answers(surveys, name):
    """Types and choices, as the roles' own check has them."""
    answers = defaults(name)
    for source in filter(of_role, TEMPLATES[name]["survey"]):
        options = surveys.role_options(source["role"])
        given = {variable: value for variable, value in answers.items() if variable in options}
        assert given
        result = ArgumentSpecValidator(options).validate(given)
        assert result.error_messages == []
        # A role goes on with what it was given, not with what its check makes of it.
        assert [variable for variable, value in given.items() if result.validated_parameters[variable] != value] == []


@pytest.mark.parametrize(
    "name",
    [name for name, template in TEMPLATES.items() if any(source.get("within") == "secondary_schedulers" for source in template["survey"])],
)
@pytest.mark.parametrize("blank", [False, True])
def test_answers_become_a_valid_entry_of_secondary_schedulers(surveys, name, blank):
    """Answers of nested options, also texts that were left empty, become what the role takes."""
    texts = [entry["variable"] for entry in CONTROLLER[name]["survey_spec"]["spec"] if entry["type"] in ("text", "textarea")]
    answers = {**(dict.fromkeys(texts, "") if blank else {}), **defaults(name)}
    if not blank:
        answers |= {"scheduler_preset_parameters": "scheduler_name: fast\nweight: 2", "scheduler_preset": "trimaran_target_load_packing"}
    tasks = [
        {
            "name": "Check it as the role would",
            "ansible.builtin.validate_argument_spec": {
                "argument_spec": {"secondary_schedulers": surveys.role_options("secondary_scheduler")["secondary_schedulers"]},
                "provided_arguments": {"secondary_schedulers": "{{ secondary_schedulers }}"},
            },
        },
        {"name": "Show", "ansible.builtin.debug": {"var": "secondary_schedulers"}},
    ]
    given = yaml.safe_load(playbook(name).read_text())[0]["vars"]
    run = play(
        [{"name": "Test", "hosts": "localhost", "connection": "local", "gather_facts": False, "vars": given, "tasks": tasks}],
        variables=answers,
    )
    (scheduler,) = run.task("Show").result["secondary_schedulers"]
    assert scheduler["image"] == answers["scheduler_image"]
    assert scheduler["preset_parameters"] == ({} if blank else {"scheduler_name": "fast", "weight": 2})


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("[{name: batch, image: 'a:1', preset: no_scoring}]", ["batch"]),
        ("- name: one\n- name: two", ["one", "two"]),
        ("", ["inventory"]),
        (None, ["inventory"]),
    ],
)
def test_schedulers_are_installed_from_the_survey(tmp_path, answer, names):
    given = yaml.safe_load(playbook("Install schedulers").read_text())[0]["vars"]
    tasks = [{"name": "Show", "ansible.builtin.debug": {"var": "secondary_schedulers"}}]
    inventory = tmp_path / "inventory.yml"
    host = {"ansible_connection": "local", "secondary_schedulers": [{"name": "inventory"}]}
    inventory.write_text(yaml.dump({"clusters": {"hosts": {"berlin": host}}}))
    run = play(
        [{"name": "Test", "hosts": "clusters", "gather_facts": False, "vars": given, "tasks": tasks}],
        variables={} if answer is None else {"install_schedulers": answer},
        args=["-i", str(inventory)],
    )
    assert [one["name"] for one in run.task("Show").result["secondary_schedulers"]] == names


@every_template
def test_questions_have_the_form_that_the_controller_accepts(name):
    for entry in CONTROLLER[name]["survey_spec"]["spec"]:
        assert isinstance(entry["required"], bool)
        assert entry["question_name"]
        assert 0 < len(entry["question_description"]) <= 160
        if "default" in entry:
            assert isinstance(entry["default"], ANSWERS[entry["type"]]), entry
        if entry["type"] == "multiplechoice":
            assert entry["choices"]
            assert [choice for choice in entry["choices"] if not isinstance(choice, str) or not choice] == []
            assert entry.get("default", entry["choices"][0]) in entry["choices"]


def test_the_pattern_meets_the_requirements_of_galaxy_importer():
    """What the pattern schema and galaxy-importer ask for, as far as it is not the shape that automation_platform/resources.py gives it."""
    assert re.fullmatch(r"[a-z0-9_]{1,64}", PATTERN_JSON["name"])
    assert PATTERN_JSON["name"] == PATTERN.name
    assert len(PATTERN_JSON["title"]) <= 64
    assert [template["primary"] for template in PATTERNS.values()].count(True) == 1
    assert (PATTERN / "README.md").stat().st_size
    labels = PATTERN_JSON["aap_resources"]["controller_labels"]
    for template in PATTERNS.values():
        assert (PATTERN / "playbooks" / template["playbook"]).is_file()
        assert set(template["labels"]) <= set(labels)
        for entry in template["survey"]["spec"]:
            assert re.fullmatch(r"[a-z0-9_]{1,64}", entry["variable"])
            assert isinstance(entry.get("default", ""), str), "a default of a pattern is a text"
            assert entry["type"] not in ("integer", "float") or "default" not in entry, (
                "the controller takes no text as default of a number"
            )
            if entry["type"] in ("integer", "float"):
                own = (PATTERN / "playbooks" / template["playbook"]).read_text()
                assert not re.search(rf"\b{entry['variable']}\b(?! \| default\()", own), f"{entry['variable']} has no default"
    playbooks = {path.name for path in (PATTERN / "playbooks").glob("*.yml") if not path.name.endswith(".meta.yml")}
    assert playbooks == {template["playbook"] for template in PATTERNS.values()}


@every_template
def test_pages_name_every_job_template(name):
    for page in (PATTERN / "README.md", ROOT / "docs/automation-platform.md"):
        assert f"| {name} |" in page.read_text()


def test_every_survey_with_an_operator_or_a_scheduler_has_the_operators_variant():
    """Who installed the one of upstream by a survey removes it by a survey, too, and has schedulers run by it."""
    asked = {name: [entry["variable"] for entry in template["survey_spec"]["spec"]] for name, template in CONTROLLER.items()}
    assert {name for name, variables in asked.items() if "operator_namespace" in variables} == {
        name for name, variables in asked.items() if "operator_variant" in variables
    }
    assert {name for name, variables in asked.items() if "scheduler_name" in variables} == {
        name for name, variables in asked.items() if "secondary_scheduler_operator_variant" in variables
    }


@pytest.mark.parametrize(
    ("variables", "secret"),
    [
        ({}, ""),
        ({"operator_variant": "upstream"}, "metrics-reader-token"),
        ({"secondary_scheduler_operator_variant": "upstream"}, "metrics-reader-token"),
        ({"secondary_scheduler_operator_variant": "osso", "operator_variant": "upstream"}, ""),
    ],
)
def test_the_token_is_one_that_the_operator_of_the_survey_can_use(variables, secret):
    """That of upstream cannot renew one. Role monitoring"""
    tasks = [
        {"name": "Defaults", "ansible.builtin.include_vars": str(ROOT / "roles/monitoring/defaults/main.yml")},
        {"name": "Show", "ansible.builtin.debug": {"msg": "[{{ monitoring_token_secret }}]"}},
    ]
    assert play(tasks, variables=variables).task("Show").result["msg"] == f"[{secret}]"


def test_no_job_template_uses_job_slicing():
    """A slice without a host of the group clusters would go to the cluster of the credential, as an inventory without that group does."""
    for template in CONTROLLER.values():
        assert [key for key in template if "slice" in key] == []


def test_the_execution_environment_has_the_packages_of_the_operators_image():
    """Jobs and operator run the same, besides the container's first process."""
    pins = [
        dict(re.findall(r"^([\w.-]+)==(\S+)", (folder / "requirements.txt").read_text(), re.MULTILINE))
        for folder in (HERE / "execution_environment", ROOT / "operator/image")
    ]
    assert pins[0].pop("dumb-init")
    assert pins[0] == pins[1] != {}


def test_the_workflow_has_connected_nodes_and_existing_job_templates():
    (workflow,) = VARIABLES["controller_workflows"]
    nodes = {node["identifier"]: node for node in workflow["simplified_workflow_nodes"]}
    order = ["check"]
    while nodes[order[-1]].get("success_nodes"):
        order += nodes[order[-1]]["success_nodes"]
    assert order == ["check", "approve", "canary", "rest"] == list(nodes)
    assert nodes["check"]["job_type"] == "check"
    assert "approval_node" in nodes["approve"]
    assert {node["unified_job_template"] for node in nodes.values() if "approval_node" not in node} <= CONTROLLER.keys()
    groups = {group["name"] for group in VARIABLES["controller_groups"]}
    assert {group for node in nodes.values() for group in re.findall(r"\w+", node.get("limit", ""))} <= groups
    # The workflow's answers reach the jobs only if these ask for them, too.
    runs = CONTROLLER[DEFINITION["workflow"]["job_template"]]
    assert workflow["survey_spec"]["spec"] == runs["survey_spec"]["spec"]
    assert all(runs[f"ask_{name}_on_launch"] for name in ("variables", "limit", "job_type", "diff_mode"))


def test_job_templates_refer_only_to_objects_that_are_defined():
    names = {kind: {entry["name"] for entry in VARIABLES[f"controller_{kind}"]} for kind in ("projects", "inventories", "credentials")}
    environments = {entry["name"] for entry in VARIABLES["controller_execution_environments"]}
    for template in CONTROLLER.values():
        assert template["project"] in names["projects"]
        assert template["inventory"] in names["inventories"]
        assert set(template["credentials"]) <= names["credentials"]
        assert template["execution_environment"] in environments


def test_missing_variables_of_the_platform_are_reported():
    run = play("osso.scheduler.aap.configure_platform", variables={"aap_hostname": "p", "osso_cluster_token": "t"}, succeed=False)
    (failure,) = run.failures
    assert failure.result["msg"] == (
        "aap_token, osso_execution_environment_registry, osso_cluster_host, osso_cluster_ca missing. docs/automation-platform.md describes "
        "the variables; set them in a file: -e @platform.yml."
    )
    assert "DEPRECATION" not in run.stderr


def test_the_variables_contain_no_secret():
    (credential,) = VARIABLES["controller_credentials"]
    assert credential["credential_type"] == "OpenShift or Kubernetes API Bearer Token"
    assert re.fullmatch(r"\{\{ \w+ \}\}", credential["inputs"]["bearer_token"])
    assert credential["inputs"]["verify_ssl"] is True


def test_a_credential_without_a_certificate_authority_causes_a_warning():
    """The credential type then sets VERIFY_SSL to False, whatever its field says: once per run, and with the remedy."""
    look = {"osso.scheduler.scheduler_info": {"retry_seconds": 0}}
    tasks = [{"name": name, **look, "ignore_errors": True} for name in ("Once", "Again")]
    run = play(tasks, env={**NOWHERE, "K8S_AUTH_VERIFY_SSL": "False"})
    said = " ".join((run.stdout + run.stderr).split())
    assert said.count("The certificate of https://127.0.0.1:9 is not verified") == 1, run.output()
    assert "certificate authority data of Automation Platform's credential" in said
    assert "not-a-token" not in said
    verified = play(tasks, env={**NOWHERE, "K8S_AUTH_VERIFY_SSL": "True"})
    assert "is not verified" not in verified.stdout + verified.stderr


@pytest.mark.parametrize("path", ["plays/openshift_user.yml", "container-group/pod.yml"])
def test_the_documentation_shows_the_tested_files(path):
    text = (ROOT / "docs" / path).read_text()
    shown = text[text.index("- name:") if text.startswith("---") else text.index("apiVersion") :]
    assert f"```yaml\n{shown}```\n" in (ROOT / "docs/automation-platform.md").read_text()


def test_variables_that_jobs_hand_on_are_documented_and_in_no_survey():
    playbooks = [path.read_text() for path in (ROOT / "playbooks").glob("*.yml")]
    told = {
        f"osso_{name}"
        for text in playbooks
        for name in re.findall(r"hand_on_name: (\w+)|fleet_job: (\w+)\.yml", text)
        for name in name
        if name
    }
    rows = re.findall(r"^\| `osso_(\w+)` \| `\1` \|", (ROOT / "docs/automation-platform.md").read_text(), re.MULTILINE)
    assert {f"osso_{name}" for name in rows} == told
    asked = {entry["variable"] for template in CONTROLLER.values() for entry in template["survey_spec"]["spec"]}
    assert not [name for name in asked if name.startswith("osso_")]


def test_a_probe_of_several_clusters_hands_on_all_of_them(tmp_path):
    """Also those where it failed. Each host adds its own."""
    access = {"host": NOWHERE["K8S_AUTH_HOST"], "api_key": NOWHERE["K8S_AUTH_API_KEY"], "validate_certs": False, "retry_seconds": 0}
    path = tmp_path / "inventory.json"
    path.write_text(json.dumps({"clusters": {"hosts": {name: {"cluster_access": access} for name in ("berlin", "lisbon")}}}))
    environment = {"ANSIBLE_SHOW_CUSTOM_STATS": "true", "KUBECONFIG": "/dev/null"}
    run = play("osso.scheduler.probe", args=[f"--inventory={path}"], env=environment, succeed=False)
    told = json.loads(run.stdout.partition("RUN: ")[2])["osso_probe"]
    assert not told["check"]
    assert [(name, row["outcome"], row["placed"]) for name, row in told["clusters"].items()] == [
        ("berlin", "failed", None),
        ("lisbon", "failed", None),
    ]
    assert all("https://127.0.0.1:9 cannot be reached" in row["reason"] for row in told["clusters"].values())
    assert access["api_key"] not in run.output()
