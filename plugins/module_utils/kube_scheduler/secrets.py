# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is a credential, by the name of the field that holds it: the one list of such names. Pure."""

from __future__ import annotations

import re

WORDS = r"token|passw(?:or)?d|passphrase|secret|credential|authorization|api[-_]?key|private[-_]?key|(?:key|cert)[-_]?data"
"""A regular expression, for upper and lower case alike. Certificates are no secrets, but stand beside the keys that are."""

_WORDS = re.compile(WORDS, re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Whether a field of this name, or everything below it, is taken for a credential: ``keyData``, ``bearerToken``, ``DB_PASSWORD``."""
    return bool(_WORDS.search(name))
