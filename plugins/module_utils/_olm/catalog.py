# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Catalogs: their CatalogSource, whether it serves, and which packages and channels it holds."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions, readiness, timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.wait import Deadline
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.similar_names import did_you_mean
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import CATALOG, Options, manifest, name_of, spec, status

_MANIFESTS = ("packages.operators.coreos.com/v1", "PackageManifest")
# The server of PackageManifests does not support watches.
_POLL_SECONDS = 1
# So long after a catalog was connected to, what it holds may not be listed yet.
YOUNG_SECONDS = 60
# A list of a young catalog that has not changed for so long is complete.
_SETTLED_SECONDS = 5
# So long after the image of a catalog changed, the lists may still be those of the image before.
_STALE_SECONDS = YOUNG_SECONDS


class Package(NamedTuple):
    """A package as a catalog offers it.

    - ``channels`` (dict): for each channel the CSVs in it, as pairs of name and version, newest first as far as the catalog says
    - ``heads`` (dict): for each channel the name of the CSV that it offers
    """

    name: str
    default_channel: str | None
    channels: dict[str, list[tuple[str, str | None]]]
    heads: dict[str, str | None]

    @property
    def entries(self) -> list[tuple[str, str | None]]:
        return [entry for channel in self.channels.values() for entry in channel]


class Offer(NamedTuple):
    """What a catalog holds: the names of its ``packages``, and ours as `Package`; both None where that cannot be known."""

    packages: list[str] | None
    package: Package | None


UNKNOWN = Offer(None, None)


def source(name: str, namespace: str | None, given: Mapping[str, Any], labels: Mapping[str, str] | None, ours: bool) -> Object:
    """The CatalogSource for the option ``catalog``."""
    wanted = {"sourceType": "grpc", "image": given["image"]}
    for option, field in (
        ("display_name", "displayName"),
        ("publisher", "publisher"),
        ("description", "description"),
        ("priority", "priority"),
        ("secrets", "secrets"),
    ):
        if given.get(option) is not None:
            wanted[field] = given[option]
    pod = dict(given.get("grpc_pod_config") or {})
    if given.get("security_context_config"):
        pod["securityContextConfig"] = given["security_context_config"]
    if pod:
        wanted["grpcPodConfig"] = pod
    if given.get("registry_poll_interval"):
        wanted["updateStrategy"] = {"registryPoll": {"interval": given["registry_poll_interval"]}}
    return manifest(CATALOG, name, namespace, wanted, labels, ours)


def state(live: Object | None) -> str | None:
    """Such as READY, CONNECTING or TRANSIENT_FAILURE; None as long as OLM says nothing."""
    return (status(live, "connectionState") or {}).get("lastObservedState")


def evaluate(live: Object | None) -> readiness.Verdict:
    """Does the catalog serve? A `readiness.Verdict`."""
    if state(live) == "READY":
        return readiness.Verdict(readiness.READY)
    why = f"its connection is {state(live)}" if state(live) else "OLM has not connected to it yet"
    for field in ("reason", "message"):
        if status(live, field):
            why += f"; {field}: {status(live, field)}"
    return readiness.Verdict(readiness.PENDING, why)


def serves(pods: Iterable[Object], image: str) -> bool:
    """Is a pod of the catalog ready that serves this image?"""
    return any(runs(pod, image) and conditions.is_true(pod, "Ready") for pod in pods)


def runs(pod: Object, image: str) -> bool:
    """Is the image one of the pod's?"""
    return image in [container.get("image") for container in spec(pod, "containers", []) + spec(pod, "initContainers", [])]


def is_young(live: Object, now: float | None = None) -> bool:
    """Was the catalog made or connected to so lately that its packages may not be listed yet?"""
    moments = [live["metadata"].get("creationTimestamp"), (status(live, "connectionState") or {}).get("lastConnect")]
    now = time.time() if now is None else now
    return any(moment and abs(now - timestamps.parse(moment).timestamp()) < YOUNG_SECONDS for moment in moments)


