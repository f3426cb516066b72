# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pages that playbooks write (playbooks/templates)."""

from __future__ import annotations

from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import jinja2

TEMPLATES = Path(__file__).parents[2] / "playbooks/templates"
ALONE = {"meta", "link", "img", "br", "input"}
EVIL = "<script>alert('x')</script>&\""


class Page(HTMLParser):
    """The texts of a page; `open` holds the elements that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.tags, self.wrong = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ALONE:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.texts.append(data.strip())


def rendered(template: str, **variables) -> str:
    """The page of a hostile host."""
    environment = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined, loader=jinja2.FileSystemLoader(TEMPLATES))
    environment.globals["now"] = lambda utc, fmt: datetime.now(UTC).strftime(fmt)
    return environment.get_template(template).render(inventory_hostname=EVIL, **variables)


def assert_whole(text: str) -> None:
    """Each element ends, and the page loads and runs nothing."""
    seen = Page(text)
    assert (seen.open, seen.wrong) == ([], [])
    assert {tag for tag, _attributes in seen.tags} & {"script", "link", "img", "iframe"} == set()
    assert not {name for _tag, attributes in seen.tags for name in attributes} & {"src", "href", "onload", "onclick"}
    assert "http" not in text
    assert "@import" not in text
    assert "url(" not in text
