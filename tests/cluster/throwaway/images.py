# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Container images: built by buildah out of scratch and static programs, pushed to the cluster's registry."""

from __future__ import annotations

import fcntl
import http.client
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from . import build
from .layout import CHECKOUT, COREDNS, LOAD_WATCHER, OLM, OPM, SCHEDULER_PLUGINS, SOURCE, Layout, Record, digest
from .prerequisites import SEARCH_PATH, find
from .progress import ClusterError, Progress, output, run_logged

# buildah keeps a cache here, wherever its storage is.
SHARED = Path("/var/lib/containers")


@dataclass(frozen=True)
class Image:
    """`files` come into the build's context beside the Containerfile `images/<containerfile>`: name -> program or path.

    What is not `required` is built when an add-on asks for it.
    """

    name: str
    containerfile: str
    files: Mapping[str, str | Path] = field(default_factory=dict, hash=False)
    required: bool = True


BUSYBOX = Path("/bin/busybox")
OLM_PROGRAMS = ("olm", "catalog", "package-server", "copy-content", "cpb")
OPM_PROGRAMS = ("opm", "grpc_health_probe")

IMAGES = {
    image.name.split(":")[0]: image
    for image in (
        Image("pause:3.10", "pause", {"pause": "pause"}),
        Image(f"coredns:{COREDNS}", "coredns", {"coredns": "coredns"}),
        Image(f"scheduler-plugins/kube-scheduler:{SCHEDULER_PLUGINS}", "kube-scheduler", {"kube-scheduler": "scheduler-plugins"}),
        Image(f"scheduler-plugins/controller:{SCHEDULER_PLUGINS}", "controller", {"controller": "controller"}),
        Image(f"load-watcher:{LOAD_WATCHER}", "load-watcher", {"load-watcher": "load-watcher"}),
        # A toolbox for tests: shell, wget, nc, nslookup.
        Image("busybox:1", "busybox", {"busybox": BUSYBOX}),
        Image(f"olm:{OLM}", "olm", {**{name: name for name in OLM_PROGRAMS}, "cp": BUSYBOX}, required=False),
        Image(f"opm:{OPM}", "opm", {**{name: name for name in OPM_PROGRAMS}, "busybox": BUSYBOX}, required=False),
        # The toolbox with kubectl, for Jobs that speak to the API server.
        Image("kubectl:1", "kubectl", {"busybox": BUSYBOX, "kubectl": "kubernetes"}, required=False),
    )
}

REQUIRED = tuple(name for name, image in IMAGES.items() if image.required)

# As the Kubernetes project publishes it, of each release: name and tag -> image
IN_TREE = {
    name: Image(name, "kube-scheduler-in-tree", {"kube-scheduler": "kubernetes"}, required=False)
    for name in (f"kube-scheduler:{release.version}" for release in build.RELEASES.values())
}
IMAGES.update(IN_TREE)

# Without these no pod starts and no name resolves.
FIRST = ("pause", "coredns")

# The data of new registries that have the images of every cluster: a folder for each release
KEPT = CHECKOUT / ".cache/images"


def of_every_cluster(layout: Layout) -> tuple[str, ...]:
    return (*REQUIRED, f"kube-scheduler:{layout.release.version}")


def restore(layout: Layout) -> bool:
    """Give a registry without data the images that another one got from the same ingredients. Whether it had no data."""
    if layout.registry_data.exists():
        return False
    with _kept(layout) as kept:
        if kept.exists():
            _copy_data(kept, layout.registry_data)
            for name in of_every_cluster(layout):
                _mark(layout, name).write_text(_inputs(layout, IMAGES[name]))
    return True


def keep(layout: Layout) -> None:
    """Keep the data of a registry that has the images of every cluster, and no others, for the next one."""
    with _kept(layout) as kept:
        if kept.exists():
            return
        for old in KEPT.glob(f"{layout.release.minor}-*"):
            shutil.rmtree(old)
        _copy_data(layout.registry_data, kept)


@contextmanager
def _kept(layout: Layout) -> Iterator[Path]:
    """Where the data lie, which depends on what the images consist of. Other processes wait meanwhile."""
    build.LOCKS.mkdir(parents=True, exist_ok=True)
    with (build.LOCKS / "images").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        inputs = digest(*(_inputs(layout, IMAGES[name]) for name in of_every_cluster(layout)))
        yield KEPT / f"{layout.release.minor}-{inputs}"


