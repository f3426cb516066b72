# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The conditions of a status (operand/operator_conditions.py)."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._operand.operator_conditions import condition


def test_a_message_too_long_for_the_status_is_shortened_with_a_note():
    message = condition("Degraded", "True", "ConfigInvalid", "\U0001f600" * 40000)["message"]
    assert (len(message), message[0]) == (8192, "\U0001f600")
    assert message.endswith("... (shortened from 40000 characters: correct the above first, then this message shows the rest)")


def test_a_name_with_the_form_of_a_token_is_masked():
    told = condition("SchedulerNamesUnique", "False", "SchedulerNameTaken", "eyJhbGciOiJ.planted.planted is also a schedulerName of b")
    assert told["message"] == "******** is also a schedulerName of b"


def test_a_message_of_the_greatest_length_is_not_shortened_again():
    longest = condition("Degraded", "True", "ConfigInvalid", "a" * 8193)["message"]
    assert condition("ConfigValid", "False", "ConfigInvalid", longest)["message"] == longest
