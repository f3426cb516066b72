# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading YAML and JSON: expectations are what go-yaml 2 with sigs.k8s.io/yaml, and encoding/json, make of the text."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document import (
    MAX_DEPTH,
    OF_CONFIGURATION,
    NotYaml,
    duplicates,
    parse,
    unprintable,
)

UNREADABLE = "unreadable"
DUPLICATE = "duplicate"

YAML = {
    "scalars": [
        ("a: 1\nb: x y\nc:\nd: ~\ne: yes\nf: 1.5\n", {"a": 1, "b": "x y", "c": None, "d": None, "e": True, "f": 1.5}),
        ("a: 16.0\nb: 1e3\nc: 1e21\nd: 08\n", {"a": 16, "b": 1000, "c": 1e21, "d": 8}),
        ("a: 1e400\nb: 1:30\nc: 2020-01-01\n", {"a": "1e400", "b": "1:30", "c": "2020-01-01"}),
        ("a: .inf\n", UNREADABLE),
        ("a: .nan\n", UNREADABLE),
        ("a: x #c\nb: x#c\nc: a:b\n", {"a": "x", "b": "x#c", "c": "a:b"}),
        ("a: b: c\n", UNREADABLE),
        ("a: x\n  y\n\n  z\nb: 1\n", {"a": "x y\nz", "b": 1}),
        ("a: x\n\ty\n", UNREADABLE),
        ("a: @x\n", UNREADABLE),
        ("a: `x`\n", UNREADABLE),
        ("a: %x\n", UNREADABLE),
        ("a: -\n", UNREADABLE),
        ("a: -x\nb: ?x\nc: :x\n", {"a": "-x", "b": "?x", "c": ":x"}),
    ],
    "quotes": [
        ("a: 'it''s'\nb: \"\\x41\\u00e9\\U0001f600\\n\\e\\_\\N\\L\"\n", {"a": "it's", "b": "A\u00e9\U0001f600\n\x1b\xa0\x85\u2028"}),
        ('a: "\\/"\n', UNREADABLE),
        ('a: "\\ud800"\n', UNREADABLE),
        ('a: "\\q"\n', UNREADABLE),
        ('a: "\\x4"\n', UNREADABLE),
        ("a: 'x\n", UNREADABLE),
        ("a: 'x\n---\n'\n", UNREADABLE),
        ("a: 'x\n  y\n\n  z '\n", {"a": "x y\nz "}),
        ('a: "x \\\n   y\\\n\n  z"\n', {"a": "x y\nz"}),
        ('a: "x" # c\nb: "x"#c\n', {"a": "x", "b": "x"}),
        ('a: "x" y\n', UNREADABLE),
    ],
    "blocks": [
        ("a: |\n  x\n   y\n\n  z\nb: 1\n", {"a": "x\n y\n\nz\n", "b": 1}),
        ("a: >\n  x\n  y\n\n  z\n   q\n  r\n", {"a": "x y\nz\n q\nr\n"}),
        ("a: |-\n  x\n\nb: |+\n  x\n\n", {"a": "x", "b": "x\n\n"}),
        ("a: |2\n   x\nb: |1-\n  x\n", {"a": " x\n", "b": " x"}),
        ("a: |0\n  x\n", UNREADABLE),
        ("a: | x\n", UNREADABLE),
        ("a: |\n\tx\n", UNREADABLE),
        ("a: |#c\n  x", {"a": "x"}),
        ("a: |\n     \n  x\n", UNREADABLE),
    ],
    "collections": [
        ("- a\n- - b\n  - c\n- d: 1\n  e: 2\n-\n", ["a", ["b", "c"], {"d": 1, "e": 2}, None]),
        ("a:\n- b\nc:\n  - d\n", {"a": ["b"], "c": ["d"]}),
        ("? a\n: b\n? c\n", {"a": "b", "c": None}),
        ("a:\n  b: 1\n c: 2\n", UNREADABLE),
        ("a: 1\n b: 2\n", UNREADABLE),
        ("a: - b\n", UNREADABLE),
        ("a\nb: 1\n", UNREADABLE),
        (": 1\n", UNREADABLE),
        ("~: 1\n", UNREADABLE),
        ("k" * 1100 + ": 1\n", UNREADABLE),
        ("? " + "k" * 1100 + "\n: 1\n", {"k" * 1100: 1}),
    ],
    "brackets": [
        ("{a: 1, b: [c, {d: e}], }\n", UNREADABLE),  # JSON, which has other rules
        ("a: {b: 1, c: [d, {e: f},],}\n", {"a": {"b": 1, "c": ["d", {"e": "f"}]}}),
        ("a: {b, c: }\n", {"a": {"b": None, "c": None}}),
        ("a: {b:}\n", {"a": {"b:": None}}),
        ('a: {"b":c}\n', {"a": {"b": "c"}}),
        ("a: [b: c, ? d : e]\n", {"a": [{"b": "c"}, {"d": "e"}]}),
        ("a: [b?c]\n", UNREADABLE),
        ("a: [b:c, d:,]\n", {"a": ["b:c", "d:"]}),
        ("a: [,]\n", UNREADABLE),
        ("a: [b\n", UNREADABLE),
        ("a: [b}\n", UNREADABLE),
        ("a: [\n\tb,\n\tc\n]\n", {"a": ["b", "c"]}),
        ("a: [- b]\n", UNREADABLE),
        ("a: {[b]: c}\n", UNREADABLE),
        ("name: {{ name }}\n", UNREADABLE),
        ("[]: 1\n", []),  # go-yaml forgets that empty brackets may be a key, and the rest is not read
        ("[a]: 1\n", UNREADABLE),
    ],
    "keys that are no strings": [
        ("true: 1\n2: 3\n1.5: 4\n1e6: 5\n.inf: 6\n", {"true": 1, "2": 3, "1.5": 4, "1e+06": 5, ".inf": 6}),
        ("yes: 1\non: 2\n", DUPLICATE),
        ("1: a\n1: b\n", DUPLICATE),
        ("0x1: a\n1: b\n", DUPLICATE),
        (".nan: 1\n", {".nan": 1}),
        ("18446744073709551615: 1\n", UNREADABLE),
    ],
    "duplicates": [
        ("a: 1\na: 2\n", DUPLICATE),
        ("a:\n- {b: 1, b: 2}\n", DUPLICATE),
        ("a: 1\nA: 2\n", {"a": 1, "A": 2}),
        ("a: 1\n'a': 2\n", DUPLICATE),
    ],
    "anchors": [
        ("a: &x {b: 1}\nc: *x\n", {"a": {"b": 1}, "c": {"b": 1}}),
        ("a: &x 1\nb: &x 2\nc: *x\n", {"a": 1, "b": 2, "c": 2}),
        ("a: &x\nb: *x\n", {"a": None, "b": None}),
        ("&x a: *x\n", {"a": "a"}),
        ("a: &x b\n*x : c\n", {"a": "b", "b": "c"}),
        ("a: *x\n", UNREADABLE),
        ("a: &x [*x]\n", UNREADABLE),
        ("a: &\n", UNREADABLE),
        ("a: &x &y b\n", UNREADABLE),
        ("a: &x *y\n", UNREADABLE),
    ],
    "merges": [
        ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n", {"a": {"b": 1}, "c": {"b": 1, "d": 2}}),
        ("a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\n", DUPLICATE),
        ("a: &x {b: 1}\nc:\n  b: 2\n  <<: *x\n", DUPLICATE),
        ("a: [&x {b: 1}, &y {c: 2}]\nd: {<<: [*x, *y], e: 3}\n", {"a": [{"b": 1}, {"c": 2}], "d": {"b": 1, "c": 2, "e": 3}}),
        ("a: [&x {b: 1}, &y {b: 2}]\nd: {<<: [*x, *y]}\n", DUPLICATE),
        ("a: {<<: {b: 1}, <<: {c: 2}}\n", {"a": {"b": 1, "c": 2}}),
        ("a: {<<: {1: x}, 1: y}\n", DUPLICATE),
        ("a: {<<: 5}\n", UNREADABLE),
        ("a: {<<: [5]}\n", UNREADABLE),
        ("a: &x [{b: 1}]\nc: {<<: *x}\n", UNREADABLE),
        ("a: {'<<': {b: 1}}\n", {"a": {"<<": {"b": 1}}}),
        ("a: <<\n", {"a": "<<"}),
    ],
    "tags": [
        ("a: !!str 1\nb: !!int '1'\nc: !!float 1\nd: !!bool 'yes'\ne: !!null ''\n", {"a": "1", "b": 1, "c": 1, "d": True, "e": None}),
        ("a: !foo 1\nb: ! 1\nc: !<tag:yaml.org,2002:int> 2\n", {"a": "1", "b": "1", "c": 2}),
        ("a: !!int x\n", UNREADABLE),
        ("a: !!int 1.5\n", UNREADABLE),
        ("a: !!bool 1\n", UNREADABLE),
        ("a: !!null x\n", UNREADABLE),
        ("a: !!timestamp 2020-01-01\nb: !!binary aGk=\n", {"a": "2020-01-01", "b": "hi"}),
        ("a: !!timestamp 2020-13-01\n", UNREADABLE),
        ("a: !!binary '='\n", UNREADABLE),
        ("a: !!binary /w==\n", {"a": "\ufffd"}),
        ("a: !!map [b]\nb: !!seq {c: d}\n", {"a": ["b"], "b": {"c": "d"}}),
        ("a: !e!x b\n", UNREADABLE),
        ("%TAG !e! tag:yaml.org,2002:\n---\na: !e!int '5'\n", {"a": 5}),
        ("a: !!%69nt '5'\n", {"a": 5}),
        ("a: !!\n", UNREADABLE),
        ("a: [!foo, b]\n", {"a": ["b"]}),
    ],
    "documents": [
        ("", None),
        ("# nothing\n", None),
        ("---\n", None),
        ("--- # c\n---\na: 1\n", None),
        ("---\na: 1\n...\n---\nb: [\n", {"a": 1}),
        ("a: 1\n--- 'unterminated\n", {"a": 1}),
        ("# c\n---\na: 1\n", {"a": 1}),
        ("...\na: 1\n", UNREADABLE),
        ("--- a\n", "a"),
        ("--- a: 1\n", UNREADABLE),
        ("[a]\nb: [\n", ["a"]),
        ("'a' b\n", "a"),
        ("a: {b: 1}\n}\n", UNREADABLE),
        ("%YAML 1.1\n---\na: 1\n", {"a": 1}),
        ("%YAML 1.2\n---\na: 1\n", UNREADABLE),
        ("%YAML 1.1\na: 1\n", UNREADABLE),
        ("%FOO\n---\na: 1\n", UNREADABLE),
    ],
    "characters": [
        ("\ufeffa: 1\n", {"a": 1}),
        ("a: 1\r\nb: 2\rc: 3\x85d: 4\u2028e: 5\u2029", {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}),
        ("a: 'x\u2028y'\nb: |\n  x\u2029  y\n", {"a": "x\u2028y", "b": "x\u2029y\n"}),
        ("a:\t1\n", {"a": 1}),
        ("a: 1\t# c\n", {"a": 1}),
        ("\ta: 1\n", UNREADABLE),
        ("-\ta\n", UNREADABLE),
        ("a:\n\tb: 1\n", UNREADABLE),
        ("\xa0a: 1\n", {"\xa0a": 1}),
        ("a: b\x07\n", UNREADABLE),
        ("a: b\x7f\n", UNREADABLE),
        ("a: b\x80\n", UNREADABLE),
        ("a: \ufffe\n", UNREADABLE),
        ("a: \udcff\n", UNREADABLE),
        (b"a: \xff\n", UNREADABLE),
        (b"a: \xc3\xa9\n", {"a": "\u00e9"}),
        ("a: \u00e9\n".encode("utf-16"), {"a": "\u00e9"}),
        (b"\xfe\xff" + "a: \u00e9\n".encode("utf-16-be"), {"a": "\u00e9"}),
        ("a: 1\n".encode("utf-16-le"), UNREADABLE),
        (b"\xff\xfea", UNREADABLE),
        ("a: 1\n---\n" + "x" * 2000 + "\x07", {"a": 1}),  # further behind the document than it looks
        ("a: 1\n---\nx\x07", UNREADABLE),
        (b"a: 1\n...\nx\xe9", {"a": 1}),
    ],
}