def _copy_data(source: Path, target: Path) -> None:
    """Copy a registry's data, all or nothing. The registry never writes to the content of a blob, so that is linked."""

    def copy(file: str, to: str) -> None:
        if Path(file).name == "data":
            _provide(Path(file), Path(to))
        else:
            shutil.copy2(file, to)

    new = target.with_name(f"{target.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(source, new, copy_function=copy)
    new.rename(target)


def ensure(layout: Layout, record: Record, progress: Progress, names: Iterable[str] = REQUIRED) -> None:
    """Build and push those of the images whose ingredients changed or that the registry does not have."""
    for name in names:
        image = IMAGES[name]
        inputs = _inputs(layout, image)
        mark = _mark(layout, name)
        if mark.exists() and mark.read_text() == inputs and _in_registry(record, image.name):
            continue
        with progress.step(f"image {image.name}"):
            context = layout.containers / "context"
            shutil.rmtree(context, ignore_errors=True)
            context.mkdir(parents=True)
            try:
                for target, source in image.files.items():
                    _provide(build.path(layout, source) if isinstance(source, str) else source, context / target)
                build_and_push(layout, context, f"{record.registry}/{image.name}", ["--file", str(_containerfile(image))])
            finally:
                shutil.rmtree(context)
        mark.write_text(inputs)


def build_and_push(layout: Layout, context: Path, name: str, arguments: Iterable[str] = ()) -> None:
    """Build the image `name` (with its registry) and push it there over plain HTTP."""
    log = layout.logs / "images.log"
    buildah(layout, ["bud", "--isolation", "chroot", "--tag", name, *arguments, str(context)], log, f"building the image {name} failed")
    buildah(
        layout, ["push", "--tls-verify=false", "--disable-compression", name], log, f"pushing the image {name} failed: is its registry up?"
    )


def buildah(layout: Layout, arguments: list[str], log: Path, failure: str) -> None:
    """Run buildah so that it leaves nothing on the machine: storage is in the state directory, its mounts in a namespace."""
    for name in ("root", "run", "tmp"):
        (layout.containers / name).mkdir(parents=True, exist_ok=True)
    driver = "overlay" if can_overlay(layout) else "vfs"
    storage = ["--root", layout.containers / "root", "--runroot", layout.containers / "run", "--storage-driver", driver]
    env = {**os.environ, "PATH": SEARCH_PATH, "TMPDIR": str(layout.containers / "tmp")}
    script = 'set -e; mkdir -p "$0"; mount --bind "$0" "$1"; shift; exec "$@"'
    command = [find("buildah"), *storage, *arguments]
    with _shared_directory():
        run_logged([find("unshare"), "--mount", "sh", "-c", script, layout.containers / "cache", SHARED, *command], log, failure, env=env)


@contextmanager
def _shared_directory() -> Iterator[None]:
    """See that SHARED exists, to be covered by a mount, and does not outlast its last user when it is empty."""
    directory = _hold_shared_directory()
    try:
        yield
    finally:
        with suppress(OSError):  # it is not empty, or another checkout uses it
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
            SHARED.rmdir()
        os.close(directory)


def _hold_shared_directory() -> int:
    while True:
        with suppress(FileNotFoundError, FileExistsError):  # its last user removes it at this moment
            SHARED.mkdir(exist_ok=True)
            directory = os.open(SHARED, os.O_RDONLY)
            fcntl.flock(directory, fcntl.LOCK_SH)
            if SHARED.exists() and SHARED.samefile(f"/proc/self/fd/{directory}"):
                return directory
            os.close(directory)


def can_overlay(layout: Layout) -> bool:
    """Whether images' layers can be stacked by overlayfs: not on top of another one, such as a container's root."""
    return output(find("stat"), "--file-system", "--format=%T", layout.state).strip() != "overlayfs"


def _containerfile(image: Image) -> Path:
    return SOURCE / "images" / image.containerfile


def _mark(layout: Layout, name: str) -> Path:
    return layout.inputs / f"image-{name.replace('/', '_')}"


def _inputs(layout: Layout, image: Image) -> str:
    parts: list[object] = [image.name, _containerfile(image)]
    for target, source in sorted(image.files.items()):
        parts += [target, build.built(layout, source) if isinstance(source, str) else source]
    return digest(*parts)


def _provide(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _in_registry(record: Record, name: str) -> bool:
    repository, tag = name.rsplit(":", 1)
    host, port = record.registry.split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=5)
    try:
        accept = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json"
        connection.request("HEAD", f"/v2/{repository}/manifests/{tag}", headers={"Accept": accept})
        return connection.getresponse().status == 200
    except OSError as error:
        raise ClusterError(f"the registry {record.registry} does not answer: {error}", None) from error
    finally:
        connection.close()


def registry_ready(record: Record) -> bool:
    host, port = record.registry.split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=5)
    try:
        connection.request("GET", "/v2/")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
