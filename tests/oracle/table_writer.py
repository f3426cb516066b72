# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write the column of a release (derive.py) to the tables of the engine.

A row that changes gets the new minor; no row of an older release changes. What the tables cannot express without a decision is left: the
comparison that follows reports it.
"""

from __future__ import annotations

import ast
import difflib
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

TABLES = Path(__file__).parents[2] / "plugins/module_utils/_kube_scheduler/tables"
LAST = 99
"""The last minor of a flag that still exists."""


class Source:
    """The source of a table. Changes are collected and made by ``save``, so that the places of the tree stay valid."""

    def __init__(self, name: str):
        self.path = TABLES / f"{name}.py"
        self.text = self.path.read_text()
        self._lines = [0]
        for line in self.text.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._values = {
            target.id: statement.value
            for statement in ast.parse(self.text).body
            if isinstance(statement, (ast.Assign, ast.AnnAssign))
            for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
            if isinstance(target, ast.Name)
        }
        self._changes: list[tuple[int, int, str]] = []

    def __getitem__(self, name: str) -> Any:
        """The literal that is assigned to a name."""
        return self._values[name]

    def entries(self, name: str) -> dict[str, Any]:
        """Key -> value of a dictionary."""
        node = self[name]
        return {key.value: value for key, value in zip(node.keys, node.values, strict=True)}

    def replace(self, node: ast.expr, text: str) -> None:
        self._changes.append((self._place(node.lineno, node.col_offset), self._place(node.end_lineno, node.end_col_offset), text))

    def remove(self, first: ast.expr, last: ast.expr) -> None:
        """Remove an element, or key and value of an entry, with the comma behind it."""
        end = self._place(last.end_lineno, last.end_col_offset)
        self._changes.append((self._place(first.lineno, first.col_offset), end + (self.text[end : end + 1] == ","), ""))

    def insert_after(self, node: ast.expr, rows: Iterable[str]) -> None:
        """Add elements behind an element of a list."""
        end = self._place(node.end_lineno, node.end_col_offset)
        self._changes.append((end, end, "".join(f",\n{row}" for row in rows)))

    def end(self, call: ast.Call, minor: int) -> None:
        """``until=minor`` for a row that has no last minor."""
        if any(keyword.arg == "until" for keyword in call.keywords):
            return
        place = self._place(call.end_lineno, call.end_col_offset) - 1
        inner = self.text[self._place(call.lineno, call.col_offset) : place].rstrip()
        separator = "" if inner.endswith("(") else " " if inner.endswith(",") else ", "
        self._changes.append((place, place, f"{separator}until={minor}"))

    def save(self) -> None:
        text = self.text
        for start, end, new in sorted(self._changes, key=lambda change: change[:2], reverse=True):
            text = text[:start] + new + text[end:]
        self.path.write_text(text)

    def _place(self, line: int | None, column: int | None) -> int:
        return self._lines[(line or 1) - 1] + (column or 0)


def raise_newest(minor: int) -> None:
    """Add the release to the tables, before anything else of the engine is imported."""
    path = TABLES / "releases.py"
    text = path.read_text()
    found = re.search(r"^OLDEST, NEWEST = \d+, (\d+)$", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"{path} has no line OLDEST, NEWEST")
    known = int(found[1])
    if minor > known:
        path.write_text(text.replace(f", {known}\n", f", {minor}\n").replace(f"to 1.{known};", f"to 1.{minor};"))


def write(minor: int, real: Mapping[str, Any], told: Mapping[str, Any]) -> None:
    """Write all that differs. real, told: the columns of the release and of the tables."""
    write_gates(minor, changed(real["feature gates"], told["feature gates"], "gone"), "GATES")
    needed = changed(real["gates that need other gates"], told["gates that need other gates"], [])
    write_gates(minor, {name: ",".join(gates) for name, gates in needed.items()}, "DEPENDENCIES")
    write_flags(minor, changed(real["flags"], told["flags"], ""))
    write_plugins(minor, real, told)
    write_types(minor, real, told)


def changed(real: Mapping[str, Any], told: Mapping[str, Any], absent: Any) -> dict[str, Any]:
    """Key -> its value in the release, where the table has another one."""
    return {name: real.get(name, absent) for name in sorted({*real, *told}) if real.get(name, absent) != told.get(name, absent)}


def write_gates(minor: int, values: Mapping[str, str], table: str) -> None:
    """Append the values of this minor to the histories of gates."""
    path = TABLES / "gates.py"
    head, start, rest = path.read_text().partition(f"\n{table} = {{\n")
    body, end, tail = rest.partition("\n}\n")
    rows = dict(re.findall(r'^    "(\w+)": "([^"]*)",$', body, re.MULTILINE))
    comment = next(line for line in body.splitlines() if line.strip().startswith("#"))
    for name, now in values.items():
        kept = [entry for entry in rows.get(name, "").split() if not entry.startswith(f"{minor}:")]
        rows[name] = " ".join([*kept, f"{minor}:{now}"])
    lines = [comment, *(f'    "{name}": "{rows[name]}",' for name in sorted(rows))]
    path.write_text(head + start + "\n".join(lines) + end + tail)


def write_flags(minor: int, values: Mapping[str, str]) -> None:
    """Add new flags, and end those that do not exist any more with the release before."""
    path = TABLES / "flags.py"
    head, start, rest = path.read_text().partition("FLAGS = {\n")
    body, end, tail = rest.partition("\n}\n")
    comment, *lines = body.splitlines()
    for name, kind in values.items():
        lines = [re.sub(rf", {LAST}\),$", f", {minor - 1}),", line) if line.startswith(f'    "{name}":') else line for line in lines]
        if kind:
            lines.append(f'    "{name}": ("{kind}", {minor}, {LAST}),')
    path.write_text(head + start + "\n".join([comment, *sorted(lines)]) + end + tail)


def write_plugins(minor: int, real: Mapping[str, Any], told: Mapping[str, Any]) -> None:
    source = Source("plugins")
    new = [point for point in real["extension points"] if point not in told["extension points"]]
    if new:
        _write_points(source, minor, new)
    in_tree = {row.args[0].value: row for row in source["IN_TREE"].elts}
    rows = []
    for name, points in changed(real["plugins"], told["plugins"], None).items():
        if points is None:
            source.end(in_tree[name], minor - 1)
        elif name in in_tree:
            node = in_tree[name].args[1]
            source.replace(node, f'"{_bounded(node.value, minor, points, told["plugins"].get(name, ()))}"')
        else:
            rows.append(f'    Plugin("{name}", "{" ".join(points)}", since={minor})')
    source.insert_after(source["IN_TREE"].elts[-1], rows)
    locked = [gate for gate, stage in real["feature gates"].items() if stage.endswith("+!")]
    before = [line.rpartition(" ")[0] if line.rpartition(" ")[2] in locked else line for line in told["default plugins"]]
    _write_default_plugins(source, minor, real["default plugins"], before)
    source.save()


def _write_points(source: Source, minor: int, new: list[str]) -> None:
    source.insert_after(source["POINTS"].values[-1], [f'    "{point}": {minor}' for point in new])
    order = source["BUILD_ORDER"].values[-1]
    source.insert_after(order, [f"    {minor}: {_words([*order.value.split(), *new])}"])
    merged = source.entries("MERGED_POINTS")["v1"]
    source.replace(merged, _words(dict.fromkeys([*merged.value.split(), *new])))


def _words(words: Iterable[str]) -> str:
    """The source of a text of words, in lines."""
    lines = textwrap.wrap(" ".join(words), 120)
    return "\n    ".join([f'"{line}"' if number == 0 else f'" {line}"' for number, line in enumerate(lines)])


def _bounded(notation: str, minor: int, points: Iterable[str], before: Iterable[str]) -> str:
    """``filter score>=22`` with the points that this minor adds or removes. A point that has a bound already is left to a person."""
    words = []
    for word in notation.split():
        name = re.split("[<>]=", word)[0]
        words.append(f"{word}<={minor - 1}" if name in before and name not in points and name == word else word)
    known = {re.split("[<>]=", word)[0] for word in words}
    return " ".join([*words, *(f"{point}>={minor}" for point in points if point not in known)])


def _write_default_plugins(source: Source, minor: int, real: list[str], told: list[str]) -> None:
    """End the rows that do not apply any more, and add those of this release behind the plugin that runs before."""
    rows = {}
    for row in source["DEFAULTS"].elts:
        values = {keyword.arg: getattr(keyword.value, "value", None) for keyword in row.keywords}
        of_v1 = getattr(row.args[0], "id", "") == "MULTI_POINT" and "v1" in values["versions"].split()
        if of_v1 and values.get("since", 0) <= minor <= (values.get("until") or minor):
            rows[row.args[1].value] = row
    last = None
    for operation, first, behind, start, stop in difflib.SequenceMatcher(a=told, b=real, autojunk=False).get_opcodes():
        for line in told[first:behind]:
            if operation in ("delete", "replace"):
                source.end(rows[_default(line)[0]], minor - 1)
            last = rows[_default(line)[0]]
        if operation in ("insert", "replace") and last is not None:
            source.insert_after(last, list(_default_rows(minor, real[start:stop])))


def _default_rows(minor: int, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        name, weight, gate = _default(line)
        yield (
            f'    Default(MULTI_POINT, "{name}"'
            + (f", {weight}" if weight != "0" else "")
            + f', versions="v1", since={minor}'
            + (f', gate="{gate}")' if gate else ")")
        )


def _default(line: str) -> tuple[str, str, str]:
    """``DynamicResources=2 DynamicResourceAllocation`` in its parts; without a gate the last one is empty."""
    plugin, _space, gate = line.partition(" ")
    name, _equals, weight = plugin.partition("=")
    return name, weight, gate


def write_types(minor: int, real: Mapping[str, Any], told: Mapping[str, Any]) -> None:
    source = Source("types")
    kinds = source.entries("IN_TREE_KINDS")
    for kind in told["arguments"]:
        if kind not in real["arguments"]:
            source.end(kinds[kind], minor - 1)
    new = [kind for kind in real["arguments"] if kind not in told["arguments"]]
    source.insert_after(source["IN_TREE_KINDS"].values[-1], [f'    "{kind}": Kind(since={minor})' for kind in new])
    structures = source.entries("STRUCTURES")
    for name, fields in real["structures"].items():
        if name not in structures:
            rows = [_field(field, kind, _default_of(real, name, field), 0) for field, kind in sorted(fields.items())]
            start = "*_TYPE, " if name.endswith("Args") else ""
            source.insert_after(source["STRUCTURES"].values[-1], [f'    "{name}": ({start}{", ".join(rows)},)'])
            continue
        known = told["structures"].get(name, {})
        written = {row.args[0].value: row for row in structures[name].elts if isinstance(row, ast.Call)}
        added = []
        for field, kind in changed(fields, known, None).items():
            if field in known and field in written:
                source.end(written[field], minor - 1)
            if kind:
                added.append(_field(field, kind, _default_of(real, name, field), minor))
        if added:
            source.insert_after(structures[name].elts[-1], [f"        {row}" for row in added])
    source.save()


def _default_of(real: Mapping[str, Any], structure: str, field: str) -> Any:
    """The value that an empty configuration is completed with, where it is a plain one; else None."""
    defaults = real["defaults"]
    value = (defaults if structure == "KubeSchedulerConfiguration" else defaults.get(structure.removesuffix("Args"), {})).get(field)
    return value if isinstance(value, (bool, int, str)) else None


def _field(name: str, kind: str, default: Any, since: int) -> str:
    """A row of a structure. The default of a duration is not the text that a document has, hence a person's."""
    text = f'Field("{name}", "{kind}"'
    if default is not None and "duration" not in kind:
        text += f", {default!r}, ALWAYS".replace("'", '"')
    return text + (f", since={since})" if since else ")")
