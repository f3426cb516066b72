# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A registry as companies have them: TLS by an authority of their own, and a user name with a password."""

from __future__ import annotations

import json
import os
import shutil
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

from .certificates import Authority
from .debian import program
from .registries import known_to_nodes
from .scheduler import eventually

MANIFESTS = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)


def skopeo(folder: Path) -> str:
    """skopeo that leaves nothing on the machine: what it remembers of registries lies in the folder."""
    wrapper = folder / "skopeo"
    # As for a user who is not root, it keeps that in XDG_DATA_HOME then.
    environment = f"_CONTAINERS_ROOTLESS_UID=1000 XDG_DATA_HOME={folder}"
    wrapper.write_text(f'#!/bin/sh\n{environment} exec {program("skopeo", "skopeo")} "$@"\n')
    wrapper.chmod(0o755)
    return str(wrapper)


class PrivateRegistry:
    """Debian's docker-registry at `host` (address:port), for `user` with `password`; `ca_file` is the authority's certificate."""

    def __init__(self, folder: Path, address: str, user: str = "puller", password: str = "pass word/of:the+registry"):
        self.folder, self.user, self.password = folder, user, password
        folder.mkdir(parents=True, exist_ok=True)
        authority = Authority(folder, "registry")
        self.ca_file = authority.path
        with socket.socket() as probe:
            probe.bind((address, 0))
            self.host = f"{address}:{probe.getsockname()[1]}"
        certificate, key = authority.certificate(address)
        hashed = subprocess.run(
            [program("whois", "mkpasswd"), "--method=bcrypt", "--stdin"], input=password, capture_output=True, text=True, check=True
        ).stdout
        (folder / "htpasswd").write_text(f"{user}:{hashed}")
        self._configuration = folder / "registry.json"
        content = {
            "version": 0.1,
            "log": {"level": "info"},
            "storage": {"filesystem": {"rootdirectory": str(folder / "data")}, "delete": {"enabled": True}},
            "auth": {"htpasswd": {"realm": "private", "path": str(folder / "htpasswd")}},
            "http": {"addr": self.host, "relativeurls": True, "tls": {"certificate": str(certificate), "key": str(key)}},
        }
        self._configuration.write_text(json.dumps(content))

    @property
    def credentials(self) -> dict:
        """As the playbooks take them."""
        return {self.host: {"username": self.user, "password": self.password}}

    @property
    def authorization(self) -> str:
        return "Basic " + b64encode(f"{self.user}:{self.password}".encode()).decode()

    def docker_config(self) -> Path:
        """A folder as in DOCKER_CONFIG, with the login."""
        folder = self.folder / "docker"
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps({"auths": {self.host: {"auth": self.authorization.removeprefix("Basic ")}}}))
        return folder

    @contextmanager
    def serving(self) -> Iterator[PrivateRegistry]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("REGISTRY")}
        registry = shutil.which("docker-registry") or "/usr/bin/docker-registry"
        with open(self.folder / "log", "w") as log:
            process = subprocess.Popen([registry, "serve", str(self._configuration)], stdout=log, stderr=log, env=environment)
        try:
            eventually(self._answers, within=30)
            yield self
        finally:
            process.terminate()
            process.wait(30)

    @contextmanager
    def known_to_nodes(self, cluster: Path, login: bool = True) -> Iterator[None]:
        """Have the nodes of the throwaway cluster in this folder trust the authority and, with `login`, log in, as administrators set it up."""
        server = f"https://{self.host}"
        lines = [
            f'server = "{server}"',
            f'[host."{server}"]',
            'capabilities = ["pull", "resolve"]',
            'ca = "{here}/ca.crt"',
        ]
        if login:
            lines += [f'[host."{server}".header]', f'authorization = "{self.authorization}"']
        with known_to_nodes(cluster, self.host, {"ca.crt": self.ca_file.read_text(), "hosts.toml": "\n".join(lines) + "\n"}):
            yield

    def pull_secret(self, name: str, namespace: str) -> dict:
        """The login as a Secret for pods."""
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": namespace},
            "type": "kubernetes.io/dockerconfigjson",
            "stringData": {".dockerconfigjson": (self.docker_config() / "config.json").read_text()},
        }

    def pulls_of_nodes(self, repository: str) -> bool:
        """Whether a node's container runtime has resolved an image of the repository here. It fetches no blob that it has by another name."""
        lines = (self.folder / "log").read_text().splitlines()
        asked = [line for line in lines if '" 200 ' in line and "containerd/" in line]
        return any(f'"{verb} /v2/{repository}/manifests/' in line for line in asked for verb in ("HEAD", "GET"))

    def _answers(self) -> bool:
        """the private registry answers"""
        try:
            return self._request("/v2/") == HTTPStatus.OK
        except OSError:
            return False

    def digest(self, repository: str, reference: str) -> str | None:
        """The digest of an image, None where there is none."""
        return self._request(f"/v2/{repository}/manifests/{reference}", header="Docker-Content-Digest")

    def repositories(self) -> list[str]:
        return json.loads(self._request("/v2/_catalog", header=None))["repositories"]

    def writes(self) -> int:
        """How many requests so far wrote something."""
        log = (self.folder / "log").read_text()
        return sum(log.count(f'"{verb} /v2/') for verb in ("PUT", "POST", "PATCH", "DELETE"))

    def _request(self, path, header="status"):
        """The answer's status, the value of a header of it, or with None its text; None where there is nothing of that name."""
        asked = urllib.request.Request(f"https://{self.host}{path}", headers={"Accept": MANIFESTS, "Authorization": self.authorization})
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=self.ca_file))
        )
        try:
            with opener.open(asked, timeout=10) as answer:
                if header is None:
                    return answer.read().decode()
                return answer.status if header == "status" else answer.headers[header]
        except urllib.error.HTTPError as error:
            if error.code == HTTPStatus.NOT_FOUND:
                return None
            raise
