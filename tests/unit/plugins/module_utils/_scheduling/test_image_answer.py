# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an image's answer means, and the Job that asks it (scheduling/image_answer.py). The Job itself runs in the integration tests."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import job_pods
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.image_answer import Answer, Question, interpret, job
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import SchedulerDiscovery

CONFIG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
WARNING = "W1120 21:32:19.427903       1 client_config.go:667] Neither --kubeconfig nor --master was specified.\n"
WROTE = 'I1120 21:32:19.505310       1 configfile.go:106] "Wrote configuration" file="/dev/stdout"\n'
FAILED = 'E1120 21:32:04.268985       1 run.go:72] "command failed" err='


@pytest.mark.parametrize(
    ("exit_code", "log", "answer"),
    [
        (0, WARNING + CONFIG + WROTE, Answer(True, "", CONFIG)),
        (0, WARNING + WROTE, Answer(True)),
        (0, CONFIG + "I1120 21:32:19.505310       1 configfile.go:84] Wrote configuration to: /dev/stdout\n", Answer(True, "", CONFIG)),
        (1, WARNING + FAILED + '"ScorePlugin \\"X\\" does not exist"\n', Answer(False, 'ScorePlugin "X" does not exist')),
        (1, FAILED + "<\n\tfirst\n\t second\n >\n", Answer(False, "first\n second")),
        (1, FAILED + '"bell \\a"\n', Answer(False, "bell \\x07")),
        (2, WARNING + "panic: runtime error: nil\n\ngoroutine 1 [running]:\n", Answer(False, "panic: runtime error: nil")),
        (255, "F1120 21:32:04.268985       1 watcher.go:1] port 2020 is in use\n", Answer(False, "port 2020 is in use")),
        (1, "strict decoder error for x: unknown field\n", Answer(False, "strict decoder error for x: unknown field")),
    ],
    ids=["accepted", "accepted, written elsewhere", "1.21", "refused", "several lines", "escape of Go", "panic", "fatal", "1.22"],
)
def test_verdict(exit_code, log, answer):
    assert interpret("image:1", exit_code, log) == answer


@pytest.mark.parametrize(
    ("exit_code", "log", "said"),
    [
        (0, "hello\n", "hello"),
        (1, "Error: unknown flag: --write-config-to\n", "unknown flag"),
        (137, "", "it wrote nothing"),
    ],
)
def test_no_verdict(exit_code, log, said):
    with pytest.raises(ClusterError, match=f"image:1 gave no verdict.* {exit_code}: .*{said}"):
        interpret("image:1", exit_code, log)


def container(**question):
    spec = job(Question("image:1", CONFIG, **question), "osso-ask-1", {})["spec"]["template"]["spec"]
    return spec["containers"][0]


def test_own_flags_come_last():
    args = container(flags=("-v=8", "--secure-port=10259"))["args"]
    assert args.index("-v=8") < args.index("-v=0")
    assert args.index("--secure-port=10259") < args.index("--secure-port=0")


def test_configuration_with_a_credential_gets_into_no_log():
    assert "--write-config-to=/dev/stdout" in container()["args"]
    assert "--write-config-to=/tmp/completed.yaml" in container(secrets=("open-sesame",))["args"]


def test_configuration_is_not_in_the_job():
    assert "open-sesame" not in str(job(Question("image:1", "token: open-sesame", secrets=("open-sesame",)), "osso-ask-1", {}))


def test_user_is_openshifts_to_choose(monkeypatch):
    for openshift in (True, False):
        monkeypatch.setattr(SchedulerDiscovery, "openshift", lambda discovery, is_so=openshift: is_so)
        security = job_pods.pod_security(None)
        assert security["runAsNonRoot"] is True
        assert ("runAsUser" in security) is not openshift


def test_unusable_timeout():
    with pytest.raises(InputError, match="ask_timeout is 0"):
        Question("image:1", CONFIG, timeout=0)
