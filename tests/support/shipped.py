# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Our operator as OLM gets it: images of bundle and catalog as `make images` builds them, also of versions that are still to come."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import yaml

from .olm import Olm

ROOT = Path(__file__).resolve().parents[2]
MADE = ROOT / ".cache/olm/catalog"


class Shipped:
    """Catalogs of our operator, built once each in `folder`. All versions are the operator that is under test: they differ in name alone."""

    def __init__(self, olm: Olm, folder: Path):
        self._olm = olm
        self._folder = folder
        self._catalogs: dict[tuple[str, ...], str] = {}
        self._told = yaml.safe_load((ROOT / "operator/olm/package.yaml").read_text())
        self._package = yaml.safe_load((ROOT / "roles/operator/vars/main.yml").read_text())["operator_packages"]["osso"]
        self.version = self._told["releases"][-1]["version"]

    def csv(self, version: str) -> str:
        """Name of its ClusterServiceVersion."""
        return self._package["csv"] + version

    def catalog(self, *later: str) -> str:
        """The image of a catalog with our newest version and these later ones, each of which replaces the one before."""
        if later not in self._catalogs:
            self._catalogs[later] = self._build(*later)
        return self._catalogs[later]

    def _build(self, *later: str) -> str:
        options = []
        if later:
            self.catalog(*later[:-1])
            options = [f"--package={self._package_file(*later)}", f"--former={self._kept(*later[:-1])}"]
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / ".cache/collections"),
            "OPM_IMAGE": self._olm.opm_image,
            "REGISTRY": self._olm.registry,
        }
        done = subprocess.run([ROOT / "operator/olm/build", *options], capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        # What the next one has its former versions from.
        shutil.copytree(MADE, self._kept(*later))
        return done.stdout.split()[-1]

    def _kept(self, *later: str) -> Path:
        return self._folder / "-".join(["catalog", self.version, *later])

    def _package_file(self, *later: str) -> Path:
        releases = list(self._told["releases"])
        for version in later:
            replaces = releases[-1]["version"]
            releases.append({"version": version, "created": "2030-01-01", "channels": ["stable", "candidate"], "replaces": replaces})
        path = self._folder / f"package-{later[-1]}.yaml"
        path.write_text(yaml.safe_dump({**self._told, "releases": releases}))
        return path