class Reader:
    """Asks a cluster what a catalog holds."""

    def __init__(self, client: Client, catalog: Identity) -> None:
        self._client = client
        self._name = catalog.name
        self._namespace = catalog.namespace

    def offer(self, package: str) -> Offer:
        """The `Offer`; `UNKNOWN` where PackageManifests are not served."""
        try:
            resource = self._client.resource(*_MANIFESTS)
            # One package is small, all of a catalog of OpenShift are megabytes.
            found = self._client.get(resource, package, self._namespace)
            if found and self._is_mine(found):
                return Offer([package], parse(found))
            selector = f"catalog={self._name},catalog-namespace={self._namespace}"
            listed = [one for one in self._client.list(resource, self._namespace, label_selector=selector) if self._is_mine(one)]
        except ApiError as error:
            # Not installed, not reachable, or not for this user: OLM itself does without it.
            if error.status in (403, 404, 503):
                return UNKNOWN
            raise
        mine = next((one for one in listed if status(one, "packageName", name_of(one)) == package), None)
        return Offer(sorted(status(one, "packageName", name_of(one)) for one in listed), parse(mine) if mine else None)

    def until_offered(self, live: Object, options: Options, deadline: Deadline, before: Offer | None = None) -> Offer:
        """The `Offer`, once it holds package and channel, or cannot be expected to any more.

        ``live`` is the CatalogSource. ``before`` is the `Offer` of the image that it had before this run, which may still be shown
        for a while.
        """
        patience = min(deadline.remaining(), _STALE_SECONDS if before else 0)
        until = time.monotonic() + patience
        last, since = UNKNOWN, 0.0
        while True:
            offer = self.offer(options.package)
            if offer == UNKNOWN:
                return offer
            if offer != last:
                last, since = offer, time.monotonic()
            stale = before is not None and offer.package == before.package and time.monotonic() < until
            lacking = problem(offer, options)
            if not stale and (lacking is None or (offer.packages and (not is_young(live) or time.monotonic() - since >= _SETTLED_SECONDS))):
                return offer
            if deadline.remaining() < _POLL_SECONDS:
                return offer
            time.sleep(_POLL_SECONDS)

    def _is_mine(self, found: Object) -> bool:
        return (status(found, "catalogSource"), status(found, "catalogSourceNamespace")) == (self._name, self._namespace)


def parse(found: Object) -> Package:
    """The `Package` of a PackageManifest."""
    channels, heads = {}, {}
    for channel in status(found, "channels", []):
        head = channel.get("currentCSV")
        entries = [(one["name"], one.get("version")) for one in channel.get("entries") or []]
        if head and head not in [name for name, version in entries]:
            # Releases of OLM before 0.27 list no entries.
            entries.insert(0, (head, (channel.get("currentCSVDesc") or {}).get("version")))
        channels[channel["name"]] = entries
        heads[channel["name"]] = head
    default = status(found, "defaultChannel") or (next(iter(channels)) if len(channels) == 1 else None)
    return Package(status(found, "packageName", name_of(found)), default, channels, heads)


def problem(offer: Offer, options: Options) -> str | None:
    """Why the operator cannot be installed from this catalog; None where nothing is missing, or nothing is known."""
    if offer == UNKNOWN:
        return None
    where = f"CatalogSource {options.source_namespace}/{options.source}"
    package = offer.package
    if package is None:
        listed = ", ".join(offer.packages or ()) or "none"
        return f"package is {options.package}, which {where} does not hold{_near(options.package, offer.packages)} Its packages: {listed}."
    if options.channel and options.channel not in package.channels:
        return "channel is {0}, which package {1} in {2} does not have{5} Its channels: {3} (default: {4}).".format(
            options.channel,
            package.name,
            where,
            ", ".join(sorted(package.channels)),
            package.default_channel,
            _near(options.channel, package.channels),
        )
    return None


def _near(name: str, known: Iterable[str] | None) -> str:
    question = did_you_mean(name, known or ())
    return f"; {question}" if question else "."


def channel(offer: Offer, options: Options, live: Object | None) -> str | None:
    """The channel to subscribe to: the one asked for, else the one that there is, else the package's default; None leaves it to OLM."""
    return options.channel or spec(live, "channel") or (offer.package.default_channel if offer.package else None)


def csv_for(offer: Offer, chosen: str | None, version: str, option: str) -> str:
    """The name of the CSV with this version (or name) in a channel. Raises `InputError` naming what there is."""
    if offer.package is None:
        raise InputError(
            f"{option} is {version}, but which CSV that is cannot be looked up, as this cluster serves no PackageManifests. "
            "Give the name of the CSV as starting_csv too."
        )
    entries = offer.package.channels.get(chosen or "", [])
    for name, known in entries:
        if version in (name, known) or version.lstrip("v") == known:
            return name
    raise InputError(
        "{0} is {1}, which channel {2} of package {3} does not hold. It holds: {4}.".format(
            option, version, chosen, offer.package.name, ", ".join(f"{known or '?'} ({name})" for name, known in entries)
        )
    )


def absent(options: Options, sources: Iterable[Object]) -> ClusterError:
    """The error for a CatalogSource that does not exist; ``sources`` are all that there are."""
    return ClusterError(
        f"source is {options.source}, but there is no CatalogSource {options.source} in namespace {options.source_namespace}. There are: "
        f"{listing(sources)}. Name one of them by source and source_namespace, or give catalog.image to make it."
    )


def listing(sources: Iterable[Object]) -> str:
    """CatalogSources with their namespaces, for a message."""
    return ", ".join(sorted("{0}/{1}".format(one["metadata"]["namespace"], name_of(one)) for one in sources)) or "none"
