# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A configuration out of the name of a preset and a few parameters; ``tables.presets`` has what there is."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from typing import Any

from .similar_names import instead
from .tables.presets import COMMON_PARAMETERS, LOAD_PARAMETERS, PRESETS, PROVIDER_DEFAULTS, Parameter, Preset, Value
from .version_independent import KIND

API_VERSION = "kubescheduler.config.k8s.io/v1"


class PresetError(ValueError):
    """There is no such preset, or a parameter cannot be used; the message names it, its value and the remedy."""


def configuration(name: str, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The KubeSchedulerConfiguration with the one profile that a preset makes. Raises PresetError.

    given: parameters by name; the others have their defaults.
    """
    return {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile(name, given)]}


def profile(name: str, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The profile alone, an element of ``profiles``. Raises PresetError."""
    if name not in PRESETS:
        raise PresetError(f"preset: there is none called {name}: {instead(name, PRESETS)}")
    preset = PRESETS[name]
    values = _values(name, preset, given or {})
    made: dict[str, Any] = {"schedulerName": values["scheduler_name"]}
    if preset.plugins:
        made["plugins"] = _filled(preset.plugins, values)
    config = []
    for plugin, args in _filled(preset.args, values).items():
        if plugin == preset.load:
            args.update(_load(values))
        config.append({"name": plugin, "args": args})
    return {**made, "pluginConfig": config} if config else made


def parameters(name: str) -> dict[str, Parameter]:
    """The parameters of a preset, by name."""
    preset = PRESETS[name]
    return {**COMMON_PARAMETERS, **preset.parameters, **(LOAD_PARAMETERS if preset.load else {})}


def _values(name: str, preset: Preset, given: Mapping[str, Any]) -> dict[str, Any]:
    known = parameters(name)
    for parameter in given:
        if parameter not in known:
            raise PresetError(f"preset_parameters.{parameter}: the preset {name} has no such parameter: {instead(parameter, known)}")
    values = {}
    for parameter, about in known.items():
        value = given.get(parameter)
        if value is None:
            if about.required:
                raise PresetError(f"preset_parameters.{parameter}: the preset {name} needs it: {_plain(about.description)}")
            values[parameter] = about.default
        else:
            values[parameter] = _converted(parameter, value, about)
    return values


def _converted(name: str, value: Any, about: Parameter) -> Any:
    """The value as the type of its parameter: a template makes text of a number, and YAML a number of a text."""
    try:
        converted = _CONVERTERS[about.type](value)
    except (TypeError, ValueError):
        what = "what is given" if name == "token" else repr(value)  # a secret is not repeated
        raise PresetError(f"preset_parameters.{name}: {what} is no {_TYPE_NAMES[about.type]}: {_plain(about.description)}") from None
    if about.choices and converted not in about.choices:
        raise PresetError(f"preset_parameters.{name}: {converted} is not known: {instead(converted, about.choices)}")
    highest = math.inf if about.maximum is None else about.maximum
    for key, number in converted.items() if isinstance(converted, dict) else [("", converted)]:
        if about.minimum is not None and isinstance(number, (int, float)) and not about.minimum <= number <= highest:
            place = f"{name}.{key}" if key else name
            raise PresetError(f"preset_parameters.{place}: {number} is out of range; give {about.range}: {_plain(about.description)}")
    return converted


def _text(value: Any) -> str:
    if isinstance(value, (bool, Mapping, list)):
        raise TypeError
    return str(value)


def _whole(value: Any) -> int:
    if isinstance(value, (bool, float)):
        raise TypeError
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError
    return value if isinstance(value, int) else float(value)


def _truth(value: Any) -> bool:
    words = {"true": True, "yes": True, "false": False, "no": False}
    if str(value).lower() not in words:
        raise ValueError
    return words[str(value).lower()]


def _of(kind: type) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if not isinstance(value, kind):
            raise TypeError
        return value

    return check


_CONVERTERS = {"str": _text, "int": _whole, "float": _number, "bool": _truth, "dict": _of(dict), "list": _of(list)}
_TYPE_NAMES = {
    "str": "text",
    "int": "whole number",
    "float": "number",
    "bool": "truth value",
    "dict": "mapping",
    "list": "list",
}


def _filled(template: Any, values: Mapping[str, Any]) -> Any:
    """A copy of the template with the values of parameters in their places."""
    if isinstance(template, Value):
        value = values[template.parameter]
        return copy.deepcopy(value if template.by is None else template.by.get(value))
    if isinstance(template, Mapping):
        filled = {key: _filled(item, values) for key, item in template.items()}
        return {key: item for key, item in filled.items() if item is not None}
    if isinstance(template, list):
        return [_filled(item, values) for item in template]
    return template


def _load(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that specify a plugin's source of the nodes' load."""
    provider = values["metric_provider"]
    if values["watcher_address"]:
        for name in ("address", "token"):
            if values[name]:
                raise PresetError(
                    f"preset_parameters.{name}: with watcher_address no other source of the load is used: remove one of the two"
                )
        return {"watcherAddress": values["watcher_address"]}
    taken = PROVIDER_DEFAULTS[provider]
    spec: dict[str, Any] = {"type": provider}
    for name in ("address", "token"):
        value = taken.get(name, "") if values[name] is None else values[name]
        if value is None:
            raise PresetError(f"preset_parameters.{name}: the metric provider {provider} needs it")
        if value and name not in taken:
            raise PresetError(f"preset_parameters.{name}: the metric provider {provider} takes none: remove it")
        if value:
            spec[name] = value
    if provider == "Prometheus":
        spec["insecureSkipVerify"] = values["insecure_skip_verify"]
    return {"metricProvider": spec}


def _plain(description: str) -> str:
    """A description without the marks of Ansible's documentation, to end a message with."""
    for mark in ("C(", "V("):
        description = description.replace(mark, "")
    return description.replace(")", "").rstrip(".")
