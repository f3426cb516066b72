# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading what playbooks/gather.yml writes."""

from __future__ import annotations

import tarfile


def unpacked(path) -> dict[str, str]:
    """The files in the one folder of the tar, which is called like it."""
    folder = path.name.removesuffix(".tar.gz")
    with tarfile.open(path) as archive:
        found = {member.name: archive.extractfile(member).read().decode() for member in archive.getmembers()}
    assert {name.partition("/")[0] for name in found} == {folder}
    return {name.partition("/")[2]: text for name, text in found.items()}
