# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a person sees of a change: objects without noise and without secrets."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import encloses, json_copy, masked, masked_objects
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.plain_data import as_mapping
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.secrets import MASK

_NOISE = ("creationTimestamp", "deletionGracePeriodSeconds", "generation", "managedFields", "resourceVersion", "selfLink", "uid")
_OURS = "osso.scheduler/"
# Written by others on each change; the first also repeats the data of Secrets
_NOISY_ANNOTATIONS = ("kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision")


def content(obj: Object | None, with_status: bool = False) -> Object:
    """An object without what the server keeps for itself; {} for None."""
    obj = copy.deepcopy(obj or {})
    metadata = obj.get("metadata", {})
    for field in _NOISE:
        metadata.pop(field, None)
    for annotation in _NOISY_ANNOTATIONS:
        metadata.get("annotations", {}).pop(annotation, None)
    if not metadata.get("annotations", True):
        del metadata["annotations"]
    if not with_status:
        obj.pop("status", None)
    return obj


def difference(before: Object | None, after: Object | None, with_status: bool = False) -> tuple[Object, Object]:
    """``(before, after)`` for a diff; either may be None. Values of Secrets are masked: only that one changed can be seen.

    So are the credentials in a scheduler's configuration, in addresses, and in variables that are called like credentials, also in annotations that
    repeat them as JSON. Where nothing but the managers of fields differs, these are shown.
    """
    managers = [_managers(obj) for obj in (before, after)]
    before, after = _without_credentials(content(before, with_status), content(after, with_status))
    if before == after and managers[0] != managers[1]:
        before, after = ({**obj, "metadata": {**obj["metadata"], "managedFields": own}} for obj, own in zip((before, after), managers))
    return before, after


def shown(obj: Object) -> Object:
    """One whole object, masked as in a diff."""
    return _without_credentials({}, copy.deepcopy(obj))[1]


def _without_credentials(before: Object, after: Object) -> tuple[Object, Object]:
    old, new = (as_mapping(as_mapping(obj.get("metadata")).get("annotations")) for obj in (before, after))
    if "Secret" in (before.get("kind"), after.get("kind")):
        for field in ("data", "stringData"):
            values = as_mapping(before.get(field)), as_mapping(after.get(field))
            _mask(*values, {**values[0], **values[1]})
        # What others noted there can be any part of it.
        _mask(old, new, [name for side in (old, new) for name in side if encloses(side[name]) and not name.startswith(_OURS)])
    if "ConfigMap" in (before.get("kind"), after.get("kind")):
        _mask_configurations(as_mapping(before.get("data")), as_mapping(after.get("data")))
    for name in {**old, **new}:
        try:
            _mask_copies(old, new, name)
        except RecursionError:
            _mask(old, new, [name])
    return masked_objects(before, after)


def _mask_copies(old: Object, new: Object, name: str) -> None:
    """Mask what an annotation contains as JSON: an object as a diff shows it, else whatever a diff masks."""
    copies = [_with_masked_parts(json_copy(side.get(name))) for side in (old, new)]
    shown = _without_credentials(*(one if isinstance(one, dict) else {"": one} for one in copies))
    for side, one, masked_one in zip((old, new), copies, shown):
        found = masked_one if isinstance(one, dict) else masked_one[""]
        if one is not None and found != json_copy(side[name]):
            side[name] = json.dumps(found)


def _with_masked_parts(value: Any) -> Any:
    """A list or mapping whose objects at any depth are masked; not the mapping itself."""
    if isinstance(value, list):
        return [_masked_parts_and_self(one) for one in value]
    return {key: _masked_parts_and_self(one) for key, one in value.items()} if isinstance(value, dict) else value


def _masked_parts_and_self(value: Any) -> Any:
    found = _with_masked_parts(value)
    return _without_credentials({}, found)[1] if isinstance(found, dict) and "kind" in found else found


def _managers(obj: Object | None) -> list[Object]:
    """The fields of each manager, without the time of its last write."""
    entries = (obj or {}).get("metadata", {}).get("managedFields") or []
    kept = ({key: entry[key] for key in ("manager", "operation", "subresource", "fieldsV1") if key in entry} for entry in entries)
    return sorted(kept, key=str)


def _mask_configurations(old: Object, new: Object) -> None:
    """Only the kind shows that a text is YAML, and the meaning of its keys."""
    for key in {**old, **new}:
        texts = [data[key] if isinstance(data.get(key), str) else "" for data in (old, new)]
        if any("KubeSchedulerConfiguration" in text for text in texts):
            for data, text in zip((old, new), masked(*texts)):
                if key in data:
                    data[key] = text


def _mask(old: Object, new: Object, keys: Iterable[str]) -> None:
    changed = {key for key in old if key in new and old[key] != new[key]}
    for side, word in ((old, " (before)"), (new, " (after)")):
        side.update({key: MASK + (word if key in changed else "") for key in keys if key in side})


def as_diff(title: str, before: Object, after: Object) -> dict[str, str]:
    """One entry of Ansible's ``diff``, with the objects as YAML."""
    return {
        "before_header": title,
        "after_header": title,
        "before": _yaml(before),
        "after": _yaml(after),
    }


def _yaml(obj: Object) -> str:
    """Texts of several lines stay such, so that their diff shows the lines that differ; others are never broken."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, text)
    return yaml.dump(obj, Dumper=Dumper, default_flow_style=False, sort_keys=True, width=10**6) if obj else ""
