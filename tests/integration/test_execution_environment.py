# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The execution environment (automation_platform/execution_environment): a job of a job template in a container of it, as Automation Platform runs it. The
API server that its credential names does not answer, so it needs no cluster."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

import pytest
import yaml

USER = "1000650000:0"
TOKEN = "sha256~planted"
# What the credential type injects where it has no certificate authority, and a project that is this collection
JOB = f"""
set -e
job=$(mktemp -d)
cp -r /usr/share/ansible/collections/ansible_collections/osso/scheduler "$job/project"
mkdir "$job/inventory" "$job/env"
echo 'localhost ansible_connection=local' >"$job/inventory/hosts"
cat >"$job/env/extravars"
export K8S_AUTH_HOST=https://127.0.0.1:9 K8S_AUTH_API_KEY={TOKEN} K8S_AUTH_VERIFY_SSL=False
cd / && ansible-runner run "$job" -p "$PLAYBOOK" || echo "ended with $?"
echo EVENTS
cat "$job"/artifacts/*/job_events/*.json
"""


@pytest.fixture(scope="module")
def job(root):
    """Runs the job of a job template, with answers to its survey, and returns what it printed and its events."""
    environment = {name: value for name, value in os.environ.items() if name != "REGISTRY"}
    done = subprocess.run(
        [root / "automation_platform/execution_environment/build", "--tag=test"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    image = done.stdout.strip()
    sys.path.insert(0, str(root / "operator/image"))
    try:
        import containers
    finally:
        sys.path.remove(str(root / "operator/image"))
    parser = argparse.ArgumentParser()
    containers.arguments(parser)
    options = parser.parse_args([])

    def run(template: dict, answers: dict) -> tuple[str, str]:
        script = JOB.replace('cat >"$job/env/extravars"', f"cat >\"$job/env/extravars\" <<'END'\n{yaml.safe_dump(answers)}END")
        printed = containers.run_in(options, image, USER, ["env", f"PLAYBOOK={template['playbook']}", "bash", "-c", script])
        said, _separator, events = printed.partition("EVENTS\n")
        return " ".join(said.split()), events

    return run


def test_a_job_runs_and_says_what_is_wrong(root, job):
    variables = yaml.safe_load((root / "playbooks/aap/vars.yml").read_text())
    (template,) = [template for template in variables["controller_templates"] if template["name"] == "Install schedulers"]
    answers = {entry["variable"]: entry.get("default", "") for entry in template["survey_spec"]["spec"]}
    said, events = job(template, answers)
    assert "ended with 2" in said
    assert "the API server https://127.0.0.1:9 cannot be reached" in said
    assert said.count("The certificate of https://127.0.0.1:9 is not verified") == 1
    assert "certificate authority data of Automation Platform's credential" in said
    # Events are read: what a task said is found in them, and the token is not.
    assert "https://127.0.0.1:9 cannot be reached" in events
    assert TOKEN not in said + events
