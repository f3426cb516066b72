# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One Prometheus, asked over HTTP as load-watcher in a scheduler asks it: POST, bearer token, certificate verified.

The standard library does that: who verifies a certificate is exactly the authority that was given, and no other. Nothing that is answered is
trusted to be what it should be: it ends as a `PrometheusError` after the timeout, above a size, and where it has another form.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import ipaddress
import json
import re
import socket
import ssl
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote, urlencode, urlsplit
from urllib.request import getproxies

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import bounded_http
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import scrub
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.unicode import replaced
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import secrets

UNREACHABLE, UNRESOLVED, NO_ANSWER, NOT_VERIFIED = "unreachable", "unresolved", "no-answer", "certificate-not-verified"
UNAUTHORIZED, FORBIDDEN, UNAVAILABLE = "unauthorized", "forbidden", "unavailable"
NOT_PROMETHEUS, QUERY_REFUSED, BAD_URL, BAD_TOKEN = "not-prometheus", "query-refused", "bad-url", "token-malformed"

_SCHEMES = {"http": 80, "https": 443}
_POST_REFUSED = (405, 501)
"""Statuses after which client_golang of Prometheus repeats a query by GET (api/client.go, DoGetFallback)."""
_TEXT = 300
"""So much of an answer that is none is quoted."""

_LARGEST = 4 << 20
_MOST_VALUES = 400_000
"""Bytes and values of an answer: twice what 5,000 nodes need, and together at most 64 MB of memory, since an empty list takes 64 bytes."""

_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f]")
_TOKEN = re.compile(r"[\x21-\x7e]*")
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_USER = re.compile(r"^([^:/]*://)?(.*)@", re.DOTALL)


