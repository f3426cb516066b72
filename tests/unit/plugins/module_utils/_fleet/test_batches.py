# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The values of ``fleet_serial``."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._fleet.batches import batches


@pytest.mark.parametrize(
    ("given", "sizes"),
    [(1, [1]), ("2", ["2"]), ("30%", ["30%"]), ([1, "100%"], [1, "100%"])],
)
def test_batch_sizes_are_accepted_alone_and_in_lists(given, sizes):
    assert batches(given) == sizes


@pytest.mark.parametrize("given", ["abc", 0, -1, "0%", "5%%", 1.5, True, None, [], [1, "x"], [0, 1], [[1]], {"a": 1}])
def test_an_invalid_value_is_an_error_that_shows_the_value(given):
    with pytest.raises(ValueError, match="fleet_serial is ") as raised:
        batches(given)
    assert repr(given) in str(raised.value)


@pytest.mark.parametrize(("given", "sizes"), [((1, 2), [1, 2]), (" 5 ", [" 5 "]), (999999999, [999999999])])
def test_sizes_are_returned_as_given(given, sizes):
    assert batches(given) == sizes


def test_a_size_of_more_than_nine_digits_is_an_error():
    with pytest.raises(
        ValueError, match=r"^fleet_serial is 1000000000: give a number of clusters of 1 or more, a percentage such as '30%'"
    ):
        batches(1000000000)
