# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tools to build images: buildah or podman with a separate storage, pushing by digest, and progress messages."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
# These scripts are in the collection as it is installed, too, where nothing is written.
CHECKOUT = (ROOT / "galaxy.yml").exists()
CACHES = ROOT / ".cache" if CHECKOUT else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "osso-scheduler"
CACHE = CACHES / "operator-image"
ENGINES = ("buildah", "podman")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options that all images have."""
    add = parser.add_argument
    add(
        "--registry",
        default=os.environ.get("REGISTRY"),
        help="where to push to, host:port or host/path; without it nothing is pushed ($REGISTRY)",
    )
    add(
        "--tls-verify",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="speak TLS to registries (default: unless the host is an IP address)",
    )
    add("--insecure-registry", metavar="HOST:PORT", action="append", default=[], help="a registry that this does not go for (repeatable)")
    add("--tag", default=os.environ.get("TAG") or version(), help="tag; what is printed is the digest ($TAG)")
    add(
        "--engine",
        choices=ENGINES,
        default=os.environ.get("ENGINE") or next((name for name in ENGINES if shutil.which(name)), ENGINES[0]),
        help="what builds ($ENGINE)",
    )


def check(options: argparse.Namespace, *programs: str) -> None:
    """Refuse what is known to be missing."""
    if os.geteuid() != 0:
        refuse(f"{options.engine} runs its steps in a chroot, which needs root; run it with sudo")
    for program in (options.engine, "unshare", *programs):
        if not shutil.which(program):
            refuse(f"{program} is missing; on Debian: apt-get install {'util-linux' if program == 'unshare' else program}")


def build(options: argparse.Namespace, folder: Path, image: str, *flags: str) -> None:
    """Build an image out of a folder; the same content gives the same image, unless a step of it does not."""
    command = ["bud" if options.engine == "buildah" else "build", "--isolation=chroot", "--timestamp=0", f"--tag={image}", *flags]
    engine(options, [*command, str(folder)])


def run_in(
    options: argparse.Namespace, image: str, user: str, command: Iterable[str], volumes: Iterable[str] = (), network: bool = False
) -> str:
    """Run a command in a temporary container of an image and return its output. The image's entrypoint is not run.

    ``volumes`` are ``folder:folder in the container[:ro]``. Only with ``network`` does it certainly have the host's network.
    """
    mounts = [f"--volume={volume}" for volume in volumes]
    if options.engine == "podman":
        # It is here, and a network of its own would need programs that are not everywhere.
        apart = ["--rm", "--pull=never", f"--network={'host' if network else 'none'}", *mounts, f"--user={user}", "--entrypoint="]
        return engine(options, ["run", *apart, image, *command])
    container = engine(options, ["from", "--pull-never", image]).strip()
    try:
        # Isolated by chroot it has the machine's network in any case.
        return engine(options, ["run", "--isolation=chroot", *mounts, f"--user={user}", container, "--", *command])
    finally:
        engine(options, ["rm", container])


def prune(options: argparse.Namespace) -> None:
    """Forget the layers of former builds, and the containers of interrupted ones: buildah refuses to remove an image that one uses."""
    engine(options, ["rmi", "--prune", "--force"] if options.engine == "buildah" else ["image", "prune", "--force"])


def push(options: argparse.Namespace, image: str, name: str) -> str:
    """Push to NAME in the registry, and return the reference by digest."""
    repository = f"{options.registry}/{name}"
    written = CACHE / "digest"
    engine(options, ["push", tls(options, repository), f"--digestfile={written}", image, f"docker://{repository}:{options.tag}"])
    return f"{repository}@{written.read_text().strip()}"


def tls(options: argparse.Namespace, reference: str) -> str:
    return f"--tls-verify={str(verified(options, reference)).lower()}"


def verified(options: argparse.Namespace, reference: str) -> bool:
    """Whether TLS is spoken to the registry of an image."""
    registry = reference.partition("/")[0]
    if registry in options.insecure_registry:
        return False
    host = registry.partition(":")[0]
    return not host.replace(".", "").isdigit() if options.tls_verify is None else options.tls_verify


def engine(options: argparse.Namespace, arguments: list[str]) -> str:
    """Run buildah or podman with a separate storage and return its output.

    They run in a separate mount namespace with its own /var/lib, because they cache data of registries there with any storage option, and leave
    mounts behind.
    """
    var_lib = CACHE / "var-lib"
    temporary = CACHE / "tmp"
    for folder in (var_lib, temporary):
        folder.mkdir(parents=True, exist_ok=True)
    # Named as in there: podman takes no runroot of more than 50 characters.
    apart = ["--storage-driver=overlay", "--root=/var/lib/storage", "--runroot=/var/lib/run"]
    if options.engine == "podman":
        apart.append("--tmpdir=/var/lib/run/libpod")
    command = [options.engine, *apart, *arguments]
    script = f"mount --bind {shlex.quote(str(var_lib))} /var/lib && exec {shlex.join(command)}"
    # With a stdin of its own: buildah makes the one that it gets non-blocking, and Ansible refuses to run with that afterwards.
    return run(
        with_private_mounts("sh", "-c", script),
        quiet=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(temporary)},
    )


def with_private_mounts(*command: str) -> list[str]:
    """The command in a separate mount namespace: no other process sees its mounts, or keeps them busy by reading in them."""
    return ["unshare", "--mount", "--propagation=private", *command]


def run(command: list[str], quiet: bool = False, **keywords) -> str:
    """Run a command; its output goes to stderr, or with quiet only if it fails."""
    if quiet:
        done = subprocess.run(command, capture_output=True, text=True, check=False, **keywords)
    else:
        done = subprocess.run(command, check=False, **{"stdout": sys.stderr, **keywords})
    if done.returncode != 0:
        refuse(f"{Path(command[0]).name} failed ({done.returncode}): {shlex.join(command)}\n{(done.stdout or '') + (done.stderr or '')}")
    return done.stdout or ""


def version() -> str:
    """Of the collection."""
    if not CHECKOUT:
        return json.loads((ROOT / "MANIFEST.json").read_text())["collection_info"]["version"]
    for line in (ROOT / "galaxy.yml").read_text().splitlines():
        if line.startswith("version:"):
            return line.partition(":")[2].strip()
    return refuse("galaxy.yml has no version")


@contextmanager
def step(name: str) -> Iterator[None]:
    print(f"{program()}: {name} ...", file=sys.stderr, flush=True)
    start = time.monotonic()
    yield
    print(f"{program()}: {name}: {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)


def refuse(message: str) -> NoReturn:
    sys.exit(f"{program()}: {message}")


def program() -> str:
    """Of what is run, the path from the checkout on."""
    path = Path(sys.argv[0]).resolve()
    return str(path.relative_to(ROOT)) if ROOT in path.parents else path.name
