# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What pods ask for, as kube-scheduler counts it (k8s.io/component-helpers/resource)."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.resource_accounting import allocatable, requested

MI = 1 << 20


def container(name="c", always=False, **requests):
    return {"name": name, "resources": {"requests": requests}, **({"restartPolicy": "Always"} if always else {})}


def pod(*containers, init=(), status=None, **spec):
    return {"spec": {"containers": list(containers), "initContainers": list(init), **spec}, "status": status or {}}


def cpu(*pods):
    return requested(pods).cpu_millis


def test_the_allocatable_resources_of_a_node_are_parsed():
    found = allocatable(
        {"status": {"allocatable": {"cpu": "1930m", "memory": "7822252Ki", "pods": "110", "example.com/gpu": "2", "hugepages-2Mi": "0"}}}
    )
    assert (found.cpu_millis, found.memory, found.pods) == (1930, 7822252 * 1024, 110)
    assert found.scalar == {"example.com/gpu": 2, "hugepages-2Mi": 0}


def test_containers_of_all_pods_are_added_up():
    found = requested(
        [pod(container(cpu="100m", memory="10Mi"), container(cpu="0.5")), pod(container(**{"example.com/gpu": "1"})), pod(container())]
    )
    assert (found.cpu_millis, found.memory, found.scalar) == (600, 10 * MI, {"example.com/gpu": 1})


@pytest.mark.parametrize(
    ("init", "total"),
    [
        ([container(cpu="50m")], 100),
        ([container(cpu="300m")], 300),
        ([container(cpu="20m", always=True), container(cpu="300m")], 320),
        ([container(cpu="300m"), container(cpu="20m", always=True)], 300),
        ([container(cpu="20m", always=True), container(cpu="30m", always=True)], 150),
    ],
)
def test_requests_of_init_containers_and_sidecars_are_counted(init, total):
    assert cpu(pod(container(cpu="100m"), init=init)) == total


def test_overhead_and_requests_of_the_whole_pod_are_counted():
    one = pod(container(cpu="100m", memory="10Mi"), resources={"requests": {"cpu": "1"}}, overhead={"cpu": "10m"})
    assert (cpu(one), requested([one]).memory) == (1010, 10 * MI)


@pytest.mark.parametrize(("infeasible", "total"), [(False, 500), (True, 200)])
def test_a_resize_counts_with_the_most_until_it_is_done(infeasible, total):
    status = {
        "containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "100m"}}, "allocatedResources": {"cpu": "200m"}}],
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible" if infeasible else "Deferred"}],
    }
    assert cpu(pod(container(cpu="500m"), status=status)) == total


def test_less_than_a_unit_counts_as_one():
    assert requested([pod(container(cpu="0.1m", memory="1.5"))]).flat()["cpu"] == 1
    assert requested([pod(container(memory="1500m"))]).memory == 2
