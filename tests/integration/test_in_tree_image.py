# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The image of Kubernetes itself, which has its program at another path than scheduler-plugins, by the operator, a Job, and without an operator."""

from __future__ import annotations

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.presets import configuration
from cluster.throwaway.layout import Layout


@pytest.fixture
def image(own_cluster):
    return f"registry.k8s.io/kube-scheduler:{Layout(own_cluster).release.version}"


@pytest.mark.long
def test_the_operator_starts_the_image_of_kubernetes(new, image):
    scheduler = new()
    scheduler.write_config(yaml.safe_dump(configuration("packing", {"scheduler_name": scheduler.scheduler_name})))
    scheduler.write(schedulerImage=image)
    scheduler.rest()


def test_the_image_of_kubernetes_validates_and_serves_without_an_operator(play, namespace, image):
    item = {"name": "in-tree", "namespace": namespace, "image": image, "preset": "packing", "ask_image": True}
    try:
        run = play("osso.scheduler.custom_scheduler", variables={"custom_schedulers": [item]})
        (placed,) = run.task("Verify each scheduler with a test pod").result["results"]
        assert placed["placed"] is True
    finally:
        play(
            "osso.scheduler.custom_scheduler",
            variables={"custom_schedulers": [{"name": "in-tree", "namespace": namespace, "state": "absent"}]},
        )
