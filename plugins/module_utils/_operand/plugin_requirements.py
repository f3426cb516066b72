# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the enabled plugins of a scheduler need besides it, and what of that the cluster lacks.

Everywhere here ``effective`` is that of ``kube_scheduler.result.Result``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypedDict

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.deployments import is_overdue
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.images import identify, split
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import Effective, plugins_of
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.needs import (
    CONTROLLER,
    FIRST,
    IN_TREE_NEEDS,
    NEEDS,
    ROLE_PREFIX,
    Kind,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import (
    VERSION_ANNOTATION,
    UnknownTarget,
    is_later_openshift,
    parse_release,
)
from ansible_collections.osso.scheduler.plugins.module_utils._operand.resource_names import CONTROLLER_IMAGE

API_NOT_SERVED = "APINotServed"
CRD_MISSING, CLUSTER_ROLE_MISSING, CONTROLLER_MISSING = "CRDMissing", "ClusterRoleMissing", "ControllerMissing"
RELEASE_UNSUPPORTED = "ReleaseUnsupported"

_NEEDS = {**NEEDS, **IN_TREE_NEEDS}

_INSTALL = "run the operator's installation (role osso.scheduler.operator) with operator_plugins that name it, by a cluster administrator"


class ClusterFacts(TypedDict):
    """What `requirements_of` goes by. served: which of `kinds` the API serves, as ``<apiVersion>/<kind>``. cluster_roles: which of `cluster_roles`
    exist. image: of the scheduler. annotations: of its resource. controller: the live Deployment of the controller or None.
    """

    served: Collection[str]
    cluster_roles: Collection[str]
    image: str
    annotations: Mapping[str, str]
    controller: Object | None


class Controller(TypedDict):
    """The controller to deploy. cluster_role: its ClusterRole in the cluster; lease_role: the one in ``lease_namespace``."""

    image: str
    replicas: int
    cluster_role: str
    lease_role: str
    lease_namespace: str


class Missing(TypedDict):
    """A requirement of a plugin that the cluster lacks."""

    plugin: str
    what: str
    reason: str
    message: str


class Needs(TypedDict):
    """cluster_roles: names to bind the scheduler to. controller: None if no plugin needs it, or if it cannot run. missing: empty where all is there."""

    cluster_roles: list[str]
    controller: Controller | None
    missing: list[Missing]


def plugins(effective: Effective) -> list[str]:
    """The enabled plugins that need something, sorted."""
    return sorted(plugins_of(effective) & set(_NEEDS))


def kinds(effective: Effective) -> list[tuple[str, str]]:
    """``(apiVersion, kind)`` of everything that the enabled plugins, and the controller that they need, read."""
    return sorted({(kind.api_version, kind.kind) for kind in _kinds(plugins(effective))})


def cluster_roles(effective: Effective) -> list[str]:
    """Names of the ClusterRoles that the enabled plugins, and the controller that they need, are bound to."""
    names = plugins(effective)
    controller = [CONTROLLER.role, CONTROLLER.lease_role] if _need_controller(names) else []
    return [role(name) for name in names if _NEEDS[name].rules] + controller


def needs_controller(effective: Effective) -> bool:
    """Does an enabled plugin need the controller of scheduler-plugins?"""
    return _need_controller(plugins(effective))


def role(plugin: str) -> str:
    """Name of a plugin's ClusterRole."""
    return ROLE_PREFIX + plugin


def requirements_of(effective: Effective, facts: ClusterFacts) -> Needs:
    """The objects to create for the enabled plugins, and the missing requirements."""
    release = _release(facts)
    names = [name for name in plugins(effective) if release is None or release >= _NEEDS[name].since]
    unsupported = [_unsupported(name) for name in names if _NEEDS[name].kinds] if release is not None and release < FIRST else []
    if unsupported:
        return {"cluster_roles": [], "controller": None, "missing": unsupported}
    missing = [
        _undefined(name, kind, f"the plugin {name} cannot work")
        for name in names
        for kind in _NEEDS[name].kinds
        if not _is_served(kind, facts)
    ]
    bound = []
    for name in names:
        if role(name) in facts["cluster_roles"]:
            bound.append(role(name))
        elif _NEEDS[name].rules:
            missing.append(_no_role(name, role(name), f"the plugin {name} may not read what it works with"))
    keepers = [name for name in names if _NEEDS[name].controller]
    controller, obstacles = _controller(keepers[0], facts) if keepers else (None, [])
    known = {entry["what"] for entry in missing}
    missing += [entry for entry in obstacles if entry["what"] not in known]
    if controller:
        missing += _failure(keepers[0], controller, facts["controller"])
    return {"cluster_roles": bound, "controller": controller, "missing": missing}


def controller_image(image: str, annotations: Mapping[str, str]) -> str:
    """The image of the controller: the annotation's, else that of the scheduler's own release; "" if it is unknown."""
    if annotations.get(CONTROLLER_IMAGE):
        return annotations[CONTROLLER_IMAGE]
    repository, tag = split(image)
    if not tag or not f"/{repository}".endswith(f"/{CONTROLLER.repository}"):
        return ""
    return "{0}/{1}:{2}".format(repository.rpartition("/")[0], CONTROLLER.image, tag)


def _kinds(names: Iterable[str]) -> set[Kind]:
    found = {kind for name in names for kind in _NEEDS[name].kinds}
    return found | set(CONTROLLER.kinds) if _need_controller(names) else found


def _need_controller(names: Iterable[str]) -> bool:
    return any(_NEEDS[name].controller for name in names)


def _is_served(kind: Kind, facts: ClusterFacts) -> bool:
    return f"{kind.api_version}/{kind.kind}" in facts["served"]


def _release(facts: ClusterFacts) -> int | None:
    """The minor of the scheduler's Kubernetes, None if it is unknown."""
    given = facts["annotations"].get(VERSION_ANNOTATION)
    release = given if given and not is_later_openshift(given) else identify(facts["image"]).kubernetes
    try:
        return parse_release(release) if release else None
    except UnknownTarget:
        return None  # said elsewhere


def _controller(plugin: str, facts: ClusterFacts) -> tuple[Controller | None, list[Missing]]:
    """The controller for a plugin, None where something stands in its way; and what that is."""
    obstacles = [
        _undefined(plugin, kind, "the controller that it needs cannot start") for kind in CONTROLLER.kinds if not _is_served(kind, facts)
    ]
    obstacles += [
        _no_role(plugin, name, "the controller that it needs may not work")
        for name in (CONTROLLER.role, CONTROLLER.lease_role)
        if name not in facts["cluster_roles"]
    ]
    image = controller_image(facts["image"], facts["annotations"])
    if not image:
        message = (
            "The plugin {0} needs the controller of scheduler-plugins, and the scheduler's image {1} does not determine which one fits: "
            "name its image in the annotation {2} of the resource."
        ).format(plugin, facts["image"], CONTROLLER_IMAGE)
        obstacles.append(_missing(plugin, "controller", CONTROLLER_MISSING, message))
    if obstacles:
        return None, obstacles
    controller: Controller = {
        "image": image,
        "replicas": 1,
        "cluster_role": CONTROLLER.role,
        "lease_role": CONTROLLER.lease_role,
        "lease_namespace": CONTROLLER.lease_namespace,
    }
    return controller, []


def _failure(plugin: str, controller: Controller, deployment: Object | None) -> list[Missing]:
    """What is wrong with a controller that was applied and does not come to work; [] while it still may, and once it does."""
    if deployment is None or not is_overdue(deployment):
        return []
    message = (
        "The controller that the plugin {0} needs does not become ready: see the pods of Deployment {1}. Can the nodes pull its image {2}? "
        "The annotation {3} of the resource names another one."
    ).format(plugin, deployment["metadata"]["name"], controller["image"], CONTROLLER_IMAGE)
    return [_missing(plugin, "controller", CONTROLLER_MISSING, message)]


def _undefined(plugin: str, kind: Kind, consequence: str) -> Missing:
    served = f"The API server does not serve {kind.api_version} {kind.kind}"
    if kind.built_in:
        return _missing(plugin, f"API {kind.api_version}", API_NOT_SERVED, f"{served}, without which {consequence}: {kind.built_in}.")
    what = f"CustomResourceDefinition {kind.definition}"
    remedy = f"install {kind.provider}" if kind.provider else _INSTALL
    return _missing(plugin, what, CRD_MISSING, f"{served} ({what}), without which {consequence}: {remedy}.")


def _no_role(plugin: str, name: str, consequence: str) -> Missing:
    message = f"There is no ClusterRole {name}, without which {consequence}: {_INSTALL}."
    return _missing(plugin, f"ClusterRole {name}", CLUSTER_ROLE_MISSING, message)


def _unsupported(plugin: str) -> Missing:
    message = (
        f"The plugin {plugin} of scheduler-plugins before v0.{FIRST} needs CRDs and permissions that this collection does not contain: "
        f"use an image of v0.{FIRST} or newer, or install them yourself."
    )
    return _missing(plugin, f"scheduler-plugins v0.{FIRST}", RELEASE_UNSUPPORTED, message)


def _missing(plugin: str, what: str, reason: str, message: str) -> Missing:
    return {"plugin": plugin, "what": what, "reason": reason, "message": message}
