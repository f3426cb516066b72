# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Messages of failures (cluster/errors.py)."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, InputError, message_of


@pytest.mark.parametrize(
    "error", [InputError("eyJhbGciOiJ.planted.planted is no name."), ApiError(401, "", "eyJhbGciOiJ.planted.planted is no name.")]
)
def test_a_message_does_not_quote_a_token(error):
    assert "planted" not in message_of(error)
    assert "******** is no name." in message_of(error)
