# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The scheduler's program, out of the image that it runs from: what ``go tool pprof`` needs to show its instructions."""

from __future__ import annotations

import os
import posixpath
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.files import save
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import Target
from ansible_collections.osso.scheduler.plugins.module_utils._images import layers
from ansible_collections.osso.scheduler.plugins.module_utils._images.reference import parse

PROGRAM = "kube-scheduler"
RunCommand = Callable[[list[str]], tuple[int, str, str]]
"""Starts a program; its exit code, stdout and stderr. Raises OSError where it cannot be started."""
# Bytes; kube-scheduler has about 70 MB
_LARGEST = 1_000_000_000
_DIGEST = re.compile(r"@(sha256:[0-9a-f]{64})$")


@dataclass(frozen=True)
class Source:
    """How to reach the registry; the names and meanings are those of the suboptions of ``option``, an option of the module, which messages name."""

    auth_file: str | None
    validate_certs: bool
    skopeo: str
    option: str = "binary"


def image_of(target: Target) -> str:
    """The image that the container runs, by digest if its runtime reports one.

    Its repository is that of the pod's spec: ``imageID`` can name any other repository in which the node has seen the same content.
    """
    status = _of_container((target.pod.get("status") or {}).get("containerStatuses") or [], target)
    image: str = _of_container(target.pod["spec"]["containers"], target)["image"]
    try:
        named = parse(image)
    except ValueError:
        return image  # skopeo may know more forms, such as digests by sha512
    pulled = _DIGEST.search(status.get("imageID") or "")
    return named._replace(digest=named.digest or (pulled.group(1) if pulled else "")).pull


def extract(image: str, architecture: str, path: str, source: Source, run_command: RunCommand) -> int:
    """Save the program that an image holds below ``bin``; how many bytes it has.

    architecture: of the node, as Kubernetes calls it; "" for that of the host. Raises ClusterError with the reason and the remedy.
    """
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path), prefix=".image.") as folder:
        _copy(image, architecture, folder, source, run_command)
        body = _found(image, folder, source.option)
    save(path, body)
    return len(body)


def _of_container(entries: list[Mapping[str, Any]], target: Target) -> Mapping[str, Any]:
    return next((entry for entry in entries if entry["name"] == target.container), {})


def _copy(image: str, architecture: str, folder: str, source: Source, run_command: RunCommand) -> None:
    command = [source.skopeo, "--override-os=linux"]
    command += [f"--override-arch={architecture}"] if architecture else []
    command += ["copy", "--quiet", f"--src-tls-verify={str(source.validate_certs).lower()}"]
    command += [f"--src-authfile={source.auth_file}"] if source.auth_file else []
    try:
        code, _out, said = run_command([*command, f"docker://{_pulled(image)}", f"dir:{folder}"])
    except OSError as error:
        raise ClusterError(
            f"{source.option}.skopeo: {source.skopeo} could not be started: {error.strerror}. Install skopeo on the host that the task runs on, or set "
            "its path."
        ) from None
    if code:
        raise ClusterError(
            f"{source.option}: the image {image} could not be copied: {said.strip()}. The host that the task runs on must reach its registry; "
            f"{source.option}.auth_file and {source.option}.validate_certs configure the access."
        )


def _pulled(image: str) -> str:
    """As skopeo takes it: with a digest, without a tag."""
    try:
        return parse(image).pull
    except ValueError:
        return image  # skopeo's own error is the better one


def _found(image: str, folder: str, option: str) -> bytes:
    """The program in a folder that skopeo has copied an image to. What a later layer holds goes before what is below it."""
    try:
        programs = layers.files(folder, _is_program, _LARGEST)
    except ValueError as error:
        raise ClusterError(f"{option}: {image}: {error}. Python's tarfile does not read every compression, such as zstd.") from None
    if not programs:
        raise ClusterError(f"{option}: the image {image} has no file {PROGRAM} in a folder bin or at the root.")
    return [*programs.values()][-1]


def _is_program(name: str) -> bool:
    folder, base = posixpath.split(name)
    return base == PROGRAM and posixpath.basename(folder) in ("bin", "sbin", "", ".")
