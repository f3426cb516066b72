# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The present image and configuration of a SecondaryScheduler, as one side of a preview."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import PLACEHOLDERS, PROM_TOKEN
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import PLUGINS_ANNOTATION, VERSION_ANNOTATION
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.configuration import read_config_map

if TYPE_CHECKING:
    from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client

_PLACEHOLDERS = re.compile("|".join(re.escape(name) for name in PLACEHOLDERS))


def read(client: Client, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """The options of a side whose ``secondary_scheduler`` is set, completed with its configuration; None if it does not exist yet.

    ``may_be_broken``: it is perhaps what the candidate corrects. Raises ClusterError.
    """
    name, namespace = given["secondary_scheduler"]["name"], given["secondary_scheduler"]["namespace"]
    try:
        resource = client.resource("operator.openshift.io/v1", "SecondaryScheduler")
    except ApiError as error:
        if error.status == 404:
            return None
        raise
    live = client.get(resource, name, namespace)
    if live is None:
        return None
    spec, annotations = live.get("spec") or {}, live["metadata"].get("annotations") or {}
    found = read_config_map(client, namespace, str(spec.get("schedulerConfig")))
    if found.text is None:
        return None
    if isinstance(found.text, bytes):
        raise InputError(f"baseline.secondary_scheduler: {namespace}/{name}: {found.source} is no UTF-8.")
    own = {name: value for name, value in given.items() if value is not None and name != "secondary_scheduler"}
    about = {"release": annotations.get(VERSION_ANNOTATION), "plugins": annotations.get(PLUGINS_ANNOTATION)}
    about["source"] = f"baseline.secondary_scheduler: {namespace}/{name}"
    return {**about, "image": spec.get("schedulerImage"), "config_text": found.text, "may_be_broken": True, **own}


def is_same(new: Mapping[str, Any], text: str, present: Mapping[str, Any]) -> bool:
    """Whether configuration and image are the present ones. In a ConfigMap of the upstream operator placeholders are filled in."""
    if new.get("image") and new["image"] != present.get("image"):
        return False
    # A value has one line.
    pattern = ".*?".join(re.escape(part) for part in _PLACEHOLDERS.split(text))
    return re.fullmatch(pattern, present["config_text"]) is not None


def filled(text: str) -> str:
    """The text with an address at which no load is measured, and an invalid token, in the place of the placeholders."""
    return _PLACEHOLDERS.sub(lambda match: "preview" if match[0] == PROM_TOKEN else "http://127.0.0.1:9", text)
