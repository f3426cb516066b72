# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The throwaway Kubernetes cluster: see docs/cluster.md. Environment: NODES (default 3), KUBERNETES (1.34 or 1.37), CLUSTER_DIR (default .cluster)."""

from __future__ import annotations

import argparse
import fcntl
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 (that is the point)
    sys.exit("error: Python 3.11 or newer is needed: make cluster PYTHON=/path/to/python3")

from throwaway import addons, build, images, prerequisites
from throwaway.clean import clean
from throwaway.layout import Layout, Record
from throwaway.progress import ClusterError, Progress, duration, report_failure
from throwaway.start import start
from throwaway.status import status


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests/cluster/cluster", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("start", help="build what is missing, start what does not run, wait until all works")
    commands.add_parser("status", help="what runs and whether it works (exit code 1 if something does not)")
    commands.add_parser("clean", help="end the cluster, remove all that it made, and check that nothing is left")
    command = commands.add_parser("build", help="build programs into the state directory's bin/")
    command.add_argument("program", nargs="*", default=build.REQUIRED, help=", ".join(sorted(build.PROGRAMS)))
    command.add_argument("--addon", choices=sorted(addons.ADDONS), help="those of an add-on")
    command = commands.add_parser("image", help="build an image and push it to the cluster's registry")
    command.add_argument("context", type=Path, help="directory with a Containerfile")
    command.add_argument("name", help="name:tag in the registry")
    command.add_argument("option", nargs="*", help="options for `buildah bud`, after --")
    command = commands.add_parser("addon", help="install an add-on")
    command.add_argument("name", help=", ".join(sorted(addons.ADDONS)))
    return parser.parse_args()


@contextmanager
def alone(layout: Layout) -> Iterator[None]:
    """One command at a time changes a cluster."""
    while True:
        layout.state.mkdir(parents=True, exist_ok=True)
        with (layout.state / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print("another command works on this cluster: waiting for it", flush=True)
                fcntl.flock(lock, fcntl.LOCK_EX)
            path = Path(lock.name)
            if path.exists() and path.samefile(f"/proc/self/fd/{lock.fileno()}"):  # else `clean` has removed it meanwhile
                yield
                return


def running_record(layout: Layout) -> Record:
    record = Record.load(layout)
    if not record or not images.registry_ready(record):
        raise ClusterError("the cluster does not run: start it with `make cluster`")
    return record


def main() -> int:
    arguments = parse()
    layout = Layout.from_environment()
    prerequisites.check_machine()
    if arguments.command == "status":
        return 0 if status(layout) else 1
    with alone(layout):
        if arguments.command == "clean":
            clean(layout)
            return 0
        progress = Progress(layout.durations_file)
        if arguments.command == "start":
            started = time.monotonic()
            start(layout, progress)
            print(f"the cluster runs ({duration(time.monotonic() - started)}): export KUBECONFIG={layout.kubeconfig}")
        elif arguments.command == "build":
            build.ensure(layout, progress, addons.ADDONS[arguments.addon].programs if arguments.addon else arguments.program)
        elif arguments.command == "addon":
            addons.ensure(layout, running_record(layout), progress, arguments.name)
        elif arguments.command == "image":
            name = f"{running_record(layout).registry}/{arguments.name}"
            with progress.step(f"image {arguments.name}"):
                images.build_and_push(layout, arguments.context, name, arguments.option)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ClusterError as error:
        report_failure(error)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit("interrupted: the same command goes on from here")
