# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Streams into pods through the API server: a command in a container, a connection to a port."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError

_ERROR_CHANNEL = 3
# websocket-client puts status, headers and body into one text, with this between them.
_PART = "-+-+-"
_HANDSHAKE = re.compile(r"Handshake status (\d+) ([^-]*)")


class Outcome(NamedTuple):
    """exit_code: None where the command did not even start. message: why it failed, in the words of the node."""

    exit_code: int | None
    output: str
    message: str


def run(client: Client, namespace: str, pod: str, container: str, command: list[str], timeout: float) -> Outcome:
    """Run a command in a container and return its outcome, with what it wrote to both outputs.

    Raises `ApiError` where the API server refuses, `ClusterError` where the command has not ended after ``timeout`` seconds.
    """
    with _refusals("GET", f"/api/v1/namespaces/{namespace}/pods/{pod}/exec"):
        stream, core = _library(client)
        session = stream.stream(
            core.connect_get_namespaced_pod_exec,
            pod,
            namespace,
            container=container,
            command=command,
            stdin=False,
            stdout=True,
            stderr=True,
            tty=False,
            _preload_content=False,
        )
    try:
        session.run_forever(timeout=timeout)
        if session.is_open():
            raise ClusterError(
                f"{command[0]} in the container {container} of the pod {namespace}/{pod} did not end within {timeout:.0f} s."
            )
        status = session.read_channel(_ERROR_CHANNEL)
        output = session.read_all()
    finally:
        session.close()
    return _outcome(status, output)


@contextmanager
def forwarded(client: Client, namespace: str, pod: str, port: int, timeout: float) -> Iterator[Any]:
    """A connected socket to a port of a pod; who waits on it for ``timeout`` seconds gets an OSError.

    Raises `ApiError` where the API server refuses. That nothing listens there shows when the socket is used.
    """
    with _refusals("GET", f"/api/v1/namespaces/{namespace}/pods/{pod}/portforward"):
        stream, core = _library(client)
        forward = stream.portforward(core.connect_get_namespaced_pod_portforward, pod, namespace, ports=str(port))
    try:
        wrapped = forward.socket(port)
        # What the library wraps around it does not pass for a socket.
        connection = getattr(wrapped, "_socket", wrapped)
        connection.settimeout(timeout)
        yield connection
    except OSError as error:
        why = (forward.error(port) or "").strip()
        raise ClusterError(f"The connection to port {port} of the pod {namespace}/{pod} broke: {why or error}") from None
    finally:
        forward.close()


def _library(client: Client) -> tuple[Any, Any]:
    try:
        from kubernetes import stream
        from kubernetes.client import CoreV1Api
    except ImportError as error:
        raise ClusterError(f"{error}: streams into pods need the Python packages kubernetes and websocket-client.") from None
    return stream, CoreV1Api(client.api_client)


def _outcome(status: str, output: str) -> Outcome:
    try:
        found: dict[str, Any] = json.loads(status)
    except ValueError:
        return Outcome(None, output, "the connection broke before the command ended")
    if found.get("status") == "Success":
        return Outcome(0, output, "")
    causes = (found.get("details") or {}).get("causes") or []
    code = next((cause["message"] for cause in causes if cause.get("reason") == "ExitCode"), "")
    return Outcome(int(code) if code.isdecimal() else None, output, found.get("message", ""))


@contextmanager
def _refusals(method: str, path: str) -> Iterator[None]:
    """The library's ApiException, which holds all in one text, as `ApiError`."""
    try:
        yield
    except ClusterError:
        raise
    except Exception as failure:
        if type(failure).__name__ != "ApiException":
            raise
        text = str(getattr(failure, "reason", failure))
        handshake = _HANDSHAKE.search(text)
        status, reason, message = 0, "Unreachable", text.partition(_PART)[0].strip()
        if handshake:
            answer = _body(text.rpartition(_PART)[2].strip())
            status, reason = int(handshake.group(1)), answer.get("reason", "")
            message = answer.get("message") or handshake.group(2).strip()
        raise ApiError(status, reason, message, method=method, path=path) from None


def _body(text: str) -> dict[str, Any]:
    """The Status in a refusal, which older releases of websocket-client write as bytes; empty where there is none."""
    try:
        found = json.loads(ast.literal_eval(text) if text.startswith(("b'", 'b"')) else text)
    except (SyntaxError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
