# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What all modules have from cluster_module: their arguments are in no system log, where other users of the host may read them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import message_of
from support.direct_module import COLLECTIONS, run_directly

PLUGINS = Path(__file__).parents[2] / "plugins"
OURS = "ansible_collections.osso.scheduler.plugins.modules."
# Of these the modules are only documentation.
ACTIONS = {"fleet_info", "validate_variables"}
SECRET = "c2VjcmV0LWtleQ=="
WATCHED = """
import os, runpy, sys
from ansible.module_utils import basic
def log(module, message, log_args=None):
    print("to the system log:", message, log_args, file=sys.stderr)
basic.AnsibleModule.log = log
runpy.run_module(os.environ["MODULE"], run_name="__main__")
"""


def logged(module, arguments):
    """What a module writes to the system log."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": arguments}),
        env={**os.environ, "PYTHONPATH": str(COLLECTIONS), "MODULE": module},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert json.loads(done.stdout)
    return done.stderr


def test_the_test_sees_arguments_that_other_modules_log():
    assert SECRET in logged("ansible.modules.ping", {"data": SECRET})


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("apply", {"manifests": [SECRET]}),
        ("kube_scheduler_config", {"content": f"keyData: {SECRET}", "kubernetes_version": "1.34"}),
        ("static_pod_scheduler", {"content": f"keyData: {SECRET}", "manifest": "/no/such/manifest"}),
    ],
)
def test_arguments_are_in_no_system_log(name, arguments):
    assert logged(OURS + name, arguments) == ""


CRASHING = """
import json, sys
from ansible.module_utils import basic
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import cluster_module
def run(module):
    raise ValueError(f"Invalid header value {module.params['value'].encode()!r}")
