# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The examples in the documentation of filters, run as they stand."""

from __future__ import annotations

import pytest
from support.examples import PLUGINS, run_examples


@pytest.mark.parametrize("path", sorted(PLUGINS.glob("filter/*.yml")), ids=lambda path: path.stem)
def test_examples_of_filters_run_unchanged(play, tmp_path, path):
    run_examples(play, path, tmp_path)
