# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lines that Kubernetes components log: klog's text with keys and values, and JSON (``--logging-format=json``). Pure.

Text (k8s.io/klog/v2, internal/serialize): a header such as ``I1122 05:26:55.123456       1 dumper.go:52]``, the message in quotes,
``key=value`` pairs. A value is JSON or a quoted string; one of several lines stands, each line after a tab, between ``<`` and `` >``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.unicode import replaced, replaced_in
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document_nodes import always

_HEADER = re.compile(r"(?P<severity>[IWEF])(?P<time>\d{4} \d\d:\d\d:\d\d\.\d{6})\s+\d+ (?P<source>[^\s\]]+:\d+)\] ?")
# How the Go runtime begins when a program ends by itself
_PANICS = ("panic: ", "fatal error: ")
_CONTROL = re.compile(r"[^\n\t\x20-\x7e\x80-\U0010ffff]")
# Bytes of a log that the kubelet takes, from the end: then the first line may begin anywhere.
_CUT = 2048
_PANIC = re.compile(r"(?:panic|fatal error|runtime): .|time=\S+ level=(?:fatal|panic) ")
# How errors begin that Kubernetes up to 1.22 prints without a header
_BARE = re.compile(
    r"(?:couldn't |could not |error |failed to |unable to |invalid configuration|strict decoding error|decoding |no kind |Object '|yaml: |json: |"
    r"stat |open |exec |\[?[\w.]+(?:\[\d+\][\w.]*)*: (?:Invalid|Required|Duplicate|Unsupported) value)"
)
# kube-scheduler logs this after SIGTERM; the cause is something else.
_TOLD_TO_END = ("finished without leader elect", "lost lease", "context canceled", '"handlers are not fully synchronized"')
# What says most comes last.
_ERROR, _USAGE, _FATAL, _PANICKED, _FAILED = range(5)
_SEVERITIES = {"I": "info", "W": "warning", "E": "error", "F": "fatal"}
_STRING = r'"(?:[^"\\]|\\.)*"'
_MESSAGE = re.compile(rf"({_STRING})(?= |$)")
# A few keys have blanks.
_KEY = re.compile(r" ([A-Za-z_][\w./-]*(?: [A-Za-z_][\w./-]*)*)=")
_WORD = always(rf"{_STRING}|\S*")
# Go's escapes that JSON does not have (strconv.Quote)
_GO_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|U([0-9a-f]{8})|([av])|\\)")


class Entry(NamedTuple):
    """One log entry. severity: info, warning, error or fatal. time: as it was written. values: by key, in order.

    complete: whether it certainly ends where the text does, which a text of several lines shows only by its last one.
    """

    severity: str
    time: str
    source: str
    message: str
    values: dict[str, Any]
    complete: bool = True


def entries(text: str) -> Iterator[Entry]:
    """The entries of a log, oldest first. Lines that belong to none, such as a panic's, are left out."""
    for entry, _lines in _located(text):
        if entry is not None:
            yield entry


def foreign_lines(text: str) -> list[str]:
    """The lines that belong to no entry."""
    return [line for entry, lines in _located(text.rstrip("\n") + "\n") if entry is None for line in lines]


def last_error(text: str) -> tuple[str, str] | None:
    """Time and lines of the last error in a log, be it an entry or a panic, which has no time; None if there is none."""
    found = None
    for entry, lines in _located(text):
        if entry is None and lines[0].startswith(_PANICS):
            found = ("", lines[0])
        elif entry is not None and entry.severity in ("error", "fatal"):
            found = (entry.time, "\n".join(lines))
    return found


def command_error(entry: Entry) -> str | None:
    """The error of the entry with which a failed command ends, with control characters as escapes; None for any other entry."""
    if entry.message != "command failed" or "err" not in entry.values:
        return None
    return _CONTROL.sub(lambda found: f"\\x{ord(found.group()):02x}", str(entry.values["err"]))


def exit_reason(log: str) -> str:
    """The reason for its end in the log of a kube-scheduler, without klog's header; "" if the log contains none.

    It may hold secrets: see `redaction.redacted`.
    """
    best, words = _ERROR, ""
    for rank, text in _errors(log):
        # Of equals the last, but of panics the first: others follow from it.
        if text and not any(end in text for end in _TOLD_TO_END) and (rank > best or (rank == best and rank != _PANICKED)):
            best, words = rank, text
    return words