cluster_module(run, argument_spec={"value": {"type": "str"}})
"""


def test_a_crash_shows_where_but_no_argument():
    done = subprocess.run(
        [sys.executable, "-c", CRASHING],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": {"value": SECRET + "\n"}}),
        env={**os.environ, "PYTHONPATH": str(COLLECTIONS), "ANSIBLE_DISPLAY_TRACEBACK": "always"},
        capture_output=True,
        text=True,
        check=False,
    )
    message = json.loads(done.stdout)["msg"]
    assert "bug of osso.scheduler" in message
    assert "ValueError" in message
    assert "<string>:6 in run" in message
    answer = json.loads(done.stdout)
    del answer["invocation"]  # what Ansible shows of arguments, where asked to: an option of this name is not secret
    assert SECRET not in str(answer) + done.stderr


WITH_SECRET = f"extenders: [{{urlPrefix: 'https://me:{SECRET}@extender.example.com'}}]"
SIDE = {"config_text": WITH_SECRET, "binary": "nowhere"}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("kube_scheduler_config", {"content": WITH_SECRET, "kubernetes_version": "1.34"}),
        ("kube_scheduler_config", {"config": {"extenders": [{"tlsConfig": {"keyData": SECRET}}]}, "kubernetes_version": "1.34"}),
        ("scheduler_preview", {"candidate": SIDE, "baseline": SIDE, "snapshot": "/no/such/file"}),
        ("scheduler_explain", {"candidate": SIDE, "snapshot": "/no/such/file", "name": "p"}),
        ("scheduler_pool", {"configurations": [WITH_SECRET], "pools": [{"scheduler_name": "A B"}]}),
        ("prometheus_info", {"content": WITH_SECRET, "kubeconfig": "/no/such/file"}),
        ("prometheus_info", {"config": {"extenders": [{"tlsConfig": {"keyData": SECRET}}]}, "kubeconfig": "/no/such/file"}),
    ],
)
def test_the_invocation_contains_no_configuration(name, arguments):
    failed = run_directly(name, succeed=False, **arguments)
    assert failed.result["invocation"]["module_args"]
    assert SECRET not in failed.output


# These, with all that is below, contain no credentials.
HARMLESS = {
    *("labels", "namespace_labels", "match_labels", "node_selector", "tolerations", "resources", "grpc_pod_config"),
    *("wait_for", "plugins", "pools", "flags", "proxy_headers"),
    *("former", "wanted"),  # of OpenShift's own scheduler, which has no option for a credential
}


def specification(name):
    """The options of a module."""
    given = []
    with pytest.MonkeyPatch.context() as patch:
        module = import_module(OURS + name)
        patch.setattr(module, "cluster_module", lambda _run, argument_spec, **_others: given.append(argument_spec))
        module.main()
    return given[0]


def with_secrets(spec):
    """A value with a secret for each option that takes anything, such as a manifest, or the text of a configuration."""
    found = {}
    for name, option in spec.items():
        kinds = (option.get("type", "str"), option.get("elements"))
        value = None
        if {"dict", "raw"}.intersection(kinds):
            value = with_secrets(option["options"]) if "options" in option else {"spec": [{"stringData": SECRET}]}
        elif "str" in kinds and "choices" not in option and re.search("content|config", name):
            value = f"keyData: {SECRET}"
        if value and name not in HARMLESS:
            found[name] = [value] if kinds[0] == "list" else value
    return found


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("apply", {"kubeconfig", "manifests"}),
        ("kube_scheduler_config", {"kubeconfig", "config", "content", "preset_parameters"}),
        ("scheduler_preview", {"kubeconfig", "baseline", "candidate", "template"}),
    ],
)
def test_options_that_can_contain_a_credential_are_found(name, options):
    assert with_secrets(specification(name)).keys() == options


@pytest.mark.parametrize("name", sorted({path.stem for path in (PLUGINS / "modules").glob("*.py")} - ACTIONS))
def test_no_such_option_is_shown_where_the_arguments_are_wrong(name):
    arguments = with_secrets(specification(name))
    failed = run_directly(name, succeed=False, misspelt=True, **arguments)
    assert re.search("misspelt|mutually exclusive|missing required", failed.message)
    assert failed.result["invocation"]["module_args"].keys() >= arguments.keys()
    assert SECRET not in failed.output


def test_manifests_that_were_read_are_shown_by_their_identity():
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "n"}, "stringData": {"key": SECRET}}
    failed = run_directly("apply", succeed=False, manifests=[secret], kubeconfig="/no/such/file")
    assert failed.result["invocation"]["module_args"]["manifests"] == ["Secret n/a"]
    assert SECRET not in failed.output


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        (f"https://me:{SECRET}@prometheus", {"plugins": ["TargetLoadPaking"]}),
        (f"https://me:a/b@{SECRET}@prometheus", {"plugins": ["TargetLoadPaking"]}),
        (f"https://me:{SECRET}@prometheus", {"plugins": ["TargetLoadPacking"], "content": "{}"}),
        (f"https://prometheus?token={SECRET}", {"plugin": ["TargetLoadPacking"]}),
    ],
)
def test_the_invocation_contains_no_password_of_an_url(url, wrong):
    failed = run_directly("prometheus_info", succeed=False, url=url, proxy=f"http://me:{SECRET}@proxy", **wrong)
    assert failed.result["invocation"]["module_args"]["url"].startswith("https://")
    assert SECRET not in failed.output


GIVEN = """
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
cluster_module(lambda module: {"seen": module.params["kubeconfig"]["users"][0]["user"]["token"]}, argument_spec=argument_spec())
"""


def test_credentials_of_an_inline_kubeconfig_are_masked():
    user = {"token": SECRET, "exec": {"args": ["--key", "k3y-0f-mine"], "provideClusterInfo": True, "interactiveMode": None}}
    done = subprocess.run(
        [sys.executable, "-c", GIVEN],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": {"kubeconfig": {"users": [{"name": "u", "user": user}]}}}),
        env={**os.environ, "PYTHONPATH": str(COLLECTIONS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not json.loads(done.stdout).get("failed")
    assert SECRET not in done.stdout
    assert "k3y-0f-mine" not in done.stdout


WARNING = """
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import cluster_module
cluster_module(lambda module: {"changed": False, "warnings": ["mind the gap"]}, argument_spec={})
"""


def test_warnings_of_a_result_cause_no_deprecation():
    done = subprocess.run(
        [sys.executable, "-c", WARNING],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": {}}),
        env={**os.environ, "PYTHONPATH": str(COLLECTIONS)},
        capture_output=True,
        text=True,
        check=False,
    )
    result = json.loads(done.stdout)
    assert "mind the gap" in str(result["warnings"])
    assert not result.get("deprecations")


def test_a_python_without_pyyaml_is_not_reported_as_a_bug():
    missing = ModuleNotFoundError("No module named 'yaml'", name="yaml")
    assert message_of(missing) == "No module named 'yaml': install PyYAML, or set ansible_python_interpreter to a Python that has it."
    assert "bug of osso.scheduler" in message_of(ModuleNotFoundError("No module named 'other'", name="other"))


def test_half_of_a_surrogate_pair_in_an_option_is_an_error():
    done = subprocess.run(
        [sys.executable, "-m", f"{OURS}kube_scheduler_config"],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": {"config": {"profiles": [{"schedulerName": "a\ud83d"}]}}}),
        env={**os.environ, "PYTHONPATH": str(COLLECTIONS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout)["msg"].startswith(r"config.profiles[0].schedulerName contains \ud83d, which is half of a surrogate pair")


def test_every_module_uses_cluster_module():
    actions = {PLUGINS / "modules" / f"{name}.py" for name in ACTIONS}
    making = {path for path in PLUGINS.rglob("*.py") if "AnsibleModule" in path.read_text()} - actions
    assert making == {PLUGINS / "module_utils/_cluster/module.py"}


def test_actions_raise_only_the_error_that_causes_no_traceback():
    """The traceback appears with ansible-core before 2.19, as in the execution environment: tests/integration/test_container_group.py."""
    actions = [*(PLUGINS / "action").glob("*.py"), PLUGINS / "plugin_utils/cluster_action.py"]
    assert {error for path in actions for error in re.findall(r"^ +raise (\w+)", path.read_text(), re.MULTILINE)} == {"UserError"}
