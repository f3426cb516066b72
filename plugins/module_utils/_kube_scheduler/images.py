# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Release, plugins and program from the name of a scheduler's image and from annotations, and problems with using the image.

Nothing is guessed: an image without a row in the table is unknown, and only the image itself can validate a configuration then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .document import NotYaml, read_yaml
from .plugins import make_target, parse_plugins
from .result import ADVICE, WARNING, Finding
from .tables.images import AT_ROOT, FROZEN, IMAGES, KUBERNETES_REGISTRIES, PROGRAM, RELEASE_IMAGES, ROOT_PROGRAM, Row
from .tables.releases import NEWEST
from .target import (
    IN_TREE,
    PLUGINS_ANNOTATION,
    SCHEDULER_PLUGINS,
    VERSION_ANNOTATION,
    UnknownTarget,
    is_later_openshift,
    parse_release,
)


class Image(NamedTuple):
    """kubernetes: its release, ``1.31``; plugins: ``in-tree`` or ``scheduler-plugins``; both None if the name does not identify them.

    reason: why it does not; empty if it does.
    """

    kubernetes: str | None
    plugins: str | None
    reason: str = ""


def identify(reference: str) -> Image:
    """Release and plugins from the reference of an image, such as ``registry.k8s.io/kube-scheduler:v1.31.4``."""
    repository, tag = split(reference)
    row = _row(repository)
    if row is None:
        return _unknown(f"the image {reference} is not one that a table describes")
    if not tag:
        return _unknown(f"the image {reference} has no tag that identifies its release")
    match = re.fullmatch(row.tag, tag)
    if match is None:
        return _unknown(f"the tag {tag} of the image {reference} is not one of the releases of {row.name}")
    release = match.groupdict().get("openshift")
    try:
        kubernetes = make_target(f"openshift-{release}" if release else f"1.{match.group('minor')}", row.plugins).kubernetes
    except UnknownTarget as error:
        return _unknown(f"the image {reference}: {error}")
    return Image(kubernetes, row.plugins)


def program(reference: str, plugins: Any = None, unknown: str = PROGRAM) -> str:
    """Path of kube-scheduler in an image.

    plugins: those that are given for the image, in any form; empty if none are. unknown: the path for images that no table describes.
    """
    repository, tag = split(reference)
    given = described(plugins) if isinstance(plugins, str) else plugins or None
    row = _row(repository)
    if row and (row.program == PROGRAM or _is_original(repository, row) or (given in (None, IN_TREE) and re.fullmatch(row.tag, tag))):
        return ROOT_PROGRAM if re.fullmatch(AT_ROOT, tag) else row.program
    base = given.get("base") if isinstance(given, dict) else given
    return PROGRAM if base == SCHEDULER_PLUGINS else unknown


def _is_original(repository: str, row: Row) -> bool:
    """Whether the repository alone identifies an image. A private build can be called kube-scheduler, too."""
    return "/" in row.name or repository.rpartition("/")[0] in KUBERNETES_REGISTRIES


def described(plugins: str | None) -> Any:
    """The plugins in an annotation: the name of a set, or a mapping as its text; None without one."""
    if not plugins or plugins in (IN_TREE, SCHEDULER_PLUGINS):
        return plugins or None
    try:
        found = read_yaml(plugins)
    except NotYaml:
        return plugins
    return found if isinstance(found, dict) and found else plugins


def annotation_errors(annotations: Mapping[str, str], reference: str) -> Iterator[tuple[str, UnknownTarget]]:
    """Annotations of a SecondaryScheduler that describe its image, ``reference``, with what is wrong with their values."""
    kubernetes, minor = annotations.get(VERSION_ANNOTATION, ""), NEWEST
    # As the operator does
    kubernetes = "" if is_later_openshift(kubernetes) else kubernetes
    try:
        minor = parse_release(kubernetes or identify(reference).kubernetes or f"1.{NEWEST}")
    except UnknownTarget as error:
        yield VERSION_ANNOTATION, error
    try:
        parse_plugins(described(annotations.get(PLUGINS_ANNOTATION)) or IN_TREE, minor)
    except UnknownTarget as error:
        yield PLUGINS_ANNOTATION, error


STABLE_CLAIMS = 34
"""The minor since which kube-scheduler lists ResourceClaims of resource.k8s.io/v1, and waits for them before it places a pod."""


def split(reference: str) -> tuple[str, str]:
    """Repository with its registry, and tag; the tag is empty where there is none. A digest is left out."""
    name = reference.partition("@")[0]
    directory, slash, last = name.rpartition("/")
    return directory + slash + last.partition(":")[0], last.partition(":")[2]


def check_image(reference: str, kubernetes: str | None, cluster: str | None = None) -> tuple[Finding, ...]:
    """Warnings about an image.

    kubernetes: its release, None if unknown. cluster: the release of the API server, such as ``v1.31.4``; None: not compared.
    """
    found = []
    repository = split(reference)[0]
    for frozen, instead in FROZEN.items():
        if f"{repository}/".startswith(f"{frozen}/"):
            message = f"the image {reference} is from {frozen}, which gets no new images and may end at any time"
            found.append(_warning("frozen-registry", message, "use " + reference.replace(frozen, instead, 1)))
    if any(_is(repository, name) for name in RELEASE_IMAGES):
        message = f"the image {reference} describes a release of OpenShift and contains no kube-scheduler"
        found.append(
            _warning("release-image", message, f"use the image that `oc adm release info --image-for=hyperkube {reference}` prints")
        )
    minors = _minors(kubernetes, cluster)
    if minors is None:
        return tuple(found)
    scheduler, server = minors
    if scheduler > server:
        message = f"the scheduler is of Kubernetes {kubernetes}, newer than the cluster's {cluster}"
        if server < STABLE_CLAIMS <= scheduler:
            message += f": it places no pod without resource.k8s.io/v1, which exists since 1.{STABLE_CLAIMS}"
    elif scheduler < server - 1:
        message = f"the scheduler is of Kubernetes {kubernetes}, {server - scheduler} releases older than the cluster's {cluster}"
    else:
        return tuple(found)
    found.append(_warning("version-skew", message, "Kubernetes supports a scheduler of the cluster's release or of the one before it"))
    return tuple(found)


def _row(repository: str) -> Row | None:
    return next((row for row in IMAGES if _is(repository, row.name)), None)


def _is(repository: str, name: str) -> bool:
    """Whether a repository has the name of a row, on whatever registry."""
    return f"/{repository}".endswith(f"/{name}")


def _minors(kubernetes: str | None, cluster: str | None) -> tuple[int, int] | None:
    """The minors of the scheduler and of the cluster, None if one is unknown."""
    if not kubernetes or not cluster:
        return None
    match = re.match(r"v?1\.([0-9]{1,4})(?![0-9])", cluster)  # also of a release that no table has yet
    return (parse_release(kubernetes), int(match.group(1))) if match else None


def _unknown(reason: str) -> Image:
    return Image(None, None, reason)


def _warning(code: str, message: str, hint: str) -> Finding:
    return Finding(WARNING, code, message, hint=hint, stage=ADVICE)