def _errors(log: str) -> Iterator[tuple[int, str]]:
    """``(rank, text)`` of each log entry about an error."""
    text = log.partition("\n")[2] if len(log.encode()) >= _CUT else log
    for entry, (line, *_following) in _located(text + "\n"):
        if entry is not None and entry.severity in ("error", "fatal"):
            yield _of_entry(entry, line)
        elif entry is None and line.startswith("Error: "):
            yield _USAGE, line[len("Error: ") :].strip()
        elif entry is None and _PANIC.match(line):
            yield _PANICKED, line.strip()
        elif entry is None and _BARE.match(line):
            yield _USAGE, line.strip()


def _of_entry(entry: Entry, line: str) -> tuple[int, str]:
    error = command_error(entry)
    if error is not None:
        return _FAILED, error
    if line.startswith("{"):
        return _ERROR, f"{entry.message}: {entry.values['err']}" if entry.values.get("err") else ""
    return _FATAL if entry.severity == "fatal" else _ERROR, re.sub(r" \w+=<$", "", _HEADER.sub("", line, count=1).strip())


def _located(text: str) -> Iterator[tuple[Entry | None, list[str]]]:
    """Each entry with its lines, and each line that belongs to none."""
    # What comes after the last line break is not finished.
    lines = text.split("\n")[:-1]
    position = 0
    while position < len(lines):
        start, line = position, lines[position]
        header = None if line.startswith("{") else _HEADER.match(line)
        entry: Entry | None
        if header:
            entry, position = _from_text(lines, position, header)
        else:
            entry = _from_json(line) if line.startswith("{") else None
            position += 1
        yield entry, lines[start:position]


def _from_json(line: str) -> Entry | None:
    try:
        found = replaced_in(json.loads(line))
        message = str(found.pop("msg"))
    except (KeyError, RecursionError, ValueError):
        return None
    time, source = str(found.pop("ts", "")), str(found.pop("caller", ""))
    # An error has no v but err (component-base/logs/json).
    severity = "info" if "v" in found else "error"
    found.pop("v", None)
    return Entry(severity, time, source, message, found)


def _from_text(lines: list[str], position: int, header: re.Match[str]) -> tuple[Entry, int]:
    rest = lines[position][header.end() :]
    position += 1
    about = (_SEVERITIES[header["severity"]], header["time"], header["source"])
    quoted = _MESSAGE.match(rest)
    if not quoted:
        return Entry(*about, rest, {}), position
    message, rest = _unquote(quoted.group(1)), rest[quoted.end() :]
    values: dict[str, Any] = {}
    key = _KEY.match(rest)
    while key:
        rest = rest[key.end() :]
        if rest == "<":
            inner, position, after = _several_lines(lines, position)
            if after is None:
                return Entry(*about, message, {**values, key.group(1): inner}, complete=False), position
            values[key.group(1)], rest = inner, after
        else:
            values[key.group(1)], rest = _value(rest)
        key = _KEY.match(rest)
    return Entry(*about, message, values), position


def _several_lines(lines: list[str], position: int) -> tuple[str, int, str | None]:
    """The text whose first line is at ``position``, the position after it, and what follows on its last line; None if that is not there."""
    inner: list[str] = []
    while position < len(lines):
        line = lines[position]
        if line.startswith(" >"):
            return "\n".join(inner), position + 1, line[2:]
        if not line.startswith("\t"):
            break
        inner.append(line[1:])
        position += 1
    return "\n".join(inner), position, None


def _value(text: str) -> tuple[Any, str]:
    """The value that the text begins with, and what follows."""
    if text.startswith(("[", "{")):
        try:
            value, end = json.JSONDecoder().raw_decode(text)
            return replaced_in(value), text[end:]
        except (RecursionError, ValueError):
            pass
    word = _WORD(text, 0).group()
    return _unquote(word) if word.startswith('"') else _plain(word), text[len(word) :]


def _unquote(text: str) -> str:
    plain = _GO_ESCAPE.sub(_escaped, text)
    try:
        return replaced(json.loads(plain, strict=False))
    except ValueError:
        return text[1:-1]


def _escaped(match: re.Match[str]) -> str:
    """An escape as JSON writes it."""
    byte, rune, letter = match.groups()
    if byte or rune:
        code = int(byte or rune, 16)
        return f"\\u{code if code < 0x10000 else 0xFFFD:04x}"
    return {"a": "\\u0007", "v": "\\u000b"}.get(letter) or match.group()


def _plain(word: str) -> Any:
    """A number, truth value or null as such, else the text itself."""
    try:
        return json.loads(word)
    except (RecursionError, ValueError):
        return word
