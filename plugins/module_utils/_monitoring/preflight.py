# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Everything that load-aware scheduling needs of Prometheus, looked at before a scheduler relies on it: the work of prometheus_info.

A scheduler says nothing of most failures and then places pods as if all nodes were alike, so each is found out by asking what it would ask.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import ApiError, Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.unicode import replaced
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import from_structure, normalize
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import LOAD_WATCHER_URL
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring import alerts, node_metrics, prometheus, prometheus_clients, tokens
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring import endpoint as endpoints
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.discovery import Discovery
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.endpoint import Endpoint
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.findings import ERROR, Finding, error, warning
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.node_metrics import Readers
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.prometheus import CertificateError, Prometheus, PrometheusError
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.tokens import Token

TOKEN_SOURCES = ("token", "service_account", "token_secret", "legacy_token_secret")
MACHINE = "the certificate authorities of this host"

_REMEDIES = {
    prometheus.UNREACHABLE: "see whether Prometheus runs, and whether it can be reached from here",
    prometheus.UNRESOLVED: "correct the name; one that ends in .svc resolves only in pods: run this in the cluster, or use a Route or another url",
    prometheus.NO_ANSWER: "a scheduler would wait for it for many minutes before it starts: see what answers there, and whether it is overloaded",
    prometheus.UNAVAILABLE: "see whether the pods of Prometheus, and of what guards it, run",
    prometheus.NOT_PROMETHEUS: "give the url of Prometheus' API, that to which /api/v1/query can be added",
    prometheus.QUERY_REFUSED: "see what the answer complains of",
    prometheus.BAD_URL: "correct url",
    prometheus.BAD_TOKEN: "give it without them; the filter trim removes a line break at the end",
}
_ACCOUNT = re.compile(r"system:serviceaccount:([^:]+):(.+)\Z")
_RULE = "apiGroups [monitoring.coreos.com], resources [prometheuses/api], verbs [get, create]"


class Options(NamedTuple):
    """What to look for, and how; the module prometheus_info documents each. Without a ``url`` Prometheus is looked for."""

    url: str | None = None
    sources: tuple[str, ...] | list[str] = ()
    namespace: str = ""
    names: tuple[str, ...] | list[str] = ()
    token: str | None = None
    service_account: dict[str, Any] | None = None
    token_secret: dict[str, str] | None = None
    legacy_token_secret: bool = False
    return_token: bool = False
    prometheus_ca: str | None = None
    insecure_skip_verify: bool = False
    timeout: int = 10
    ask: bool = True
    plugins: list[str] | None = None
    config: dict[str, Any] | None = None
    content: str | None = None
    alerts: list[str] | tuple[str, ...] = ()
    max_age: int = node_metrics.MAX_AGE
    fail_on: str = "never"

    def __repr__(self) -> str:
        return f"<what to look for at {prometheus.without_credentials(self.url or 'a Prometheus of the cluster')}>"


def _hide_nothing(value: str) -> None:
    """For callers that print nothing."""


def inspect_prometheus(
    options: Options,
    connect: Callable[[], Client],
    now: datetime | None = None,
    readers: Readers | None = None,
    hide: Callable[[str], None] = _hide_nothing,
    proxies: Mapping[str, str] | None = None,
    cluster_ca: bool = True,
) -> dict[str, Any]:
    """The result of the module. Raises `ClusterError`, with the result but never a token, where the task is to fail.

    connect: makes the client for the API server, called once it is needed. readers: who goes by the metrics, where that is known already.
    hide: called with each secret that was read, so that whoever prints the result can redact it. proxies: see `Prometheus`.
    cluster_ca: whether a CA that the cluster keeps may verify the certificate.
    """
    readers, findings = (readers, []) if readers else _readers(options)
    inspection = _Preflight(options, connect(), findings, now or datetime.now(timezone.utc), hide, proxies, cluster_ca)
    result = inspection.run(readers)
    if options.fail_on != "never":
        grave = [finding for finding in findings if options.fail_on == "warning" or finding.severity == ERROR]
        if grave:
            title = "Prometheus is not fit for load-aware scheduling:" if readers.plugins else "Not all is well:"
            raise ClusterError("\n".join([title, *(f"{one}." for one in grave)]), **result)
    if options.return_token:
        result["token"] = inspection.token.value if inspection.token is not None else None
    return result


