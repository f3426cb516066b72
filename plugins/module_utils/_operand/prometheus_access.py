# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The access of a scheduler to Prometheus: URL, token and certificate authority, which annotations of its resource name.

They fill placeholders in the user's configuration, and the result is in a Secret alone: the user's ConfigMap never holds a token. A token of
a ServiceAccount is stored there until its renewal, and tokens of running pods are kept.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import content_hash
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document import tree
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import (
    LOAD_WATCHER_URL,
    PLACEHOLDERS,
    PROM_TOKEN,
    PROM_URL,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import dns1123_subdomain, quote
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring import tokens
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.findings import Finding
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.prometheus import without_credentials
from ansible_collections.osso.scheduler.plugins.module_utils._operand import resource_names

TOKEN_OF, ISSUED, EXPIRES = "osso.scheduler/token-of", "osso.scheduler/token-issued", "osso.scheduler/token-expires"
REQUESTED = "osso.scheduler/token-requested-seconds"
"""On the Secret: whose token it holds, since when and until when, and for how long it was requested; the API server may grant less."""

FILLED = "osso.scheduler/filled"
"""On the Secret: the content hash of the filled configuration."""

CONFIG_KEY, TEMPLATE_KEY, TOKEN_KEY, CA_KEY = "config.yaml", "template.yaml", "token", "prometheus-ca.crt"

DURATION = 24 * 3600
"""Seconds that a token is asked for. The API server may give it less time."""

_LAST_PART = 5
"""It is renewed in the last fifth of its life, where nothing else is said."""

LOAD_WATCHER_PORT = 2020

_SOURCE = re.compile(r"(serviceaccount|secret)/([a-z0-9]([-a-z0-9.]*[a-z0-9])?)")
# Nothing that YAML could take for more than a text, wherever it is put: RFC 6750 for tokens, RFC 3986 without quotes for URLs.
_SAFE_TOKEN = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9][-A-Za-z0-9._~+/]*=*")
_SAFE_URL = re.compile(r"https?://[-A-Za-z0-9._~:/\[\]@!$&()*+,;=%?]+")


_ANY_TOKEN = "osso-token-of-prometheus"
"""Stands for the token where a configuration is searched for it."""

# What a user of the operator can do about a finding, by its code: the hint of the finding names options of modules.
_REMEDIES = {
    "no-service-account": f"create it, for example with the role osso.scheduler.monitoring, or correct the annotation {resource_names.PROMETHEUS_TOKEN}",
    "no-token-secret": f"create a Secret with the key token, or set the annotation {resource_names.PROMETHEUS_TOKEN} to serviceaccount/NAME",
    "not-allowed": (
        "grant the ServiceAccount of the operator that permission, or set the annotation "
        f"{resource_names.PROMETHEUS_TOKEN} to serviceaccount/metrics-reader"
    ),
    "token-request-refused": (
        f"correct the annotations {resource_names.PROMETHEUS_TOKEN} and {resource_names.PROMETHEUS_TOKEN_DURATION}; "
        "a token lives for 600 seconds at least"
    ),
}


class Source(NamedTuple):
    """url, token, ca (PEM): empty where the resource names none. token_of: whose token it is. issued, expires (RFC 3339), requested (seconds):
    empty where the operator has not requested it itself.

    problem: why something that is named is not there, empty otherwise. renew: seconds until the renewal of the token, None if never.
    names_ca: does the resource name an authority? watcher: image of the load-watcher service that asks in the scheduler's place, which is
    at watcher_url; empty if none does.
    """

    url: str = ""
    token: str = ""
    ca: str = ""
    token_of: str = ""
    issued: str = ""
    expires: str = ""
    requested: str = ""
    problem: str = ""
    renew: int | None = None
    names_ca: bool = False
    watcher: str = ""
    watcher_url: str = ""

    def __repr__(self) -> str:
        return f"<what is known of Prometheus, with a token of {self.token_of or 'nobody'}>"

    def lacks(self, text: str) -> bool:
        """Can this configuration not be filled?"""
        return bool(self.obstacle(text))

    def obstacle(self, text: str) -> str:
        """Why this configuration cannot be filled, empty if it can."""
        if self.problem and (self.names_ca or any(name in text for name in PLACEHOLDERS)):
            return self.problem
        if PROM_TOKEN not in text or _keeps_token(tree(text.replace(PROM_URL, self.url).replace(PROM_TOKEN, _ANY_TOKEN)), self.url):
            return ""
        return (
            f"the configuration holds {PROM_TOKEN} where the token would be sent to another address than that of Prometheus: use it only as token "
            f"next to address: {PROM_URL}, or set the annotation {resource_names.PROMETHEUS_URL} of this resource (monitoring_url of the playbooks) to "
            "that address"
        )

    def values(self, text: str) -> dict[str, str]:
        """What fills the placeholders that are in a configuration, by placeholder."""
        known = dict(zip(PLACEHOLDERS, (self.url, self.token, self.watcher_url)))
        return {name: value for name, value in known.items() if name in text}

    def ca_for(self, text: str) -> str:
        """The authority that the scheduler itself has to know."""
        return "" if LOAD_WATCHER_URL in text else self.ca


