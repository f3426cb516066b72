# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""site.yml beside other ways to bring the same objects: what they cost and what they do, a section of docs/benchmarks.md.

No assertions on time. What the page says of behaviour is what this run has seen.
"""

from __future__ import annotations

import copy
import json
import os
import re
import statistics
import subprocess
import time
from collections import defaultdict
from types import SimpleNamespace

import pytest
from benchmarks.observe import serves
from benchmarks.side_by_side import HANDLED, SIGNED, WAYS, Ground, Helm, Site, captured
from support.ansible_runs import play
from support.inventory import everything
from support.plain_scheduler import CONFIG, config_map, plain_scheduler
from support.prometheus import build
from support.scheduler import Scheduler, eventually
from support.site import NAMESPACE, VARIABLES, gone, remove

COST, BEHAVIOUR = "Cost side by side", "Behaviour side by side"
INSTALLS, AGAIN = 2, 3
SCHEDULER = VARIABLES["secondary_schedulers"][0]
ANNOTATION = "example.com/team"
RIGHT, WRONG = "NodeResourcesFit", "NodeResourceFit"
ROLE = f"osso:{NAMESPACE}:operator:metrics-reader"
OPERATOR = "osso-scheduler-operator"

COSTS = (
    ("first run: seconds until the command is over", "over", "s"),
    ("first run: seconds until the scheduler serves", "serves", "s"),
    ("first run: CPU seconds", "cpu", "s"),
    ("first run: API requests", "requests", ""),
    ("first run: of them writes", "writes", ""),
    ("unchanged: seconds", "again over", "s"),
    ("unchanged: CPU seconds", "again cpu", "s"),
    ("unchanged: API requests", "again requests", ""),
    ("unchanged: of them writes", "again writes", ""),
)
EMPTY = "a dry run on an empty cluster"
ONE_PASS = "definition and resource of its kind in one pass (with Helm both are templates; what is in its folder `crds` comes first)"
WAITS = "when it is over, the scheduler"
SAYS = "an unchanged run reports"
DRY_RUN = "a dry run of a change shows"
INVALID = f"a configuration with `{WRONG}` for `{RIGHT}`"
OBJECTS_OUT = "objects that are no longer in the list (what a plugin needed)"
SCHEDULER_OUT = "a scheduler that is no longer in the list"
FIELD_OUT = "an annotation that is no longer in the manifest"
FOREIGN = "an annotation and a field that others set beside ours"
OURS = "a rule of the collection in a ClusterRole, changed manually"
CONFIG_MAP = "the scheduler's ConfigMap, changed by hand"
SEEN_WITH_COSTS = (WAITS, SAYS)
QUESTIONS = (EMPTY, ONE_PASS, DRY_RUN, INVALID, OBJECTS_OUT, SCHEDULER_OUT, FIELD_OUT, FOREIGN, OURS, CONFIG_MAP)


class Board:
    """What was measured and seen, by way."""

    def __init__(self):
        self.costs = defaultdict(lambda: defaultdict(list))
        self.answers = defaultdict(dict)
        self.about = {}
        self._loads = []

    def look(self) -> None:
        self._loads.append(os.getloadavg()[0])

    def median(self, way, what) -> float:
        return statistics.median(self.costs[way][what])

    def cost(self) -> str:
        """The section of what was measured; nothing where it was not."""
        titles = [way.title for way in WAYS]
        if not all(title in self.answers[what] for what in SEEN_WITH_COSTS for title in titles):
            return ""
        lines = [f"| | {' | '.join(titles)} |", f"|---|{'---|' * len(titles)}"]
        for what, key, unit in COSTS:
            cells = [f"{self.median(title, key):.{1 if unit else 0}f}" for title in titles]
            lines.append(f"| {what} | {' | '.join(cells)} |")
        lines += [f"| {what} | {' | '.join(self.answers[what][title] for title in titles)} |" for what in SEEN_WITH_COSTS]
        fastest = sorted(titles, key=lambda title: self.median(title, "again over"))
        order = ", ".join(f"{title} {self.median(title, 'again over'):.1f} s" for title in fastest)
        return COST_PAGE.format(**self.about, **self._load(), installs=INSTALLS, again=AGAIN, figures="\n".join(lines), order=order)

    def behaviour(self) -> str:
        """The section of what was seen, for the ways of which all was seen; nothing where ours is not among them."""
        titles = [way.title for way in WAYS if all(way.title in self.answers[what] for what in QUESTIONS)]
        if not {Site.title, Helm.title} <= set(titles) or "reason" not in self.about:
            return ""
        lines = ["| | what happens | with |", "|---|---|---|"]
        for what in QUESTIONS:
            ways = defaultdict(list)
            for title in titles:
                ways[self.answers[what][title]].append(title)
            for number, (answer, by) in enumerate(ways.items()):
                with_these = "all" if len(by) == len(titles) else ", ".join(by)
                lines.append(f"| {'' if number else what} | {answer} | {with_these} |")
        others = [way.title for way in WAYS if way.title not in titles]
        left_out = f" Not asked: {', '.join(others)}." if others else ""
        deletes = [title for title in titles if self.answers[SCHEDULER_OUT][title] == "is deleted"]
        better = f"{', '.join(deletes)}: {DELETES} " if deletes and Site.title not in deletes else ""
        return BEHAVIOUR_PAGE.format(**self.about, **self._load(), left_out=left_out, better=better, seen="\n".join(lines))

    def _load(self) -> dict:
        return {"low": min(self._loads), "high": max(self._loads)}


COST_PAGE = """\
The load was {low:.1f} to {high:.1f}. The same {count} objects are deployed by each way: the operator, the requirements of one plugin, and one scheduler.
The ways are `site.yml`, tasks with `kubernetes.core.k8s` {collection}, `kubectl` {kubectl}, and Helm {helm} with `--wait`.
There are two playbooks with such tasks: one with a task for each object, and one with a single task for all. Their access is in
`module_defaults`, and they use `wait` where it is useful. The chart contains the CRDs in its folder `crds`; the other ways apply the CRDs first.
`site.yml` has `probe: never`: none of the others proves a
scheduler by a pod.

