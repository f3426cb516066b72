# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What images with Ansible in them are made of: the base system, Python packages, and collections.

What costs time (base system, Python packages) is kept in `containers.CACHE` until what it is made of changes.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path

import containers
from containers import CACHE, CHECKOUT, ROOT, refuse, run, step, version, with_private_mounts

DEBIAN = "bookworm"
# Essential packages, Python and the CAs, without manuals and translations, and without the whole of Perl, which usrmerge pulls in.
MMDEBSTRAP = [
    "mmdebstrap",
    "--quiet",
    "--variant=essential",
    "--include=python3,ca-certificates",
    "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
    '--setup-hook=mkdir -p "$1/etc/apt/preferences.d"; printf "Package: usrmerge\\nPin: release *\\nPin-Priority: -1\\n" >"$1/etc/apt/preferences.d/no-perl"',
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    "--dpkgopt=path-include=/usr/share/doc/*/copyright",
    "--dpkgopt=path-exclude=/usr/share/info/*",
    "--dpkgopt=path-exclude=/usr/share/locale/*",
    "--dpkgopt=path-exclude=/usr/share/man/*",
    DEBIAN,
]


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of all these images, in addition to those of `containers`."""
    add = parser.add_argument
    add("--base-image", help=f"image with glibc and Python (default: Debian {DEBIAN}, made here)")
    add("--python", default="/usr/bin/python3", help="interpreter in the base image")
    add("--python-version", default="3.11", help="its version")
    add("--collection", type=Path, help="tarball of osso.scheduler (default: made from where this script is)")
    add(
        "--kubernetes-core",
        type=Path,
        default=ROOT / ".cache/collections/ansible_collections/kubernetes/core" if CHECKOUT else ROOT.parents[1] / "kubernetes/core",
        help="folder of the collection kubernetes.core",
    )


def check(options: argparse.Namespace) -> None:
    """Refuse what is known to be missing, before any work."""
    containers.check(options, *([] if options.base_image else ["mmdebstrap"]))
    if not importlib.util.find_spec("pip"):
        refuse(f"{sys.executable} has no pip; run it by make, which uses the environment of `make env`")
    if not (options.kubernetes_core / "MANIFEST.json").exists():
        refuse(f"kubernetes.core is not in {options.kubernetes_core}; run `make collections` or give --kubernetes-core")
    if options.collection and not options.collection.is_file():
        refuse(f"there is no file {options.collection}")


def base_flags(options: argparse.Namespace) -> list[str]:
    """The options that select the base image of the build, and whether it is pulled."""
    image = options.base_image or debian(options)
    return [
        f"--build-arg=BASE_IMAGE={image}",
        f"--build-arg=PYTHON={options.python}",
        *(["--pull", containers.tls(options, image)] if options.base_image else ["--pull-never"]),
    ]


def debian(options: argparse.Namespace) -> str:
    """Name of the base image in our storage; made when it isn't there or MMDEBSTRAP is no longer what it was made with."""
    image = f"localhost/osso/debian-python:{digest(*MMDEBSTRAP)}"
    if not containers.engine(options, ["images", "--quiet", "--filter", f"reference={image}"]):
        with step(f"base system Debian {DEBIAN} (about a minute)"):
            folder = CACHE / "base"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            run(with_private_mounts(*MMDEBSTRAP, str(folder / "base.tar")), quiet=True, env={**os.environ, "TMPDIR": str(folder)})
            (folder / "Containerfile").write_text("FROM scratch\nADD base.tar /\n")
            containers.build(options, folder, image)
            shutil.rmtree(folder)
    return image


def python_packages(
    context: Path, python: str, requirements: Path, also: Iterable[Path] = (), change: Callable[[Path], None] | None = None
) -> None:
    """context/python.tar: what `requirements` pins, for an image's Python (such as ``3.11``) whatever runs this script.

    ``change`` gets the folder before it is packed; ``also`` are the files that it goes by.
    """
    made_from = digest(python, *(path.read_text() for path in (requirements, *also)))
    packed = context / "python.tar"
    target = context.with_name(f"{context.name}-python")
    stamp = context.with_name(f"{context.name}-python.stamp")
    if packed.exists() and stamp.exists() and stamp.read_text() == made_from:
        return
    with step(f"Python packages for Python {python}"):
        stamp.unlink(missing_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        machine = platform.machine()
        run(
            [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-compile",
                "--no-deps",
                "--require-hashes",
            ]
            + ["--only-binary=:all:", f"--python-version={python}", "--implementation=cp"]
            + [f"--platform={name}_{machine}" for name in ("manylinux_2_34", "manylinux_2_28", "manylinux_2_17", "manylinux2014")]
            + [f"--requirement={requirements}", f"--target={target}"]
        )
        if change:
            change(target)
        with tarfile.open(packed, "w") as archive:
            archive.add(target, ".", filter=reproducible)
        shutil.rmtree(target)
        stamp.write_text(made_from)


def reproducible(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = "root"
    return member


def collection(context: Path, tarball: Path | None) -> str:
    """Name of the collection's tarball in the context.

    A tarball holds the time of its making, so a new one with the same content (FILES.json has the checksums) is dropped:
    same content, same image.
    """
    with step("collection"):
        fresh = CACHE / "collection"
        shutil.rmtree(fresh, ignore_errors=True)
        if not tarball and not CHECKOUT:
            tarball = packed_again(fresh)
        if not tarball:
            galaxy = shutil.which("ansible-galaxy", path=f"{Path(sys.executable).parent}:{ROOT / '.venv/bin'}:{os.environ.get('PATH', '')}")
            if not galaxy:
                refuse("ansible-galaxy is missing; run `make env` or give --collection")
            run([galaxy, "collection", "build", str(ROOT), "--output-path", str(fresh)], stdout=subprocess.DEVNULL)
            (tarball,) = fresh.glob("*.tar.gz")
        kept = context / tarball.name
        if not kept.exists() or content(kept) != content(tarball):
            for old in context.glob("*.tar.gz"):
                old.unlink()
            shutil.copy(tarball, kept)
        shutil.rmtree(fresh, ignore_errors=True)
        return kept.name


def packed_again(folder: Path) -> Path:
    """The tarball that the collection was installed from, as far as its content goes."""
    names = [entry["name"] for entry in json.loads((ROOT / "FILES.json").read_text())["files"] if entry["ftype"] == "file"]
    folder.mkdir()
    with tarfile.open(folder / f"osso-scheduler-{version()}.tar.gz", "w:gz") as archive:
        for name in ["MANIFEST.json", "FILES.json", *names]:
            if not (ROOT / name).is_file():
                refuse(f"{ROOT / name} is missing: install the collection anew")
            archive.add(ROOT / name, name, filter=reproducible)
        return Path(archive.name)


def content(tarball: Path) -> bytes:
    with tarfile.open(tarball) as archive:
        return archive.extractfile("FILES.json").read() + archive.extractfile("MANIFEST.json").read()


def copy(target: Path, source: Path, parts: list[str]) -> None:
    """target: these parts of source, replaced as a whole."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for part in parts:
        path = source / part
        if path.is_dir():
            shutil.copytree(path, target / part, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(path, target)


def kubernetes_core(context: Path, source: Path) -> None:
    """context/kubernetes-core: what of that collection runs."""
    copy(context / "kubernetes-core", source, ["MANIFEST.json", "LICENSE", "meta", "plugins"])


def digest(*texts: str) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:12]
