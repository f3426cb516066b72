# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The scripts behind make."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

import pytest
import yaml
from cluster.throwaway import layout


def run(*command, **environment):
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)


def git(folder, *command):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *command], cwd=folder, check=True)


def commit(folder):
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--no-gpg-sign", "--message=x")


def load(script):
    """A script without suffix as a module."""
    loader = importlib.machinery.SourceFileLoader(script.name, str(script))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(script.name, loader))
    loader.exec_module(module)
    return module


def test_make_env_rejects_a_python_that_does_not_run(root):
    done = run(root / "tests/tools/environment", PYTHON="/nowhere/python3")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "make env: PYTHON=/nowhere/python3 does not run; name a Python 3.11 or newer, for example: make env PYTHON=/usr/bin/python3.12"
    ]


def test_make_env_rejects_an_old_python(root):
    pythons = load(root / "tests/tools/ansible-test").find_pythons()
    old = next((python for version, python in pythons.items() if version in ("3.9", "3.10")), None)
    if not old:
        pytest.skip("there is no Python older than 3.11 here")
    done = run(root / "tests/tools/environment", PYTHON=str(old))
    assert done.returncode == 1
    assert f"PYTHON={old} is Python 3." in done.stderr
    assert "3.11 or newer is needed" in done.stderr


def test_env_leaves_only_the_cluster_of_kubeconfig(root):
    """Credentials of another cluster in the caller's shell must not reach it by mistake."""
    done = run(
        root / "tests/tools/env", "env", KUBECONFIG="/some/kubeconfig", K8S_AUTH_HOST="https://production", ANSIBLE_CHECK_MODE_MARKERS="1"
    )
    assert "KUBECONFIG=/some/kubeconfig" in done.stdout.splitlines()
    assert "K8S_AUTH_" not in done.stdout
    assert "ANSIBLE_CHECK_MODE_MARKERS" not in done.stdout


def test_env_keeps_shims_off_the_path(root, tmp_path):
    shims = tmp_path / "shims"
    done = run(root / "tests/tools/env", "printenv", "PATH", PATH=f"{shims}:{os.environ['PATH']}")
    path = done.stdout.strip().split(":")
    assert str(shims) not in path
    assert path[0] == str(root / ".venv/bin")


def test_another_cluster_needs_a_registry(root):
    done = run("make", "--no-print-directory", "-C", root, "ready", KUBECONFIG="/some/kubeconfig", REGISTRY="")
    assert done.returncode == 2
    assert "REGISTRY is needed too" in done.stderr


@pytest.mark.parametrize(
    ("folder", "cluster"), [("a checkout", ""), ("checkout", "a cluster"), ("a checkout", "cluster"), ("checkout", "")]
)
def test_paths_with_spaces_are_rejected_at_once(root, tmp_path, folder, cluster):
    checkout = tmp_path / folder
    checkout.mkdir()
    shutil.copy(root / "Makefile", checkout)
    environment = {name: value for name, value in os.environ.items() if name not in ("CLUSTER_DIR", "MAKEFLAGS", "MAKELEVEL")}
    environment |= {"CLUSTER_DIR": str(tmp_path / cluster)} if cluster else {}
    done = subprocess.run(["make", "forget-times"], cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    if " " in folder + cluster:
        assert done.returncode == 2
        assert f"make splits paths at spaces: move the checkout {checkout} to a path without spaces" in done.stderr
    else:
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("command", "environment", "given"),
    [
        (["ee", "REGISTRY=hub.example.com"], "", "hub.example.com"),
        (["ee"], "hub.example.com", "hub.example.com"),
        (["ee"], "", ""),
        (["images", "ee", "REGISTRY=hub.example.com"], "", "hub.example.com"),
        (["images", "REGISTRY=hub.example.com"], "", "hub.example.com"),
        # That of a shell, while the throwaway cluster has one of its own.
        (["images"], "hub.example.com", ""),
    ],
)
def test_make_targets_get_the_registry_that_images_are_pushed_to(root, tmp_path, command, environment, given):
    """What the recipes of make get to see; these here stand in for the builds."""
    recipes = tmp_path / "recipes.mk"
    recipes.write_text('collections env which-cluster ready:\n\t@:\nimages ee:\n\t@echo "$@ [$$REGISTRY]"\n')
    variables = {"KUBECONFIG": "", "REGISTRY": environment, "MAKEFLAGS": "", "MAKELEVEL": "0"}
    done = run("make", "--no-print-directory", "-C", root, "-f", "Makefile", "-f", recipes, *command, **variables)
    assert done.returncode == 0, done.stderr
    goals = [goal for goal in command if "=" not in goal]
    assert done.stdout.splitlines() == [f"{goal} [{given}]" for goal in goals]