class SecretContent(TypedDict):
    """What a Secret is made of: its name, its annotations, and its data as text by key."""

    name: str
    annotations: dict[str, str]
    data: dict[str, str]


class LoadWatcher(TypedDict):
    """A load-watcher service: its image, the URL of Prometheus, and the Secret that its pod reads."""

    image: str
    url: str
    secret: SecretContent


def read(client: Client, resource: Object, texts: Sequence[str], secrets: Iterable[Object], now: str) -> Source | None:
    """What the annotations of a resource name; None where neither they nor its configurations have to do with Prometheus.

    texts: configurations with their placeholders. secrets: those that the operator made for the resource. Raises `ApiError`.
    """
    annotations = resource_names.annotations_of(resource)
    ca = annotations.get(resource_names.PROMETHEUS_CA) or ""
    wanted = [name for name in PLACEHOLDERS if any(name in text for text in texts)]
    if not wanted and not ca:
        return None
    source, namespace, watched = Source(names_ca=bool(ca)), resource["metadata"]["namespace"], LOAD_WATCHER_URL in wanted
    if watched:
        source = _with_watcher(source, resource)
    url = annotations.get(resource_names.PROMETHEUS_URL) or ""
    if (PROM_URL in wanted or watched or (PROM_TOKEN in wanted and url)) and not source.problem:
        source = _with_url(source, url, PROM_URL if PROM_URL in wanted else LOAD_WATCHER_URL)
    if ca and not source.problem:
        source = _with_ca(client, source, ca, namespace)
    # Last, and only if a configuration can use it: a new token may be requested for it.
    is_used = any(PROM_TOKEN in text and not source.obstacle(text) for text in texts)
    if (is_used or (watched and annotations.get(resource_names.PROMETHEUS_TOKEN))) and not source.problem:
        source = _with_token(client, source, annotations, namespace, secrets, now)
    return source


def _keeps_token(config: Any, url: str) -> bool:
    """Does a configuration with `_ANY_TOKEN` have it only as the token for the address ``url``, or for a path of it?"""
    if isinstance(config, Mapping):
        base = url.rstrip("/")
        trusted = ["token"] if base and f"{config.get('address')}/".startswith(f"{base}/") else []
        return all(
            _keeps_token(key, url) and (_keeps_token(value, url) or (key in trusted and isinstance(value, str)))
            for key, value in config.items()
        )
    if isinstance(config, (list, tuple)):
        return all(_keeps_token(item, url) for item in config)
    return not (isinstance(config, str) and _ANY_TOKEN in config)


def fill(text: str, source: Source | None) -> str:
    """The configuration with its placeholders filled."""
    for name, value in (source.values(text) if source else {}).items():
        text = text.replace(name, value)
    return text


def content(config_hash: str, text: str, source: Source | None) -> str:
    """The hash that identifies the filled configuration: the configuration's own hash if it has no placeholders."""
    if source is None or not (source.values(text) or source.ca_for(text)):
        return config_hash
    return _digest([config_hash, source.values(text), source.ca_for(text)])[: len(config_hash)]


def data(text: str, source: Source | None) -> dict[str, str]:
    """The Secret's data, not encoded: the filled configuration, and what it was made of if it was filled."""
    found = {CONFIG_KEY: fill(text, source)}
    if source is not None:
        if source.values(text):
            found[TEMPLATE_KEY] = text
        if PROM_TOKEN in text:
            found[TOKEN_KEY] = source.token
        if source.ca_for(text):
            found[CA_KEY] = source.ca
    return found


def load_watcher(text: str, source: Source | None, names: resource_names.Names) -> LoadWatcher | None:
    """The load-watcher service that a configuration requires, None if it requires none."""
    if source is None or LOAD_WATCHER_URL not in text or source.problem:
        return None
    held = {key: value for key, value in ((TOKEN_KEY, source.token), (CA_KEY, source.ca)) if value}
    name = f"{names['load_watcher']}-{_digest(held)[:12]}"
    secret: SecretContent = {"name": name, "annotations": _about_token(source) if source.token else {}, "data": held}
    return {"image": source.watcher, "url": source.url, "secret": secret}


