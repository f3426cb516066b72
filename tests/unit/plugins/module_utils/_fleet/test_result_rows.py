# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a play over many clusters went: rows, where it stands, table and page."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import jinja2
import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._fleet.result_rows import LONGEST_REASON, plain_text, row, rows, stage, table
from ansible_collections.osso.scheduler.plugins.module_utils._fleet.summary import summary

TEMPLATES = Path(__file__).parents[5] / "playbooks/templates"
KNOWN = {
    "id": "3c0d5a9e",
    "version": "1.34",
    "variant": "osso",
    "image": "registry.example.com:5000/osso/scheduler-operator:1.0.0",
    "schedulers": ["batch"],
}
ACCESS = {"host": "https://api.example.com:6443", "api_key": "sha256~of-berlin", "password": "of-berlin-too"}


def failed(result, **options):
    return row({}, "berlin", ACCESS, "Look", result, **options)["reason"]


def facts(**outcomes):
    """Of hosts, with a row where there is an outcome."""
    return {name: {"fleet_row": {"cluster": name, "outcome": outcome}} if outcome else {} for name, outcome in outcomes.items()}


def test_a_row_shows_the_state_of_a_cluster_and_its_changes():
    made = row({**KNOWN, "operator": True, "schedulers_changed": True, "metrics": False}, "berlin")
    assert made == {
        "job": "",
        "cluster": "berlin",
        "id": "3c0d5a9e",
        "outcome": "done",
        "version": "1.34",
        "operator": "osso 1.0.0",
        "schedulers": ["batch"],
        "changed": ["operator", "schedulers"],
        "reason": "",
    }


@pytest.mark.parametrize(
    ("known", "shown"),
    [
        ({}, ""),
        ({"variant": "", "image": "a/b:1"}, ""),
        ({"variant": "osso", "image": "a:5000/b"}, "osso"),
        ({"variant": "osso", "image": "a:5000/b@sha256:0123456789abcdef0123"}, "osso sha256:0123456789ab"),
        (
            {"variant": "upstream", "csv": {"name": "secondaryscheduleroperator.v1.5.0", "phase": "Succeeded"}, "image": "a/b:1"},
            "upstream secondaryscheduleroperator.v1.5.0",
        ),
        ({"variant": "osso", "csv": {"name": "osso.v1.0.0", "phase": "Failed"}}, "osso osso.v1.0.0 (Failed)"),
        ({"variant": "osso", "csv": {"name": "osso.v1.0.0", "phase": None}}, "osso osso.v1.0.0 (not installed)"),
    ],
)
def test_an_operator_is_shown_with_its_version(known, shown):
    assert row(known, "berlin")["operator"] == shown


def test_a_reason_is_one_line_without_credentials_and_templates():
    assert failed({"msg": "it\n  failed"}) == "Look: it failed"
    assert failed({"msg": "tried sha256~of-berlin and of-berlin-too"}) == "Look: tried ******** and ********"
    assert failed({"msg": "{{ lookup('pipe', 'x') }} {% x %} {# x #} {a}"}) == "Look: { { lookup('pipe', 'x') }} { % x %} { # x #} {a}"
    assert len(failed({"msg": "x" * 2000})) == LONGEST_REASON
    assert failed({}) == "Look: it reports no reason"


def test_the_reason_of_a_loop_is_that_of_its_first_item_that_failed():
    assert (
        failed({"msg": "One or more items failed", "results": [{"msg": "a"}, {"failed": True, "msg": "b"}, {"failed": True, "msg": "c"}]})
        == "Look: b"
    )
    assert failed({"_ansible_no_log": True, "results": [{"_ansible_no_log": True, "msg": "a"}, {"failed": True, "msg": "b"}]}) == "Look: b"


def test_hidden_output_is_not_part_of_the_reason():
    assert failed({"msg": "secret"}, hidden=True) == "Look: its output is hidden"
    assert failed({"results": [{"failed": True, "_ansible_no_log": True, "msg": "secret"}]}) == "Look: its output is hidden"