@pytest.mark.parametrize(("text", "expected"), [case for cases in YAML.values() for case in cases])
def test_yaml_is_parsed_as_kube_scheduler_parses_it(text, expected):
    assert outcome(text) == expected


JSON = [
    ('{"a": [1, -2.5, 1e3, true, false, null, "x"], "b": {}}', {"a": [1, -2.5, 1000.0, True, False, None, "x"], "b": {}}),
    ('\n\t {"a"\t:\r\n1}\n', {"a": 1}),
    ('{"a": "\\u00e9\\ud83d\\ude00\\/\\n"}', {"a": "\u00e9\U0001f600/\n"}),
    ('{"a": "\\ud800x\\udc00"}', {"a": "\ufffdx\ufffd"}),
    (b'{"a": "\xff\xc3"}', {"a": "\ufffd\ufffd"}),
    ('{"a": "\x7f\u2028"}', {"a": "\x7f\u2028"}),
    ("{}", {}),
    ("{a: 1}", UNREADABLE),
    ("{'a': 1}", UNREADABLE),
    ('{"a": 1,}', UNREADABLE),
    ('{"a": [1,]}', UNREADABLE),
    ('{"a" 1}', UNREADABLE),
    ('{"a": 01}', UNREADABLE),
    ('{"a": .5}', UNREADABLE),
    ('{"a": 1.}', UNREADABLE),
    ('{"a": +1}', UNREADABLE),
    ('{"a": NaN}', UNREADABLE),
    ('{"a": "\t"}', UNREADABLE),
    ('{"a": "\\x41"}', UNREADABLE),
    ('{"a": "x}', UNREADABLE),
    ('{"a": 1} x', UNREADABLE),
    ('{"a": 1}\n---\n', UNREADABLE),
    ('{"a": 1 # c\n}', UNREADABLE),
    ('{"a": [1}', UNREADABLE),
    ("{", UNREADABLE),
    ('\xa0{"a": 1}', UNREADABLE),  # a space for the choice of the reader, none for the reader
    ('{"a": 1, "a": 2}', DUPLICATE),
    ('\ufeff{"a": 1, b: c}', {"a": 1, "b": "c"}),  # a byte order mark makes it YAML
]


