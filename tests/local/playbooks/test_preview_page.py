# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The page that playbooks/preview.yml writes."""

from __future__ import annotations

import re

import pytest
from support.pages import EVIL, Page, assert_whole, rendered

SUMMARY = {"pods": 9, "moved": 1, "lost": [], "newly_schedulable": 0}
STATUSES = ("same", "moved", "tie", "unschedulable", "preempts", "not compared")


def row(status):
    scores = {EVIL: {"total": 12, "plugins": {EVIL: 5, "Fit": 7}}} if status in ("moved", "tie") else {}
    named = {"namespace": "n", "name": EVIL, "current": EVIL, "before": "", "node": EVIL, "reason": EVIL}
    return {**named, "status": status, "scores": scores}


def node(name, before, after, allocatable=4000):
    def amounts(cpu):
        return {"pods": 1, "cpu_millis": cpu, "memory": 0}

    return {
        "name": name,
        "allocatable": {"pods": 110, "cpu_millis": allocatable, "memory": 0},
        "before": amounts(before),
        "after": amounts(after),
    }


def page_summary(load=None):
    when = {"empty_nodes": 0, "cpu_percent_deviation": 1.5, "load": load}
    return {**SUMMARY, "before": when, "after": when}


def page(**found):
    result = {
        "pods": [],
        "nodes": [],
        "summary": page_summary(),
        "headroom": None,
        "exceeded": [],
        "assumptions": [],
        "missing": [],
        "scheduler_names": [],
        "kubernetes_version": "1.34",
        "msg": "",
        **found,
    }
    return rendered("preview.html.j2", preview_result=result)


def everything():
    return page(
        pods=[row(status) for status in STATUSES],
        nodes=[node(EVIL, 1000, 3000), node("n", 0, 9000)],
        exceeded=[EVIL],
        assumptions=[EVIL],
        missing=[EVIL],
        scheduler_names=[EVIL],
        kubernetes_version=EVIL,
        msg=EVIL,
    )


def classes(text, tag):
    return [attributes.get("class") for name, attributes in Page(text).tags if name == tag]


def test_a_pod_that_gets_its_first_node_is_shown_as_an_improvement():
    """Its status is moved, too."""
    pods = [{**row("moved"), "name": "waits"}, {**row("moved"), "name": "runs", "before": "a"}]
    text = page(pods=pods, summary={**page_summary(), "moved": 2, "newly_schedulable": 1})
    assert re.findall(r">(\d+)</b>([a-z ]+)<", text)[1:4] == [("1", "on another node"), ("0", "lose their node"), ("1", "get a node")]
    assert classes(text, "b")[1:4] == ["bad", "well", None]
    assert [name for name in classes(text, "span") if name != "soft"] == ["well", "bad"]
    assert classes(page(pods=pods[:1]), "b")[1] == "well"


def test_a_preempted_pod_loses_its_node():
    text = page(summary={**page_summary(), "lost": ["n/victim"]})
    assert '<b class="bad">1</b>lose their node' in text


@pytest.mark.parametrize("text", [page(), everything()], ids=["nothing", "everything"])
def test_the_page_is_complete_and_loads_nothing_else(text):
    assert_whole(text)


def test_texts_of_the_cluster_are_escaped():
    assert sum(EVIL in text for text in Page(everything()).texts) > 10
    assert "<script" not in everything()


def test_bars_show_shares_of_the_allocatable_resources():
    """At most the whole, also of a node that has nothing."""
    text = page(nodes=[node("a", 1000, 3000), node("b", 0, 9000), node("c", 0, 0, allocatable=0)])
    assert re.findall(r'style="width: ([\d.]+)%', text)[:2] == ["25.0", "75.0"]
    assert max(float(width) for width in re.findall(r'style="width: ([\d.]+)%', text)) == 100
    assert "25.0 % \u2192 75.0 %" in Page(text).texts


def test_each_status_that_a_pod_has_is_a_filter():
    """A status that no pod has is no choice, and each row has the class of its choice."""
    seen = Page(everything())
    chosen = [attributes["id"] for tag, attributes in seen.tags if tag == "input"]
    assert chosen == ["all", "moved", "unschedulable", "preempts", "tie", "not-compared"]
    assert [attributes["class"] for tag, attributes in seen.tags if tag == "tr" and attributes] == [
        f"is-{status.replace(' ', '-')}" for status in STATUSES[1:]
    ]
    assert {f"#{name}:checked ~ .wide > table > tbody > tr:not(.is-{name})" in everything() for name in chosen[1:]} == {True}
    assert [attributes["id"] for tag, attributes in Page(page(pods=[row("tie")])).tags if tag == "input"] == ["all", "tie"]


def test_pods_that_are_the_same_are_shown_with_their_scores():
    """If these were read."""
    scored = {**row("same"), "name": "scored", "scores": {"a": {"total": 9, "plugins": {"Fit": 9}}}}
    seen = Page(page(pods=[{**row("same"), "name": "unscored"}, scored, row("moved")]))
    assert [attributes["id"] for tag, attributes in seen.tags if tag == "input"] == ["all", "moved", "same"]
    assert ["n/scored" in seen.texts, "n/unscored" in seen.texts, "9: Fit 9" in seen.texts] == [True, False, True]
    assert "#same:checked" in page()


def test_the_page_shows_the_measured_load_only_if_it_is_known():
    seen = Page(page()).texts
    assert "deviation of measured CPU load in percent" not in seen
    seen = Page(page(summary=page_summary({"cpu_percent_deviation": 7.5}))).texts
    assert "deviation of measured CPU load in percent" in seen
    assert "7.5 \u2192 7.5" in seen


def test_the_page_shows_how_many_more_pods_fit():
    text = " ".join(Page(page(headroom={"pods": 8, "before": 6, "stopped_by": EVIL})).texts)
    assert "8 more pods fit, 6 before" in text
    assert f"The next pod: {EVIL}" in text


def test_scores_are_listed_with_the_best_node_first():
    """Nodes with the same score by their names, whatever the order of the result."""
    scores = {name: {"total": total, "plugins": {}} for name, total in (("c", 9), ("b", 100), ("d", 100), ("a", 80))}
    seen = Page(page(pods=[{**row("moved"), "scores": scores}]))
    assert [text for text in seen.texts if text in scores] == ["b", "d", "a", "c"]
