# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write the module files of a release: modules/MINOR.mod and .sum.

k8s.io/kubernetes is not made to be imported: it requires its staging modules in version v0.0.0, which are directories of
its repository. Each has to be replaced by the module that is published under its name, in the same patch release or,
where that cannot be downloaded, the nearest one.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .programs import IN_TREE, MODULES, SCHEDULER_PLUGINS, SOURCE, OracleError, number, tags

# The checksum database does not answer for all of their versions. What was downloaded once is in the .sum file.
UNCHECKED = "k8s.io,sigs.k8s.io"

# Before Go 1.21 a module's go line was no minimum, and newer Go wants at least that.
OLDEST_GO = (1, 21)

FARTHEST_PATCH = 25

# Modules that kubernetes of that time takes in a version which Go of today cannot compile.
TOO_OLD = {
    "github.com/json-iterator/go": ("v1.1.12", 22),
    "github.com/modern-go/reflect2": ("v1.0.2", 22),
}


def newest(minor: str) -> str:
    """The newest patch release of a minor, ``1.37``, that can be downloaded: ``v1.37.2``."""
    with tempfile.TemporaryDirectory() as directory:
        known = _go("list", "-m", "-versions", "k8s.io/kubernetes", cwd=directory).split()
    released = [version for version in known if version.startswith(f"v{minor}.") and "-" not in version]
    if not released:
        raise OracleError(f"Kubernetes {minor} has no release yet")
    return released[-1]


def write(kubernetes: str, plugins: str | None) -> Path:
    """Write the module files for a version of Kubernetes, "v1.34.4", and one of scheduler-plugins, or None; return the first."""
    minor, patch = kubernetes.removeprefix("v").rsplit(".", 1)
    origin = _download("k8s.io/kubernetes", kubernetes)
    if origin is None:
        raise OracleError(f"k8s.io/kubernetes {kubernetes} cannot be downloaded: take another patch release")
    described = json.loads(_go("mod", "edit", "-json", origin["GoMod"]))
    staging = sorted(row["Old"]["Path"] for row in described["Replace"] if row["New"]["Path"].startswith("./staging/"))
    go = max(OLDEST_GO, tuple(int(part) for part in described["Go"].split(".")))

    lines = ["module osso.example/oracle", "", f"go {'.'.join(map(str, go))}", "", "require (", f"\tk8s.io/kubernetes {kubernetes}"]
    if plugins:
        lines.append(f"\tsigs.k8s.io/scheduler-plugins {plugins}")
    lines += [")", "", "replace ("]
    with ThreadPoolExecutor(4) as threads:
        found = threads.map(lambda name: _nearest(name, number(minor), int(patch)), staging)
        lines += [f"\t{name} => {name} {version}" for name, version in zip(staging, found, strict=True)]
    lines.append(f"\tk8s.io/kubernetes => k8s.io/kubernetes {kubernetes}")
    lines += [f"\t{name} => {name} {version}" for name, (version, last) in TOO_OLD.items() if number(minor) <= last]
    lines += [")", ""]

    target = MODULES / f"{minor}.mod"
    target.with_suffix(".sum").unlink(missing_ok=True)
    target.write_text("\n".join(lines))
    try:
        for program in [IN_TREE, SCHEDULER_PLUGINS] if plugins else [IN_TREE]:
            _go("list", "-mod=mod", f"-modfile={target}", f"-tags={tags(minor, program)}", "-deps", ".", cwd=SOURCE)
    except BaseException:
        # Half of the checksums would pass for all.
        target.with_suffix(".sum").unlink(missing_ok=True)
        raise
    return target


def _nearest(name: str, minor: int, patch: int) -> str:
    """The version of a staging module: that of the patch release, or the nearest that can be downloaded, or the minor before."""
    for candidate in (minor, minor - 1):
        for distance in range(FARTHEST_PATCH):
            for other in dict.fromkeys((patch - distance, patch + distance)):
                version = f"v0.{candidate}.{other}"
                if other >= 0 and _download(name, version):
                    return version
    raise OracleError(f"{name}: no version near v0.{minor}.{patch} can be downloaded")


def _download(name: str, version: str) -> dict | None:
    # Outside of any module, so that nothing but this one is looked at.
    with tempfile.TemporaryDirectory() as directory:
        done = _run(["mod", "download", "-json", f"{name}@{version}"], Path(directory))
    try:
        answer = json.loads(done.stdout)
    except ValueError as error:
        raise OracleError(f"go mod download {name}@{version}: {done.stderr.strip()}") from error
    return None if "Error" in answer else answer


def _go(*arguments: str, cwd: Path | None = None) -> str:
    done = _run(list(arguments), cwd)
    if done.returncode:
        raise OracleError(f"go {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def _run(arguments: list[str], cwd: Path | None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GONOSUMDB": UNCHECKED, "GOFLAGS": ""}
    return subprocess.run(["go", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
