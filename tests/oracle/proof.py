# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prove the oracle: it must say what the unchanged command says, and what it says must not depend on documents before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import client

# How the program is asked, beside the usual way, and what such an answer can be compared in: the stage, the running
# plugins and the leader elector are not seen from outside the command.
WAYS = {
    "--isolate": ("verdict", "error", "stage", "config", "effective", "starts", "run_error"),
    "--real": ("verdict", "error", "config"),
}


@dataclass(frozen=True)
class Difference:
    """An answer that is not the usual one."""

    document: dict
    way: str
    keys: tuple[str, ...]
    usual: dict
    other: dict

    @property
    def message_only(self) -> bool:
        """That may be chance: kube-scheduler walks maps in places, and which error is first is random then."""
        return self.keys == ("error",)

    def __str__(self) -> str:
        said = [f"  {key}: {self.usual[key]!r}\n  {key} with {self.way}: {self.other[key]!r}" for key in self.keys]
        return "\n".join([f"{self.document.get('id')}: {', '.join(self.keys)}", *said])


def differences(minor: str, plugins: str, documents: list[dict]) -> Iterator[Difference]:
    usual = client.run(minor, plugins, documents)
    for way, comparable in WAYS.items():
        for document, one, other in zip(documents, usual, client.run(minor, plugins, documents, way), strict=True):
            keys = tuple(key for key in comparable if one[key] != other[key])
            if keys:
                yield Difference(document, way, keys, one, other)
