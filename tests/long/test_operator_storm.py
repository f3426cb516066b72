# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A storm of edits while the operator dies again and again, and parts of the cluster fail. Afterwards all is as its users said last.

STORM_SEED repeats the edits, the kills and the pauses of an earlier storm (how they interleave is up to the machine), STORM_KILLS
makes it shorter.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from support.convergence import SET_LABEL, User, converge
from support.fault_proxy import FaultProxy
from support.operator_pod import WAYS_TO_DIE, Operator
from support.outages import Outages
from support.registries import stands_in_for
from support.scheduler import IMAGE
from support.site import NAMESPACE, installed

pytestmark = pytest.mark.long

SEED = int(os.environ.get("STORM_SEED") or random.SystemRandom().randrange(10**6))
KILLS = int(os.environ.get("STORM_KILLS") or 50)
USERS = 10
RATE = 0.1
WITHIN = 900
LEVELS = ("Normal", "Debug", "Trace", "TraceAll")
# The same image under two names: what changes is the reference.
IMAGES = (IMAGE, IMAGE.replace("registry.k8s.io/", "quay.io/", 1))
TOPOLOGIES = ({}, {"topology": {"mode": "HighlyAvailable", "highlyAvailableTopology": {"maxReplicas": 2}}})
CHILDREN = ("deployment", "serviceaccount", "role", "rolebinding", "secret")


class Storm:
    """Edits of all users' resources, one after the other, until `stop` is set. `counts` says how many of each kind."""

    def __init__(self, users: list[User], kubectl):
        self.users = users
        self.kubectl = kubectl
        self.stop = threading.Event()
        self.counts: Counter[str] = Counter()
        self._dice = random.Random(f"{SEED} edits")
        self._broken: set[str] = set()

    def run(self) -> None:
        kinds = {"spec": 5, "config": 4, "broken config": 1, "delete": 1, "create": 6, "child deleted": 3, "child edited": 2}
        while not self.stop.is_set():
            user = self._dice.choice(self.users)
            (kind,) = self._dice.choices(list(kinds), list(kinds.values()))
            pause = self._dice.uniform(0.1, 1)
            self.counts[kind] += self._edit(user, kind, random.Random(self._dice.random()))
            self.stop.wait(pause)

    def mend(self) -> None:
        """Nobody leaves a broken configuration behind."""
        for user in self.users:
            if user.name in self._broken:
                user.configure(1)

    def _edit(self, user: User, kind: str, dice: random.Random) -> bool:
        """Do one; False where there is nothing that it could be done to."""
        if (kind == "create") == user.wanted:
            return False
        if kind == "create":
            # One that is on its way out cannot be edited back.
            if user.insist(lambda: user.scheduler.get("secondaryscheduler", user.name)):
                return False
            user.create()
            self._broken.discard(user.name)
        elif kind == "delete":
            user.delete()
        elif kind == "spec":
            user.edit(logLevel=dice.choice(LEVELS), schedulerImage=dice.choice(IMAGES), **dice.choice(TOPOLOGIES))
        elif kind == "config":
            user.configure(dice.randrange(2, 100))
            self._broken.discard(user.name)
        elif kind == "broken config":
            user.insist(lambda: user.scheduler.write_config("apiVersion: v1\nkind: Pod\n"))
            self._broken.add(user.name)
        elif kind == "child deleted":
            selector = f"--selector={SET_LABEL}=operand-{user.name}"
            self._whatever(user, "delete", dice.choice(CHILDREN), selector, "--wait=false")
        else:
            self._whatever(user, "scale", f"deployment/{user.scheduler.workload}", f"--replicas={dice.choice((0, 3))}")
        return True

    def _whatever(self, user: User, *arguments: str) -> None:
        """Do it once; what is not there (yet, or any more) cannot be harmed."""
        self.kubectl(*arguments, f"--namespace={NAMESPACE}", check=False)


@pytest.fixture
def outages(own_cluster):
    outages = Outages(own_cluster)
    yield outages
    outages.repair()


