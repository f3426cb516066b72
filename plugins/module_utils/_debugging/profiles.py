# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fetch profiles from a running kube-scheduler: the work of the module scheduler_pprof."""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import binary, https
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.files import save
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import Target, named, serving
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.temporary_rbac import ANONYMOUS, Access
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.interrupts import ended_by_signals, uninterrupted

# Beyond what a profile itself takes
_ANSWER_SECONDS = 30
# A scheduler remembers for 10 s that it rejected a user (--authorization-webhook-cache-unauthorized-ttl).
_REFUSED_SECONDS = 25
_CERTIFICATE = {"ca": "verified by serving_ca", "fingerprint": "the one of certificate_sha256", "": "not verified"}


class Kind(NamedTuple):
    """path: below ``/debug/pprof``. timed: whether it is taken over some seconds. begins: what its file begins with."""

    path: str
    timed: bool = False
    begins: bytes = b"\x1f\x8b"
    suffix: str = "pb.gz"


# What net/http/pprof serves; a profile is a compressed protocol buffer, a trace has a format of its own.
KINDS = {
    "heap": Kind("heap"),
    "allocs": Kind("allocs"),
    "goroutine": Kind("goroutine"),
    "threadcreate": Kind("threadcreate"),
    "block": Kind("block"),
    "mutex": Kind("mutex"),
    "cpu": Kind("profile", timed=True),
    "trace": Kind("trace", timed=True, begins=b"go 1.", suffix="trace"),
}


@dataclass(frozen=True)
class Options:
    """What to fetch; the names and meanings are those of the module's options."""

    scheduler_name: str | None
    namespaces: list[str]
    pod: Mapping[str, Any] | None
    profiles: list[str]
    seconds: int
    dest: str
    port: int | None
    access: str
    serving_ca: str | None
    serving_name: str | None
    certificate_sha256: str | None
    binary: Mapping[str, Any] | None

    def __post_init__(self) -> None:
        if not self.profiles:
            raise InputError(f"profiles is empty: give at least one of {', '.join(KINDS)}.")
        if not 1 <= self.seconds <= 600:
            raise InputError(f"seconds is {self.seconds}: give 1 to 600.")
        if not self.scheduler_name and not self.pod:
            raise InputError("scheduler_name: give the schedulerName of the scheduler, or its pod as pod.")
        if self.serving_name and not self.serving_ca:
            raise InputError("serving_name is checked against a certificate that serving_ca has verified: give that, too.")
        if self.certificate_sha256 is not None and len(_plain(self.certificate_sha256)) != 64:
            raise InputError("certificate_sha256 is no SHA-256 fingerprint: give 64 hexadecimal digits, with or without colons.")
        if not os.path.isdir(self.dest) or not os.access(self.dest, os.W_OK):
            raise InputError(f"dest: {self.dest} is no directory that can be written to. It is a path on the host that the module runs on.")

    def path(self, target: Target, profile: str) -> str:
        return os.path.join(self.dest, f"{target.name}.{profile}.{KINDS[profile].suffix}")

    def program(self, target: Target, size: int | None = None) -> dict[str, Any] | None:
        """The part of the result about the binary; None if it was not requested."""
        if self.binary is None:
            return None
        return {"path": os.path.join(self.dest, f"{target.name}.{binary.PROGRAM}"), "size": size, "image": binary.image_of(target)}


def plan(client: Client, options: Options) -> dict[str, Any]:
    """What would be fetched, in the module's form. Reads only."""
    target = _target(client, options)
    files = [{"profile": profile, "path": options.path(target, profile), "size": None} for profile in options.profiles]
    return {
        "changed": True,
        "target": target.as_dict(),
        "files": files,
        "certificate": None,
        "binary": options.program(target),
        "msg": f"Would fetch {', '.join(options.profiles)} from the pod {target}.",
    }


def run(client: Client, options: Options, run_command: binary.RunCommand) -> dict[str, Any]:
    """The module's result. What grants access is removed in every case. Raises ClusterError with the reason and the remedy."""
    target = _target(client, options)
    context = _context(options)
    access = Access(client, target.namespace, options.access)
    failure: ClusterError | None = None
    files: list[dict[str, Any]] = []
    fingerprint = ""
    with uninterrupted():  # nothing interrupts the cleaning up
        try:
            with ended_by_signals("The fetching of profiles"):
                token = access.open()
                for profile in options.profiles:
                    answer = _patiently(client, options, target, context, token, profile)
                    fingerprint = answer.fingerprint
                    path = options.path(target, profile)
                    save(path, answer.body)
                    files.append({"profile": profile, "path": path, "size": len(answer.body)})
        except ClusterError as error:
            failure = error
        finally:
            leftover = access.close()
    if failure or leftover:
        message = " ".join(filter(None, [failure.message if failure else "", leftover]))
        raise ClusterError(message, files=files)
    program = _program(client, options, target, files, run_command)
    verified = "fingerprint" if options.certificate_sha256 else "ca" if options.serving_ca else ""
    return {
        "changed": True,
        "target": target.as_dict(),
        "files": files,
        "certificate": {"sha256": fingerprint, "verified": bool(verified)},
        "binary": program,
        "msg": f"Fetched {', '.join(options.profiles)} from the pod {target}; its certificate was {_CERTIFICATE[verified]}.",
    }


