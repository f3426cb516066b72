# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What holds for the repository as a whole."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import tarfile
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import PLACEHOLDERS
from ansible_collections.osso.scheduler.plugins.module_utils._operand import resource_names
from ansible_collections.osso.scheduler.plugins.module_utils._variables import secondary_scheduler

ROOT = Path(__file__).resolve().parents[2]
SPDX = "SPDX-License-Identifier" + ": GPL-3.0-or-later"
GALAXY = yaml.safe_load((ROOT / "galaxy.yml").read_text())
RUNTIME = yaml.safe_load((ROOT / "meta/runtime.yml").read_text())
OPTIONS = {
    name: option
    for path in ROOT.glob("roles/*/meta/argument_specs.yml")
    for entry in yaml.safe_load(path.read_text())["argument_specs"].values()
    for name, option in entry.get("options", {}).items()
}
MODULES = sorted((ROOT / "plugins/modules").glob("*.py"))


def files() -> list[Path]:
    """What is in git or would be added to it, binary files excepted."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    paths = [ROOT / name for name in names if name and (ROOT / name).is_file()]
    return [path for path in paths if b"\0" not in path.read_bytes()[:8000]]


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def documentation(module: Path) -> dict:
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "DOCUMENTATION":
            return yaml.safe_load(ast.literal_eval(node.value))
    raise AssertionError(f"{relative(module)} has no DOCUMENTATION")


def test_programs_name_their_licence():
    def is_program(path):
        return path.suffix in (".py", ".go", ".sh") or path.read_bytes().startswith(b"#!")

    # An empty __init__.py holds nothing to license.
    programs = [path for path in files() if is_program(path) and path.read_text().strip()]
    assert len(programs) > 30
    assert [relative(path) for path in programs if SPDX not in path.read_text()[:1000]] == []


def test_ruff_checks_every_python_program():
    """It takes those without .py only from `extend-include` in pyproject.toml."""
    programs = {relative(path) for path in files() if re.match(rb"#!.*\bpython[\d.]*$", path.read_bytes().partition(b"\n")[0])}
    assert "tests/tools/release" in programs
    shown = subprocess.run(["ruff", "check", "--show-files", "."], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert sorted(programs - {relative(Path(path)) for path in shown.splitlines()}) == []


def test_pytest_finds_every_file_with_tests():
    tests = [path for path in files() if relative(path).startswith("tests/") and re.search(r"^def test_", path.read_text(), re.MULTILINE)]
    assert len(tests) > 100
    assert [relative(path) for path in tests if not fnmatch(path.name, "test_*.py")] == []


def test_spelling_has_the_same_exceptions_for_each_file_and_for_the_repository():
    """It names each file, where make lint names none."""
    names = [relative(path) for path in files()]
    found = subprocess.run(["codespell", *names], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")


def test_the_action_group_contains_every_module_with_authentication_options():
    with_options = [path.stem for path in MODULES if "osso.scheduler.cluster" in documentation(path)["extends_documentation_fragment"]]
    assert with_options
    assert sorted(RUNTIME["action_groups"]["scheduler"]) == with_options


def test_modules_of_the_action_group_document_it():
    fragment = "osso.scheduler.attributes.actiongroup_scheduler"
    saying = [path.stem for path in MODULES if fragment in documentation(path)["extends_documentation_fragment"]]
    assert saying == sorted(RUNTIME["action_groups"]["scheduler"])


def test_every_version_in_a_name_is_the_version_of_galaxy_yml():
    found = {}
    for path in files():
        for version in re.findall(r"(?:osso/scheduler-(?:operator|ee):|osso-scheduler-)(\d+\.\d+\.\d+)", path.read_text()):
            found.setdefault(version, set()).add(relative(path))
    assert found.keys() == {GALAXY["version"]}, found


def test_the_version_has_changelog_fragments_or_a_changelog_entry():
    """The version under way has fragments, or is released and in the changelog."""
    changelog = ROOT / "changelogs/changelog.yaml"
    released = yaml.safe_load(changelog.read_text())["releases"] if changelog.exists() else {}
    fragments = list((ROOT / "changelogs/fragments").glob("*.yml"))
    assert fragments or GALAXY["version"] in released


def test_no_file_contains_a_path_or_host_of_a_developers_machine():
    """No path or host of the machine where a file was written: somebody else has another one."""
    hosts = {urlsplit(value).hostname for name, value in os.environ.items() if re.search("(?i)proxy|index_url|mirror", name)}
    public = {"pypi.org", "proxy.golang.org", "sum.golang.org", "localhost", "127.0.0.1", None}
    patterns = [re.escape(f"{ROOT}/"), r"/root/", r"/home/\w+/", *map(re.escape, hosts - public)]
    local = re.compile("|".join(patterns))
    # The pattern finds what it is meant to find.
    assert local.search(f"see {ROOT}/galaxy.yml")
    here = relative(Path(__file__))
    found = [f"{relative(path)}: {match[0]}" for path in files() if relative(path) != here for match in local.finditer(path.read_text())]
    assert found == []


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda path: path.name)
def test_requirements_are_pinned_and_hashed(path):
    lines = path.read_text().replace("\\\n", " ").splitlines()
    requirements = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    assert requirements
    assert [line for line in requirements if not re.match(r"[a-z0-9-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line)] == []


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.in")), ids=lambda path: path.name)
def test_requirements_are_compiled_from_their_source(path):
    wanted = re.findall(r"^[a-z0-9-]+", path.read_text(), re.MULTILINE)
    compiled = re.findall(r"^[a-z0-9-]+(?===)", path.with_suffix(".txt").read_text(), re.MULTILINE)
    assert set(wanted) <= set(compiled), "run make requirements"


def test_the_tarball_contains_all_files_for_users_and_no_others(tmp_path):
    command = ["ansible-galaxy", "collection", "build", "--output-path", tmp_path]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (tarball,) = tmp_path.glob("*.tar.gz")
    # tarfile has safe extraction from 3.11.4 on, and Debian 12 has 3.11.2.
    (tmp_path / "unpacked").mkdir()
    subprocess.run(["tar", "--extract", f"--file={tarball}", f"--directory={tmp_path / 'unpacked'}"], check=True)
    with tarfile.open(tarball) as archive:
        names = {member.name for member in archive.getmembers() if member.isfile()}
        assert [member.name for member in archive.getmembers() if member.issym() or member.islnk()] == []
        collection = json.load(archive.extractfile("MANIFEST.json"))["collection_info"]
    assert (collection["namespace"], collection["name"]) == ("osso", "scheduler")

    shipped = {"plugins", "roles", "playbooks", "meta", "docs", "changelogs", "operator", "extensions"}
    at_top = {"README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "MANIFEST.json", "FILES.json"}
    at_top |= {".ansible-lint", ".yamllint"}  # who certifies the collection runs ansible-lint on the tarball
    assert [name for name in names if name.partition("/")[0] not in shipped | at_top] == []
    in_use = {relative(path) for path in files() if relative(path).startswith(("plugins/", "roles/", "playbooks/", "meta/", "extensions/"))}
    assert sorted(in_use - names) == []
    # Two roles share templates by path.
    variables = yaml.safe_load((ROOT / "roles/custom_scheduler/vars/main.yml").read_text())
    shared = {path.replace("{{ role_path }}/..", "roles") for path in variables["custom_scheduler_templates"] if "role_path" in path}
    assert shared
    assert sorted(shared - names) == []
    # What ansible-lint finds in the tarball and not here depends on files that the tarball lacks: its configuration, and that of yamllint.
    lint = subprocess.run(["yamllint", "--strict", "."], cwd=tmp_path / "unpacked", capture_output=True, text=True, check=False)
    assert (lint.returncode, lint.stdout) == (0, "")


def test_galaxy_accepts_the_names_of_all_plugin_files():
    """It refuses the whole collection for one file with another name (galaxy-importer: NAME_REGEXP)."""
    taken = re.compile(r"(?!.*__)[a-z_][0-9a-z_]*|__init__")
    names = [path for path in files() if relative(path).startswith("plugins/") and path.suffix == ".py"]
    assert len(names) > 100
    assert [relative(path) for path in names if not taken.fullmatch(path.stem)] == []


def test_links_of_the_readme_work_outside_the_repository():
    """Galaxy and Automation Hub show it, where a relative link leads nowhere."""
    links = re.findall(r"\]\(([^)\s]+)\)", (ROOT / "README.md").read_text())
    assert len(links) > 20
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


@pytest.mark.parametrize("page", ["README.md", "docs/install.md"])
def test_the_python_requirements_are_named_where_the_installation_begins(page):
    command = "pip install -r ~/.ansible/collections/ansible_collections/osso/scheduler/meta/ee-requirements.txt"
    assert command in (ROOT / page).read_text()
    assert {"kubernetes", "PyYAML"} <= set(re.findall(r"^[A-Za-z]+", (ROOT / "meta/ee-requirements.txt").read_text(), re.MULTILINE))


def variables_in_pages():
    """Page, line and role variables of each YAML block of the documentation that has some, however deep in a play."""
    for path in (path for path in files() if path.suffix == ".md"):
        text = path.read_text()
        for block in re.finditer(r"^```ya?ml\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            pending = [yaml.safe_load(part) for part in re.split(r"^---\n", block[1], flags=re.MULTILINE)]
            while pending:
                part = pending.pop()
                # A whole variable may come from a task, and "..." stands for what is elsewhere.
                named = {name: value for name, value in part.items() if name in OPTIONS} if isinstance(part, dict) else {}
                if given := {name: value for name, value in named.items() if not re.match(r"\.\.\.|\{\{", str(value))}:
                    yield relative(path), text.count("\n", 0, block.start()) + 1, given
                pending += part.values() if isinstance(part, dict) else part if isinstance(part, list) else []


def test_roles_accept_the_variables_that_pages_show():
    shown = list(variables_in_pages())
    assert len(shown) > 20
    wrong = []
    for page, line, given in shown:
        errors = ArgumentSpecValidator({name: OPTIONS[name] for name in given}).validate(given).error_messages
        if not errors:
            errors = secondary_scheduler.complete(given.get("secondary_schedulers", []), given.get("operator_variant", "osso"))["errors"]
        # Until a release, operator_released_image is empty.
        if "mirror_registry" in given and not given.keys() & {"mirror_operator_image", "mirror_catalog_image"}:
            errors.append("mirror_operator_image is missing")
        wrong += [(page, line, error) for error in errors]
    assert wrong == []


def test_the_page_about_ownership_names_every_variable_for_it():
    variables = [name for name in OPTIONS if name.endswith(("_adopt", "_force_conflicts"))]
    assert len(variables) > 10
    page = (ROOT / "docs/ownership.md").read_text()
    assert [name for name in variables if f"`{name}`" not in page] == []


def test_the_modeline_of_editors_names_a_schema_of_the_repository():
    """An editor downloads it: an example host would be an error in each file."""
    pages = {relative(path): path.read_text() for path in (ROOT / "docs").rglob("*.md")}
    found = [(page, url) for page, text in pages.items() for url in re.findall(r"yaml-language-server: \$schema=(\S+)", text)]
    assert found
    start = "https://github.com/osso-scheduler/osso.scheduler/raw/main/"
    assert [(page, url) for page, url in found if not url.startswith(start) or not (ROOT / url.removeprefix(start)).is_file()] == []


def test_presets_warn_about_quotas_that_lack_a_resource():
    """tests/integration/test_plugin_needs.py shows such a pod pending."""
    section = (ROOT / "docs/presets.md").read_text().partition("### capacity_scheduling\n")[2].partition("\n### ")[0]
    assert "must name every resource that the pods request" in section


def test_roles_and_manifests_have_the_annotations_and_placeholders_of_module_utils():
    """A name that only one side changes would go unnoticed: nobody would read what the other writes."""
    name = re.compile(r"(?<!/)\bosso\.scheduler/[a-z-]+|\$\{[A-Z_]+\}")
    trees = [ast.parse(path.read_text()) for path in (ROOT / "plugins/module_utils").rglob("*.py")]
    known = {str(node.value) for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    paths = [
        path
        for path in files()
        if path.suffix in (".yml", ".yaml", ".j2") and relative(path).startswith(("roles/", "playbooks/", "operator/"))
    ]
    found = {(relative(path), text) for path in paths for text in name.findall(path.read_text())}
    assert {resource_names.PROMETHEUS_URL, *PLACEHOLDERS} <= {text for _path, text in found}
    assert sorted((path, text) for path, text in found if text not in known) == []


def test_no_sanity_test_has_an_ignore_file():
    assert sorted(ROOT.glob("tests/sanity/ignore*")) == []


def test_every_role_has_a_readme_and_an_argument_specification():
    """Galaxy refuses a role without README; the argument specification is what the documentation is made of."""
    roles = [path for path in (ROOT / "roles").iterdir() if path.is_dir()]
    wanted = [role / name for role in roles for name in ("README.md", "meta/argument_specs.yml")]
    assert [relative(path) for path in wanted if not path.exists()] == []


def test_pages_in_the_tarball_link_to_nothing_outside_it(root):
    """`ansible-galaxy collection build` leaves out what build_ignore matches, as a path or as a part of one."""
    ignored = yaml.safe_load((root / "galaxy.yml").read_text())["build_ignore"]
    tracked = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()

    def is_shipped(path):
        parts = path.split("/")
        tops = [("/".join(parts[: count + 1]), part) for count, part in enumerate(parts)]
        return not any(fnmatch(name, pattern) for pattern in ignored for top in tops for name in top)

    shipped = set(filter(is_shipped, tracked))
    assert "docs/install.md" in shipped
    assert not {"docs/contributing.md", "docs/schema/1.31-in-tree.json", "docs/decisions/README.md"} & shipped
    missing = []
    for page in sorted(path for path in shipped if path.endswith(".md")):
        for target in re.findall(r"\]\(([^)#\s]+)", (root / page).read_text()):
            path = os.path.normpath(os.path.join(os.path.dirname(page), target))
            if "://" not in target and path not in shipped and not any(other.startswith(f"{path}/") for other in shipped):
                missing.append(f"{page}: {target}")
    assert missing == []


def test_pages_with_python_commands_of_the_collection_mention_pythonpath(root):
    """`ansible-galaxy collection install` puts nothing into the path of Python."""
    pages = {page.name: page.read_text() for page in (root / "docs").glob("*.md")}
    found = [name for name, text in pages.items() if "python -m ansible_collections" in text]
    assert len(found) >= 2
    assert [name for name in found if "PYTHONPATH" not in pages[name]] == []


def test_names_of_tests_have_at_most_80_characters():
    tests = [path for path in files() if path.suffix == ".py"]
    names = {match[1] for path in tests for match in re.finditer(r"^ *def (test_\w+)", path.read_text(), re.MULTILINE)}
    assert len(names) > 1000
    assert sorted(name for name in names if len(name) > 80) == []


LONG = "pytest.mark.long"
ABBREVIATED = {"tests/": "tests/", "unit/": "tests/unit/plugins/module_utils/", "local/": "tests/local/"}


@cache
def second_tier(file: str) -> dict[str, str]:
    """Each test of a file, and how much of it is in the second tier: "all", "some" of its parameters, or nothing."""
    tree = ast.parse((ROOT / file).read_text())
    assigned = {ast.unparse(node.targets[0]): ast.unparse(node.value) for node in tree.body if isinstance(node, ast.Assign)}
    constants = [name for name, value in assigned.items() if LONG in value]
    found = {}
    for scope in (tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))):
        for test in (node for node in scope.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")):
            marks = [ast.unparse(mark) for mark in (*test.decorator_list, *getattr(scope, "decorator_list", ()))]
            some = any(re.search(rf"\b({'|'.join([LONG, *constants])})\b", mark) for mark in marks)
            found[test.name] = "all" if LONG in marks or "pytestmark" in constants else "some" if some else ""
    return found


def named_tests(text: str, folder: str, row: str = "") -> list[tuple[str, str]]:
    """File and name of each test in a cell of the page; a file without a test has an empty name. ``row``: the file that the row is about."""
    found, file = [], row
    for path, name, same in re.findall(r"`([\w/]+\.py)?(?:::)?(test_\w+)?`( of the same file)?", text):
        if path:
            start = path[: path.find("/") + 1]
            file = (ABBREVIATED.get(start) or f"{folder}/{start}") + path.removeprefix(start)
        if path or name:
            found.append((row if same else file, name))
    return found


@pytest.fixture(scope="module")
def second_tier_page():
    """The tests in the first and in the last column of docs/tests-second-tier.md; those with some parameters in the second tier are in the first."""
    text = (ROOT / "docs/tests-second-tier.md").read_text().partition("## Moved to the reconcile tier\n")[2]
    reconcile, title, rest = text.partition("\n## Second tier\n")
    table, parameters = rest.split("\nSome parameters of tests are also in the second tier:\n")
    moved, guards = named_tests(parameters, "tests/integration"), []
    for part, folder in ((reconcile, "tests/reconcile"), (table, "tests/integration")):
        for tests, guarding in re.findall(r"^\| (.+) \| (.+) \|$", part, re.MULTILINE):
            row = [] if tests.startswith("none") else named_tests(tests, "tests/integration")
            moved += row
            guards += named_tests(guarding, folder, row[0][0] if row else "")
    assert title
    assert len(moved) > 200
    assert len(guards) > 200
    return moved, guards


def test_tests_that_the_second_tier_page_names_exist(second_tier_page):
    named = {test for tests in second_tier_page for test in tests}
    assert sorted((file, name) for file, name in named if not (ROOT / file).is_file() or (name and name not in second_tier(file))) == []


def test_the_second_tier_page_names_every_test_of_the_second_tier(second_tier_page):
    moved, _guards = second_tier_page
    named = {(file, name) for file, name in moved if name}
    whole = {file for file, _name in moved} - {file for file, _name in named}
    marked = [relative(path) for path in (ROOT / "tests").rglob("test_*.py") if LONG in path.read_text()]
    tests = [(file, name) for file in marked if file not in whole for name, part in second_tier(file).items() if part]
    assert len(tests) > 150
    assert sorted(set(tests) - named) == []


def test_the_second_tier_page_names_no_test_of_the_second_tier_as_a_guard(second_tier_page):
    _moved, guards = second_tier_page
    assert sorted((file, name) for file, name in guards if name and second_tier(file).get(name) == "all") == []


def test_troubleshooting_explains_every_reason_of_a_condition():
    """The reasons that the operator's code names in a condition that is False or Unknown, and of a Degraded one."""
    code = "".join(path.read_text() for path in sorted((ROOT / "plugins/module_utils/_operand").glob("*.py")))
    reasons = set(re.findall(r'\bcondition\(\s*(?:"\w+"|TYPE),\s*"(?:False|Unknown)",\s*"(\w+)"', code))
    reasons |= set(re.findall(r'\bcondition\(\s*"Degraded",\s*"True",\s*"(\w+)"', code)) - {"AsExpected"}
    reasons.discard("AsExpected")
    assert len(reasons) >= 12
    page = (ROOT / "docs/troubleshooting.md").read_text()
    assert sorted(reason for reason in reasons if f"`{reason}`" not in page) == []