@pytest.mark.parametrize(
    ("outcomes", "batch", "expected"),
    [
        # One batch of all: nothing stops, whatever failed.
        ({"a": "failed", "b": "done"}, "ab", {"over": True}),
        # The canary
        ({"a": "done", "b": None}, "a", {}),
        ({"a": "failed", "b": None}, "a", {"stops": True, "over": True}),
        ({"a": "done", "b": "failed", "c": None}, "ab", {"stops": True, "over": True}),
        # A batch after it
        ({"a": "done", "b": "failed", "c": None}, "b", {}),
        ({"a": "done", "b": "failed", "c": "done"}, "c", {"over": True}),
    ],
)
def test_only_the_canary_stops_the_others(outcomes, batch, expected):
    nothing = {"stops": False, "over": False}
    assert stage(list(outcomes), list(batch), facts(**outcomes)) == {**nothing, **expected}


def test_clusters_that_were_not_begun_have_that_outcome_and_a_reason():
    (_first, second) = rows(["berlin", "lisbon"], facts(berlin="failed", lisbon=None))
    assert (second["outcome"], second["reason"]) == ("not begun", "berlin failed before")


def test_a_row_of_another_job_is_ignored():
    kept = {"berlin": {"fleet_row": row({"job": "site.yml"}, "berlin", {}, "Look", {"msg": "gone"})}}
    assert [one["outcome"] for one in rows(["berlin"], kept, "site.yml")] == ["failed"]
    assert [one["outcome"] for one in rows(["berlin"], kept, "configure.yml")] == ["not begun"]
    assert stage(["berlin", "lisbon"], ["berlin"], kept, "configure.yml")["stops"] is False


def test_the_table_has_one_line_for_each_cluster():
    done = row({**KNOWN, "operator": True}, "berlin")
    broken = row({}, "lisbon", {}, "Look", {"msg": "gone"})
    assert table(rows(["berlin", "lisbon", "oslo"], {"berlin": {"fleet_row": done}, "lisbon": {"fleet_row": broken}, "oslo": {}})) == [
        "cluster  id        version  operator    schedulers  changed   reason",
        "berlin   3c0d5a9e  1.34     osso 1.0.0  batch       operator",
        "lisbon   -         -        -           -           nothing   failed: Look: gone",
        "oslo     -         -        -           -           -         not begun: lisbon failed before",
    ]


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.texts, self.tags, self.attributes = [], set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _value in attrs}

    def handle_data(self, data):
        self.texts.append(data.strip())


def test_the_page_is_whole_in_itself_and_its_texts_stay_texts():
    evil = "<script>alert('x')</script>"
    shown = rows(
        [evil, "b", "c"], {evil: {"fleet_row": row(KNOWN, evil)}, "b": {"fleet_row": row({}, "b", {}, evil, {"msg": evil})}, "c": {}}
    )
    environment = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined, loader=jinja2.FileSystemLoader(TEMPLATES))
    environment.globals["now"] = lambda utc, fmt: "now"
    text = environment.get_template("fleet.html.j2").render(fleet_rows=shown, fleet_document={"check": False})
    page = Page(text)
    assert page.tags & {"script", "link", "img", "iframe"} == set()
    assert page.attributes & {"src", "href", "onload", "onclick"} == set()
    assert "http" not in text
    assert "url(" not in text
    assert "--back:" in text, "the style"
    assert "1 of 3" in page.texts
    assert {"done", "failed", "not begun"} <= set(page.texts)
    assert sum(evil in one for one in page.texts) == 2


ITEM = {"namespace": "openshift-secondary-scheduler-operator", "name": "cluster", "management_state": "Managed"}
VERDICT = {"scheduler_names": ["batch"]}
OF = "Scheduler batch (openshift-secondary-scheduler-operator/cluster) is"


