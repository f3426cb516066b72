# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Jobs of Automation Platform: what its controller makes of a job template, and containers of the execution environment that run it.

The controller's part is as AWX does it: extra variables as texts that are no templates, the inventory as a program, a credential as environment and files
(awx/main/tasks/jobs.py, awx/main/utils/safe_yaml.py, awx/main/models/credential).
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import yaml

from .access import RBAC
from .ansible_runs import Run, TaskResult
from .secrets import forms

ROOT = Path(__file__).resolve().parents[2]
VARIABLES = yaml.safe_load((ROOT / "playbooks/aap/vars.yml").read_text())
TEMPLATES = {template["name"]: template for template in VARIABLES["controller_templates"]}
# As OpenShift gives containers one: without an entry in /etc/passwd, of the group 0
USER = 1000650000
# ansible-runner notes there the environment that it started with; the controller takes that file for itself, and masks what it shows of it.
OF_THE_RUNNER = "command"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Credential:
    """The type "OpenShift or Kubernetes API Bearer Token": URL, token, and the authority as PEM text, if one is given; whose token it is."""

    host: str
    token: str
    ca: str = ""
    user: str = ""

    def injected(self) -> tuple[dict[str, str], dict[str, str]]:
        """Environment of a job, and its files by path."""
        environment = {"K8S_AUTH_HOST": self.host, "K8S_AUTH_API_KEY": self.token}
        if not self.ca:
            return {**environment, "K8S_AUTH_VERIFY_SSL": "False"}, {}
        return {**environment, "K8S_AUTH_VERIFY_SSL": "True", "K8S_AUTH_SSL_CA_CERT": "/runner/env/tmp4q1ca"}, {"env/tmp4q1ca": self.ca}


@dataclass(frozen=True)
class Job:
    """One finished job: its folder, what it was given besides the project, and what ansible-runner left but `command`, by path below its artifacts."""

    folder: Path
    given: str = field(repr=False)
    files: dict[str, str] = field(repr=False)

    @property
    def rc(self) -> int:
        return int(self.files["rc"])

    @cached_property
    def stdout(self) -> str:
        """As the controller shows it, by events."""
        return COLOUR.sub("", "\n".join(event["stdout"] for event in self.events))

    @cached_property
    def events(self) -> list[dict]:
        """In their order"""
        return events(self.files[name] for name in self.files if name.startswith("job_events/"))

    def holding(self, secret: str) -> list[str]:
        """The files in which a secret is found, which the job was given."""
        assert _has(self.given, secret), "this would not see it"
        return sorted(name for name, text in self.files.items() if _has(text, secret))

    @cached_property
    def stats(self) -> dict:
        """What the recap is made of."""
        (stats,) = [event["event_data"] for event in self.events if event["event"] == "playbook_on_stats"]
        return stats

    @property
    def handed_on(self) -> dict:
        """The artifacts, which the next node of a workflow gets as extra variables."""
        return self.stats["artifact_data"]

    def recap(self, host: str = "localhost") -> dict[str, int]:
        return {name: self.stats[name].get(host, 0) for name in ("ok", "changed", "failures", "dark")}

    @cached_property
    def run(self) -> Run:
        """The same as of a play that was run here."""
        return Run(self.rc, self.stdout, "", [one for event in self.events for one in _result(event)])


def events(texts) -> list[dict]:
    return sorted((json.loads(text) for text in texts), key=lambda event: event["counter"])


def _result(event):
    status = {"runner_on_ok": "ok", "runner_on_failed": "failed", "runner_on_skipped": "skipped"}.get(event["event"])
    data = event.get("event_data", {})
    return [TaskResult(data["task"], data["host"], status, data.get("res") or {})] if status else []


def _has(text, secret):
    return any(form in text for form in forms(secret))


def answers(template: dict, blanks: bool = True, **given) -> dict:
    """What becomes of a survey in a job's extra variables: answers, else defaults.

    Of a question that was left open there is an empty text with `blanks`, as a form sends it, or nothing, as a launch by API does.
    """
    found = {}
    for question in template["survey_spec"]["spec"]:
        if "default" in question:
            found[question["variable"]] = question["default"]
        elif blanks and question["type"] in ("text", "textarea", "multiplechoice"):
            assert question["variable"] in given or not question["required"], question
            found[question["variable"]] = ""
    assert given.keys() <= {question["variable"] for question in template["survey_spec"]["spec"]}
    return {**found, **given}


def inventory(clusters: dict[str, dict] | None = None, canary: tuple[str, ...] = ()) -> dict:
    """The inventory of the definition, and with it clusters that have these variables."""
    members = {"clusters": list(clusters or {}), "canary": list(canary)}
    assert members.keys() == {group["name"] for group in VARIABLES["controller_groups"]}
    local = {host["name"]: host["variables"] for host in VARIABLES["controller_hosts"]}
    hosts = {**local, **(clusters or {})}
    return {
        "all": {"hosts": list(local), "children": list(members)},
        **{name: {"hosts": names} for name, names in members.items()},
        "_meta": {"hostvars": {name: {**values, "remote_tower_enabled": "true"} for name, values in hosts.items()}},
    }


