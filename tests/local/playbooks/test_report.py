# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The page that playbooks/report.yml writes."""

from __future__ import annotations

import re

import pytest
from support.pages import EVIL, Page, assert_whole, rendered


def page(**found) -> str:
    info = {
        "schedulers": [],
        "pending_pods": [],
        "pending_groups": [],
        "conflicts": [],
        "collisions": [],
        "overlaps": [],
        "operators": [],
        "unknown": [],
        **found,
    }
    return rendered("report.html.j2", report_info=info)


def scheduler(serving=True, **about):
    leader = {"namespace": "n", "lease": "l", "holder": EVIL, "acquired_seconds": 7300, "renewed_seconds": 200, "duration_seconds": 15}
    latency = {"count": 9, "p50": 0.00123, "p90": 0.5, "p99": 2.5}
    return {
        "scheduler_names": [EVIL],
        "kind": "Deployment",
        "software": "kube-scheduler",
        "namespace": "n",
        "name": "d",
        "workload": "Deployment/d",
        "image": EVIL,
        "version": None,
        "replicas": 2,
        "ready": 1,
        "serving": serving,
        "leader": leader,
        "conditions": [],
        "message": EVIL,
        "profiles": [
            {"scheduler_name": EVIL, "plugins": {"score": [EVIL, "A"], "bind": ["B"]}, "weights": {"A": 7}},
            {"scheduler_name": "opaque", "plugins": None, "weights": None},
        ],
        "profiles_message": EVIL,
        "instances": [
            {
                "pod": EVIL,
                "node": "",
                "ready": False,
                "running_seconds": None,
                "restarts": 3,
                "last_end": {"reason": EVIL, "exit_code": 1, "at": ""},
                "last_error": {"time": "", "line": EVIL, "previous": True},
            }
        ],
        "metrics": {
            "profiles": [{"scheduler_name": EVIL, "attempts": {"scheduled": 8, "error": 1}, "attempt_seconds": latency}],
            "pod_seconds": latency,
            "pending": {"active": 4, "backoff": 5},
        },
        "metrics_message": "",
        **about,
    }


def pending(served=True, seconds=5, pods=1):
    about = {"scheduler_name": EVIL, "namespace": "n", "name": "p", "owner": EVIL, "pods": pods}
    return {**about, "pending_seconds": seconds, "served": served, "reason": EVIL}


def everything():
    operator = {"namespace": "n", "name": "o", "variant": "osso", "watches": [EVIL], "image": EVIL, "replicas": 1, "ready": 1}
    nothing = {"scheduler_names": [], "workload": None, "image": None, "replicas": None, "ready": None, "leader": None}
    nothing.update({"instances": None, "profiles": None, "metrics": None, "metrics_message": EVIL})
    return page(
        schedulers=[scheduler(), scheduler(False), scheduler(None, **nothing)],
        pending_groups=[pending(False, 90), pending(True, 90 * 3600), pending(None, pods=500)],
        conflicts=[{"scheduler_name": EVIL, "schedulers": [EVIL], "message": EVIL}],
        collisions=[{"message": EVIL, "namespace": "n", "name": EVIL, "at": "2026-11-20T12:00:00Z"}],
        overlaps=[{"message": EVIL}],
        operators=[operator],
        unknown=[EVIL],
    )


@pytest.mark.parametrize("text", [page(), everything()], ids=["nothing", "everything"])
def test_the_page_is_complete_and_loads_nothing_else(text):
    assert_whole(text)


def test_texts_of_the_cluster_are_escaped():
    seen = Page(everything())
    assert sum(EVIL in text for text in seen.texts) > 10


def test_nodes_of_several_schedulers_are_shown_before_they_collide():
    seen = Page(page(overlaps=[{"message": "a and b place pods on the same 3 nodes"}])).texts
    assert {"Nodes that more than one scheduler uses", "a and b place pods on the same 3 nodes"} <= set(seen)
    assert "Pods that a kubelet rejected" not in seen


def test_the_page_shows_how_many_schedulers_are_available_and_how_many_pods_wait():
    seen = Page(everything()).texts
    assert "1 of 3" in seen
    assert "not available" in seen
    assert "availability unknown" in seen
    assert "names unknown" in seen
    assert {"90 s", "3 d"} <= set(seen)


def test_the_page_shows_leader_restarts_metrics_and_queues_of_a_scheduler():
    text = " ".join(Page(page(schedulers=[scheduler()])).texts)
    for shown in (
        "for 2 h, renewed 3 min ago",
        "3 restarts",
        "(before the restart)",
        "1 error, 8 scheduled; half of 9 within 1.2 ms, 99 % within 2.5 s",
    ):
        assert shown in text
    assert "4 active, 5 backoff" in text
    assert "A (7)" in text
    assert "Plugins of opaque" not in text


def test_headings_without_contents_are_left_out():
    for heading in ("Pods without a responsible scheduler", "Pods that a kubelet rejected"):
        assert heading not in Page(page()).texts
        assert heading in Page(everything()).texts


def test_pods_of_one_owner_share_a_row_that_counts_all():
    seen = Page(page(pending_groups=[pending(False, pods=500), pending(True, pods=2)]))
    assert [text for text in seen.texts if text.startswith("500 of ")] == [f"500 of {EVIL} in n"]
    assert {"500", "2"} <= set(seen.texts)


def test_two_schedulers_of_one_name_are_shown_as_a_problem():
    conflict = {"scheduler_name": "s", "schedulers": ["Deployment a/x", "Deployment b/y"], "message": "both place the same pods"}
    seen = Page(page(schedulers=[scheduler(), scheduler()], conflicts=[conflict]))
    assert "s: both place the same pods" in seen.texts
    assert ("b", {"class": "bad"}) in seen.tags
    assert ("b", {"class": "bad"}) not in Page(page(schedulers=[scheduler(), scheduler()])).tags


def test_an_unknown_availability_is_not_shown_as_good():
    shown = {"well": [True, True], "unknown": [True, None], "bad": [False, None]}
    for colour, serving in shown.items():
        tags = Page(page(schedulers=[scheduler(one) for one in serving])).tags
        assert next(about for tag, about in tags if tag == "b") == {"class": colour}


def test_colours_are_defined_for_all_elements_that_have_them():
    """The class alone gives an element only the colour of a border."""
    used = {f"{tag}.{about['class']}" for tag, about in Page(everything()).tags if about.get("class") in ("well", "bad", "unknown")}
    style = page().partition("<style>")[2].partition("</style>")[0]
    coloured = {name.strip() for names in re.findall(r"([^{};]+)\{ color:", style) for name in names.split(",")}
    assert used <= coloured
    assert {"b.unknown", "li.bad"} <= coloured


def test_more_than_a_hundred_profiles_are_counted():
    about = scheduler()
    about["metrics"]["profiles"] *= 101
    about["profiles"] *= 51
    texts = Page(page(schedulers=[about])).texts
    assert (texts.count("attempts"), texts.count("and 1 more profiles"), texts.count("and 2 more profiles")) == (100, 1, 1)


def test_lists_that_the_user_may_not_read_are_shown_as_unknown():
    assert Page(page(pending_pods=None, pending_groups=None, operators=None, collisions=None, overlaps=None)).texts.count("unknown") == 3
    assert "unknown" not in Page(page()).texts


def test_the_page_names_the_software_of_another_scheduler():
    assert "Volcano" in Page(page(schedulers=[scheduler(software="Volcano")])).texts