@pytest.mark.parametrize(("text", "expected"), JSON)
def test_json_is_parsed_as_kube_scheduler_parses_it(text, expected):
    assert outcome(text) == expected


@pytest.mark.parametrize(
    ("text", "until_1_22", "since_1_23"),
    [
        ('{"a": "\\/"}', UNREADABLE, {"a": "/"}),
        ('{"a": "\\ud83d\\ude00"}', UNREADABLE, {"a": "\U0001f600"}),
        ('{"a": "\x7f"}', UNREADABLE, {"a": "\x7f"}),
        ('{\n\t"a": 1\n}', {"a": 1}, {"a": 1}),
        (
            '{"profiles": [{"pluginConfig": [{"args": {"a": 1, "a": 2}}]}]}',
            DUPLICATE,
            {"profiles": [{"pluginConfig": [{"args": {"a": 2}}]}]},
        ),
    ],
)
def test_json_is_read_as_yaml_too_until_1_22(text, until_1_22, since_1_23):
    assert (outcome(text, 22), outcome(text, 23)) == (until_1_22, since_1_23)


def outcome(text, minor=None):
    try:
        root, findings = parse(text, minor)
    except NotYaml:
        return UNREADABLE
    if any(finding.code == "duplicate-key" for finding in findings):
        return DUPLICATE
    return None if root is None else root.value


