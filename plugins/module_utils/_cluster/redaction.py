# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Credentials in what is shown: in a document that is no Secret, such as ``extenders[].tlsConfig.keyData``, and in what programs log.

kube-scheduler logs its whole configuration, tokens included: at ``-v=2``, and in the error for a file without ``kind``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document_nodes import always
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.secrets import (
    ANYWHERE,
    MASK,
    OF_ADDRESSES,
    SHAPES,
    WORDS,
    credentials_in,
    is_credential,
    is_secret,
)

NOT_SHOWN = "(not shown: it may contain a credential that cannot be masked)\n"
# A whole text with a password but no scheme. NAME:TAG@sha256:... is an image.
_BARE_ADDRESS = re.compile(r"([^\s/@:]+:)((?!//)\S+)(?=@(?!sha\d+:)[^\s@]+\Z)")
_PLACEHOLDER = re.compile(r"\$\{[A-Z_]+\}")
_LONGEST = 600
_SECRET_KEY = re.compile(
    rf"""(?:{WORDS}|ca[-_]?data)\w{{0,40}}
        (?:["'`\s\\]|\\[nrt])* [:=]
      | \bbearer\b
      | is\ missing\ in\ '  # apimachinery: "Object 'Kind' is missing in '", and then the whole text of the configuration
      | cannot\ (?:decode|unmarshal)\ !!\w+\ `  # go-yaml: a value
      | unknown\ anchor\ '
    """,
    re.IGNORECASE | re.VERBOSE,
)
# YAML takes the begin of such a value for a tag or an anchor, so that it is not in the document.
_MARKED = re.compile(rf"""(?:{WORDS})[\w-]{{0,40}}["']?\s*:\s+[!&]""", re.IGNORECASE)
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$")
# What stands before a line: the time that the kubelet has written, white space, the sign of a comment
_BEFORE = always(r"(?:\d{4}-\d\d-\d\dT\S+ )?[\s#]*")
_ENTRY = re.compile(r"[IWEF]\d{4} |\{")
_SECRET = re.compile("|".join(shape.before + shape.begins for shape in SHAPES), re.IGNORECASE)


def secret_texts(value: Any, by_key: bool = True) -> set[str]:
    """The credentials in addresses and in variables (``env``), tokens, and, by_key, every text and number below a key that names a credential
    (``kube_scheduler.secrets``).
    """
    found: set[str] = set()

    def keep(text: str) -> str:
        found.add(text)
        return text

    _mapped(value, keep, by_key=by_key)
    return found