@pytest.fixture
def checkout(tmp_path, root):
    """A repository with a page of each kind."""
    shutil.copytree(root / "docs/site", tmp_path / "docs/site")
    texts = {
        "README.md": "[in](docs/install.md#probe) [out](https://example.org/r/blob/main/LICENSE) ![](https://example.org/r/raw/main/docs/picture.svg)\n",
        "LICENSE": "",
        "docs/install.md": "[back](../README.md) [why](decisions) [licence](../LICENSE) [here](#probe)\n```\n[no](link)\n```\n",
        "docs/decisions/README.md": "",
        "docs/decisions/0001-first.md": "[install](../install.md) [other](https://example.com/x.md)\n",
        "docs/picture.svg": "<svg/>",
        "docs/walkthroughs/first.md": "![](first.svg) ![](../picture.svg)\n",
        "docs/walkthroughs/first.svg": "<svg/>",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_generated_pages_and_schemas_are_up_to_date(root):
    done = run(sys.executable, root / "tests/tools/reference-page", "check", PYTHONPATH=str(root / ".cache/collections"))
    assert (done.returncode, done.stderr) == (0, "")


def test_docs_keep_links_between_pages_and_point_other_links_to_the_repository(root, checkout, tmp_path):
    site = tmp_path / "source"
    load(root / "tests/tools/docs").stage(checkout, site, "https://example.org/r")
    line = (site / "index.md").read_text().splitlines()[0]
    assert line == "[in](docs/install.md#probe) [out](https://example.org/r/blob/main/LICENSE) ![](docs/picture.svg)"
    assert (site / "docs/install.md").read_text().splitlines() == [
        "[back](../index.md) [why](../docs/decisions/index.md) [licence](https://example.org/r/blob/main/LICENSE) [here](#probe)",
        "```",
        "[no](link)",
        "```",
    ]
    assert (site / "docs/decisions/0001-first.md").read_text() == "[install](../../docs/install.md) [other](https://example.com/x.md)\n"
    assert (site / "docs/walkthroughs/first.md").read_text() == "![](first.svg) ![](../picture.svg)\n"
    assert (site / "docs/walkthroughs/first.svg").exists()
    assert (site / "docs/picture.svg").exists()


@pytest.mark.parametrize("link", ["nowhere.md", "https://example.org/r/tree/main/docs/nowhere.md"])
def test_docs_reject_a_link_to_a_file_that_does_not_exist(root, checkout, tmp_path, link):
    docs = load(root / "tests/tools/docs")
    (checkout / "docs/install.md").write_text(f"# Install\n\nsee [this]({link})\n")
    with pytest.raises(docs.BadLinks) as refused:
        docs.stage(checkout, tmp_path / "source", "https://example.org/r")
    assert str(refused.value) == f"docs/install.md:3: {link}: there is no docs/nowhere.md"


def test_links_of_the_pages_lead_to_files_that_exist(root, tmp_path):
    docs = load(root / "tests/tools/docs")
    docs.stage(root, tmp_path / "source", docs.galaxy()["repository"])


def test_docs_find_dead_links_of_the_site(root, tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#here"></a><a href="b.html#gone"></a><a href="c.html"></a><a href="https://x/y"></a>')
    (tmp_path / "b.html").write_text('<p id="here"></p><img src="none.svg">')
    assert load(root / "tests/tools/docs").dead_links(tmp_path) == [
        "a.html: b.html#gone: there is no such place on that page",
        "a.html: c.html: there is no such file",
        "b.html: none.svg: there is no such file",
    ]


@pytest.fixture
def release(root):
    return load(root / "tests/tools/release")


def test_release_finds_no_problem_in_a_good_checkout(release):
    assert release.problems("1.1.0", "1.1.0", ["1.0.0"], []) == []
    assert release.problems("1.0.0", "1.0.0", ["1.0.0-rc.1"], []) == []


@pytest.mark.parametrize("version", ["1.0", "v1.0.0", "01.0.0", "1.0.0+build", "1.0.0-", ""])
def test_release_requires_a_semantic_version(release, version):
    assert release.problems(version, "1.0.0", [], []) == [f"VERSION={version} is not a semantic version such as 1.0.0"]


def test_release_reports_all_problems_together(release):
    found = release.problems("1.0.0", "1.2.0", ["1.1.0"], [" M galaxy.yml", "?? notes"])
    assert found == [
        "galaxy.yml says version 1.2.0, not 1.0.0: change it there, and where `make unit` then says so, and commit that",
        "1.1.0 is released already and newer than 1.0.0: take a newer one than that",
        "the tree is not clean, commit or put aside: galaxy.yml, notes",
    ]
    assert release.problems("1.1.0", "1.1.0", ["1.1.0"], []) == [
        "1.1.0 is in the changelog already: a version is released once; take a newer one"
    ]


def test_release_accepts_an_image_only_by_digest(release):
    image = f"registry.example.com:5000/team/osso/scheduler-operator@sha256:{'0' * 64}"
    assert release.problems("1.1.0", "1.1.0", [], [], image) == []
    for wrong in ("registry.example.com/osso/scheduler-operator:1.0.0", image[:-1], "scheduler-operator", f"{image}\nx: y"):
        (said,) = release.problems("1.1.0", "1.1.0", [], [], wrong)
        assert said.startswith(f"OPERATOR_IMAGE={wrong} is not an image by digest")


def test_release_writes_the_image_where_the_role_reads_it(root, release):
    """Nothing but a release writes it."""
    text = (root / release.IMAGE_FILE).read_text()
    assert len(release.IMAGE_LINE.findall(text)) == 1
    written = yaml.safe_load(release.IMAGE_LINE.sub("operator_released_image: a@sha256:1", text))
    assert {**yaml.safe_load(text), "operator_released_image": "a@sha256:1"} == written
    assert "operator_released_image" in written["operator_chosen_image"]


def test_release_orders_versions_as_semver_does(release):
    ordered = [
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.2.0",
        "1.10.0",
    ]
    shuffled = ordered[5:] + ordered[:5]
    assert sorted(shuffled, key=release.precedence) == ordered


def test_a_rejected_release_writes_nothing(root):
    done = run(root / "tests/tools/release", "999.0.0")
    assert done.returncode == 1
    assert done.stderr.startswith("release: galaxy.yml says version ")
    assert not (root / ".cache/release/999.0.0").exists()


def test_a_release_without_gpg_is_rejected_before_any_work(release, tmp_path, monkeypatch):
    (tmp_path / "gpg").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert release.unable_to_sign(None) == ["gpgconf is missing, to sign with; on Debian: apt-get install gnupg"]
    (tmp_path / "gpg").unlink()
    assert release.unable_to_sign("key") == ["gpg and gpgconf are missing, to sign with; on Debian: apt-get install gnupg"]


@pytest.mark.skipif(not shutil.which("gpg"), reason="gpg is missing: apt-get install gnupg")
def test_a_release_with_a_missing_key_is_rejected_before_any_work(root, release, monkeypatch):
    with tempfile.TemporaryDirectory() as home:  # with a short path: an agent's socket is in there
        monkeypatch.setenv("GNUPGHOME", home)
        try:
            assert release.unable_to_sign(None) == []
            # As CI passes a variable that is not set
            (said,) = release.unable_to_sign("")
            assert said.startswith("SIGNING_KEY is empty: ")
            (said,) = release.unable_to_sign("nobody@example.com")
            assert said.startswith("SIGNING_KEY=nobody@example.com names no secret key of gpg here")
            # And it is asked
            done = run(root / "tests/tools/release", "999.0.0", SIGNING_KEY="nobody@example.com")
            assert f"release: {said}" in done.stderr.splitlines()
            make = ["gpg", "--batch", "--passphrase=", "--quick-generate-key", "nobody@example.com", "ed25519", "sign", "1d"]
            subprocess.run(make, check=True, capture_output=True)
            assert release.unable_to_sign("nobody@example.com") == []
        finally:
            subprocess.run(["gpgconf", "--kill", "all"], check=False)


def test_release_checks_every_playbook(root, release):
    found = release.playbooks(root)
    assert {"osso.scheduler.site", "osso.scheduler.aap.configure_platform"} <= set(found)
    assert str(root / "extensions/patterns/secondary_schedulers/playbooks/install.yml") in found
    at_top = {f"osso.scheduler.{path.stem}" for path in (root / "playbooks").glob("*.yml")}
    others = [name for name in found if name not in at_top]
    # Neither tasks nor variables.
    assert at_top <= set(found)
    assert [name for name in others if "tasks" in name or "vars" in name or "meta" in name] == []


def test_release_tag_has_the_name_that_the_documentation_uses(root, release):
    """The project of Automation Platform follows the tag, and pre-commit's users name it."""
    to_do = release.Release("1.0.0").to_do()
    assert "git tag --sign 1.0.0 && git push origin main 1.0.0\n" in to_do
    variables = yaml.safe_load((root / "playbooks/aap/vars.yml").read_text())
    version = yaml.safe_load((root / "galaxy.yml").read_text())["version"]
    (project,) = variables["controller_projects"]
    assert f"default('{version}')" in project["scm_branch"]
    for page in (".pre-commit-hooks.yaml", "docs/install.md"):
        assert re.findall(r"^#? +rev: (\S+)$", (root / page).read_text(), re.MULTILINE) == [version]


def test_release_names_all_images_that_are_to_be_pushed(release):
    assert {"make images REGISTRY=...", "make ee REGISTRY=..."} <= set(
        re.findall(r"make \w+ REGISTRY=\.\.\.", release.Release("1.0.0").to_do())
    )


def test_a_release_with_an_image_does_not_build_it_again(release):
    """Its tag would move to another digest than the one that the release names."""
    made = release.Release("1.0.0")
    made.image = "registry.example.com/osso/scheduler-operator@sha256:1"
    assert "make images" not in made.to_do()
    assert f"operator/olm/build --registry=... --operator-image={made.image} " in made.to_do()


def test_release_lists_packages_and_modules(release):
    made = {
        "bomFormat": "CycloneDX",
        "components": [{"bom-ref": "requirements-L1", "name": "kubernetes", "version": "33.1.0"}],
        "metadata": {"tools": {}},
    }
    go_mod = (
        "module m\n\ngo 1.25\n\nrequire a.example/b v1.2.3\n\nrequire (\n\tc.example/d/v2 v2.0.0 // indirect\n)\n\nreplace x => y v9.9.9\n"
    )
    bill = release.bill(made, go_mod, "6.6.0", "1.0.0")
    assert [f"{part['name']} {part['version']}" for part in bill["components"]] == [
        "kubernetes.core 6.6.0",
        "kubernetes 33.1.0",
        "a.example/b v1.2.3",
        "c.example/d/v2 v2.0.0",
    ]
    assert bill["metadata"]["component"]["purl"] == "pkg:generic/osso.scheduler@1.0.0"
    assert set(bill["dependencies"][0]["dependsOn"]) == {part["bom-ref"] for part in bill["components"]}


def test_env_uses_the_files_of_another_throwaway_cluster(root, tmp_path):
    """Kubeconfig, registry, programs and image all go with the folder; a worker of pytest-xdist differs in nothing else."""
    folder = tmp_path / "second"
    folder.mkdir()
    (folder / "registry").write_text("10.219.0.1:5000")
    without = {name: value for name, value in os.environ.items() if name not in ("KUBECONFIG", "REGISTRY")}
    command = [root / "tests/tools/env", "env"]
    done = subprocess.run(command, env={**without, "CLUSTER_DIR": str(folder)}, capture_output=True, text=True, check=True)
    found = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert (found["KUBECONFIG"], found["REGISTRY"]) == (f"{folder}/kubeconfig", "10.219.0.1:5000")
    assert f"{folder}/bin" in found["PATH"].split(":")
    assert found["OPERATOR_IMAGE_FILE"] != str(root / ".cache/operator-image/reference")


def test_part_keeps_the_exit_code(root):
    done = run(root / "tests/tools/part", "self-test", "false")
    assert done.returncode == 1
    assert "=== self-test: failed after" in done.stdout


def test_parts_are_summed_in_a_table_in_the_order_in_which_they_ended(root, tmp_path):
    (tmp_path / "tests/tools").mkdir(parents=True)
    part = shutil.copy(root / "tests/tools/part", tmp_path / "tests/tools")
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache/times").write_text("images\t40\npytest tests/olm (sum of 2 workers)\t300\nimages\t2\n")
    assert run(part, "--table").stdout == ("=== time by part\n     42 s  images\n    300 s  pytest tests/olm (sum of 2 workers)\n")


LONG_TESTS = """<testsuites><testsuite>
<testcase classname="tests.long.test_a" name="test_storm" time="61.4"><properties><property name="kills" value="50"/></properties></testcase>
<testcase classname="tests.long.test_b" name="test_soak[a b]" time="2"><failure message="x"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def long_tests(root, tmp_path):
    tool = load(root / "tests/tools/long-tests")
    tool.ROOT, tool.PAGE = tmp_path, tmp_path / "page.md"
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tool


def test_the_page_of_the_long_tests_contains_outcomes_and_counts(long_tests):
    entries = long_tests.reported(ElementTree.fromstring(LONG_TESTS))
    page = long_tests.page(entries.values())
    assert "| tests.long.test_a::test_storm | passed | 61 | 20" in page
    assert "| tests.long.test_b::test_soak[a b] | failed | 2 | 20" in page
    assert "## tests.long.test_a::test_storm\n\n| | |\n|---|---|\n| kills | 50 |\n" in page
    assert "## tests.long.test_b" not in page
    long_tests.PAGE.write_text(page)
    assert long_tests.recorded() == entries


def test_the_page_itself_does_not_make_the_commit_of_a_long_test_dirty(long_tests):
    clean = long_tests.tested_commit()
    assert re.fullmatch(r"[0-9a-f]{7,}", clean)
    long_tests.PAGE.write_text("")
    assert long_tests.tested_commit() == clean
    (long_tests.ROOT / "other").write_text("")
    assert long_tests.tested_commit() == f"{clean}-dirty"


@pytest.mark.parametrize(
    ("path", "kept"),
    [("tests/long", []), ("tests/long/", []), ("tests/long/test_a.py", ["test_b"]), ("tests/long/test_", ["test_a", "test_b"])],
)
def test_a_run_of_some_long_tests_replaces_their_entries(long_tests, path, kept):
    long_tests.PAGE.write_text(long_tests.page(long_tests.reported(ElementTree.fromstring(LONG_TESTS)).values()))
    assert [name.split("::")[0] for name in long_tests.recorded_outside([path])] == [f"tests.long.{module}" for module in kept]


def test_the_age_of_the_long_tests_comes_from_their_page(long_tests):
    assert long_tests.age() == "Long tests (make test-long): no recorded run."
    old, failed = long_tests.reported(ElementTree.fromstring(LONG_TESTS)).values()
    long_tests.PAGE.write_text(long_tests.page([old._replace(day="2026-11-01"), failed]))
    assert re.fullmatch(
        r"Long tests \(make test-long\): 2 recorded, the oldest run \d+ days ago \(tests.long.test_a::test_storm\); "
        r"failed then: tests.long.test_b::test_soak\[a b\]\.",
        long_tests.age(),
    )


def test_tests_that_use_olm_run_on_one_worker(root, request):
    """pytest-xdist hands out files; those of tests/olm are one file to it."""
    plugins = request.config.pluginmanager.get_plugins()
    (conftest,) = (plugin for plugin in plugins if getattr(plugin, "__file__", "") == str(root / "tests/conftest.py"))
    by_file = object.__new__(conftest.ByFile)
    names = ["tests/olm/test_a.py::test_1", "tests/olm/test_b.py::test_1", "tests/unit/test_a.py::test_1", "tests/unit/test_b.py::test_1"]
    by_file.collection = names
    assert [by_file._split_scope(name) for name in names] == ["tests/olm/", "tests/olm/", "tests/unit/test_a.py", "tests/unit/test_b.py"]
    alone = object.__new__(conftest.ByFile)
    alone.collection = names[:2]
    assert [alone._split_scope(name) for name in names[:2]] == ["tests/olm/test_a.py", "tests/olm/test_b.py"]
    assert not [name for name in conftest.LONGEST if f"tests/{name}".startswith(conftest.TOGETHER)], (
        "they would come before those that want no OLM"
    )


def test_the_versions_of_olm_images_match_the_built_programs(root):
    """The versions that images are named by are those that are built."""
    pins = (root / "tests/cluster/olm/go.mod").read_text()
    for name, version in (("operator-lifecycle-manager", layout.OLM), ("operator-registry", layout.OPM)):
        assert f"github.com/operator-framework/{name} {version}" in pins


class Checkout:
    """A repository with test-all. Its make notes what it is called for; the target `bad` fails until there is a file `.cache/mended`."""

    MAKEFILE = """
%:
\t@echo $@ >>.cache/made; [ $@ != bad ] || [ -e .cache/mended ]
long:
\t@echo $@ >>.cache/made; date >>docs/long-tests.md
careless:
\t@echo >>notes
"""

    def __init__(self, folder, tool):
        self.folder = folder
        for name, text in {
            "Makefile": self.MAKEFILE,
            ".gitignore": "/.cache/",
            "docs/long-tests.md": "",
            "notes": "",
            ".cache/x": "",
        }.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        (folder / "tests/tools").mkdir(parents=True)
        shutil.copy(tool, folder / "tests/tools")
        git(folder, "init", "--quiet")
        self.commit()

    def commit(self):
        commit(self.folder)

    def test_all(self, *arguments, **environment):
        return run(self.folder / "tests/tools/test-all", *arguments, **environment)

    def made(self):
        """The targets that were made since the last call."""
        path = self.folder / ".cache/made"
        names = path.read_text().split() if path.exists() else []
        path.unlink(missing_ok=True)
        return names


@pytest.fixture
def tiers(root, tmp_path, monkeypatch):
    for name in ("TESTS", "PYTEST_ADDOPTS", "STORM_KILLS", "SOAK_RECONCILES", "MAKEFLAGS", "KUBECONFIG"):
        monkeypatch.delenv(name, raising=False)
    return Checkout(tmp_path / "checkout", root / "tests/tools/test-all")


def test_tiers_that_passed_are_not_run_again(tiers):
    first = tiers.test_all("good", "bad")
    assert (first.returncode, tiers.made()) == (1, ["good", "bad"])
    assert re.search(r"^bad +did not pass$", first.stdout, re.MULTILINE)
    assert first.stderr.splitlines()[-1] == "test-all: not passed with the present files: bad; next: make test-all"
    (tiers.folder / ".cache/mended").touch()
    again = tiers.test_all("good", "bad")
    assert (again.returncode, tiers.made(), again.stderr) == (0, ["bad"], "")
    assert len(re.findall(r"^(?:good|bad) +20\S+Z\t[0-9a-f]{12}$", again.stdout, re.MULTILINE)) == 2


def test_a_passed_tier_is_valid_for_the_files_and_not_for_the_commit(tiers):
    """The page that a tier writes invalidates nothing, neither before nor after it is committed."""
    assert tiers.test_all("good", "long", "last").returncode == 0
    assert tiers.made() == ["good", "long", "last"]
    for _run in range(2):
        assert tiers.test_all("good", "long", "last").returncode == 0
        tiers.commit()
    assert tiers.made() == []
    (tiers.folder / "notes").write_text("other")
    tiers.commit()
    assert tiers.test_all("good").returncode == 0
    assert tiers.made() == ["good"]


def test_the_tiers_contain_every_folder_with_long_tests(root):
    marked = {path.relative_to(root / "tests").parts[0] for path in root.glob("tests/*/**/test_*.py") if "mark.long" in path.read_text()}
    text = (root / "tests/tools/test-all").read_text()
    assert f"test-long-{{{','.join(sorted(marked))}}}" in text


@pytest.mark.parametrize("path", ["notes", "new"])
def test_tiers_of_a_changed_checkout_are_not_run(tiers, path):
    (tiers.folder / path).write_text("other")
    for arguments in (["good"], ["--check", "good"]):
        done = tiers.test_all(*arguments)
        assert (done.returncode, tiers.made()) == (1, [])
        assert done.stderr == (
            "test-all: a tier counts for committed files only: commit, stash or delete the files that git status shows, and try again\n"
        )


def test_a_tier_during_which_files_change_does_not_count(tiers):
    done = tiers.test_all("careless", "good")
    assert (done.returncode, tiers.made()) == (1, [])
    assert done.stderr.startswith("test-all: files changed while make careless ran, so this run does not count")
    git(tiers.folder, "checkout", "--quiet", "notes")
    assert tiers.test_all("--check", "careless").returncode == 1


@pytest.mark.parametrize("name", ["TESTS", "PYTEST_ADDOPTS", "STORM_KILLS", "SOAK_RECONCILES", "KUBECONFIG", "CLUSTER"])
def test_a_tier_with_a_selection_of_tests_does_not_count(tiers, name):
    done = tiers.test_all("good", **{name: "-k some"})
    assert (done.returncode, tiers.made()) == (1, [])
    assert (
        done.stderr == f"test-all: {name} is set, but a tier counts only if all its tests run: unset {name} and run make test-all again\n"
    )


@pytest.mark.parametrize("flags", ["i", "n"])
def test_a_tier_that_failed_does_not_count_with_flags_of_make(tiers, flags):
    assert tiers.test_all("bad", MAKEFLAGS=flags).returncode == 1
    assert tiers.made() == ["bad"]
    assert tiers.test_all("--check", "bad").returncode == 1


def test_tiers_on_the_throwaway_cluster_count(tiers):
    assert tiers.test_all("good", CLUSTER_DIR="/x/.cluster", KUBECONFIG="/x/.cluster/kubeconfig").returncode == 0


def test_a_release_with_a_key_requires_all_tiers(tiers, release, monkeypatch):
    monkeypatch.setattr(release, "ROOT", tiers.folder)
    every = "test,docs,ansible-test-units,test-releases,sanity-all," + ",".join(
        f"test-long-{folder}" for folder in ("api", "conformance", "integration", "local", "long", "olm", "unit")
    )
    message = "with SIGNING_KEY, all tiers of tests are required: test-all: not passed with the present files: {}; next: make test-all"
    assert release.untested() == [message.format(every)]
    assert tiers.made() == []
    first, _comma, others = every.partition(",")
    assert tiers.test_all(*others.split(",")).returncode == 0
    assert release.untested() == [message.format(first)]
    assert tiers.test_all().returncode == 0
    assert release.untested() == []


@pytest.mark.parametrize(
    ("key", "uncommitted", "said"),
    [("some@example.com", [], ["not tested"]), ("some@example.com", [" M a"], []), (None, [], [])],
)
def test_a_release_checks_the_tiers_of_a_clean_checkout(release, monkeypatch, capsys, key, uncommitted, said):
    stand_ins = {"untested": lambda: ["not tested"], "changes": lambda: uncommitted, "unable_to_sign": lambda _key: ["no key"]}
    for name, function in stand_ins.items():
        monkeypatch.setattr(release, name, function)
    monkeypatch.delenv("SIGNING_KEY", raising=False)
    if key:
        monkeypatch.setenv("SIGNING_KEY", key)
    monkeypatch.setattr(sys, "argv", ["release", release.galaxy()["version"]])
    assert release.main() == 1
    assert [line for line in capsys.readouterr().err.splitlines() if "not tested" in line] == [f"release: {line}" for line in said]


def test_the_demo_by_load_starts_and_keeps_to_the_throwaway_cluster(root, tmp_path):
    """As make runs it: nobody makes collections importable for a program."""
    environment = {**os.environ, "CLUSTER_DIR": str(tmp_path), "KUBECONFIG": str(tmp_path / "other")}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run([root / "tests/tools/demo-load-aware"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "")
    assert "unset KUBECONFIG" in done.stdout


@pytest.mark.parametrize(
    ("kubectl", "status", "said"),
    [
        ("echo the server is down >&2; exit 1", 1, "the server is down"),
        ("echo '{\"items\": [{}]}'", 2, "make cluster NODES=3"),
    ],
)
def test_the_demo_by_load_names_why_it_cannot_start(root, tmp_path, kubectl, status, said):
    (tmp_path / "kubectl").write_text(f"#!/bin/sh\n{kubectl}\n")
    (tmp_path / "kubectl").chmod(0o755)
    environment = {
        **os.environ,
        "CLUSTER_DIR": str(tmp_path),
        "KUBECONFIG": str(tmp_path / "kubeconfig"),
        "PATH": f"{tmp_path}:/usr/bin:/bin",
    }
    done = subprocess.run(
        [sys.executable, root / "tests/tools/demo-load-aware"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
    assert said in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("line", "loads", "said"),
    [
        ("a=0.9 b=0\n", {"a": 0.9, "b": 0.0}, ""),
        ("\n", {}, ""),
        ("c=0.5", None, "c is no node. Nodes: a, b."),
        ("a=90", None, "a=90: the load is a number from 0 to 1, such as a=0.5."),
        ("a=1e400", None, "from 0 to 1"),
        ("a", None, "from 0 to 1"),
    ],
)
def test_loads_that_a_user_types_are_parsed_or_rejected(root, line, loads, said):
    demo = load(root / "tests/tools/demo-load-aware")
    if loads is None:
        with pytest.raises(ValueError, match=re.escape(said)):
            demo.loads_of(line, ["a", "b"])
    else:
        assert {node: found.average for node, found in demo.loads_of(line, ["a", "b"]).items()} == loads
