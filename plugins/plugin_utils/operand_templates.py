# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The templates of the role operand, rendered for one reconcile.

The role custom_scheduler renders two of them with Ansible's template engine, so they use what both know. Here Jinja renders them by itself:
what a resource or a configuration holds is data that nothing evaluates, whatever it looks like, and no value becomes a variable of Ansible.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import read
from jinja2 import Environment, FileSystemLoader, StrictUndefined

FOLDER = Path(__file__).parents[2] / "roles/operand/templates"
# In the order in which a reader looks for them; apply sorts.
TEMPLATES = (
    "scheduler.yaml.j2",
    "configuration.yaml.j2",
    "permissions.yaml.j2",
    "plugins.yaml.j2",
    "load_watcher.yaml.j2",
    "network.yaml.j2",
    "monitoring.yaml.j2",
)
PROMETHEUS = "OPERAND_PROMETHEUS"
"""The variable of the operator's pod with the Prometheus that reads the metrics of schedulers."""
OPENSHIFT_PROMETHEUS: Mapping[str, Any] = {"namespace": "openshift-monitoring", "service_account": "prometheus-k8s", "labels": {}}


def manifests(operand: Mapping[str, Any], user: str, prometheus: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The objects of a scheduler. operand: see `operand.inputs.template_variables`. user: id that pods run as, "" where the platform chooses one.

    prometheus: ``namespace`` and ``service_account`` of the one that reads the metrics, and the ``labels`` that it expects of a ServiceMonitor.
    Raises `InputError` for what is no manifest.
    """
    variables = {"operand": operand, "operand_user": user, "operand_prometheus": prometheus}
    return [obj for name in TEMPLATES for obj in read(template(name).render(variables), f"template {name}")]


def prometheus(given: str | None) -> Mapping[str, Any]:
    """The Prometheus for `manifests`, from the content of the variable `PROMETHEUS`; OpenShift's without one. Raises `InputError`."""
    try:
        chosen = json.loads(given) if given is not None else {}
        if chosen.keys() <= OPENSHIFT_PROMETHEUS.keys():
            return {**OPENSHIFT_PROMETHEUS, **chosen}
    except (ValueError, AttributeError):
        pass
    fields = ", ".join(OPENSHIFT_PROMETHEUS)
    raise InputError(f"{PROMETHEUS} of the operator's pod is {given!r}: set a JSON object with {fields}, or remove the variable")


def compile_all() -> None:
    """Compile the templates, so that processes forked from this one need not: 47 of the 219 ms of the play of an unchanged reconcile."""
    for name in TEMPLATES:
        template(name)


@functools.cache
def template(name: str):
    """The compiled template."""
    return _environment().get_template(name)


@functools.cache
def _environment() -> Environment:
    # The output is YAML, not HTML. trim_blocks as Ansible has it.
    environment = Environment(loader=FileSystemLoader(FOLDER), undefined=StrictUndefined, trim_blocks=True, auto_reload=False)
    environment.filters.update(to_json=json.dumps, combine=_combine)
    return environment


def _combine(*mappings: Mapping[str, Any]) -> dict[str, Any]:
    """The filter of Ansible of that name, without its options."""
    return {key: value for mapping in mappings for key, value in mapping.items()}