def _program(
    client: Client, options: Options, target: Target, files: list[dict[str, Any]], run_command: binary.RunCommand
) -> dict[str, Any] | None:
    """The part of the result about the binary, after copying it. After a failure the profiles stay."""
    told = options.program(target)
    if not told:
        return None
    try:
        node = client.get(client.resource("v1", "Node"), target.node)
        architecture = ((node or {}).get("status") or {}).get("nodeInfo", {}).get("architecture", "")
    except ApiError:
        architecture = ""
    try:
        with ended_by_signals("The copying of the program"):
            size = binary.extract(told["image"], architecture, told["path"], binary.Source(**(options.binary or {})), run_command)
    except ClusterError as error:
        raise ClusterError(error.message, files=files) from None
    return {**told, "size": size}


def _target(client: Client, options: Options) -> Target:
    return named(client, options.pod, None) if options.pod else serving(client, options.scheduler_name or "", options.namespaces)


def _context(options: Options) -> ssl.SSLContext:
    context = https.unverified()
    if options.serving_ca:
        context.verify_mode = ssl.CERT_REQUIRED
        context.check_hostname = bool(options.serving_name)
        try:
            context.load_verify_locations(cafile=options.serving_ca)
        except (OSError, ssl.SSLError) as error:
            raise InputError(f"serving_ca: {options.serving_ca} contains no readable certificates: {error}.") from None
    return context


def _patiently(client: Client, options: Options, target: Target, context: ssl.SSLContext, token: str, profile: str) -> https.Answer:
    """The profile. A refusal is asked again for a while, as the scheduler may not have heard of the right yet."""
    deadline = time.monotonic() + _REFUSED_SECONDS
    while True:
        answer = _fetch(client, options, target, context, token, profile)
        if answer.status not in (401, 403) or time.monotonic() > deadline:
            break
        time.sleep(1)
    if answer.status != 200:
        raise ClusterError(_refusal(options, target, profile, answer))
    if not answer.body.startswith(KINDS[profile].begins):
        raise ClusterError(
            f"The pod {target} answered with something that is no {profile} profile: {answer.body[:80]!r}. Is port the scheduler's?"
        )
    return answer


def _fetch(client: Client, options: Options, target: Target, context: ssl.SSLContext, token: str, profile: str) -> https.Answer:
    kind, port = KINDS[profile], options.port or target.secure_port
    query = f"?seconds={options.seconds}" if kind.timed else ""
    patience = _ANSWER_SECONDS + (options.seconds if kind.timed else 0)
    fingerprint = _plain(options.certificate_sha256) if options.certificate_sha256 else None
    peer = https.Peer(context, options.serving_name, fingerprint, token)
    return https.get(client, target, port, f"/debug/pprof/{kind.path}{query}", peer, patience)


def _refusal(options: Options, target: Target, profile: str, answer: https.Answer) -> str:
    if answer.status == 404:
        return (
            f"The scheduler in {target} serves no profiles: they are switched off. Set enableProfiling: true in its configuration, or "
            "--profiling=true where it has none, and for block and mutex also enableContentionProfiling."
        )
    if answer.status in (401, 403) and options.access != ANONYMOUS:
        return (
            f"The scheduler in {target} does not let the token read its profiles (HTTP {answer.status}). It must send the token to the API "
            "server for review: its account requires the permission to create tokenreviews and subjectaccessreviews, as in the ClusterRoles "
            "system:kube-scheduler and system:auth-delegator. Without that, access: anonymous may help."
        )
    if answer.status in (401, 403):
        return f"The scheduler in {target} does not let everybody read its profiles (HTTP {answer.status}). Use access: token."
    said = answer.body[:200].decode("utf-8", "replace").strip()
    return f"The scheduler in {target} answered the question for the {profile} profile with HTTP {answer.status}: {said}"


def _plain(fingerprint: str) -> str:
    return fingerprint.replace(":", "").lower()
