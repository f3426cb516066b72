# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Messages with the names that users have given to the options of scheduler_preview."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._preview.arguments import COMMON, JOB, SIDE
from ansible_collections.osso.scheduler.plugins.module_utils._preview.option_names import COMMAND_LINE, PLAYBOOKS, renamed
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview_command import _parser, main
from ansible_collections.osso.scheduler.plugins.module_utils._preview.scheduler_process import candidate
from ansible_collections.osso.scheduler.plugins.module_utils._variables.spelling import KNOWN
from ansible_collections.osso.scheduler.plugins.modules.scheduler_preview import OPTIONS


@pytest.mark.parametrize(
    ("message", "command_line", "playbook"),
    [
        ("candidate.config_file: x cannot be read.", "--config: x cannot be read.", "preview_config_file: x cannot be read."),
        (
            "set candidate.release and candidate.plugins.",
            "set --release and --plugins.",
            "set preview_kubernetes_version and preview_plugins.",
        ),
        ("baseline.binary: /bin/x ends", "--baseline-binary: /bin/x ends", "preview_baseline.binary: /bin/x ends"),
        ("snapshot: the snapshot x", "--snapshot: the snapshot x", "preview_snapshot: the snapshot x"),
        ("limit is 0: it must", "--limit is 0: it must", "preview_limit is 0: it must"),
        ("set candidate.image, or set job.", "set candidate.image, or set job.", "set preview_image, or set preview_job_namespace."),
        ("if it is late, raise timeout.", "if it is late, raise --timeout.", "if it is late, raise preview_timeout."),
        ("argument 'timeout' is of type", "argument '--timeout' is of type", "argument 'preview_timeout' is of type"),
        ("job.image: the image", "job.image: the image", "preview_job_image: the image"),
        # Words, paths and names that are no options
        *[
            (same, same, same)
            for same in ("the candidate has no limit: nodes", "/etc/candidate.image.d", "candidate: the kube-scheduler ended")
        ],
    ],
)
def test_messages_name_what_the_user_has_given(message, command_line, playbook):
    assert renamed(message, COMMAND_LINE) == command_line
    assert renamed(message, PLAYBOOKS["preview"]) == playbook


def test_names_of_options_are_replaced_with_variables_of_configure():
    message = "candidate.image: x, or set candidate.binary; baseline.secondary_scheduler: a/b"
    assert (
        renamed(message, PLAYBOOKS["configure"])
        == "secondary_schedulers[].image: x, or set preview_binary; baseline.secondary_scheduler: a/b"
    )


@pytest.mark.parametrize(
    ("release", "plugins", "why"),
    [
        ("9.99", "in-tree", "candidate.release: 9.99 is no release: write for example"),
        ("1.34", "nonsense", "candidate.plugins: 'nonsense' is no set of plugins"),
        ("1.34", {"Extra": 5}, "candidate.plugins: "),
    ],
)
def test_unknown_releases_and_plugins_are_rejected(release, plugins, why):
    with pytest.raises(InputError) as raised:
        candidate("candidate", "/bin/true", "", release, plugins)
    assert raised.value.message.startswith(why)


@pytest.mark.parametrize("option", ["--baseline-binary=x", "--baseline-flag=--v=1"])
def test_options_of_a_baseline_require_its_configuration(option, capsys):
    """It would be ignored."""
    with pytest.raises(SystemExit) as raised:
        main(["--snapshot=x", "--config=x", "--binary=x", option])
    assert raised.value.code == 2
    assert f"{option.partition('=')[0]}: set --baseline-config, too" in capsys.readouterr().err


def test_all_replaced_names_exist_as_options_flags_or_variables():
    sides = {f"{side}.{name}" for side in ("candidate", "baseline") for name in (*SIDE, "secondary_scheduler", "scheduler_name")}
    options = {*sides, *OPTIONS, *COMMON, "job", *(f"job.{name}" for name in JOB["options"])}
    flags = {flag for action in _parser()._actions for flag in action.option_strings}
    assert {*COMMAND_LINE} | {name for names in PLAYBOOKS.values() for name in names} <= options
    assert {*COMMAND_LINE.values()} <= flags
    given = {name.partition(".")[0].partition("[")[0] for names in PLAYBOOKS.values() for name in names.values()}
    assert given <= KNOWN
