# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What operator/image/slim.py changes in packages does the same as before, later."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

USES = """
import colorsys
import xml.sax.saxutils
from html import escape


def as_text(markup):
    return xml.sax.saxutils.escape(escape(markup))


def gray():
    try:
        return colorsys.rgb_to_hsv(0.5, 0.5, 0.5)
    except colorsys.NoSuchError:
        raise
"""
STATEMENTS = ("import xml.sax.saxutils", "from html import escape")


@pytest.fixture(scope="module")
def slim(root):
    specification = importlib.util.spec_from_file_location("slim", root / "operator/image/slim.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def ask(folder, question):
    code = f"import sys, uses; print({question})"
    return subprocess.run([sys.executable, "-S", "-c", code], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def test_modules_are_loaded_when_they_are_used(slim, tmp_path):
    path = tmp_path / "uses.py"
    path.write_text(USES)
    loaded = "[name in sys.modules for name in ('xml.sax.saxutils', 'html', 'colorsys')]"
    assert ask(tmp_path, loaded) == "[True, True, True]"
    before = ask(tmp_path, "uses.as_text('<a>')")
    slim.load_when_used(path, STATEMENTS)
    assert ask(tmp_path, loaded) == "[False, False, True]"
    assert ask(tmp_path, "uses.as_text('<a>')") == before == "&amp;lt;a&amp;gt;"


def test_what_is_no_longer_there_is_told(slim, tmp_path):
    path = tmp_path / "uses.py"
    path.write_text(USES)
    with pytest.raises(ValueError, match=r"nothing that matches .*tarfile"):
        slim.load_when_used(path, ("import tarfile",))