def annotations_of(text: str, source: Source | None, content_hash: str) -> dict[str, str]:
    """The annotations that identify the Secret, without those for the state of its tokens."""
    if source is None or not (source.values(text) or source.ca_for(text)):
        return {}
    return {FILLED: content_hash, **(_about_token(source) if PROM_TOKEN in text else {})}


def _about_token(source: Source) -> dict[str, str]:
    dates = {ISSUED: source.issued, EXPIRES: source.expires, REQUESTED: source.requested}
    return {TOKEN_OF: source.token_of, **(dates if source.expires else {})}


def decoded_data(secret: Object) -> dict[str, str]:
    """The `data` that a Secret holds."""
    return {key: base64.b64decode(value).decode() for key, value in (secret.get("data") or {}).items()}


def annotations_in(secret: Object) -> dict[str, str]:
    """The `annotations_of` that a Secret has."""
    found = secret["metadata"].get("annotations") or {}
    return {name: found[name] for name in (FILLED, TOKEN_OF, ISSUED, EXPIRES, REQUESTED) if name in found}


def is_intact(secret: Object, names: resource_names.Names) -> bool:
    """Does a Secret that the operator made hold what its name says? Its name ends with the hash of its data."""
    try:
        held = decoded_data(secret)
    except ValueError:  # neither base64 nor text
        return False
    expected = _content_of(held, names) if CONFIG_KEY in held else _digest(held)[:12]
    return expected is not None and str(secret["metadata"]["name"]).endswith(f"-{expected}")


def _content_of(held: Mapping[str, str], names: resource_names.Names) -> str | None:
    """The `content` that the data of a configuration's Secret has; None where the configuration is not its template, filled."""
    source = Source(token=held.get(TOKEN_KEY, ""), ca=held.get(CA_KEY, ""), watcher_url=_watcher_url(names))
    text, config = held.get(TEMPLATE_KEY) or held[CONFIG_KEY], held[CONFIG_KEY]
    first, *others = text.replace(PROM_TOKEN, source.token).replace(LOAD_WATCHER_URL, source.watcher_url).split(PROM_URL)
    if others:
        # Only the configuration holds the URL, as often as the template names it.
        length = (len(config) - len(first) - sum(map(len, others))) // len(others)
        source = source._replace(url=config[len(first) : len(first) + length])
    return content(content_hash(text), text, source) if fill(text, source) == config else None


def template(secret: Object) -> str:
    """The configuration that a Secret was made of, with its placeholders."""
    data_of = decoded_data(secret)
    return data_of.get(TEMPLATE_KEY) or data_of[CONFIG_KEY]


def _with_watcher(source: Source, resource: Object) -> Source:
    image, names = resource_names.annotations_of(resource).get(resource_names.LOAD_WATCHER) or "", resource_names.names_of(resource)
    if not image:
        problem = f"the configuration holds {LOAD_WATCHER_URL}: set the annotation {resource_names.LOAD_WATCHER} of this resource to an image of load-watcher"
        return source._replace(problem=problem)
    return source._replace(watcher=image, watcher_url=_watcher_url(names))


def _watcher_url(names: resource_names.Names) -> str:
    return "http://{load_watcher}.{namespace}.svc:{0}".format(LOAD_WATCHER_PORT, **names)


def _with_url(source: Source, url: str, placeholder: str) -> Source:
    if not url:
        problem = f"the configuration holds {placeholder}: set the annotation {resource_names.PROMETHEUS_URL} of this resource to the URL of Prometheus"
        return source._replace(problem=problem)
    if not _SAFE_URL.fullmatch(url):
        return source._replace(
            problem=f"the annotation {resource_names.PROMETHEUS_URL} is {quote(without_credentials(url))}; it must be a URL such as https://HOST:9091"
        )
    return source._replace(url=url)


