# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is a credential, by the name of the field that holds it and by its own shape: the one list of each. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

MASK = "********"
WORDS = r"token|passw(?:or)?d|passphrase|secret|credential|authorization|api[-_]?key|private[-_]?key|(?:key|cert)[-_]?data"
"""A regular expression, for upper and lower case alike. Certificates are no secrets, but stand beside the keys that are."""


class Shape(NamedTuple):
    """Regular expressions, for upper and lower case alike: what stands before a credential, how it begins, and what else is of it."""

    before: str
    begins: str
    rest: str = ""


# How fields and variables end that name a Secret, a file or a setting, and hold no credential themselves
_REFERENCES = (
    "names?|refs?|files?|paths?|dir|kubeconfig|mode|policy|source|type|namespace|seconds|ttl|expiration|version|audiences?|url|address|enabled|provider|"
    "webhook"
)
_REFERENCE = re.compile(rf"(?:{_REFERENCES})$|^(?:serviceaccounttoken|automount)", re.IGNORECASE)

IN_ADDRESS = (
    # A user
    Shape("://", r"(?!\*+@)(?:[^\s/@\0]|\s(?=[^\s/]*@))+(?=@)"),
    # A parameter, as in ?access_token=..., unless it is a placeholder
    Shape(rf"[?&;#](?![\w.%-]{{0,80}}(?:{_REFERENCES})=)[\w.%-]{{0,40}}(?:{WORDS})[\w.%-]{{0,40}}=", r"(?![=$*])[^\s&;#\"'`\0]{4,}"),
)
"""Credentials in an address."""

TOKENS = (
    # A JSON web token
    Shape("", r"\beyJ[\w-]{8}", r"[\w-]*(?:\.[\w-]*){0,2}"),
    # A token of OpenShift
    Shape("", r"\bsha256~", r"[\w-]*"),
    # Tokens of GitHub, GitLab and Slack, and key ids of AWS
    Shape("", r"\b(?:gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-)[\w-]{10}", r"[\w-]*"),
    Shape("", r"(?-i:\b(?:AKIA|ASIA)[A-Z0-9]{16}\b)"),
    # A private key, of which the end may be missing: then its line and those after it that hold nothing but base64, be it after a time
    Shape(
        "",
        r"-----BEGIN(?! (?:CERTIFICATE|PUBLIC KEY))",
        r"(?:(?:(?!-----BEGIN)[^\0]){0,20000}?-----END [A-Z0-9 ]*-----|[^\n\0]*(?:\n(?:\S+[ \t]+)?[a-z0-9+/=]{16,}[ \t\r]*(?=\n|\Z))*)",
    ),
)
"""Credentials that nothing else looks like."""

# What follows the name of a flag where a sentence is about the flag
_PROSE = (
    "a|an|and|are|argument|as|at|be|by|can|cannot|does|file|flag|for|from|has|if|in|instead|is|it|may|must|needs|not|of|on|only|option|or|parameter|"
    "should|that|the|to|was|when|which|will|with|without"
)

IN_WORDS = (
    # The value of a flag
    Shape(
        rf"(?<![\w-])--?(?![\w.-]{{0,80}}(?:{_REFERENCES})(?:=|\s))[\w.-]{{0,40}}(?:{WORDS})[\w.-]{{0,40}}(?:=|[ \t]+(?!(?:{_PROSE})\b))[\"']?",
        r"[^\s\"'`;&|<>(){}\[\],$*\0-][^\s\"'`;&|\0]{3,}",
    ),
    # "The password is ...": in quotes, or with a digit or a sign, as no other word of a sentence
    Shape(
        rf"(?:{WORDS})[\w-]{{0,40}}[ \t]+is:?[ \t]+[\"'`]?",
        r"(?:(?<=[\"'`])(?![$*])[^\s\"'`\0]{4,}|(?![/<$*])(?=[^\s\d@#%^&+=~]*[\d@#%^&+=~])(?=[^\sa-z]*[a-z])[^\s\"'`,;\0]{5,})",
    ),
    Shape(r"\bcurl\b[^\n\0|;&]{0,200}?[ \t](?:-u[ \t]*|--user[ \t=]+)[\"']?[^\s:\"'\0]{1,80}:", r"(?![$*])[^\s\"'\0]+"),
)
"""Credentials in commands and sentences."""

SHAPES = (
    *TOKENS,
    Shape(r"\bbearer\s+", r"[^\s\"'\\,;*\0]", r"[^\s\"'\\,;\0]*"),
    Shape(r"\bbasic\s+", r"[a-z0-9+/=]{8}", r"[a-z0-9+/=]*"),
    *IN_ADDRESS,
    *IN_WORDS,
)
"""Texts that are credentials whatever they are called. None reaches beyond a NUL."""

_WORDS = re.compile(WORDS, re.IGNORECASE)
# What variables, flags and headers are called, too, but no field of a configuration
_OF_VARIABLES = re.compile(
    r"(?<!by)(?<!com)pass$|(?:^|[_.-])(?:pass|pwd|passcode)(?:$|[_.-])|(?:access|encryption|signing|master|shared)[-_]?key|(?:^|[_.-])auth$|"
    r"cookies?$|cookie[-_]?secret|dockerconfig",
    re.IGNORECASE,
)


def patterns(shapes: Iterable[Shape]) -> tuple[re.Pattern[str], ...]:
    """One for each shape: the first group is what stands before the credential, the second the credential."""
    return tuple(re.compile(f"({shape.before})({shape.begins}{shape.rest})", re.IGNORECASE) for shape in shapes)


OF_ADDRESSES, OF_TOKENS = patterns(IN_ADDRESS), patterns(TOKENS)
ANYWHERE = OF_ADDRESSES + OF_TOKENS + patterns(IN_WORDS)
"""Of the credentials that a text of a configuration shows by itself, whatever it is called."""


def credentials_in(text: str, among: Iterable[re.Pattern[str]] = ANYWHERE) -> set[str]:
    """The credentials in addresses with a scheme, such as ``USER:PASSWORD`` of the user and TOKEN of ``?token=TOKEN``, tokens, private keys,
    and credentials in commands and sentences.
    """
    return {found[2] for pattern in among for found in pattern.finditer(text)}


def mask_credentials(text: str, mask: str, among: Iterable[re.Pattern[str]] = ANYWHERE) -> str:
    """The text with ``mask`` in place of each of `credentials_in`."""
    for pattern in among:
        text = pattern.sub(rf"\1{mask}", text)
    return text


def without_tokens(text: str) -> str:
    """A message that may quote a name from a document: a name with the form of a token may be one, in the wrong field."""
    return mask_credentials(text, MASK, OF_TOKENS)


def is_secret(name: str) -> bool:
    """Whether a field of this name, or everything below it, is taken for a credential: ``keyData``, ``bearerToken``, ``DB_PASSWORD``."""
    return bool(_WORDS.search(name))


def is_reference(name: str) -> bool:
    """Whether a field or a variable of this name is about a credential that is elsewhere: ``tokenFile``, ``SECRET_NAME``."""
    return bool(_REFERENCE.search(name))


def is_credential(name: str) -> bool:
    """Whether a variable, a flag or a header of this name holds a credential itself."""
    # A shell's PWD is a folder.
    return (is_secret(name) or bool(_OF_VARIABLES.search(name))) and not is_reference(name) and name != "PWD"
