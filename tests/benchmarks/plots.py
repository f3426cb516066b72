# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plots as SVG, by the packages of requirements/plots.txt, which are installed in .cache/plots when they are first needed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / ".cache/plots"
REQUIREMENTS = ROOT / "requirements/plots.txt"


def lines(path: Path, title: str, x_title: str, y_title: str, groups: dict[str, tuple[str, list]], percent: bool = True) -> None:
    """Draw lines; a group is a colour and the points [(x, y), ...] of each of its lines. percent: y is 0 to 100."""
    colours = [colour for colour, _lines in groups.values()]
    chart = _pygal().XY(
        **_look(title, colours, x_title=x_title, y_title=y_title),
        show_dots=False,
        **({"range": (0, 100)} if percent else {"include_x_axis": True}),
        allow_interruptions=True,
    )
    for name, (_colour, members) in groups.items():
        # All lines of a colour are one series, with gaps, and have one entry in the legend.
        chart.add(name, [point for points in members for point in (*points, (None, None))])
    _save(path, chart)


def bars(path: Path, title: str, x_title: str, y_title: str, labels: list[str], groups: dict[str, tuple[str, list]]) -> None:
    """Draw groups of bars; a group is a colour and one value for each label."""
    chart = _pygal().Bar(**_look(title, [colour for colour, _values in groups.values()], x_title=x_title, y_title=y_title))
    chart.x_labels = labels
    for name, (_colour, values) in groups.items():
        chart.add(name, values)
    _save(path, chart)


def _look(title: str, colours: list[str], **more) -> dict:
    style = _pygal().style.Style(
        background="white",
        plot_background="white",
        colors=tuple(colours),
        font_family="sans-serif",
        foreground="#222222",
        foreground_strong="#222222",
        foreground_subtle="#888888",
        guide_stroke_color="#dddddd",
        major_guide_stroke_color="#cccccc",
        opacity="1",
        stroke_width="1.5",
        title_font_size=16,
        label_font_size=12,
        major_label_font_size=12,
        legend_font_size=13,
    )
    shape = {"width": 900, "height": 480, "explicit_size": True, "legend_at_bottom": True, "legend_at_bottom_columns": 3}
    return {"title": title, "style": style, "truncate_legend": -1, "no_prefix": True, **shape, **more}


def _save(path: Path, chart) -> None:
    """Without scripts, and without the day: the same values make the same file."""
    text = re.sub(r"<script.*?</script>|<!--.*?-->", "", chart.render(is_unicode=True), flags=re.DOTALL)
    path.write_text(text.replace("><g", ">\n<g") + "\n")


def _pygal():
    stamp, wanted = PACKAGES / "stamp", REQUIREMENTS.read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "--upgrade", f"--target={PACKAGES}"]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, f"--requirement={REQUIREMENTS}"], check=True)
        stamp.write_text(wanted)
    if str(PACKAGES) not in sys.path:
        sys.path.append(str(PACKAGES))
    import pygal

    return pygal