def _with_token(
    client: Client, source: Source, annotations: Mapping[str, str], namespace: str, secrets: Iterable[Object], now: str
) -> Source:
    named = annotations.get(resource_names.PROMETHEUS_TOKEN) or ""
    match = _SOURCE.fullmatch(named)
    if not match:
        # What is there may be the token itself.
        said = f"the annotation {resource_names.PROMETHEUS_TOKEN} names no object" if named else f"the configuration holds {PROM_TOKEN}"
        problem = f"{said}: set the annotation {resource_names.PROMETHEUS_TOKEN} of this resource to serviceaccount/NAME or secret/NAME"
        return source._replace(problem=problem)
    kind, name = match[1], match[2]
    if kind == "secret":
        token, finding = tokens.of_secret(client, {"namespace": namespace, "name": name})
        return _taken(source, token, finding, named)
    duration, problem = _seconds(annotations, resource_names.PROMETHEUS_TOKEN_DURATION)
    before, worse = _seconds(annotations, resource_names.PROMETHEUS_TOKEN_RENEW_BEFORE)
    if problem or worse:
        return source._replace(problem=problem or worse)
    account = client.get(client.resource("v1", "ServiceAccount"), name, namespace)
    owner = f"{named}/{account['metadata']['uid']}" if account else named
    wanted_seconds = duration or DURATION
    kept = _kept(secrets, owner, wanted_seconds)
    if kept is not None:
        source = _dated(_taken(source, kept[0], None, owner)._replace(requested=kept[3]), *kept[1:3], before, now)
        if source.problem or (source.renew or 0) > 0:
            return source
    wanted: dict[str, Any] = {"namespace": namespace, "name": name, "audiences": [], "expiration_seconds": wanted_seconds}
    token, finding = tokens.request(client, wanted)
    source = _taken(source, token, finding, owner)._replace(requested=str(wanted_seconds))
    if source.problem or token is None or token.expires is None:
        return source
    return _dated(source, now, timestamps.write(token.expires), before, now)


def _taken(source: Source, token: tokens.Token | None, finding: Finding | None, owner: str) -> Source:
    if token is None:
        # One of both is known
        if finding is None:
            raise AssertionError("finding")
        message = finding.message.replace("The user is", "The operator is")
        return source._replace(problem=f"{message[0].lower()}{message[1:]}: {_REMEDIES[finding.code]}")
    if not _SAFE_TOKEN.fullmatch(token.value):
        return source._replace(problem=f"what the {token.source} holds is no bearer token: it contains invalid characters")
    return source._replace(token=token.value, token_of=owner)


def _dated(source: Source, issued: str, expires: str, before: float, now: str) -> Source:
    """With the time to renew its token: ``before`` its end, but not in the first half of its life, so that renewals do not follow each other."""
    life = timestamps.seconds_between(issued, expires)
    last = min(before or life / _LAST_PART, life / 2)
    return source._replace(issued=issued, expires=expires, renew=int(timestamps.seconds_between(now, expires) - last))


def _kept(secrets: Iterable[Object], owner: str, seconds: int) -> tuple[tokens.Token, str, str, str] | None:
    """The token of a ServiceAccount that lives the longest of those that were requested before, for no more than ``seconds``: token, issued,
    expires, and the requested seconds."""
    found = []
    for secret in secrets:
        said = secret["metadata"].get("annotations") or {}
        try:
            value = decoded_data(secret).get(TOKEN_KEY)
            requested = said.get(REQUESTED) or str(DURATION)
            if not value or said.get(TOKEN_OF) != owner or int(requested) > seconds:
                continue
            token, issued, expires = tokens.token_from(value, owner), said.get(ISSUED) or "", timestamps.parse(said.get(EXPIRES))
            # Anyone who may change the Secret's annotations can make the recorded end a later one.
            end = timestamps.write(min(expires, token.expires or expires))
            if timestamps.seconds_between(issued, end) > 0:
                found.append((token, issued, end, requested))
        except ValueError:
            continue  # someone changed it
    return max(found, key=lambda entry: entry[2], default=None)


def _with_ca(client: Client, source: Source, name: str, namespace: str) -> Source:
    if dns1123_subdomain(name):
        return source._replace(
            problem=f"the annotation {resource_names.PROMETHEUS_CA} is {json.dumps(name[:253])}, which cannot be the name of a ConfigMap"
        )
    live = client.get(client.resource("v1", "ConfigMap"), name, namespace)
    where = f"the ConfigMap {namespace}/{name} (annotation {resource_names.PROMETHEUS_CA})"
    if live is None:
        return source._replace(problem=f"{where} does not exist: create it, with the certificate authority of Prometheus")
    held = live.get("data") or {}
    # service-ca.crt is what OpenShift puts into a ConfigMap that asks for its authority.
    ca = next((held[key] for key in ("ca.crt", "service-ca.crt", "ca-bundle.crt") if held.get(key)), "")
    if "-----BEGIN CERTIFICATE-----" not in ca:
        return source._replace(problem=f"{where} holds no certificates under ca.crt, service-ca.crt or ca-bundle.crt")
    return source._replace(ca=ca)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _seconds(annotations: Mapping[str, str], name: str) -> tuple[int, str]:
    """(seconds, "") of an annotation, 0 where it is not set; (0, what is wrong)."""
    value = annotations.get(name)
    if not value:
        return 0, ""
    if not re.fullmatch(r"[1-9][0-9]{0,8}", value):
        return 0, f"the annotation {name} is {value}; it must be a number of seconds"
    return int(value), ""
