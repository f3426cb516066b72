# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Several kinds of objects watched at the same time."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object, Resource

# A watch is renewed this often, and then everything is listed again.
_WATCH_SECONDS = 10
_PAUSE_SECONDS = 0.5


class Selection(NamedTuple):
    """What to watch: a `Resource` in a namespace, one object by its name, or those with a label."""

    resource: Resource
    namespace: str | None
    name: str | None = None
    label_selector: str | None = None

    @property
    def field_selector(self) -> str | None:
        return f"metadata.name={self.name}" if self.name else None

    def list(self, client: Client) -> list[Object]:
        """The objects as they are. Raises `ApiError`."""
        return client.list(self.resource, self.namespace, label_selector=self.label_selector, field_selector=self.field_selector)


News = tuple[str, str, Any]
"""The key of a selection, the event, and what it is about: an object, all objects by name (LISTED), or what was raised (FAILED)."""


class Watcher:
    """Keeps what is selected up to date: a context manager, whose ``objects(key)`` are the objects by name.

    ``selections`` is a dict of any keys to `Selection`.
    """

    def __init__(self, client: Client, selections: Mapping[str, Selection]) -> None:
        self._client = client
        self._selections = selections
        self._objects: dict[str, dict[str, Object]] = {key: {} for key in selections}
        self._news: queue.Queue[News] = queue.Queue()
        self._over = threading.Event()

    def __enter__(self) -> Watcher:
        for key, selection in self._selections.items():
            self._objects[key] = self._listed(selection)
        for key in self._selections:
            threading.Thread(target=self._follow, args=(key,), daemon=True).start()
        return self

    def __exit__(self, *failure: object) -> None:
        # The threads end with their present watch.
        self._over.set()

    def objects(self, key: str) -> dict[str, Object]:
        return self._objects[key]

    def wait(self, seconds: float) -> None:
        """Take over what has changed; return after the first change, or when ``seconds`` are over. Raises what a watch raised."""
        try:
            self._take(self._news.get(timeout=max(0.01, seconds)))
            while True:
                self._take(self._news.get_nowait())
        except queue.Empty:
            pass

    def _take(self, news: News) -> None:
        key, event, content = news
        if event == "FAILED":
            raise content
        if event == "LISTED":
            self._objects[key] = content
        elif event == "DELETED":
            self._objects[key].pop(content["metadata"]["name"], None)
        else:
            self._objects[key][content["metadata"]["name"]] = content

    def _listed(self, selection: Selection) -> dict[str, Object]:
        return {one["metadata"]["name"]: one for one in selection.list(self._client)}

    def _follow(self, key: str) -> None:
        selection = self._selections[key]
        may_watch = True
        try:
            while not self._over.is_set():
                started = time.monotonic()
                if may_watch:
                    try:
                        for event, obj in self._client.watch(
                            selection.resource,
                            selection.namespace,
                            timeout=_WATCH_SECONDS,
                            label_selector=selection.label_selector,
                            field_selector=selection.field_selector,
                        ):
                            self._news.put((key, event, obj))
                            if self._over.is_set():
                                return
                    except ApiError as error:
                        if error.status not in (403, 404, 405, 410):
                            raise
                        may_watch = error.status == 410
                if self._over.wait(max(0, _PAUSE_SECONDS - (time.monotonic() - started))):
                    return
                # What was deleted between two watches is seen by this.
                self._news.put((key, "LISTED", self._listed(selection)))
        except Exception as error:  # It is raised where the watcher is waited for.
            self._news.put((key, "FAILED", error))
