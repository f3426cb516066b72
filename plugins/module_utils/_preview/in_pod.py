# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A preview, or an explanation, in a pod of a Job (`job`).

Reads the question from files, and prints the answer to the log. Needs Python and PyYAML, no Ansible.

The programs are those of other containers of the pod. They share the process namespace: the file of a process of the same user can be read.
"""

from __future__ import annotations

import base64
import errno
import gzip
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError, message_of
from ansible_collections.osso.scheduler.plugins.module_utils._preview import explanation
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import Options, preview
from ansible_collections.osso.scheduler.plugins.module_utils._preview.progress import Progress
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import parse

FOLDER = "/preview"
"""The question: files whose names are in the order of their contents."""
SIDE = "OSSO_PREVIEW_SIDE"
"""The environment variable of a container whose kube-scheduler is the program of ``candidate`` or ``baseline``."""
PREVIEW, EXPLAIN = "preview", "explanation"
"""What is done in the pod."""
_WORK = "work"
PROGRESS = "progress: "
PROGRAM_SECONDS = 60
_LINE = 8000
_LARGEST = 500_000_000
_CHUNK = re.compile(r"^osso-preview (\d+)/(\d+) ([0-9a-f]{8}) (\S+)$", re.MULTILINE)


def question(options: Mapping[str, Any], snapshot: bytes, work: str = PREVIEW) -> bytes:
    """What the files contain together. work: PREVIEW or EXPLAIN, whose options they are."""
    return json.dumps({**options, _WORK: work}).encode() + b"\n" + snapshot


def written(answer: Mapping[str, Any]) -> Iterator[str]:
    """The lines of an answer: compressed, in chunks with their number and checksum. A container's runtime splits longer lines."""
    text = base64.b64encode(gzip.compress(json.dumps(answer).encode())).decode()
    chunks = [text[start : start + _LINE] for start in range(0, len(text), _LINE)]
    for number, chunk in enumerate(chunks, 1):
        yield f"osso-preview {number}/{len(chunks)} {zlib.crc32(chunk.encode()):08x} {chunk}"


def read(log: str) -> dict[str, Any]:
    """The answer that a log contains. Raises ClusterError if it is not complete."""
    found = {}
    total = 0
    for number, count, checksum, chunk in _CHUNK.findall(log):
        total = int(count)
        if f"{zlib.crc32(chunk.encode()):08x}" == checksum:
            found[int(number)] = chunk
    if not total or sorted(found) != list(range(1, total + 1)):
        raise ClusterError(f"the log has {len(found)} of {total or 'an unknown number of'} parts of the result")
    try:
        unpacked = zlib.decompressobj(wbits=31).decompress(base64.b64decode("".join(found[number] for number in sorted(found))), _LARGEST)
        answer = json.loads(unpacked)
    except (ValueError, RecursionError, zlib.error):
        answer = None
    if not isinstance(answer, dict):
        raise ClusterError("the log contains a damaged result")
    return answer


def answer(folder: str = FOLDER) -> dict[str, Any]:
    """The result of the preview that files describe, or its error."""
    content = bytearray()
    for name in sorted(name for name in os.listdir(folder) if name.isdigit()):
        with open(os.path.join(folder, name), "rb") as file:
            content += file.read()
    given, _newline, snapshot = bytes(content).partition(b"\n")
    try:
        with _programs(json.loads(given)) as (act, options):
            return {"result": act(options, parse(snapshot, "the snapshot"), _no_command, Progress(_show))}
    except Exception as error:
        return {"error": message_of(error)}


@contextmanager
def _programs(given: Mapping[str, Any]) -> Iterator[tuple[Callable[..., dict[str, Any]], Any]]:
    """The work and its options, with copies of the programs of the other containers, which then end. Raises ClusterError."""
    known: dict[str, tuple[Any, Callable[..., dict[str, Any]]]]
    known = {PREVIEW: (Options, preview), EXPLAIN: (explanation.Options, explanation.explain)}
    kind, act = known[given.get(_WORK, PREVIEW)]
    try:
        options: Any = kind(**{name: value for name, value in given.items() if name != _WORK})
    except TypeError as error:
        raise InputError(f"job.image: the image contains another version of the collection: {error}.") from None
    with tempfile.TemporaryDirectory(prefix="osso.preview.") as folder:
        found: dict[str, Any] = {}
        for side in ("candidate", "baseline"):
            # A program can act by its name.
            binary = (getattr(options, side, None) or {}).get("binary")
            if binary:
                _show(f"copies the program of {side}.image")
                os.mkdir(os.path.join(folder, side))
                found[side] = {
                    **getattr(options, side),
                    "binary": _copied(side, os.path.join(folder, side, os.path.basename(binary))),
                    "extracted": True,
                }
        yield act, options._replace(**found)


def _copied(side: str, path: str) -> str:
    """Copy the program of the process of a side, and end the process. Raises ClusterError if there is none."""
    until = time.monotonic() + PROGRAM_SECONDS
    why = "its container runs no process"
    while time.monotonic() < until:
        for number in (name for name in os.listdir("/proc") if name.isdigit()):
            try:
                with open(f"/proc/{number}/environ", "rb") as file:
                    if f"{SIDE}={side}".encode() not in file.read().split(b"\0"):
                        continue
                shutil.copyfile(f"/proc/{number}/exe", path)
            except OSError as error:
                # Of processes of other users, and of those that have ended
                why = why if error.errno != errno.EACCES else "its process cannot be read"
                continue
            with suppress(OSError):
                os.kill(int(number), signal.SIGKILL)
            os.chmod(path, 0o700)
            return path
        time.sleep(0.1)
    raise ClusterError(f"{side}.image: the program of the image was not found within {PROGRAM_SECONDS} s: {why}.")


def _no_command(command: list[str]) -> tuple[int, str, str]:
    raise AssertionError(f"{command[0]} is started on the host of the task, not in a pod")


def _show(sentence: str) -> None:
    sys.stdout.write(f"{PROGRESS}{sentence}\n")
    sys.stdout.flush()


def main() -> None:
    sys.stdout.writelines(f"{line}\n" for line in written(answer()))


if __name__ == "__main__":
    main()