The manifests of the others are what `site.yml` had applied just before: of each object the fields of its field manager. After the first run of each way the
cluster held the same, compared object by object, but for what each way signs its objects with ({signed}).

Figures are medians of {installs} first runs, the ways in turn, and of {again} unchanged runs, all in one run on one cluster. Requests are counted in the API
server's audit log; those that wait are among them. A write is a request that could change something, also where it did not. The load changed
while this ran: CPU seconds, requests and writes compare better than seconds do.

{figures}

Unchanged runs, the fastest first:

{order}

`kubectl` and Helm are programs that start at once, and need neither Python nor Ansible.
`site.yml` additionally validates the configuration, checks the platform, searches for other operators, and waits."""

BEHAVIOUR_PAGE = """\
The same objects and ways as in the section before, with the same versions; each answer was seen in one run on one cluster, at a load of {low:.1f} to
{high:.1f}.{left_out}

{seen}

Without an operator, with a Deployment and its ConfigMap, only the scheduler itself notices such a configuration: `kubectl apply` and `kubectl rollout
restart` succeeded, and the new pod was in {reason}. `osso.scheduler.custom_scheduler` refused it before it wrote anything.

Where others are better: {better}Helm keeps earlier revisions to go back to. All of them deploy any object, `site.yml` only the objects of schedulers."""
DELETES = "a scheduler that is no longer in the list is deleted; `site.yml` deletes it only with `state: absent`."


@pytest.fixture(scope="module")
def board(publish):
    found = Board()
    yield found
    for title, section in ((COST, found.cost()), (BEHAVIOUR, found.behaviour())):
        if section:
            publish(section, title)


@pytest.fixture(scope="module")
def cases(own_cluster, kubectl, board, tmp_path_factory):
    build("helm")
    remove()
    # Or else they would be others', and no part of what is compared.
    eventually(lambda: gone(kubectl))
    before = everything(kubectl)
    base = captured(kubectl, {})
    second = {**SCHEDULER, "name": "second", "config": json.loads(json.dumps(SCHEDULER["config"]).replace("secondary-scheduler", "second"))}
    # Less of the one, more of the other
    other = captured(kubectl, {"operator_plugins": [], "secondary_schedulers": [{**SCHEDULER, "annotations": {ANNOTATION: "a"}}, second]})
    debug = copy.deepcopy(base)
    debug.variables["secondary_schedulers"] = [{**SCHEDULER, "log_level": "Debug"}]
    debug.one(HANDLED)["spec"]["logLevel"] = "Debug"
    wrong = copy.deepcopy(base)
    wrong.variables["secondary_schedulers"] = json.loads(json.dumps([SCHEDULER]).replace(RIGHT, WRONG))
    data = wrong.one("ConfigMap")["data"]
    data["config.yaml"] = data["config.yaml"].replace(RIGHT, WRONG)
    board.about |= {
        "count": len(base.objects),
        "collection": _collection(),
        "kubectl": kubectl.json("version", "--client")["clientVersion"]["gitVersion"].removeprefix("v"),
        "helm": subprocess.run(
            ["helm", "version", "--template={{.Version}}"], capture_output=True, text=True, check=True
        ).stdout.removeprefix("v"),
        "signed": ", ".join(f"`{name}`" for name in SIGNED),
    }
    ground = Ground(kubectl)
    yield SimpleNamespace(base=base, other=other, debug=debug, wrong=wrong, ground=ground)
    ground.clean(base.objects)
    eventually(lambda: everything(kubectl) - before == set())


def _collection() -> str:
    listed = subprocess.run(
        ["ansible-galaxy", "collection", "list", "kubernetes.core", "--format=json"], capture_output=True, text=True, check=True
    )
    (versions,) = json.loads(listed.stdout).values()
    return versions["kubernetes.core"]["version"]


def clean(cases, way):
    cases.ground.clean(cases.base.objects)
    way.forget()


def serving(kubectl) -> bool:
    """the scheduler serves, and its status says so; one request"""
    resource = kubectl.get("secondaryscheduler", "cluster", NAMESPACE)
    return bool(resource) and serves(resource)


@pytest.mark.parametrize("make", WAYS, ids=lambda make: make.title)
def test_each_way_to_deploy_is_observed_through_the_same_changes(make, cases, kubectl, audit, board, tmp_path):
    way, answers = make(tmp_path), {}
    board.look()
    base, ground = cases.base, cases.ground
    clean(cases, way)

    with audit:
        outcome = way.look(base)
    assert audit.writes() == []
    answers[EMPTY] = dry_run(outcome, base)

    outcome = way.at_once(base)
    answers[ONE_PASS] = one_pass(outcome, way, cases)
    if outcome.rc:
        clean(cases, way)

    brought(way, base, kubectl)
    outcome = way.look(cases.debug)
    assert outcome.rc == 0, outcome.text
    answers[DRY_RUN] = shown(outcome, base)

    with audit:
        outcome = way.bring(cases.wrong)
    answers[INVALID] = invalid(outcome, audit, kubectl)

    brought(way, cases.other, kubectl)
    out = [item for item in base.objects if not cases.other.has(item)]
    left = {kind for kind, _namespace, _name in ground.content(out)}
    answers[OBJECTS_OUT] = "are deleted" if not left else f"are deleted but for the {left.pop()}s" if len(left) == 1 else "stay"
    eventually(Scheduler(kubectl, "second").served)

    brought(way, base, kubectl)
    second = Scheduler(kubectl, "second").resource
    # The operator may still clean up after it.
    answers[SCHEDULER_OUT] = "stays" if second and "deletionTimestamp" not in second["metadata"] else "is deleted"
    annotations = kubectl.get("secondaryscheduler", "cluster", NAMESPACE)["metadata"].get("annotations") or {}
    answers[FIELD_OUT] = "stays" if ANNOTATION in annotations else "is removed"

    home = f"--namespace={NAMESPACE}"
    kubectl(
        "patch",
        "deployment",
        OPERATOR,
        home,
        '--patch={"metadata":{"annotations":{"example.com/note":"mine"}},"spec":{"minReadySeconds":1}}',
    )
    brought(way, base, kubectl)
    live = kubectl.get("deployment", OPERATOR, NAMESPACE)
    kept = [live["metadata"]["annotations"].get("example.com/note") == "mine", live["spec"].get("minReadySeconds") == 1]
    answers[FOREIGN] = "stay" if all(kept) else "are removed" if not any(kept) else "stay in part"

    rules = base_rules(base)
    kubectl("patch", "clusterrole", ROLE, '--patch={"rules":[{"nonResourceURLs":["/metrics"],"verbs":["get","post"]}]}')
    answers[OURS] = put_back(way.bring(base), lambda: kubectl.json("get", "clusterrole", ROLE)["rules"] == rules)

    kubectl("patch", "clusterrole", ROLE, f"--patch={json.dumps({'rules': rules})}")
    manifest = base.one("ConfigMap")
    name, text = manifest["metadata"]["name"], manifest["data"]["config.yaml"]
    kubectl("patch", "configmap", name, home, f"--patch={json.dumps({'data': {'config.yaml': text + chr(10) + '# by hand' + chr(10)}})}")
    answers[CONFIG_MAP] = put_back(way.bring(base), lambda: kubectl.get("configmap", name, NAMESPACE)["data"]["config.yaml"] == text)

    for what, answer in answers.items():
        board.answers[what][way.title] = answer
    clean(cases, way)


def test_the_outcome_of_an_invalid_configuration_without_an_operator_is_observed(kubectl, audit, board):
    """A Deployment with its ConfigMap: who writes another configuration has to restart it."""
    with plain_scheduler(kubectl) as namespace:
        text = (CONFIG + f"    plugins: {{{{score: {{{{enabled: [{{{{name: {WRONG}}}}}]}}}}}}}}\n").format(namespace=namespace)
        scheduler = {"name": "second", "namespace": namespace, "image": SCHEDULER["image"], "config_text": text}
        with audit:
            run = play("osso.scheduler.custom_scheduler", variables={"custom_schedulers": [scheduler]}, succeed=False)
        assert WRONG in run.failures[0].result["msg"] or WRONG in str(run.failures[0].result)
        assert audit.writes() == []
        kubectl("apply", "--filename=-", stdin=config_map(namespace, text))
        kubectl("rollout", "restart", "deployment/second", f"--namespace={namespace}")
        board.about["reason"] = eventually(lambda: waiting(kubectl, namespace))


def test_duration_and_requests_of_each_way_to_deploy_are_measured(cases, kubectl, audit, board, tmp_path):
    reference, at_return = {}, defaultdict(list)
    for attempt in range(INSTALLS):
        for way in [make(tmp_path) for make in WAYS]:
            clean(cases, way)
            board.look()
            with audit:
                started = time.monotonic()
                outcome = way.bring(cases.base)
                at_return[way.title].append(serving(kubectl))
            assert outcome.rc == 0, outcome.text
            eventually(lambda: serving(kubectl))
            served = outcome.seconds if at_return[way.title][-1] else time.monotonic() - started
            # One request was ours.
            note(
                board,
                way,
                "",
                over=outcome.seconds,
                serves=served,
                cpu=outcome.cpu,
                requests=len(audit.requests()) - 1,
                writes=len(audit.writes()),
            )
            content = cases.ground.content(cases.base.objects)
            assert content == reference.setdefault("content", content), way.title
            assert len(content) == len(cases.base.objects)
            for _attempt in range(AGAIN if attempt == INSTALLS - 1 else 0):
                board.look()
                with audit:
                    outcome = way.bring(cases.base)
                assert outcome.rc == 0, outcome.text
                note(
                    board, way, "again ", over=outcome.seconds, cpu=outcome.cpu, requests=len(audit.requests()), writes=len(audit.writes())
                )
            board.answers[SAYS][way.title] = unchanged(way, outcome)
            clean(cases, way)
    for title, seen in at_return.items():
        board.answers[WAITS][title] = "serves" if all(seen) else "is still to come" if not any(seen) else "serves now and then"


def note(board, way, prefix, **figures):
    for what, value in figures.items():
        board.costs[way.title][prefix + what].append(value)


def unchanged(way, outcome) -> str:
    if outcome.run:
        return "that nothing changed" if outcome.run.changed == [] else f"`changed` of {len(outcome.run.changed)} tasks"
    if isinstance(way, Helm):
        return f"a new revision, {re.search(r'REVISION: [0-9]+', outcome.text)[0].split()[1]}: the same content is stored again"
    said = [line.rpartition(" ")[2] for line in outcome.text.splitlines() if not line.endswith("condition met")]
    changed = [word for word in said if word != "unchanged"]
    return f"`{', '.join(sorted(set(changed)))}` of {len(changed)} of {len(said)} objects" if changed else "that nothing changed"


def waiting(kubectl, namespace) -> str:
    """why a container that ended more than once does not run"""
    for pod in kubectl.list("pod", namespace):
        for container in pod["status"].get("containerStatuses") or []:
            if container["restartCount"] > 1 and "waiting" in container["state"]:
                return container["state"]["waiting"]["reason"]
    return ""


def brought(way, case, kubectl):
    outcome = way.bring(case)
    assert outcome.rc == 0, outcome.text
    eventually(lambda: serving(kubectl))


def base_rules(case):
    (rules,) = [item["rules"] for item in case.objects if item["kind"] == "ClusterRole" and item["metadata"]["name"] == ROLE]
    return rules


def dry_run(outcome, case) -> str:
    if outcome.rc:
        return f"fails: {why(outcome)}"
    seen = [item for item in case.objects if item["kind"] in outcome.text and item["metadata"]["name"] in outcome.text]
    if len(seen) == len(case.objects):
        return f"shows all {len(seen)} objects"
    without = sorted({item["kind"] for item in case.objects if item not in seen})
    return f"shows {len(seen)} of {len(case.objects)} objects; not {', '.join(without)}"


def one_pass(outcome, way, cases) -> str:
    there = len(cases.ground.content(cases.base.objects))
    if outcome.rc == 0 and there == len(cases.base.objects):
        return "works"
    again = way.at_once(cases.base)
    reason = "for the same reason" if why(again) == why(outcome) else why(again)
    then = "a second one brings the rest" if again.rc == 0 else f"a second one fails, too, {reason}"
    return f"fails and leaves {there} of {len(cases.base.objects)} objects, {then}: {why(outcome)}"


def shown(outcome, case) -> str:
    lines = outcome.text.splitlines()
    before = any(re.match(r"-\s*\"?logLevel\"?: \"?Normal", line) for line in lines)
    after = any(re.match(r"\+\s*\"?logLevel\"?: \"?Debug", line) for line in lines)
    if before and after:
        return "the field, before and after"
    return "all manifests as they would be, not what changes" if "Debug" in outcome.text else "nothing of it"


def invalid(outcome, audit, kubectl) -> str:
    text = kubectl.get("configmap", "secondary-scheduler-config", NAMESPACE)["data"]["config.yaml"]
    if outcome.rc and not audit.writes():
        field = re.search(r"profiles\[0\][\w.\[\]]*", outcome.text)[0]
        assert WRONG not in text
        return f"is refused before anything is written, with the place: `{field}`"
    assert WRONG in text
    scheduler = Scheduler(kubectl, "cluster")
    eventually(lambda: scheduler.condition("ConfigValid")[0] == "False")
    assert scheduler.serving_pods()
    over = "the command succeeds" if outcome.rc == 0 else f"the command fails: {why(outcome)}"
    return f"is written and {over}; only our operator refuses it then, the scheduler goes on with the last one"


def put_back(outcome, is_back) -> str:
    if outcome.rc:
        return f"refused: {why(outcome)}"
    return "put back" if is_back() else "stays as it was changed"


def why(outcome) -> str:
    """The sentence that tells why it failed, fit for a cell."""
    text = outcome.text.replace("\\", "")
    patterns = (
        r'no matches for kind "[^"]+" in version "[^"]+"',
        r"Failed to find exact match for [^\n]*?\]",
        r'namespaces? "[^"]+" not found',
        r'conflicts? (?:occurred )?with "[^"]+"',
        r"[Cc]onflict[^\n]*",
    )
    found = next((match[0] for match in (re.search(pattern, text) for pattern in patterns) if match), None)
    found = found or [line for line in text.splitlines() if line.strip()][-1]
    return found.replace("|", "/").strip()[:160]