def scrub(text: str, secrets: Iterable[str]) -> str:
    """The text with each of the secrets masked, the longest first: one may hold another."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def masked(before: str, after: str, *, by_key: bool = True) -> tuple[str, str]:
    """Two YAML texts for a diff: unchanged if neither contains secrets, else without them. ``by_key`` as for `secret_texts`."""
    old, new = masked_values(before, after, by_key=by_key)
    return cut_comments(old), cut_comments(new)


def masked_values(before: str, after: str, *, by_key: bool = True) -> tuple[str, str]:
    """The same, but comments as they are: if there are secrets in values, serialized again with masks that show whether a secret changed."""
    from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document import NotYaml, hidden, parse

    texts, found = [before, after], []
    for index, text in enumerate(texts):
        try:
            root, findings = parse(text)
        except NotYaml:
            root, findings = None, []
        document = None if root is None else root.value
        found.append((document, secret_texts(document, by_key)))
        may_hold = (by_key and is_secret(text)) or credentials_in(text)
        if may_hold and (root is None or hidden(root, findings) or (by_key and _MARKED.search(text))):
            texts[index] = NOT_SHOWN
    if any(secrets for _document, secrets in found):
        import yaml

        (old, old_secrets), (new, new_secrets) = found
        for index, document in enumerate(_both_hidden(old, new, old_secrets, new_secrets, by_key)):
            if document is not None:
                texts[index] = yaml.safe_dump(document, sort_keys=False, default_flow_style=False, width=10**6)
    return texts[0], texts[1]


def masked_objects(before: Any, after: Any) -> tuple[Any, Any]:
    """Two objects of the cluster for a diff, without credentials in addresses and values of variables (``env``) that are called like credentials."""
    return _both_hidden(before, after, secret_texts(before, by_key=False), secret_texts(after, by_key=False), by_key=False)


def _both_hidden(before: Any, after: Any, old: set[str], new: set[str], by_key: bool = True) -> tuple[Any, Any]:
    """The two values with masks that show whether a secret changed; ``old`` and ``new``: their `secret_texts`."""

    def hidden(value: Any, others: set[str], word: str) -> Any:
        return _mapped(value, lambda text: MASK + (word if others and text not in others else ""), by_key=by_key)

    return hidden(before, new, " (before)"), hidden(after, old, " (after)")


def encloses(text: Any) -> bool:
    """Whether a value is a text that begins like a mapping or a list in JSON."""
    return isinstance(text, str) and text.lstrip()[:1] in ("{", "[")


def json_copy(text: Any) -> Any:
    """The mapping or list in a text, None if it contains none: others than kubectl, too, keep a copy of an object in its annotations."""
    try:
        return json.loads(text) if encloses(text) else None
    except (RecursionError, ValueError):
        return None


def holds_credential(text: str) -> bool:
    """Would a diff mask anything in this YAML text?"""
    return masked(text, "")[0] != text


def redacted(text: str) -> str:
    """Words of a scheduler in one line, up to the first thing that may be a secret, and not longer than a message should be."""
    return one_line(cut(text))


def cut(line: str) -> str:
    """The line up to the first word after which a credential may stand."""
    found = _SECRET_KEY.search(line)
    return line[: found.end()] + " " + MASK if found else line


def cut_lines(lines: Iterable[str]) -> Iterator[str]:
    """Each line up to the first word after which a credential may stand, and lines with such a word at the end of an earlier one masked."""
    within: int | None = None
    directly = False
    for line in lines:
        before = _BEFORE(line, 0).group()
        depth, rest = len(before), line[len(before) :]
        if within is not None and rest:
            if not _ENTRY.match(rest) and (directly or depth > within or (rest.startswith("-") and depth == within)):
                directly = False
                yield before + MASK
                continue
            within = None
        shown = cut(line)
        if shown != line and not re.search(r"[^\W_]|\*", line[len(shown) - len(MASK) - 1 :]):
            within, directly = depth, True
        yield shown


def cut_comments(text: str) -> str:
    """A YAML text with each of its comments only up to the first word after which a credential may stand, and without tokens in them."""
    lines = text.split("\n")
    found = [_COMMENT.search(line) for line in lines]
    comments = "\n".join(comment.group() if comment else "" for comment in found)
    for pattern in ANYWHERE:
        # A private key is in several lines, each with the sign of a comment.
        comments = pattern.sub(lambda found: found[1] + MASK + f"\n# {MASK}" * found[2].count("\n"), comments)
    cut_off = cut_lines(comments.split("\n"))
    return "\n".join(line[: comment.start()] + shown if comment else line for line, comment, shown in zip(lines, found, cut_off))


def one_line(text: str | None) -> str:
    """A text of the cluster in one line, at most as long as a message should be, and without credentials in addresses."""
    text = " ".join((text or "").split())
    found = _SECRET.search(text)
    if found:
        text = text[: found.start()] + MASK
    return text if len(text) <= _LONGEST else text[: _LONGEST - 4] + " ..."


def _mapped(value: Any, change: Callable[[str], str], secret: bool = False, by_key: bool = True) -> Any:
    """The value with each secret text changed. by_key: whether what stands below a key with the name of a credential is one."""
    if isinstance(value, dict):
        named = isinstance(value.get("name"), str) and is_credential(value["name"])
        return {
            key: _mapped(item, change, secret or (named and key == "value") or (by_key and is_secret(str(key))), by_key)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_mapped(item, change, secret, by_key) for item in value]
    # Shorter ones are no credentials, and would hide half of every message. A placeholder is no credential.
    text = "" if value is None or isinstance(value, bool) else str(value)
    if secret and len(text) > 3 and not _PLACEHOLDER.fullmatch(text):
        return change(text)
    return _in_text(value, change) if isinstance(value, str) else value


def _in_text(text: str, change: Callable[[str], str]) -> str:
    bare = None if credentials_in(text, OF_ADDRESSES) else _BARE_ADDRESS.match(text)
    if bare:
        text = bare[1] + change(bare[2]) + text[bare.end() :]
    for pattern in ANYWHERE:
        text = pattern.sub(lambda found: found[1] + change(found[2]), text)
    return text