@pytest.fixture
def proxy(own_cluster):
    with FaultProxy(own_cluster, SEED) as proxy:
        yield proxy


@pytest.fixture
def operator_behind_proxy(own_cluster, kubectl, outages, proxy):
    installed()
    operator = Operator(kubectl)
    operator.use_api_server(*proxy.environment)
    with stands_in_for(own_cluster, "quay.io"):
        yield operator
    proxy.rate = 0
    operator.use_api_server(*(f"{variable.split('=')[0]}-" for variable in proxy.environment))


def test_the_last_edit_wins_although_the_operator_and_the_cluster_fail(operator_behind_proxy, proxy, outages, kubectl, record_property):
    print(f"\nSTORM_SEED={SEED} STORM_KILLS={KILLS}", flush=True)
    dice = random.Random(f"{SEED} kills")
    users = [User(kubectl, f"storm-{number}") for number in range(USERS)]
    storm = Storm(users, kubectl)
    proxy.rate = RATE
    for user in users:
        user.create()
    kills: Counter[str] = Counter()
    failing, dead_node = ExitStack(), ""
    started = time.monotonic()
    with failing, ThreadPoolExecutor(1) as pool:
        edits = pool.submit(storm.run)
        try:
            for number in range(1, KILLS + 1):
                pod = operator_behind_proxy.await_running(within=600)
                operator_behind_proxy.work(proxy, dice.randrange(5, 150))
                way = dice.choice(WAYS_TO_DIE)
                if pod["spec"]["nodeName"] == dead_node:
                    way = "lose"  # nobody is there to start it again, or to end it
                operator_behind_proxy.kill(pod, way)
                kills[way] += 1
                print(f"kill {number}: {way}, {int(time.monotonic() - started)} s", flush=True)
                if number == KILLS * 3 // 10:
                    with outages.of("kube-apiserver"):
                        time.sleep(15)
                elif number == KILLS * 5 // 10:
                    with outages.of("etcd"):
                        time.sleep(1)
                elif number == KILLS * 7 // 10:
                    dead_node = dice.choice([node["metadata"]["name"] for node in kubectl.json("get", "nodes")["items"]])
                    failing.enter_context(outages.of(f"kubelet.{dead_node}"))
                    outages.not_ready(dead_node, within=300)
                elif number == KILLS * 9 // 10:
                    failing.close()
                    dead_node = ""
        finally:
            storm.stop.set()
        edits.result()
    storm.mend()
    proxy.rate = 0
    quiet = time.monotonic()
    cluster = converge(kubectl, users, WITHIN)
    converged = time.monotonic()
    served = sum(user.wanted for user in users)
    record = {
        "seed": SEED,
        "kills": dict(kills),
        "edits": dict(storm.counts),
        "outages": f"API server 15 s, etcd, kubelet ({int(quiet - started)} s of storm)",
        "answers 409": proxy.injected[409],
        "answers 429": proxy.injected[429],
        "requests passed on": proxy.forwarded.total(),
        "resources in the end": served,
        "looked at": cluster.counts,
        "wrong in the end": len(cluster.findings),
        "seconds until all was right": int(converged - quiet),
    }
    for name, value in record.items():
        record_property(name, str(value))
        print(f"{name}: {value}", flush=True)
    assert kills.total() == KILLS
    assert all(storm.counts.values())
    assert served

    generations = {user.name: user.scheduler.deployment["metadata"]["generation"] for user in users if user.wanted}
    time.sleep(30)  # no event shows that nothing else happens
    again = converge(kubectl, users, 1)
    assert generations == {user.name: user.scheduler.deployment["metadata"]["generation"] for user in users if user.wanted}, "no rest"
    assert again.counts == cluster.counts

    for user in users:
        user.delete()
    converge(kubectl, users, WITHIN)
    for user in users:
        kubectl("delete", "configmap", user.name, f"--namespace={NAMESPACE}", "--ignore-not-found")
