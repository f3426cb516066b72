# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading log lines as klog and the JSON format write them."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.klog import Entry, entries, exit_reason, foreign_lines, last_error

HEADER = "I1122 05:26:55.123456       1 dumper.go:52]"


def only(text):
    [entry] = entries(text)
    return entry


def test_a_line_is_read_with_values_of_all_kinds():
    entry = only(f'{HEADER} "Several \\"things\\"" a="one two" b=3 c=true d=["x y","z"] e={{"k":"v w"}} f=<nil> g="" h=1.5s\n')
    assert (entry.severity, entry.time, entry.source) == ("info", "1122 05:26:55.123456", "dumper.go:52")
    assert entry.message == 'Several "things"'
    assert entry.values == {"a": "one two", "b": 3, "c": True, "d": ["x y", "z"], "e": {"k": "v w"}, "f": "<nil>", "g": "", "h": "1.5s"}


def test_values_of_several_lines_keep_their_own_tabs_and_delimiters():
    entry = only(f'{HEADER} "m" first=<\n\tone\n\t\n\t\ttwo\n\t >\n > second="s" third=<\n\tx\n >\n')
    assert entry.values == {"first": "one\n\n\ttwo\n >", "second": "s", "third": "x"}
    assert entry.complete


@pytest.mark.parametrize(("severity", "letter"), [("info", "I"), ("warning", "W"), ("error", "E"), ("fatal", "F")])
def test_the_first_letter_of_a_line_gives_its_severity(severity, letter):
    assert only(f'{letter}{HEADER[1:]} "m"\n').severity == severity


def test_a_message_without_structure_is_taken_as_it_is():
    entry = only(f"{HEADER} Registered topology plugin a=b\n")
    assert (entry.message, entry.values) == ("Registered topology plugin a=b", {})


def test_escapes_of_go_that_json_does_not_have_are_read():
    assert only(f'{HEADER} "m" a="\\x1b[0m\\a \\\\x41 \\u00e4"\n').values == {"a": "\x1b[0m\a \\x41 ä"}


def test_an_unfinished_entry_is_not_complete():
    assert not only(f'{HEADER} "m" nodes=<\n\tNode name: a\n').complete
    assert list(entries(f'{HEADER} "m" a="b"')) == []
    cut = list(entries(f'{HEADER} "m" nodes=<\n\tNode name: a\n{HEADER} "next"\n'))
    assert [entry.complete for entry in cut] == [False, True]


def test_lines_of_others_are_left_out():
    assert [entry.message for entry in entries(f'panic: oh\n\ngoroutine 1 [running]:\n{HEADER} "m"\n\tstray\n')] == ["m"]


def test_json_lines_yield_severity_message_and_values():
    line = json.dumps({"ts": 1763789215123.4, "caller": "debugger/dumper.go:52", "msg": "m", "v": 0, "nodes": "a\n\nb"})
    entry = only(f"{line}\n{{broken\n")
    assert (entry.severity, entry.message, entry.values) == ("info", "m", {"nodes": "a\n\nb"})
    assert only('{"ts":1,"msg":"m","err":"e"}\n').severity == "error"


HALF = r'"cut \ud800"'


@pytest.mark.parametrize(
    "line",
    [
        f"E1122 05:26:55.123456       1 a.go:5] {HALF} err={HALF} more={{{HALF}: [{HALF}]}}",
        f'{{"ts": 1, "msg": {HALF}, "err": {HALF}, "more": {{{HALF}: [{HALF}]}}}}',
    ],
    ids=["text", "JSON"],
)
def test_half_of_a_surrogate_pair_is_replaced(line):
    """No UTF-8 can hold it: the result of a module and a status could not be written."""
    entry = only(line + "\n")
    whole = "cut \ufffd"
    assert (entry.message, entry.values) == (whole, {"err": whole, "more": {whole: [whole]}})


def test_a_nested_text_is_no_json():
    nested = "[" * 100_000
    assert foreign_lines(f'{{"msg": {nested}\n') == [f'{{"msg": {nested}']
    assert only(f'{HEADER} "m" a={nested}\n').values == {"a": nested}


def error_line(message, letter="E", rest=""):
    return f'{letter}{HEADER[1:]} "{message}"{rest}\n'


PANIC = "panic: first\ngoroutine 1 [running]:\nruntime: second\n"


def json_line(**fields):
    return json.dumps({"ts": 1, "msg": "m", **fields}) + "\n"


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("", ""),
        (f'{HEADER} "fine"\n', ""),
        (error_line("one") + error_line("two", rest=' err="e" key=<'), '"two" err="e"'),
        (error_line("fatal", "F") + error_line("later"), '"fatal"'),
        (error_line("error") + "Error: unknown flag: --x\n", "unknown flag: --x"),
        ("Error: unknown flag: --x\n" + error_line("fatal", "F"), '"fatal"'),
        (error_line("fatal", "F") + PANIC, "panic: first"),
        (PANIC + error_line("command failed", rest=' err="e"'), "e"),
        (error_line("command failed", rest=' err="lost lease"') + error_line("cause"), '"cause"'),
        ("couldn't create scheduler: x\n", "couldn't create scheduler: x"),
        ("time=1 level=fatal msg=x\n", "time=1 level=fatal msg=x"),
        ("not an error\n", ""),
        (json_line(err="e"), "m: e"),
        (json_line(err=""), ""),
        (json_line(msg="command failed", err="broken \x07"), "broken \\x07"),
        (json_line(v=0), ""),
    ],
)
def test_the_reason_for_the_end_of_a_process_is_read_from_its_log(log, reason):
    assert exit_reason(log) == reason


def test_a_log_that_was_cut_may_begin_within_a_line():
    error = "Error: x\n"
    for length, reason in ((2047, "x"), (2048, "")):
        log = error + "y" * (length - len(error))
        assert (len(log), exit_reason(log)) == (length, reason)


def test_the_last_error_has_its_time_and_lines():
    log = error_line("one", rest=" a=<\n\tx\n >") + f'{HEADER} "fine"\n'
    assert last_error(log) == ("1122 05:26:55.123456", log.partition("\nI")[0])
    assert last_error(log + PANIC) == ("", "panic: first")
    assert last_error(log + "fatal error: x\n") == ("", "fatal error: x")
    assert last_error(error_line("a", "F"))[0]
    assert last_error(f'{HEADER} "fine"\n') is None


def test_foreign_lines_are_those_of_no_entry():
    assert foreign_lines(f'one\n{HEADER} "m" a=<\n\tx\n >\n{{"no": "message"}}\ntwo') == ["one", '{"no": "message"}', "two"]


def test_a_json_entry_is_whole():
    line = json.dumps({"ts": 5, "caller": "a.go:1", "msg": "m", "v": 0, "k": [1]})
    assert only(line + "\n") == Entry("info", "5", "a.go:1", "m", {"k": [1]}, True)
    assert only(json_line(v=4, ts="t")).time == "t"


def test_values_that_are_cut_off_are_kept():
    entry = only(f'{HEADER} "m" a="b" c=[1 d=null\n')
    assert entry.values == {"a": "b", "c": "[1", "d": None}
    entry = only(f'{HEADER} "m" a="b" c=<\n\tx\n')
    assert (entry.values, entry.complete) == ({"a": "b", "c": "x"}, False)
