# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Several kinds watched at the same time: what is listed first, what changes later, and what ends it."""

from __future__ import annotations

import threading
import time

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._olm.watching import Selection, Watcher
from support.olm_objects import KINDS, catalog, csv, olm_cluster

CATALOGS, CSVS = (next(one for one in KINDS if one.kind == kind) for kind in ("CatalogSource", "ClusterServiceVersion"))


class Watched:
    """A cluster whose watches deliver these events once, and then this error, or nothing until the end."""

    def __init__(self, *objects, events=(), error=None):
        self.cluster = olm_cluster(*objects)
        self.events, self.error, self.asked, self.over = list(events), error, [], threading.Event()

    def list(self, *args, **options):
        return self.cluster.list(*args, **options)

    def watch(self, resource, namespace, **options):
        self.asked.append((resource.kind, namespace, options))
        while self.events:
            yield self.events.pop(0)
        if self.error:
            error, self.error = self.error, None
            raise error
        self.over.wait(10)


def until(watcher, holds):
    """Wait for changes until this is true."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "no such change"
        watcher.wait(0.1)


def changed(obj, **content):
    return {**obj, **content}


def test_objects_are_listed_first_and_changed_by_events():
    one, two = catalog("one"), catalog("two")
    client = Watched(one, two, csv(), events=[("MODIFIED", changed(one, x=1)), ("DELETED", two), ("ADDED", catalog("three"))])
    selections = {"catalogs": Selection(CATALOGS, "n")}
    with Watcher(client, selections) as watcher:
        assert sorted(watcher.objects("catalogs")) == ["one", "two"]
        until(watcher, lambda: sorted(watcher.objects("catalogs")) == ["one", "three"])
        assert watcher.objects("catalogs")["one"]["x"] == 1
        client.over.set()
    assert client.asked[0] == ("CatalogSource", "n", {"timeout": 10, "label_selector": None, "field_selector": None})


def test_each_kind_has_its_own_objects_and_selectors():
    client = Watched(catalog("one"), catalog("two"), csv())
    selections = {"one": Selection(CATALOGS, "n", "one"), "csvs": Selection(CSVS, None, label_selector="!olm.copiedFrom")}
    with Watcher(client, selections) as watcher:
        assert list(watcher.objects("one")) == ["one"]
        assert list(watcher.objects("csvs")) == ["demo.v1.0.0"]
        until(watcher, lambda: len(client.asked) == 2)
        client.over.set()
    assert sorted(client.asked, key=str) == [
        ("CatalogSource", "n", {"timeout": 10, "label_selector": None, "field_selector": "metadata.name=one"}),
        ("ClusterServiceVersion", None, {"timeout": 10, "label_selector": "!olm.copiedFrom", "field_selector": None}),
    ]


@pytest.mark.parametrize("status", [403, 404, 405, 410])
def test_a_watch_that_is_not_possible_is_replaced_by_lists(status):
    client = Watched(catalog("one"), error=ApiError(status, "No", "no"))
    with Watcher(client, {"catalogs": Selection(CATALOGS, "n")}) as watcher:
        client.cluster.store(catalog("late"))
        client.cluster.remove("CatalogSource", "one", "n")
        until(watcher, lambda: list(watcher.objects("catalogs")) == ["late"])
        if status == 410:
            # The version was too old, so another watch follows.
            until(watcher, lambda: len(client.asked) == 2)
        client.over.set()
    if status != 410:
        assert len(client.asked) == 1


@pytest.mark.parametrize("error", [ApiError(500, "Broken", "broken"), ApiError(401, "Unauthorized", "who"), ValueError("bad")])
def test_an_error_of_a_watch_is_raised_by_the_wait(error):
    client = Watched(catalog("one"), error=error)
    with Watcher(client, {"catalogs": Selection(CATALOGS, "n")}) as watcher, pytest.raises(type(error)) as raised:
        until(watcher, lambda: False)
    assert raised.value is error


def test_a_wait_ends_when_its_time_is_over():
    client = Watched(catalog("one"))
    with Watcher(client, {"catalogs": Selection(CATALOGS, "n")}) as watcher:
        started = time.monotonic()
        watcher.wait(0)
        watcher.wait(-1)
        assert time.monotonic() - started < 5
        assert list(watcher.objects("catalogs")) == ["one"]
        client.over.set()


def test_a_wait_lasts_until_the_first_change():
    client = Watched(catalog("one"), events=[("ADDED", catalog("two")), ("ADDED", catalog("three"))])
    begin = threading.Event()
    watch = client.watch

    def later(*args, **options):
        begin.wait(10)
        yield from watch(*args, **options)

    client.watch = later
    with Watcher(client, {"catalogs": Selection(CATALOGS, "n")}) as watcher:
        threading.Timer(0.1, begin.set).start()
        watcher.wait(10)
        assert "two" in watcher.objects("catalogs")
        client.over.set()