# --- the tree ---


def test_keys_and_values_in_yaml_have_line_and_column():
    root, _findings = parse("# c\na: 1\nb:\n  - 'x'\n  - c: {d: e}\n")
    key, b = root.entries["b"]
    assert (root.place, key, b.place) == ((2, 1), (3, 1), (4, 3))
    assert [item.place for item in b.items] == [(4, 5), (5, 5)]
    key, c = b.items[1].entries["c"]
    assert (key, c.place, c.entries["d"][0], c.entries["d"][1].place) == ((5, 5), (5, 8), (5, 9), (5, 12))


def test_keys_and_values_in_json_have_line_and_column():
    root, _findings = parse('{\n  "a": [1,\n    {"b": 2}]\n}')
    key, a = root.entries["a"]
    assert (root.place, key, a.place, a.items[0].place, a.items[1].entries["b"][0]) == ((1, 1), (2, 3), (2, 8), (2, 9), (3, 6))


def test_a_number_in_json_keeps_its_text():
    root, _findings = parse('{"a": 1.0, "b": 1e400, "c": ' + "9" * 5000 + ', "d": 1}')
    numbers = {key: node.number for key, (_place, node) in root.entries.items()}
    assert numbers == {"a": "1.0", "b": "1e400", "c": "9" * 5000, "d": "1"}
    assert (root.value["a"], root.value["b"], root.value["d"]) == (1.0, float("inf"), 1)


