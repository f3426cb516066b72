# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tokens: where they are from, what they say of themselves, and that nobody sees them."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring import tokens
from support.api_server import ApiServer, connect, status

ACCOUNT = {"namespace": "ns", "name": "reader", "audiences": [], "expiration_seconds": 600}
SECRET = {"namespace": "ns", "name": "reader-token"}


def encoded(value) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def web_token(**claims) -> str:
    return f"{encoded({'alg': 'RS256'})}.{encoded(claims)}.c2lnbmF0dXJl"


def stored(value, name="reader-token", kind="kubernetes.io/service-account-token"):
    data = {"token": base64.b64encode(value.encode()).decode()} if value is not None else {}
    return {"metadata": {"namespace": "ns", "name": name}, "type": kind, "data": data}


@pytest.fixture
def server():
    with ApiServer.running() as server:
        yield server


def test_a_web_token_names_its_account_and_its_expiration():
    token = tokens.token_from(web_token(sub="system:serviceaccount:ns:reader", exp=1763740800))
    assert (token.subject, token.expires) == ("system:serviceaccount:ns:reader", datetime(2025, 11, 21, 16, 0, tzinfo=UTC))
    assert token.is_expired(datetime(2025, 11, 21, 16, 0, tzinfo=UTC))
    assert not token.is_expired(datetime(2025, 11, 21, 15, 59, tzinfo=UTC))


def raw(claims) -> str:
    """A token with this text in place of its claims."""
    return f"a.{base64.urlsafe_b64encode(claims.encode()).decode().rstrip('=')}.c"


# Seconds after the year 9999, among them milliseconds; and what is JSON for Python alone
NO_TIMES = ["1763740800000", "1e400", "-1e400", "1e18", "9" * 400, "9" * 5000, "NaN", "true", "null", "[1]", '"1763740800"']


@pytest.mark.parametrize("expires", NO_TIMES)
def test_a_web_token_with_an_invalid_expiration_has_no_expiration(expires):
    token = tokens.token_from(raw(f'{{"exp": {expires}}}'))
    assert token.expires is None
    assert not token.is_expired(datetime.now(UTC))


@pytest.mark.parametrize("claims", ["[" * 100_000, '{"sub":' * 100_000, '{"sub": [1]}'])
def test_claims_that_are_nested_or_no_texts_are_no_claims(claims):
    assert tokens.token_from(raw(claims))[2:] == (None, "")


@pytest.mark.parametrize("value", ["opaque", "a.b.c", f"a.{encoded([1])}.c", f"a.{encoded({'exp': 'never'})}.c", "sha256~x.y"])
def test_a_token_that_is_no_jwt_has_no_expiry_and_no_subject(value):
    token = tokens.token_from(value)
    assert (token.expires, token.subject) == (None, "")
    assert not token.is_expired(datetime.now(UTC))


def test_repr_and_str_of_a_token_do_not_contain_its_value():
    assert "s3cret" not in repr(tokens.token_from("s3cret")) + f"{tokens.token_from('s3cret')}"


def test_a_token_is_requested_for_a_service_account(server):
    answer = {"status": {"token": web_token(sub="system:serviceaccount:ns:reader"), "expirationTimestamp": "2026-11-20T18:00:00Z"}}
    server.answers.append((201, answer))
    token, finding = tokens.request(connect(server.url), {**ACCOUNT, "audiences": ["prometheus"]})
    assert (finding, token.source) == (None, "TokenRequest for ServiceAccount ns/reader")
    assert token.expires == datetime(2026, 11, 20, 18, 0, tzinfo=UTC)
    (seen,) = server.seen
    assert (seen.method, seen.path) == ("POST", "/api/v1/namespaces/ns/serviceaccounts/reader/token")
    assert json.loads(seen.body)["spec"] == {"expirationSeconds": 600, "audiences": ["prometheus"]}


@pytest.mark.parametrize("seconds", [-1, 0, 3600])
def test_a_requested_token_ends_at_the_earlier_of_its_two_ends(server, seconds):
    end = datetime(2026, 11, 20, 18, 0, tzinfo=UTC)
    claims = web_token(exp=int(end.timestamp()) + seconds)
    server.answers.append((201, {"status": {"token": claims, "expirationTimestamp": "2026-11-20T18:00:00Z"}}))
    token, _finding = tokens.request(connect(server.url), ACCOUNT)
    assert (end - token.expires).total_seconds() == -min(seconds, 0)


@pytest.mark.parametrize(
    ("answer", "code", "hint"),
    [
        ((404, status(404, "NotFound")), "no-service-account", "create it"),
        ((403, status(403, "Forbidden")), "not-allowed", "the verb create for serviceaccounts/token in the namespace ns"),
        ((422, status(422, "Invalid", "may not specify a duration less than 10 minutes")), "token-request-refused", "600 seconds"),
    ],
)
def test_a_rejected_request_for_a_token_is_an_error_with_a_hint(server, answer, code, hint):
    server.answers.append(answer)
    token, finding = tokens.request(connect(server.url), ACCOUNT)
    assert (token, finding.severity, finding.code) == (None, "error", code)
    assert hint in finding.hint


def test_a_token_is_read_from_a_secret(server):
    server.answers.append((200, stored("opaque\n")))
    token, finding = tokens.of_secret(connect(server.url), SECRET)
    assert (token.value, token.source, finding) == ("opaque", "Secret ns/reader-token", None)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((404, status(404, "NotFound")), "no-token-secret"),
        ((403, status(403, "Forbidden")), "not-allowed"),
        ((200, stored(None)), "no-token-secret"),
        ((200, stored("t\u00f6ken")), "no-token-secret"),
    ],
)
def test_a_secret_without_a_token_is_a_finding(server, answer, code):
    server.answers.append(answer)
    token, finding = tokens.of_secret(connect(server.url), SECRET)
    assert (token, finding.code) == (None, code)


def test_the_legacy_token_is_found_by_name_and_type_of_its_secret(server):
    secrets = [
        stored("pull", name="prometheus-k8s-token-1", kind="kubernetes.io/dockercfg"),
        stored("other", name="alertmanager-token-x"),
        stored("legacy", name="prometheus-k8s-token-2"),
    ]
    server.answers.append((200, {"items": secrets}))
    token, finding = tokens.legacy(connect(server.url))
    assert (token.value, token.source, finding) == ("legacy", "Secret ns/prometheus-k8s-token-2", None)
    server.answers.append((200, {"items": secrets[:2]}))
    token, finding = tokens.legacy(connect(server.url))
    assert (token, finding.code) == (None, "no-token-secret")
    assert "OpenShift makes none since 4.16" in finding.message