class _Unsafe(yaml.SafeDumper):
    """The controller marks every text as one that is no template."""


def _unsafe(dumper, text):
    return dumper.represent_scalar("!unsafe", text)


_Unsafe.add_representer(str, _unsafe)


class ExecutionEnvironment:
    """Its image, built of this checkout. `folder` is for jobs and the project, which jobs have as /runner/project."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._jobs = 0
        self.project = folder / "project"
        sys.path.insert(0, str(ROOT / "operator/image"))
        try:
            import containers
        finally:
            sys.path.remove(str(ROOT / "operator/image"))
        parser = argparse.ArgumentParser()
        containers.arguments(parser)
        self._containers, self._options = containers, parser.parse_args([])
        self.image = build()
        self._check_out()

    def _check_out(self):
        """As a project is: what is in the repository."""
        listed = subprocess.run(["git", "ls-files", "-z", "extensions", "playbooks"], cwd=ROOT, capture_output=True, text=True, check=True)
        for name in filter(None, listed.stdout.split("\0")):
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.project / name)

    def job(
        self,
        template: str,
        variables: dict,
        credential: Credential | None = None,
        check: bool = False,
        limit: str = "",
        hosts: dict | None = None,
        files: dict[str, str] | None = None,
        arguments: tuple[str, ...] = (),
    ) -> Job:
        """Run the job of a job template, and wait for it. `files` are more of them, by path below /runner."""
        folder = self.prepare(template, variables, credential, check, limit, hosts, files, arguments)
        # The runner's exit code is among the artifacts.
        self.run(folder, f"ansible-runner run /runner --ident job --quiet --playbook {TEMPLATES[template]['playbook']} || :")
        return finished(folder)

    def run(self, folder: Path, script: str, *more: str) -> str:
        """Run a script in a container that has a job's folder, and `more` mounts; what it prints."""
        mounts = [f"{folder}:/runner", f"{self.project}:/runner/project:ro", *more]
        return self._containers.run_in(self._options, self.image, f"{USER}:0", ["bash", "-c", script], mounts, network=True)

    def prepare(self, template, variables, credential=None, check=False, limit="", hosts=None, files=None, arguments=()) -> Path:
        """Make the folder of a job."""
        self._jobs += 1
        folder = self._folder / f"job-{self._jobs}"
        environment, injected = credential.injected() if credential else ({}, {})
        settings = {"ANSIBLE_FORCE_COLOR": "True", "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True", "JOB_ID": str(self._jobs)}
        job = {"awx_job_id": self._jobs, "awx_job_template_name": template, "awx_job_launch_type": "manual"}
        options = [*(["--check"] if check else []), "--diff", *([f"--limit={limit}"] if limit else []), *arguments]
        program = f"#! /usr/bin/env python3\n# -*- coding: utf-8 -*-\nprint({json.dumps(hosts or inventory())!r})\n"
        written = {
            "inventory/hosts": program,
            "env/envvars": json.dumps({**settings, **environment}),
            "env/extravars": yaml.dump({**job, **variables}, Dumper=_Unsafe),
            "env/cmdline": " ".join(f"'{option}'" for option in options),
            **injected,
            **(files or {}),
        }
        (folder / "project").mkdir(parents=True)
        for name, text in written.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
            (folder / name).chmod(0o700 if name == "inventory/hosts" else 0o600)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, USER, 0)
        return folder


def finished(folder: Path) -> Job:
    """The job whose folder that is."""
    given = "".join(path.read_text() for part in ("env", "inventory") for path in (folder / part).iterdir())
    files = _texts(folder / "artifacts/job")
    del files[OF_THE_RUNNER]
    return Job(folder, given, files)


def _texts(folder):
    return {str(path.relative_to(folder)): path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()}


def build(*flags: str, **environment: str) -> str:
    """Build the execution environment, and return its reference; with REGISTRY it is pushed."""
    script = ROOT / "automation_platform/execution_environment/build"
    others = {name: value for name, value in os.environ.items() if name != "REGISTRY"}
    done = subprocess.run([script, "--tag=test", *flags], env={**others, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@contextmanager
def credential(kubectl, role: str = "cluster-admin", name: str = "platform-jobs") -> Iterator[Credential]:
    """One of a ServiceAccount that has this ClusterRole everywhere."""
    account = {"name": name, "namespace": "default"}
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    kubectl.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account},
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": reference,
            "subjects": [{"kind": "ServiceAccount", **account}],
        },
    )
    try:
        cluster = kubectl.json("config", "view", "--minify", "--flatten", "--raw")["clusters"][0]["cluster"]
        token = kubectl("create", "token", name, "--namespace=default", "--duration=2h").stdout.strip()
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        yield Credential(cluster["server"], token, authority, f"system:serviceaccount:default:{name}")
    finally:
        kubectl("delete", "clusterrolebinding", name)
        kubectl("delete", "serviceaccount", name, "--namespace=default")