@pytest.mark.parametrize(
    ("known", "options", "line"),
    [
        (
            {"job": "site.yml"},
            {"probes": [{"item": "batch", "node": "worker-1", "seconds": 0.034}]},
            f"{OF} available; its probe pod was placed on worker-1 after 0.034 s.",
        ),
        ({"job": "site.yml"}, {}, f"{OF} available; it was not probed. -e probe=always probes it."),
        (
            {"job": "configure.yml"},
            {"waited": False},
            f"{OF} applied, and the play did not wait for it; it was not probed. -e probe=always probes it.",
        ),
        (
            {"job": "site.yml"},
            {"items": [{**ITEM, "management_state": "Removed"}]},
            f"{OF[:-3]} is not managed: management_state is Removed.",
        ),
        ({"job": "site.yml"}, {"items": [{**ITEM, "state": "absent"}], "verdicts": []}, "SecondaryScheduler " + OF[17:-4] + " is absent."),
        (
            {"job": "site.yml"},
            {"items": []},
            "No scheduler is given in secondary_schedulers. Next: add one, and run the same command again.",
        ),
        (
            {"job": "site.yml", "operator": True},
            {"check": True},
            "Would change: operator. Next: run the same command without --check.",
        ),
        ({"job": "site.yml"}, {"check": True}, "Nothing would change."),
        ({"job": "remove.yml", "operator": True, "schedulers_changed": True}, {"items": []}, "Removed: operator, schedulers."),
        ({"job": "remove.yml", "operator": True, "pools_changed": True}, {"items": []}, "Removed: operator, pools."),
        ({"job": "remove.yml"}, {"items": []}, "Nothing was installed."),
    ],
)
def test_the_summary_of_one_cluster_names_scheduler_and_probe(known, options, line):
    (first, *others) = summary(known, **{"items": [ITEM], "verdicts": [VERDICT], **options})
    assert first == line
    assert len(others) == int(first.startswith("Scheduler"))
    assert all("Next: set schedulerName: batch in pods" in other for other in others)


def test_the_summary_names_other_schedulers_of_the_same_name():
    """The inventory does not contain them: only the cluster knows them."""
    message = "Deployment a/b and SecondaryScheduler c/d place the same pods"
    probe = {"item": "batch", "node": "n", "seconds": 1, "conflicts": [{"scheduler_name": "batch", "schedulers": [], "message": message}]}
    (_available, conflict, _next) = summary({}, [ITEM], [VERDICT], [probe])
    assert conflict == f"Conflict: {message}."


def test_the_summary_shows_texts_of_a_server_as_texts():
    (first, _next) = summary({}, [ITEM], [VERDICT], [{"item": "batch", "node": "{{ lookup('pipe', 'x') }}", "seconds": 1}])
    assert "{ { lookup" in first


def test_a_row_of_a_failure_keeps_the_known_values():
    known = {**KNOWN, "job": "site.yml", "operator": True, "metrics": True, "schedulers_changed": True, "pools_changed": True}
    assert row(known, "berlin", ACCESS, "Look", {"msg": "gone"}) == {
        "job": "site.yml",
        "cluster": "berlin",
        "id": "3c0d5a9e",
        "outcome": "failed",
        "version": "1.34",
        "operator": "osso 1.0.0",
        "schedulers": ["batch"],
        "changed": ["operator", "metrics", "schedulers", "pools"],
        "reason": "Look: gone",
    }
    empty = {"job": "", "cluster": "a", "id": "", "version": "", "operator": "", "schedulers": [], "changed": []}
    assert row({}, "a", None, "Look") == {**empty, "outcome": "failed", "reason": "Look: it reports no reason"}
    assert row(dict.fromkeys(known), "a") == {**empty, "outcome": "done", "reason": ""}


def test_credentials_are_in_no_part_of_a_row():
    known = {"id": ACCESS["api_key"], "schedulers": [ACCESS["password"]], "version": ACCESS["password"]}
    made = row(known, "berlin", ACCESS)
    assert (made["id"], made["version"], made["schedulers"]) == ("********", "********", ["********"])


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"_ansible_no_log": True, "msg": "secret"}, "its output is hidden"),
        ({"results": [{"msg": "a"}, "text"], "msg": "b"}, "b"),
        ({"results": None, "msg": "b"}, "b"),
        ({"results": [{"failed": True, "results": [{"failed": True, "msg": "inner"}], "msg": "outer"}]}, "inner"),
        ({"results": [{"failed": False, "msg": "a"}], "msg": None}, "it reports no reason"),
        ({"msg": ["a", 1]}, "['a', 1]"),
    ],
)
def test_the_reason_of_a_failure_comes_from_the_innermost_failed_result(result, reason):
    assert failed(result) == f"Look: {reason}"


def test_a_reason_has_at_most_the_longest_length():
    assert plain_text("x" * LONGEST_REASON) == "x" * LONGEST_REASON
    assert plain_text("x" * (LONGEST_REASON + 1)) == "x" * (LONGEST_REASON - 3) + "..."
    assert LONGEST_REASON == 500


