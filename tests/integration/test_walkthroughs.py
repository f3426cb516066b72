# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pages of docs/walkthroughs, as their readers follow them: every command, and what it prints.

WALKTHROUGHS=write (`make walkthroughs`) writes into the pages what the commands print now.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.site import NAMESPACE, installed, remove
from support.walkthrough import Page, Place

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/walkthroughs"

# What the pages call the operator's image; all others are called here as everywhere.
OPERATOR_IMAGE = "registry.example.com/osso/scheduler-operator:1.0.0"


def place(**more) -> Place:
    names = {OPERATOR_IMAGE: Path(os.environ["OPERATOR_IMAGE_FILE"]).read_text().strip(), **more.pop("names", {})}
    return Place(names=names, **more)


@contextmanager
def without_operator(request) -> Iterator[Place]:
    remove()
    yield place()


@contextmanager
def with_operator(request) -> Iterator[Place]:
    installed()
    yield place()


# By page where it begins; those of the gate first.
WHERE = {
    "secondary-scheduler": without_operator,
    "pending-pods": with_operator,
}
GATE = ("secondary-scheduler", "pending-pods")


@pytest.fixture
def left_as_found(kubectl):
    """Namespaces that a page has made are gone, also after a failure; whoever comes next has the operator installed anew if needed."""

    def namespaces():
        return set(kubectl("get", "namespaces", "--output=name").stdout.split()) - {f"namespace/{NAMESPACE}"}

    before = namespaces()
    yield
    if new := namespaces() - before:
        kubectl("delete", *new, "--wait=false")


def test_every_page_is_executed():
    assert {path.stem for path in PAGES.glob("*.md")} == set(WHERE)


@pytest.mark.usefixtures("left_as_found")
@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in GATE else pytest.mark.long) for name in WHERE])
def test_page(name, request, tmp_path):
    with WHERE[name](request) as where:
        Page(PAGES / f"{name}.md").execute(tmp_path, where, write=os.environ.get("WALKTHROUGHS") == "write")