def test_an_alias_is_the_same_node():
    root, _findings = parse("a: &x {b: 1}\nc: *x\n")
    assert root.entries["c"][1] is root.entries["a"][1]


# --- findings ---


@pytest.mark.parametrize(
    ("text", "place", "first_line"),
    [
        ("a: 1\nb:\n- c: 1\n  c: 2\n", ("b[0].c", 4, 3), 3),
        ("a: &x {b: 1}\nc:\n  b: 2\n  <<: *x\n", ("c.b", 4, 3), 3),
        ('{"a": {"b": 1,\n"b": 2}}', ("a.b", 2, 1), 1),
    ],
)
def test_a_duplicate_key_is_found_with_its_place(text, place, first_line):
    _root, (finding,) = parse(text)
    assert (finding.code, (finding.path, finding.line, finding.column)) == ("duplicate-key", place)
    assert finding.message.endswith(f"first in line {first_line}")


def test_duplicates_in_the_arguments_of_a_plugin_in_json_are_found():
    root, findings = parse('{"profiles": [{"pluginConfig": [{"name": "a", "args": {"b": [{"c": 1, "c": 2}]}}]}]}')
    assert findings == []
    args = root.entries["profiles"][1].items[0].entries["pluginConfig"][1].items[0].entries["args"][1]
    (finding,) = duplicates(args, "profiles[0].pluginConfig[0].args")
    assert (finding.path, finding.column) == ("profiles[0].pluginConfig[0].args.b[0].c", 71)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: 1\n---\nb: 2\n", (2, 1)),
        ("a: 1\n...\nb: 2\n", (2, 1)),
        ("[a]\nb: 2\n", (2, 1)),
        ("'x\u2028y'\n---\nb\n", (3, 1)),
        ("a: 1\n---\n# nothing\n...\n", None),
        ("a: 1\n...\n\n", None),
        ("a: 1\n", None),
    ],
)
def test_text_after_the_document_is_ignored(text, place):
    _root, findings = parse(text)
    assert [(finding.code, finding.severity, (finding.line, finding.column)) for finding in findings] == (
        [("ignored-document", "warning", place)] if place else []
    )


@pytest.mark.parametrize(
    ("text", "code", "place", "hint"),
    [
        ("a:\n\tb: 1\n", "yaml-syntax", (2, 1), "line 2 is indented with a tab"),
        ("a:\n  b: 1\n c: 2\n", "yaml-syntax", (3, 2), "indentation"),
        ("a: b: c\n", "yaml-syntax", (1, 5), "needs quotes"),
        ("a:\n-\xa0b: {\n", "yaml-syntax", (3, 1), ""),
        ("a: {{ b }}\n", "yaml-key", (1, 5), "needs quotes"),
        ("a:\n- *b\n", "yaml-alias", (2, 3), "needs quotes"),
        ("a: 'b\n", "yaml-syntax", (1, 4), ""),
        ("a: 1\nb: x\x07y\n", "control-character", (2, 5), "invisible"),
        ("a: 1\nb: \udcff\n", "encoding", (2, 4), "UTF-8"),
        ("a:\n  b: !!int x\n", "yaml-tag", (2, 6), "tag"),
        ("a:\n- b: .inf\n", "yaml-value", (2, 6), ""),
        ("{\n  a: 1}", "json-syntax", (2, 3), "read as JSON"),
    ],
)
def test_errors_have_a_place_and_a_remedy(text, code, place, hint):
    with pytest.raises(NotYaml) as error:
        parse(text)
    finding = error.value.finding
    assert (finding.code, (finding.line, finding.column)) == (code, place)
    assert hint in finding.hint


