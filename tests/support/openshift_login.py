# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""OpenShift's OAuth server as those see it who log in with user and password, in front of the throwaway cluster's API server.

There is no image of the real one that would run here. It speaks the part of OAuth that the client openshift-challenging-client needs (RFC 8414, and RFC
6749 4.1), and the API of useroauthaccesstokens as far as it takes to end a token. The tokens that it gives are real ones of a ServiceAccount.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from .fault_proxy import FaultProxy

CLIENT = "openshift-challenging-client"
METADATA = "/.well-known/oauth-authorization-server"
TOKENS = "/apis/oauth.openshift.io/v1/useroauthaccesstokens/"


class OpenShiftLogin(FaultProxy):
    """One user may log in. `new_token` makes a token; `given` and `ended` are those so far."""

    def __init__(self, folder: Path, user: str, password: str, new_token: Callable[[], str]):
        super().__init__(folder)
        self._user = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        self._client = "Basic " + base64.b64encode(f"{CLIENT}:".encode()).decode()
        self._new_token = new_token
        self._codes: set[str] = set()
        self.given: list[str] = []
        self.ended: list[str] = []

    def answer(self, method, path, headers, body):
        url = urlsplit(path)
        who = headers.get("Authorization", "")
        if (method, url.path) == ("GET", METADATA):
            endpoints = {"authorization_endpoint": f"{self.url}/oauth/authorize", "token_endpoint": f"{self.url}/oauth/token"}
            return 200, {}, {"issuer": self.url, **endpoints}
        if (method, url.path) == ("GET", "/oauth/authorize"):
            return self._authorize(parse_qs(url.query), who, headers)
        if (method, url.path) == ("POST", "/oauth/token"):
            return self._exchange(parse_qs(body.decode()), who)
        token = who.removeprefix("Bearer ")
        if token in self.ended:
            return 401, {}, {"kind": "Status", "apiVersion": "v1", "code": 401, "reason": "Unauthorized", "message": "Unauthorized"}
        if method == "DELETE" and url.path.startswith(TOKENS):
            return self._end(token, url.path.removeprefix(TOKENS))
        return None

    def _authorize(self, query, who, headers):
        if (
            query.get("client_id") != [CLIENT]
            or query.get("response_type") != ["code"]
            or "X-CSRF-Token" not in headers
            or who != self._user
        ):
            return 401, {"WWW-Authenticate": 'Basic realm="openshift"'}, {}
        code = secrets.token_urlsafe()
        self._codes.add(code)
        return 302, {"Location": f"{self.url}/oauth/token/implicit?code={code}&state={query['state'][0]}"}, {}

    def _exchange(self, form, who):
        (code,) = form.get("code", [""])
        if who != self._client or form.get("grant_type") != ["authorization_code"] or code not in self._codes:
            return 400, {}, {"error": "invalid_grant"}
        self._codes.remove(code)
        self.given.append(self._new_token())
        return 200, {}, {"access_token": self.given[-1], "token_type": "Bearer", "expires_in": 86400, "scope": "user:full"}

    def _end(self, token, name):
        """Its owner ends a token, which is named by its hash."""
        digest = base64.urlsafe_b64encode(hashlib.sha256(token.removeprefix("sha256~").encode()).digest()).decode().rstrip("=")
        if token not in self.given or name != f"sha256~{digest}":
            return 404, {}, {"kind": "Status", "apiVersion": "v1", "code": 404, "reason": "NotFound", "message": f"{name} not found"}
        self.ended.append(token)
        return 200, {}, {"kind": "Status", "apiVersion": "v1", "status": "Success"}
