# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The targets of all images that a cluster requires in a private registry, and the object that redirects the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .reference import Reference, parse, parse_registry
from .registry_errors import about, explain, may_be_missing

# What a cluster may serve, the best first: kind, API version, and the field with the mirrors.
MIRROR_SETS = (
    ("ImageDigestMirrorSet", "config.openshift.io/v1", "imageDigestMirrors"),
    ("ImageContentSourcePolicy", "operator.openshift.io/v1alpha1", "repositoryDigestMirrors"),
)


_ALLOW, _NEVER = "AllowContactingSource", "NeverContactSource"


def plan(images: list[Any], registry: str) -> list[dict[str, Any]]:
    """Where each of the ``images`` (references, or dicts of ``image`` and the repository ``to``) goes in ``registry``.

    One entry per image, in the order given and without repetitions: ``image`` as given, ``images`` with its other names; ``source``, how it is pulled;
    ``source_host`` and ``source_repository``; ``repository`` and ``target``, the same of the copy, and ``target_host``; ``digest``,
    empty where only the registry can tell. Raises ValueError for what is no reference and for two repositories that would become one.
    """
    host, prefix = parse_registry(registry)
    base = "/".join(part for part in (host, prefix) if part)
    found: dict[str, dict[str, Any]] = {}
    taken: dict[str, str] = {}
    references = [(image, parse(image), place) for image, place in map(_given, images)]
    # A place is that of all images of a repository, also of those that are named elsewhere without it.
    places: dict[str, str] = {}
    for image, reference, place in references:
        if place and places.setdefault(reference.repository, place) != place:
            raise ValueError(
                f"{image}: to is {place}, but {places[reference.repository]} for another image of {reference.repository}: give one of them"
            )
    for image, reference, _place in references:
        if f"{reference.repository}/".startswith(f"{base}/"):
            raise ValueError(f"{image} is in the registry {base} already: name the image that it is a copy of")
        path = places.get(reference.repository) or reference.path
        repository = f"{base}/{path}"
        parse(repository)
        other = taken.setdefault(repository, reference.repository)
        if other != reference.repository:
            raise ValueError(
                f"{other} and {reference.repository} would both become {repository}; give one of them another place: "
                f"{{image: {image}, to: {reference.host.partition(':')[0].replace('.', '-').lower()}/{reference.path}}}"
            )
        entry = found.setdefault(
            reference.pull,
            {
                "image": image,
                "images": [],
                "source": reference.pull,
                "source_host": reference.host,
                "source_repository": reference.repository,
                "repository": repository,
                "target": f"{repository}:{_tag(reference)}",
                "target_host": host,
                "digest": reference.digest,
            },
        )
        entry["images"] += [] if image in entry["images"] else [image]
    return list(found.values())


