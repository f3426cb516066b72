# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files inside an image, without a container engine: out of the folder that ``skopeo copy docker://... dir:FOLDER`` makes."""

from __future__ import annotations

import json
import os
import tarfile
import zlib
from collections.abc import Callable


def files(folder: str, wanted: Callable[[str], bool], largest: int = 50_000_000) -> dict[str, bytes]:
    """Path, without ``/`` at its begin -> content of the image's regular files that are ``wanted``; the topmost layer's of each path, and last.

    Nothing is written. Raises ValueError for what is no such folder, for a layer that is not a tar archive (plain, gzip, bzip2, xz), and
    for a file of more than ``largest`` bytes.
    """
    try:
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as opened:
            layers = list(json.load(opened)["layers"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{folder} does not hold one image, as skopeo copies it to dir: {error!r}") from None
    found: dict[str, bytes] = {}
    for layer in layers:
        try:
            digest = str(layer["digest"])
        except (KeyError, TypeError):
            raise ValueError(f"{folder} does not hold one image, as skopeo copies it to dir: a layer has no digest") from None
        try:
            with tarfile.open(os.path.join(folder, digest.partition(":")[2])) as archive:
                _add(found, archive, wanted, largest)
        except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
            raise ValueError(f"layer {digest} of the image cannot be read: {error}") from None
    return found


def _add(found: dict[str, bytes], archive: tarfile.TarFile, wanted: Callable[[str], bool], largest: int) -> None:
    """The files that one more layer removes from the layers below it, and the files that it adds."""
    brought = {}
    for member in archive:
        name = os.path.normpath("/" + member.name).lstrip("/")
        directory, base = os.path.split(name)
        if base == ".wh..wh..opq":
            _remove(found, directory)
        elif base.startswith(".wh."):
            _remove(found, os.path.join(directory, base[len(".wh.") :]))
        elif member.isfile() and wanted(name):
            if member.size > largest:
                raise ValueError(f"{name} in the image has {member.size} bytes, more than {largest}")
            content = archive.extractfile(member)
            brought[name] = content.read() if content else b""
            found.pop(name, None)
    found.update(brought)


def _remove(found: dict[str, bytes], path: str) -> None:
    for name in [name for name in found if name == path or name.startswith(path + "/")]:
        del found[name]