@pytest.mark.parametrize(
    "text", ["a: !!int s3cret\n", "a: 's3cret\n", "a: [s3cret: x: y]\n", "{s3cret}", "a: *s3cret\n", "a: !!binary s3cret!\n"]
)
def test_parse_errors_do_not_quote_the_text(text):
    with pytest.raises(NotYaml) as error:
        parse(text)
    assert "s3cret" not in error.value.finding.format()


# --- documents that are too large ---


def lists(count: int) -> str:
    return "a: " + "[" * count + "]" * count


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x" * (OF_CONFIGURATION.length + 1), "too-large"),
        (b"x" * (OF_CONFIGURATION.length + 1), "too-large"),
        ("a: {" + "".join(f"k{i}: 1, " for i in range(OF_CONFIGURATION.nodes // 2)) + "}", "too-large"),
        ("{" + ", ".join(f'"k{i}": 1' for i in range(OF_CONFIGURATION.nodes)) + "}", "too-large"),
        ("a: [" + "1," * OF_CONFIGURATION.items + "1]", "too-large"),
        ("a:\n" + "-\n" * (OF_CONFIGURATION.items + 1), "too-large"),
        ('{"a": [' + "1," * OF_CONFIGURATION.items + "1]}", "too-large"),
        (lists(10000), "too-deep"),
        (lists(MAX_DEPTH), "too-deep"),
        ('{"a":' + "[" * 10000 + "]" * 10000 + "}", "too-deep"),
        ("a:\n" + "".join(" " * depth + "-\n" for depth in range(1, 300)), "too-deep"),
        (
            "a: &a [x]\n"
            + "".join(f"{after}: &{after} [{', '.join(['*' + name] * 10)}]\n" for name, after in ("ab", "bc", "cd", "de", "ef", "fg")),
            "too-large",
        ),
        ("a: &a {" + "".join(f"k{i}: 1, " for i in range(1000)) + "}\nb:\n" + "- <<: *a\n" * 1000, "too-large"),
        ("a: &a [" + "x," * 30 + "]\nb: &b [" + "*a," * 30 + "]\nc: [" + "*b," * 15 + "]\n", "yaml-alias"),  # go-yaml's own limit
    ],
)
def test_a_document_that_is_too_large_or_too_deep_is_rejected(text, code):
    with pytest.raises(NotYaml) as error:
        parse(text)
    assert error.value.finding.code == code


def test_documents_just_within_the_limits_are_read():
    assert len(parse("".join(f"k{i}: 1\n" for i in range(OF_CONFIGURATION.nodes // 2 - 1)))[0].value) == OF_CONFIGURATION.nodes // 2 - 1
    assert len(parse("a: [" + "1," * OF_CONFIGURATION.items + "]")[0].value["a"]) == OF_CONFIGURATION.items
    assert len(parse('{"a": [' + "1," * (OF_CONFIGURATION.items - 1) + "1]}")[0].value["a"]) == OF_CONFIGURATION.items
    parse(lists(MAX_DEPTH - 1))
    parse('{"a":' + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "}")


def test_a_scalar_of_a_million_characters_is_read():
    for text in ("x " * 400_000, "x:y" * 300_000, "x\n  " * 250_000):
        assert len(parse("a: " + text)[0].value["a"]) == len(text.replace("\n  ", " ").rstrip())


def test_the_path_of_an_unprintable_character_is_found():
    assert unprintable({"a": ["x\n\t\x1f\x85\u00e9\U0001f600", {"b": "\x7f"}], "c": 1}) == ("a", 1, "b")
    assert unprintable({"a": ["x\ny", None, 1.5, True]}) is None