class _Preflight:
    """One look. ``findings`` grows while it goes on."""

    def __init__(
        self,
        options: Options,
        client: Client,
        findings: list[Finding],
        now: datetime,
        hide: Callable[[str], None],
        proxies: Mapping[str, str] | None,
        cluster_ca: bool,
    ) -> None:
        self._options = options
        self._cluster_ca = cluster_ca
        self._proxies = proxies
        self._hide = hide
        self._client = client
        with_token = any(getattr(options, source) for source in TOKEN_SOURCES)
        self._discovery = Discovery(client, options.namespace, list(options.names), findings, with_token)
        self._now = now
        self.findings = findings
        self.token: Token | None = None

    def run(self, readers: Readers) -> dict[str, Any]:
        """Everything that the module returns, but the token."""
        endpoint = endpoints.endpoint_from(self._options.url) if self._options.url else self._discovery.find(self._options.sources)
        for secret in prometheus.credentials_in(endpoint.url) if endpoint else ():
            self._hide(secret)
        self._take_token()
        result: dict[str, Any] = {
            "changed": False,
            "found": endpoint is not None,
            "url": replaced(endpoint.url) if endpoint else None,
            "source": {"kind": endpoint.kind, "namespace": endpoint.namespace, "name": endpoint.name} if endpoint else None,
            "ca": None,
            "ca_from": None,
            "tls_verified": None,
            "reachable": None,
            "authorized": None,
            "token_from": self.token.source if self.token else None,
            "token_expires": timestamps.write(self.token.expires) if self.token and self.token.expires else None,
            "plugins": list(readers.plugins),
            "needed": node_metrics.needed(readers.plugins),
            "metrics": [],
            "alerts": [],
        }
        if endpoint is not None and self._options.ask:
            result.update(self._ask(endpoint, readers))
        usable = not any(finding.severity == ERROR for finding in self.findings)
        return dict(result, usable=usable if self._options.ask else None, findings=[finding.as_dict() for finding in self.findings])

    def _take_token(self) -> None:
        options, finding = self._options, None
        if options.token:
            self.token = tokens.token_from(options.token)
        elif options.service_account:
            self.token, finding = tokens.request(self._client, options.service_account)
        elif options.token_secret:
            self.token, finding = tokens.of_secret(self._client, options.token_secret)
        elif options.legacy_token_secret:
            self.token, finding = tokens.legacy(self._client)
        if finding is not None:
            self.findings.append(finding)
        if self.token is not None:
            self._hide(self.token.value)

    def _ask(self, endpoint: Endpoint, readers: Readers) -> dict[str, Any]:
        """What the module returns of a Prometheus that was found."""
        said: dict[str, Any] = {"reachable": False}
        place = replaced(prometheus.without_credentials(endpoint.url))
        try:
            connection = Prometheus(endpoint.url, self.token.value if self.token else "", self._options.timeout, self._proxies)
            if connection.is_tls:
                said.update(self._verified(connection, endpoint))
                if said["tls_verified"] is False and not self._options.insecure_skip_verify:
                    return dict(said, reachable=True)
            else:
                connection.connect()
                if self.token is not None:
                    message = f"The token is sent to {place} in clear text"
                    self.findings.append(warning("token-over-http", message, "use an https url"))
            said["reachable"] = True
            said.update(self._questions(connection, readers))
        except PrometheusError as failure:
            said["reachable"] = failure.code not in (
                prometheus.UNREACHABLE,
                prometheus.UNRESOLVED,
                prometheus.NO_ANSWER,
                prometheus.BAD_URL,
                prometheus.BAD_TOKEN,
            )
            message = f"Prometheus at {place} cannot be queried: {failure.message}"
            self.findings.append(error(failure.code, message, _REMEDIES.get(failure.code, "")))
        return said

    def _verified(self, connection: Prometheus, endpoint: Endpoint) -> dict[str, Any]:
        """Connect, and return the CA that verified the certificate."""
        unread: list[Finding] = []
        outcome = prometheus.first_that_verifies(connection.connect, self._authorities(endpoint, unread))
        if not isinstance(outcome, CertificateError):
            return {"tls_verified": True, "ca_from": outcome[0], "ca": outcome[1]}
        self.findings += unread
        hint = "give the CA that signed it as prometheus_ca"
        if not outcome.with_other_authority:
            hint = "have it replaced, or give the url with the name that it was made for"
        if self._options.insecure_skip_verify and self.token is None:
            message = f"insecure_skip_verify has no effect without a token, so a scheduler does not connect: {outcome.message}"
            self.findings.append(error(outcome.code, message, f"{hint}, or give a token: load-watcher drops the setting without one"))
            connection.connect(prometheus.trusting())
        elif self._options.insecure_skip_verify:
            self.findings.append(warning(outcome.code, f"Anyone on the way can read the token: {outcome.message}", hint))
            connection.connect(prometheus.trusting())
        else:
            self.findings.append(
                error(
                    outcome.code, f"Prometheus at {prometheus.without_credentials(endpoint.url)} was not queried: {outcome.message}", hint
                )
            )
        return {"tls_verified": False}

    def _authorities(self, endpoint: Endpoint, unread: list[Finding]) -> Iterator[tuple[str, str | None]]:
        """Only the given CA; else the CAs of the cluster, then those that the host trusts. See `prometheus.first_that_verifies`.

        The host comes last, since a scheduler does not trust what is installed there: it gets the CA of the cluster where that one verifies.
        The cluster's ConfigMaps also hold certificates that are renewed often, which would soon be worthless to the scheduler: only roots count.
        unread: gets a finding for each CA that the user must not read, of interest where no other verifies.
        """
        given = self._options.prometheus_ca
        if given:
            yield "prometheus_ca", given if "-----BEGIN" in given else _read(given)
            return
        if self._cluster_ca:
            found = self._discovery.authorities(endpoint, unread)
            yield from ((source, pem) for source, text in found if (pem := prometheus.roots(text)))
        yield MACHINE, None

    def _questions(self, connection: Prometheus, readers: Readers) -> dict[str, Any]:
        wanted = node_metrics.needed(readers.plugins)
        if self.token is not None and self.token.expires and self.token.is_expired(self._now):
            moment = self.token.expires.strftime("%Y-%m-%d %H:%M:%S UTC")
            self.findings.append(error("token-expired", f"The token expired at {moment}", "get a new one, for example by service_account"))
        try:
            averages = {metric: connection.query(node_metrics.average(metric)) for metric in wanted}
            if not wanted:
                connection.query("vector(1)")
            rules = connection.alert_rules(list(self._options.alerts)) if self._options.alerts else []
        except PrometheusError as failure:
            if failure.code not in (prometheus.UNAUTHORIZED, prometheus.FORBIDDEN):
                raise
            refused = self._unauthorized() if failure.code == prometheus.UNAUTHORIZED else self._forbidden(connection, failure)
            self.findings += [refused] if refused else []
            return {"authorized": False}
        known = self._nodes() if wanted else []
        reports = []
        for metric in wanted:
            found = averages[metric]
            ages = connection.query(node_metrics.age(metric)) if found else []
            others = bool(found) and node_metrics.by_others(connection.query(node_metrics.recorders(metric)))
            raw = None if found else int(any(sample.value for sample in connection.query(node_metrics.raw(metric))))
            report, wrong = node_metrics.evaluate(metric, found, ages, known, self._options.max_age, raw, readers)
            reports.append(dict(report, recorded_by_others=others))
            self.findings += wrong
        told, wrong = alerts.evaluate(self._options.alerts, rules)
        self.findings += wrong
        return {"authorized": True, "metrics": reports, "alerts": told}

    def _nodes(self) -> list[node_metrics.Node]:
        try:
            return node_metrics.nodes(self._client.list(self._client.resource("v1", "Node")))
        except ApiError as failure:
            if failure.status not in (401, 403):
                raise
            message = "The user is not allowed to list nodes, so it is unknown for which nodes metrics are missing"
            self.findings.append(warning("not-allowed", message, "grant that"))
            return []

    def _unauthorized(self) -> Finding | None:
        if self.token is None:
            # The search for a token has already reported why there is none.
            if any(getattr(self._options, source) for source in TOKEN_SOURCES):
                return None
            return error("token-missing", "Prometheus requires a token, and none was given", f"give one of {', '.join(TOKEN_SOURCES)}")
        if self.token.is_expired(self._now):
            return None
        hint = "see that it is one of this cluster, whole, for the right audience, and that its ServiceAccount or Secret still exists"
        return error("token-refused", f"Prometheus does not accept the token ({self.token.source})", hint)

    def _forbidden(self, connection: Prometheus, failure: PrometheusError) -> Finding:
        """A finding that names the missing permission."""
        account = _ACCOUNT.match(self.token.subject) if self.token else None
        who = f"ServiceAccount {account[1]}/{account[2]}" if account else (self.token.subject if self.token else "") or "user of the token"
        to_whom = f"-z {account[2]} -n {account[1]}" if account else "NAME"
        hint = (
            f"bind the ClusterRole cluster-monitoring-view to it (oc adm policy add-cluster-role-to-user cluster-monitoring-view {to_whom}), "
            f"or a role with {_RULE}; the role osso.scheduler.monitoring does either"
        )
        message = f"The {who} may not read metrics"
        try:
            connection.query("vector(1)", method="GET")
            message = f"The {who} may read metrics by GET only, and schedulers send POST: the verb create is missing"
        except PrometheusError:
            pass
        said = f" ({failure.text})" if failure.text else ""
        return error("forbidden", f"{message}{said}", hint)


