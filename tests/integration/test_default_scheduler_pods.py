# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What of the role default_scheduler needs pods that run: debug logging, which a Job reverts. The rest is in tests/api."""

from __future__ import annotations

from functools import partial

import pytest
from cluster.throwaway import images
from cluster.throwaway.layout import Layout, Record
from cluster.throwaway.progress import Progress
from support.openshift import (
    DEBUG_LOGGING,
    configure_default_scheduler,
    debug_logging_objects,
    openshift,
    profile_texts,
)
from support.scheduler import eventually

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def openshift_cluster(kubectl):
    with openshift(kubectl, profile_texts()) as stand_in:
        yield stand_in


@pytest.fixture
def configure(play):
    return partial(configure_default_scheduler, play)


@pytest.fixture(scope="module")
def client_image(own_cluster):
    """An image with a shell and kubectl, as OpenShift's cli image has oc."""
    layout = Layout(own_cluster)
    images.ensure(layout, Record.load(layout), Progress(layout.durations_file), ["kubectl"])
    return f"registry.k8s.io/{images.IMAGES['kubectl'].name}"


def test_debug_logging_reverts_by_itself(openshift_cluster, configure, kubectl, client_image):
    """F136: the play is long over when the Job in the cluster lowers the level and takes itself away"""
    kubectl("patch", "kubescheduler", "cluster", "--type=merge", '--patch={"spec":{"logLevel":"Normal"}}')
    run = configure(debug_log_level="Debug", debug_minutes=1, debug_image=client_image)
    assert run.task("Raise the log level").result["changed"]
    eventually(lambda: kubectl.get("kubescheduler", "cluster")["spec"]["logLevel"] == "Normal")
    eventually(lambda: debug_logging_objects(kubectl) == [])


def test_debug_logging_is_reverted_at_once(openshift_cluster, configure, kubectl, run_module, client_image):
    """to log_level, which is not written meanwhile; without its Job it is made anew"""
    debug = {"debug_log_level": "TraceAll", "debug_minutes": 60, "debug_image": client_image}
    configure(log_level="Debug", **debug)
    assert kubectl.get("kubescheduler", "cluster")["spec"]["logLevel"] == "TraceAll"
    assert len(debug_logging_objects(kubectl)) == 6
    again = configure(log_level="Debug", **debug)
    assert again.changed == []
    assert kubectl.get("kubescheduler", "cluster")["spec"]["logLevel"] == "TraceAll"

    kubectl("delete", "job", DEBUG_LOGGING, f"--namespace={DEBUG_LOGGING}")
    found = run_module("default_scheduler_info")["debug_logging"]
    assert (found["active"], found["noted"], found["back_to"]) == (False, True, "Debug")
    configure(**debug)
    found = run_module("default_scheduler_info")["debug_logging"]
    assert (found["active"], found["level"], found["back_to"]) == (True, "TraceAll", "Debug")
    # The pod of the first Job may take a moment to go.
    eventually(lambda: len(debug_logging_objects(kubectl)) == 6)

    configure("osso.scheduler.revert")
    assert kubectl.get("kubescheduler", "cluster")["spec"]["logLevel"] == "Debug"
    eventually(lambda: debug_logging_objects(kubectl) == [])
    assert configure("osso.scheduler.revert").changed == []
    configure(log_level="Normal")
