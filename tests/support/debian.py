# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Programs out of Debian packages, unpacked instead of installed: nothing of them stays on the machine but a folder of the checkout."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

CACHE = Path(__file__).parents[2] / ".cache/debian"


def program(package: str, name: str) -> Path:
    """The program `name` of a package that needs no other: the machine's own if it has one. Skips where neither can be had."""
    if found := shutil.which(name):
        return Path(found)
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one of several processes fetches it
        return _unpacked(package, name)


def _unpacked(package: str, name: str) -> Path:
    path = CACHE / package / "usr/bin" / name
    if path.exists():
        return path
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        pytest.skip(f"needs {name}, and there is no apt-get to fetch Debian's package {package} with")
    download = ["apt-get", "download", "--quiet", package]
    done = subprocess.run(download, cwd=CACHE, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        subprocess.run(["apt-get", "update", "--quiet"], capture_output=True, timeout=300, check=False)
        done = subprocess.run(download, cwd=CACHE, capture_output=True, text=True, timeout=300, check=False)
    archives = sorted(CACHE.glob(f"{package}_*.deb"))
    assert archives, f"apt-get download {package}: {done.stderr}"
    subprocess.run(["dpkg-deb", "--extract", archives[-1], CACHE / package], check=True, capture_output=True)
    assert path.exists(), f"{package} holds no {name}"
    return path
