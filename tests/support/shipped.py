# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Our operator as OLM gets it: bundles and a catalog as `make bundle` makes them, also of versions that are still to come."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from .olm import Olm

SOURCE = Path(__file__).resolve().parents[2] / "operator/olm/bundle.py"


class Shipped:
    """All versions run the operator that is under test: to OLM they are different ones all the same."""

    def __init__(self, olm: Olm):
        self._olm = olm
        self._image = Path(os.environ["OPERATOR_IMAGE_FILE"]).read_text().strip()

    @cached_property
    def _generator(self):
        spec = importlib.util.spec_from_file_location("operator_olm_bundle", SOURCE)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    @cached_property
    def _sources(self):
        return self._generator.sources()

    @property
    def package(self) -> str:
        return self._sources.package["name"]

    def csv(self, version: str) -> str:
        """Name of its ClusterServiceVersion."""
        return self._generator.csv_name(self._sources, version)

    @cache  # noqa: B019 (there is one of these)
    def catalog(self, *versions: str) -> str:
        """Build and push a catalog of these versions, the oldest first, each of which replaces the one before, and their bundles; its reference."""
        releases = self._releases(versions)
        files = self._generator.catalog(self._sources, releases)
        for release in releases:
            told = self._generator.catalog_bundle(self._sources, release)
            files[f"{self.package}/{self.csv(release.version)}.yaml"] = self._generator._text(told)
        return self._push("catalog", "-".join(versions), files, f"--build-arg=OPM_IMAGE={self._olm.opm_image}")

    def _releases(self, versions: Sequence[str]) -> list:
        (*_former, newest) = self._generator.releases(self._sources.told, self._image)
        releases = []
        for version in versions:
            replaces = releases[-1].version if releases else ""
            release = newest._replace(version=version, replaces=replaces, bundle_image=f"{self._olm.registry}/shipped-bundle:{version}")
            self._push("bundle", version, self._generator.bundle(self._sources, release))
            releases.append(release)
        return releases

    def _push(self, name: str, tag: str, files: dict[str, str], *options: str) -> str:
        with TemporaryDirectory() as folder:
            self._generator.write(Path(folder), files)
            return self._olm.push(Path(folder), f"{self._olm.registry}/shipped-{name}:{tag}", *options)