def test_rows_have_the_same_keys_whatever_a_host_keeps():
    keys = ["cluster", "id", "outcome", "version", "operator", "schedulers", "changed", "reason"]
    empty = {
        "cluster": "lisbon",
        "id": "",
        "outcome": "not begun",
        "version": "",
        "operator": "",
        "schedulers": [],
        "changed": [],
        "reason": "",
    }
    kept = {"berlin": {"fleet_row": row({**KNOWN, "job": "site.yml"}, "berlin")}, "lisbon": {"fleet_row": {}}, "oslo": {"fleet_row": None}}
    found = rows(["oslo", "berlin", "lisbon"], kept, "site.yml")
    assert [list(one) for one in found] == [keys] * 3
    assert found[0] == {**empty, "cluster": "oslo"}
    assert found[1]["schedulers"] == ["batch"]
    assert found[2] == empty
    # A row without a job is of any job.
    assert rows(["a"], {"a": {"fleet_row": {"cluster": "a", "outcome": "done"}}}, "site.yml")[0]["outcome"] == "done"


@pytest.mark.parametrize(
    ("failures", "reason"),
    [("a", "a failed before"), ("abc", "a, b, c failed before"), ("abcd", "a, b, c and others failed before")],
)
def test_at_most_three_clusters_that_failed_are_named(failures, reason):
    outcomes = {**dict.fromkeys(failures, "failed"), "z": None}
    assert rows(list(outcomes), facts(**outcomes))[-1]["reason"] == reason


def test_the_table_shows_changes_of_failed_clusters_and_outcomes_without_a_reason():
    done = {**row(KNOWN, "a"), "reason": "late"}
    broken = {**row({"schedulers": ["x", "y"], "metrics": True, "operator": True}, "b"), "outcome": "failed", "reason": ""}
    waiting = rows(["c"], {"c": {}})
    assert table([done, broken, *waiting]) == [
        "cluster  id        version  operator    schedulers  changed            reason",
        "a        3c0d5a9e  1.34     osso 1.0.0  batch       nothing            done: late",
        "b        -         -        -           x, y        operator, metrics  failed",
        "c        -         -        -           -           -                  not begun",
    ]


def test_the_summary_of_several_schedulers_is_whole():
    items = [
        {"namespace": "a", "name": "one", "management_state": "Managed"},
        {"namespace": "b", "name": "gone", "management_state": "Managed", "state": "absent"},
        {"namespace": "c", "name": "two", "management_state": "Force", "state": "present"},
        {"namespace": "d", "name": "three", "management_state": "Unmanaged"},
    ]
    verdicts = [{"scheduler_names": ["x", "y"]}, {"scheduler_names": ["z"]}, {"scheduler_names": ["w"]}]
    conflict = {"message": "both place the same pods"}
    probes = [
        {"item": "x", "node": "worker-1", "seconds": 2, "conflicts": [conflict]},
        {"item": "y", "node": "worker-2", "seconds": 3, "conflicts": [conflict]},
        {"item": "z", "node": ""},
        {"item": None, "node": "worker-3"},
        {"item": "w", "node": "worker-4", "conflicts": None},
    ]
    assert summary({"job": "site.yml"}, items, verdicts, probes) == [
        "Scheduler x (a/one) is available; its probe pod was placed on worker-1 after 2 s.",
        "Scheduler y (a/one) is available; its probe pod was placed on worker-2 after 3 s.",
        "Scheduler z (c/two) is available; it was not probed. -e probe=always probes it.",
        "Scheduler w (d/three) is not managed: management_state is Unmanaged.",
        "Conflict: both place the same pods.",
        "SecondaryScheduler b/gone is absent.",
        (
            "Next: set schedulerName: x in pods, or move workloads with ansible-playbook osso.scheduler.use_scheduler. ansible-playbook "
            "osso.scheduler.report shows all schedulers and the pods that wait."
        ),
    ]


def test_the_summary_without_a_name_of_a_scheduler_has_no_next_step():
    items = [{"namespace": "b", "name": "gone", "state": "absent"}]
    assert summary({}, items, [{}]) == ["SecondaryScheduler b/gone is absent."]
