# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files on the host that the module runs on."""

from __future__ import annotations

import contextlib
import os
import tempfile

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError


def save(path: str, body: bytes) -> None:
    """Write a file that only its owner can read, atomically: no reader gets a part of it. Raises ClusterError."""
    directory, name = os.path.split(path)
    temporary = ""
    try:
        number, temporary = tempfile.mkstemp(dir=directory or ".", prefix=f".{name}.")
        with os.fdopen(number, "wb") as file:
            file.write(body)
        os.replace(temporary, path)
    except BaseException as error:  # such as the end of the task by a signal
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError):
            raise ClusterError(f"{path} could not be written: {error.strerror}.") from None
        raise