class PrometheusError(Exception):
    """It was not reached, or did not answer the question. code: one of the constants above. text: its own words, if there were any."""

    def __init__(self, code: str, message: str, text: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.text = text


class CertificateError(PrometheusError):
    """The certificate could not be verified. with_other_authority: whether another authority may do it."""

    def __init__(self, message: str, with_other_authority: bool) -> None:
        super().__init__(NOT_VERIFIED, message)
        self.with_other_authority = with_other_authority


_T = TypeVar("_T")


class Sample(NamedTuple):
    """One element of a vector."""

    labels: dict[str, str]
    value: float


def roots(authorities: str) -> str:
    """Those of the certificates (PEM) that signed themselves."""
    found = []
    for block in _CERTIFICATE.findall(authorities):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        with contextlib.suppress(ssl.SSLError):
            context.load_verify_locations(cadata=block)
        found += [f"{block}\n" for one in context.get_ca_certs() if one["subject"] == one["issuer"]]
    return "".join(found)


def verifying(authorities: str | None) -> ssl.SSLContext:
    """TLS that trusts these certificates (PEM) alone, None: those of the machine. Raises ValueError for what is no certificate.

    They need not be roots: like a scheduler's Go, it trusts whatever it is given.
    """
    if authorities is None:
        return ssl.create_default_context()
    try:
        context = ssl.create_default_context(cadata=authorities)
    except ssl.SSLError as error:
        raise ValueError(str(error)) from None
    context.verify_flags |= getattr(
        ssl, "VERIFY_X509_PARTIAL_CHAIN", 0x80000
    )  # Python has no name for it before 3.10, and sets it since 3.13
    return context


def trusting() -> ssl.SSLContext:
    """TLS that verifies nothing."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def without_credentials(url: str) -> str:
    """The URL without the user and the password that may stand in it, and without the values of parameters such as ``?token=TOKEN``."""
    return secrets.mask_credentials(_USER.sub(rf"\1{secrets.MASK}@", url), secrets.MASK, secrets.OF_ADDRESSES)


def credentials_in(url: str) -> set[str]:
    """The secrets of what `without_credentials` leaves out."""
    found = _USER.match(url)
    user = found[2] if found else ""
    password = user.partition(":")[2]
    parameters = secrets.credentials_in(url, secrets.OF_ADDRESSES) - {user, password}
    return {text for text in (user, password, unquote(password), *parameters, *map(unquote, parameters)) if text}


class Prometheus:
    """A connection to the API below ``url``, kept between questions. timeout in seconds, for each step of the connection and each whole answer.
    proxies: URLs by ``http`` and ``https``, and the hosts without a proxy by ``no``; None for those of the environment.

    Raises PrometheusError for a URL or a token that is none.
    """

    def __init__(self, url: str, token: str = "", timeout: float = 10, proxies: Mapping[str, str] | None = None) -> None:
        shown = replaced(without_credentials(url))
        if not _TOKEN.fullmatch(token):
            raise PrometheusError(BAD_TOKEN, "the token has a space, a line break or another character that no bearer token has")
        try:
            parts = urlsplit(url)
            port = parts.port
            self._host = (parts.hostname or "").encode("idna").decode()
            self._path = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~")
            user, password = unquote(parts.username or ""), unquote(parts.password or "")
            basic = base64.b64encode(f"{user}:{password}".encode()).decode() if "@" in parts.netloc else ""
        except ValueError:
            raise PrometheusError(BAD_URL, f"{shown} is no URL of the form https://HOST[:PORT][/PATH], PORT from 0 to 65535") from None
        if parts.scheme not in _SCHEMES or not self._host or _UNPRINTABLE.search(url):
            raise PrometheusError(BAD_URL, f"{shown} is no URL of the form https://HOST[:PORT][/PATH]")
        self._port = _SCHEMES[parts.scheme] if port is None else port
        self._credentials = f"Bearer {token}" if token else f"Basic {basic}" if basic else ""
        self._secrets = credentials_in(url) | {text for text in (token, basic) if text}
        self._timeout = timeout
        self._proxies = proxies
        self._context: ssl.SSLContext | None = None
        self._connection: http.client.HTTPConnection | None = None
        self.is_tls = parts.scheme == "https"

    def connect(self, context: ssl.SSLContext | None = None) -> http.client.HTTPConnection:
        """Connect, for https with this TLS context. Raises PrometheusError, CertificateError among them."""
        self.close()
        self._context = context
        connection = self._made()
        proxy = self._proxy()
        through = f" through the proxy {proxy[0]}:{proxy[1]} of the environment" if proxy else ""
        bounded_http.limit_time(connection, self._timeout)
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as error:
            raise _unverified(self._host, error) from None
        except socket.gaierror:
            raise PrometheusError(UNRESOLVED, f"the name {proxy[0] if proxy else self._host} cannot be resolved here") from None
        except ssl.SSLError as error:
            raise PrometheusError(UNREACHABLE, f"{self._host}:{self._port} does not speak TLS: {error.reason or error}") from None
        except socket.timeout as error:
            if "handshake" in str(error):
                raise self._silent("accepts a connection and does not answer") from None
            raise PrometheusError(UNREACHABLE, f"{self._host}:{self._port} cannot be reached{through} within {self._timeout} s") from None
        except (OSError, http.client.HTTPException, ValueError) as error:  # the last for the name of a proxy
            raise PrometheusError(UNREACHABLE, f"{self._host}:{self._port} cannot be reached{through}: {self._shown(str(error))}") from None
        self._connection = connection
        return connection

    def query(self, expression: str, method: str = "POST") -> list[Sample]:
        """The vector that an expression is now. Raises PrometheusError."""
        data = self._data(method, "/api/v1/query", {"query": expression})
        return self._read(_samples, data, "is no vector of numbers")

    def alert_rules(self, names: list[str]) -> list[dict[str, Any]]:
        """The rules that make alerts, of all groups, with the state of each; older releases return others than those named, too.

        Raises PrometheusError.
        """
        data = self._data("GET", "/api/v1/rules", {"type": "alert", "rule_name[]": names})
        return self._read(_rules, data, "holds no rules")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _data(self, method: str, path: str, form: dict[str, Any]) -> Any:
        """What the API answers, where it reports success."""
        status, headers, body = self._ask(method, path, form)
        if method == "POST" and status in _POST_REFUSED:
            status, headers, body = self._ask("GET", path, form)
        answer = _decoded(body)
        if status == 200 and isinstance(answer, dict) and answer.get("status") == "success":
            return answer.get("data")
        raise _refusal(status, headers, self._shown(_readable(body, answer)), answer)

    def _read(self, read: Callable[[Any], list[_T]], data: Any, otherwise: str) -> list[_T]:
        """The data in the form that it should have."""
        try:
            return read(data)
        except (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError):
            raise PrometheusError(NOT_PROMETHEUS, f"{self._host}:{self._port} answers with something that {otherwise}") from None

    def _shown(self, text: str) -> str:
        """Words of the other side, which may repeat what it was sent."""
        return " ".join(replaced(scrub(text, self._secrets)).split())[:_TEXT]

    def _ask(self, method: str, path: str, form: dict[str, Any]) -> tuple[int, Any, bytes]:
        headers = {"Accept": "application/json", "Host": self._named_host()}
        if self._credentials:
            headers["Authorization"] = self._credentials
        if not self.is_tls:
            proxy = self._proxy()
            headers.update(proxy[2] if proxy else {})
        encoded = urlencode(form, doseq=True)
        target, body = self._target(path), None
        if method == "POST":
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = encoded
        else:
            target = f"{target}?{encoded}"
        for attempt in (1, 2):
            kept = self._connection is not None
            connection = self._connection or self.connect(self._context)
            bounded_http.limit_time(connection, self._timeout)
            try:
                connection.request(method, target, body=body, headers=headers)
                response = connection.getresponse()
                return response.status, response.headers, bounded_http.read(response, _LARGEST)
            except bounded_http.TooLargeError as error:
                self.close()
                raise PrometheusError(NOT_PROMETHEUS, f"{self._host}:{self._port} begins {error}") from None
            except socket.timeout:
                self.close()
                raise self._silent(f"gives no answer within {self._timeout} s") from None
            except (OSError, http.client.HTTPException) as error:
                self.close()
                # A connection that was kept may have been closed by the other side since.
                if not kept or attempt == 2:
                    what = self._shown(str(error)) or type(error).__name__
                    raise PrometheusError(UNREACHABLE, f"{self._host}:{self._port} broke the connection: {what}") from None
        raise AssertionError("unreachable")

    def _made(self) -> http.client.HTTPConnection:
        """A connection that is not connected yet, through the proxy of the environment if one is meant for the host."""
        host, port, tunnel = self._host, self._port, False
        proxy = self._proxy()
        if proxy is not None:
            host, port, tunnel = proxy[0], proxy[1], self.is_tls
        if self.is_tls:
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(host, port, timeout=self._timeout, context=self._context)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=self._timeout)
        if tunnel:
            connection.set_tunnel(self._host, self._port, proxy[2] if proxy else {})
        return connection

    def _proxy(self) -> tuple[str, int, dict[str, str]] | None:
        """Host, port and headers of the proxy for the host, as Go chooses it."""
        proxies = getproxies() if self._proxies is None else self._proxies
        url = proxies.get("https" if self.is_tls else "http")
        if not url or bypasses_proxy(self._host, self._port, proxies.get("no", "")):
            return None
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            port = _SCHEMES["http"] if parts.port is None else parts.port
        except ValueError:
            raise PrometheusError(UNREACHABLE, f"the proxy of the environment, {without_credentials(url)}, is no URL") from None
        if not parts.hostname:
            return None
        headers = {}
        if parts.username is not None:
            basic = base64.b64encode(f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()).decode()
            headers["Proxy-Authorization"] = f"Basic {basic}"
            self._secrets |= credentials_in(url) | {basic}
        return parts.hostname, port, headers

    def _target(self, path: str) -> str:
        whole = self._path + path
        return whole if self.is_tls or self._proxy() is None else f"http://{self._named_host()}{whole}"

    def _named_host(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return host if self._port in _SCHEMES.values() else f"{host}:{self._port}"

    def _silent(self, what: str) -> PrometheusError:
        return PrometheusError(NO_ANSWER, f"{self._host}:{self._port} {what}")


def bypasses_proxy(host: str, port: int, no_proxy: str) -> bool:
    """Whether Go connects to a host without a proxy (golang.org/x/net/http/httpproxy): NO_PROXY has names, addresses and CIDRs, each may have a port."""
    host = host.lower().rstrip(".")
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    for entry in no_proxy.lower().split(","):
        name = entry.strip()
        if name == "*":
            return True
        try:
            if address is not None and "/" in name and address in ipaddress.ip_network(name, strict=False):
                return True
        except ValueError:
            pass
        wanted = re.fullmatch(r"\[?(.*?)\]?:([0-9]+)", name) if name.count(":") == 1 or name.startswith("[") else None
        if wanted:
            if int(wanted[2]) != port:
                continue
            name = wanted[1]
        name = name.strip("[]")
        if not name or "/" in name:
            continue
        if address is not None:
            if address == _address(name):
                return True
        elif host.endswith(name[1:] if name.startswith("*.") else name if name.startswith(".") else f".{name}") or host == name:
            return True
    return False


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _unverified(host: str, error: ssl.SSLCertVerificationError) -> CertificateError:
    said = error.verify_message or str(error)
    # X509_V_ERR_... of OpenSSL: expired, not yet valid, made for another name or address. No authority can mend these.
    return CertificateError(f"the certificate of {host} could not be verified: {said}", error.verify_code not in (9, 10, 62, 64))


def _samples(data: Any) -> list[Sample]:
    if data["resultType"] != "vector":
        raise ValueError
    return [Sample(_texts(item["metric"]), _number(item["value"][1])) for item in data["result"]]


def _number(text: Any) -> float:
    if not isinstance(text, str):  # a number of JSON can be none of those that a sample can be, such as NaN
        raise TypeError
    return float(text)


def _rules(data: Any) -> list[dict[str, Any]]:
    return [
        {"name": str(rule["name"]), "state": rule.get("state"), "alerts": [_alert(alert) for alert in rule.get("alerts") or []]}
        for group in data.get("groups") or []
        for rule in group.get("rules") or []
    ]


def _alert(alert: Any) -> dict[str, Any]:
    told = {key: replaced(str(alert.get(key) or "")) for key in ("state", "activeAt")}
    return {**told, "labels": _texts(alert.get("labels") or {}), "annotations": _texts(alert.get("annotations") or {})}


def _texts(mapping: Mapping[str, Any]) -> dict[str, str]:
    return {replaced(key): replaced(str(value)) for key, value in mapping.items()}


def _refusal(status: int, headers: Any, text: str, answer: Any) -> PrometheusError:
    if status == 401:
        return PrometheusError(UNAUTHORIZED, "it does not accept the token (401)", text)
    if status == 403:
        return PrometheusError(FORBIDDEN, "it knows the user, but does not let it read metrics (403)", text)
    if 300 <= status < 400:
        return PrometheusError(
            NOT_PROMETHEUS, f"it answers with a redirection to {_place(headers)} ({status}), as for people who are to log in", text
        )
    if status >= 500:
        return PrometheusError(UNAVAILABLE, f"it answers that it does not work ({status}): {text}", text)
    if isinstance(answer, dict) and answer.get("status") == "error":
        return PrometheusError(QUERY_REFUSED, f"it rejects the query ({status}): {text}", text)
    return PrometheusError(NOT_PROMETHEUS, f"it answers ({status}) with something that is no answer of Prometheus", text)


def _place(headers: Any) -> str:
    try:
        return replaced(urlsplit(headers.get("Location", "")).netloc.rpartition("@")[2])[:_TEXT] or "another place"
    except ValueError:
        return "another place"


def _decoded(body: bytes) -> Any:
    """The value, None for what is no JSON or more of it than an answer can be."""
    if sum(body.count(sign) for sign in b",:[{") > _MOST_VALUES:
        return None
    try:
        # Long integers take Python minutes.
        return json.loads(body.decode("utf-8", "replace"), parse_int=float)
    except (RecursionError, ValueError):
        return None


def _readable(body: bytes, answer: Any) -> str:
    if isinstance(answer, dict):
        said = answer.get("error") or answer.get("message")
        return said if isinstance(said, str) else ""
    text = body[: 10 * _TEXT].decode("utf-8", "replace").strip()
    return "an HTML page" if text.startswith("<") else text


def first_that_verifies(
    connect: Callable[[ssl.SSLContext], object], authorities: Iterable[tuple[str, str | None]]
) -> tuple[str, str | None] | CertificateError:
    """Connect with one authority after the other: (where it is from, PEM or None for the machine's) of the first that verifies.

    authorities: an iterable of such pairs. Where none verifies, the first refusal that no other authority can mend, else the last one; other
    failures of ``connect`` are raised.
    """
    refusal = CertificateError("no authority is known that could verify the certificate", True)
    for source, pem in authorities:
        try:
            connect(verifying(pem))
            return source, pem
        except ValueError as error:
            refusal = CertificateError(f"{source} holds no certificates: {error}", True) if refusal.with_other_authority else refusal
        except CertificateError as error:
            # An authority that has expired may have a successor, so others are tried.
            refusal = error if refusal.with_other_authority else refusal
    return refusal