def mirror_set(
    planned: list[dict[str, Any]], kind: str, name: str, never_source: bool = False, others: Iterable[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """The object of ``kind``, one of MIRROR_SETS, that has nodes pull what was ``planned`` from its copies.

    never_source: nodes do not try the source where the copy is missing; ImageContentSourcePolicy cannot say that, and raises ValueError.
    others: the mirror sets of the cluster. One with the same source and another policy raises ValueError: OpenShift then configures no mirror at all.
    """
    _kind, api_version, field = next(row for row in MIRROR_SETS if row[0] == kind)
    if never_source and kind != "ImageDigestMirrorSet":
        raise ValueError(f"the cluster serves {kind}, which cannot keep nodes from the source: set mirror_never_contact_source to false")
    sources = {entry["source_repository"]: entry["repository"] for entry in planned}
    policy = _NEVER if never_source else _ALLOW
    for other in others:
        about = f"{other.get('kind')} {other['metadata']['name']}"
        for rule in [rule for rules in (other.get("spec") or {}).values() if isinstance(rules, list) for rule in rules]:
            theirs = rule.get("mirrorSourcePolicy") or _ALLOW
            if about != f"{kind} {name}" and rule.get("source") in sources and theirs != policy:
                raise ValueError(
                    f"{about} has the source {rule['source']} with the policy {theirs}, and the policy here is {policy}. OpenShift then configures no "
                    "mirror at all: set mirror_never_contact_source accordingly, or change that object."
                )
    more = {"mirrorSourcePolicy": policy} if never_source else {}
    rules = [{"source": source, "mirrors": [mirror], **more} for source, mirror in sorted(sources.items())]
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": {field: rules}}


def compare(planned: list[dict[str, Any]], sources: list[Any], targets: list[Any], prefix: str = "mirror_") -> dict[str, Any]:
    """What has to be copied, by what ``sources`` and ``targets`` say: for each entry of the plan the ``rc``, ``stdout`` (NAME@DIGEST) and
    ``stderr`` of a question for it.

    Returns ``problems``, texts about what could not be found out, with variables that begin with ``prefix``; ``missing``, those entries
    of the plan whose copy is not there or another one, with ``digest`` filled in; ``copies``, image as given -> its copy by digest.
    """
    problems: dict[str, str] = {}
    missing = []
    copied = {}
    for entry, source, target in zip(planned, sources, targets):
        digest = _digest(source)
        if source["rc"] != 0:
            _note(problems, source, entry["source"], prefix)
            continue
        there = target["rc"] == 0
        if not there and not may_be_missing(target.get("stderr", "")):
            _note(problems, target, entry["target"], prefix)
        if not there or _digest(target) != digest:
            missing.append({**entry, "digest": digest})
        copied.update(dict.fromkeys(entry["images"], f"{entry['repository']}@{digest}"))
    return {"problems": list(problems.values()), "missing": missing, "copies": copied}


def _digest(answer: Mapping[str, Any]) -> str:
    return str(answer.get("stdout", "")).strip().rpartition("@")[2]


def _note(problems: dict[str, str], answer: Mapping[str, Any], reference: str, prefix: str) -> None:
    output = answer.get("stderr", "")
    problems.setdefault(about(output, reference), explain(output, reference, prefix))


def variables(copied: dict[str, str], operator: str = "", catalog: str = "", probe: str = "") -> dict[str, str]:
    """The variables by which the roles of this collection use what was ``copied`` (see `compare`).

    operator, catalog, probe: images as given in the plan; empty: not wanted. Each is named by its copy, since pods may be started before nodes know of
    mirrors.
    """
    found: dict[str, str] = {}
    if catalog:
        found.update(operator_method="olm", operator_catalog_image=copied[catalog])
    elif operator:
        found.update(operator_method="manifests", operator_image=copied[operator])
    if probe:
        # Named by tag otherwise, which no mirror set redirects.
        found["probe_image"] = copied[probe]
    return found


def rewritten(schedulers: list[dict[str, Any]], copied: dict[str, str]) -> list[dict[str, Any]]:
    """The variable secondary_schedulers with each image that was ``copied`` (see `compare`) replaced by its copy.

    It keeps its tag, which shows the release of the kube-scheduler.
    """
    by_pull = {parse(image).pull: copy for image, copy in copied.items()}

    def copy_of(image: str) -> str:
        reference = parse(image)
        if reference.pull not in by_pull:
            return image
        repository, _at, digest = by_pull[reference.pull].partition("@")
        return f"{repository}:{reference.tag}@{digest}" if reference.tag else by_pull[reference.pull]

    return [{**one, "image": copy_of(one["image"])} if one.get("image") else one for one in schedulers]


def catalog_images(documents: Iterable[Any], package: str = "") -> list[str]:
    """References of all that a file-based catalog's bundles need, the bundles included; of ``package`` alone if it is given.

    documents: the catalog's blobs, each a dict with ``schema``. Raises ValueError where there is no such bundle.
    """
    bundles = [one for one in documents if isinstance(one, dict) and one.get("schema") == "olm.bundle"]
    wanted = [one for one in bundles if package in ("", one.get("package"))]
    if not wanted:
        there = ", ".join(sorted({str(one.get("package")) for one in bundles})) or "no package at all"
        raise ValueError(f"the catalog has no bundle of the package {package}; it has {there}")
    found: dict[str, None] = {}
    for bundle in wanted:
        related = [one.get("image") for one in bundle.get("relatedImages") or []]
        found.update(dict.fromkeys(image for image in [bundle.get("image"), *related] if image))
    return list(found)


def _given(entry: Any) -> tuple[str, str]:
    if isinstance(entry, dict):
        if not isinstance(entry.get("image"), str) or set(entry) - {"image", "to"}:
            raise ValueError(f"{entry!r} is no image to mirror: it has to be a reference, or image and to")
        return entry["image"], str(entry.get("to") or "").strip("/")
    if not isinstance(entry, str):
        raise ValueError(f"{entry!r} is no image to mirror: it has to be a reference, or image and to")
    return entry, ""


def _tag(reference: Reference) -> str:
    """Of the copy. Registries drop what has no tag. Several digests can have the same tag, so one with a digest gets its beginning."""
    return "mirrored-" + reference.digest.partition(":")[2][:12] if reference.digest else reference.tag