def _readers(options: Options) -> tuple[Readers, list[Finding]]:
    """The plugins whose metrics count, and what is wrong with the configuration that names them."""
    if options.config is None and options.content is None:
        known = node_metrics.load_aware()
        chosen = options.plugins or ([] if options.alerts else known)
        for name in chosen:
            if name not in known:
                raise InputError(f"plugins: {name} needs no metrics of Prometheus. Choose from {', '.join(known)}.")
        return Readers(chosen), []
    text = from_structure(options.config) if options.config is not None else options.content or ""
    checked = check(normalize(text), None)
    if not isinstance(checked.config, dict):
        option = "config" if options.config is not None else "content"
        said = checked.findings[0].format() if checked.findings else "it is no mapping"
        raise InputError(f"{option}: this is no KubeSchedulerConfiguration: {said}.")
    plugins, findings = prometheus_clients.asking_prometheus(checked.config), prometheus_clients.too_many(checked.config)
    if not plugins:
        message = "No plugin of the configuration queries Prometheus, so no metrics were checked"
        findings.append(warning("nothing-asks", message, "enable one with metricProvider.type Prometheus, if that was meant"))
    through_service = bool(prometheus_clients.watched_by(checked.config, LOAD_WATCHER_URL))
    return Readers(plugins, through_service, prometheus_clients.target_utilization(checked.config)), findings


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as failure:
        said = failure.strerror if isinstance(failure, OSError) else "it is no text"
        raise InputError(
            f"prometheus_ca: {path} cannot be read: {said}. It is a path on the host that the module runs on, or the certificates themselves."
        ) from None
