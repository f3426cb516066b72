# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The known name that a misspelt one probably means, for the remedy of a message."""

from __future__ import annotations

from collections.abc import Iterable


def similar(name: object, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The one of ``known`` that is most similar to ``name``, empty if none is; ``cutoff`` is the least similarity from 0 to 1."""
    from difflib import get_close_matches  # takes milliseconds, which only a misspelt name has to spend

    return next(iter(get_close_matches(str(name), list(known), 1, cutoff)), "")


def did_you_mean(name: object, known: Iterable[str], otherwise: str = "") -> str:
    """A question with the name that is probably meant, ``otherwise`` if none is similar."""
    meant = similar(name, known)
    return f"did you mean {meant}?" if meant else otherwise


def instead(name: object, known: Iterable[str]) -> str:
    """The name to use instead: the one that is probably meant, or all of ``known`` to choose from."""
    known = list(known)
    return did_you_mean(name, known, f"choose from {', '.join(known)}")


def known_are(name: object, known: Iterable[object]) -> str:
    """The end of a sentence about a name that is none of ``known``: the one that is probably meant, and all of them."""
    names = [str(one) or '""' for one in known]
    question = did_you_mean(name, names)
    return f"{question + ' K' if question else 'k'}nown are {', '.join(names)}."
