# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Looking for secrets where they must not be."""

from __future__ import annotations

import base64


def forms(token) -> list[str]:
    """The token as it is, and what is in the base64 form of every text that holds it."""
    found = [token]
    for before in range(3):
        encoded = base64.b64encode(b"x" * before + token.encode()).decode()
        # The ends depend on what stands around.
        found.append(encoded[4 if before else 0 : len(encoded) - 4])
    return found


def holding(token, places) -> list[str]:
    """Names of those of the places (name -> text) in which the token is."""
    return sorted(name for name, text in places.items() if any(form in text for form in forms(token)))


def decoded(value: str) -> str:
    """A value of a Secret."""
    return base64.b64decode(value).decode()
