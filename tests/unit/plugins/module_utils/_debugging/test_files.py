# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files that modules write on their host."""

from __future__ import annotations

import os

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.files import save


@pytest.mark.parametrize(
    ("failure", "raised"), [(OSError(28, "No space left on device"), ClusterError), (KeyboardInterrupt(), KeyboardInterrupt)]
)
def test_nothing_half_written_is_left(tmp_path, monkeypatch, failure, raised):
    def fail(_from, _to):
        raise failure

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(raised):
        save(str(tmp_path / "a"), b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_for_its_owner_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (str(tmp_path / "a"), "b"):
        save(path, b"x")
    assert [(one.name, one.read_bytes(), one.stat().st_mode & 0o777) for one in sorted(tmp_path.iterdir())] == [
        ("a", b"x", 0o600),
        ("b", b"x", 0o600),
    ]
    with pytest.raises(ClusterError, match=r"^/nowhere/a could not be written: No such file or directory\.$"):
        save("/nowhere/a", b"x")
