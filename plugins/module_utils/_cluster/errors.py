# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Failures that a user can correct. Every other exception is a bug of this collection."""

from __future__ import annotations

import traceback
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.secrets import without_tokens


class ClusterError(Exception):
    """A failure with one readable message.

    ``result`` holds further keys for the module's result, for instance what had been done before the failure.
    """

    def __init__(self, message: str, **result: Any) -> None:
        super().__init__(message)
        self.message = message
        self.result = result


class InputError(ClusterError):
    """What the user gave cannot be used: the message names field, value and remedy."""


class NotDeleted(ClusterError):
    """The API server has accepted deletions, but something still holds the objects; ``held`` names both, the message also the time."""

    def __init__(self, held: str, seconds: float) -> None:
        super().__init__(f"Not deleted after {seconds} s (wait_timeout). {held}")
        self.held = held


class ApiError(ClusterError):
    """The API server refused a request, or did not answer it.

    - ``status`` (int): the HTTP status, 0 when there was no answer
    - ``reason`` (str): ``Status.reason``, such as ``NotFound`` or ``Invalid``; ``NotServed`` when the server does not know the path at
      all (the kind is not installed); ``Unreachable`` and ``Timeout`` without an answer
    - ``message`` (str): the server's words
    - ``details`` (dict): ``Status.details``, with ``causes`` for conflicts and invalid fields
    - ``method``, ``path`` (str): the request
    - ``never_sent`` (bool): whether the server certainly has not received it
    """

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        details: dict[str, Any] | None = None,
        method: str = "",
        path: str = "",
        never_sent: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.details = details or {}
        self.method = method
        self.path = path
        self.never_sent = never_sent

    def in_words(self) -> str:
        """The message, or what it means where the server says no more than one word."""
        if self.status == 401:
            return f"the server does not accept the credentials ({self.message}); is the token or certificate expired?"
        return self.message


def stack_of(error: BaseException) -> str:
    """Type and places of an exception that is a bug, as text. Its message may quote an argument, and so a credential: it is left out."""
    frames = traceback.extract_tb(error.__traceback__)
    return "\n".join(
        [f"{type(error).__name__}, most recent call last:", *(f"  {one.filename}:{one.lineno} in {one.name}" for one in frames)]
    )


def message_of(error: Exception) -> str:
    """The message for a failure, without tokens. Anything but a `ClusterError` or a missing PyYAML is a bug; only its type and places are shown."""
    if isinstance(error, ClusterError):
        return without_tokens(error.in_words() if isinstance(error, ApiError) else error.message)
    if isinstance(error, ImportError) and error.name == "yaml":
        return f"{error}: install PyYAML, or set ansible_python_interpreter to a Python that has it."
    return f"A bug of osso.scheduler; report it with these lines. Values are left out, because they may be credentials.\n{stack_of(error)}"
