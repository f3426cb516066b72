# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""That tests find a secret where there is one (tests/support/secrets.py)."""

from __future__ import annotations

import base64
import uuid

from support.secrets import holding


def test_base64_of_a_token_is_found():
    token = "token-" + uuid.uuid4().hex
    for before in range(4):
        for after in range(4):
            text = base64.b64encode(b"y" * before + token.encode() + b"z" * after).decode()
            assert holding(token, {"here": text, "there": "nothing"}) == ["here"]
