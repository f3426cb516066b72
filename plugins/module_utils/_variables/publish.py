# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of the role publish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._images import mirroring

ENGINES = ("buildah", "podman")


def complete(given: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """``errors``: what of ``given``, the variables, cannot work, with value and remedy.

    ``facts``: nothing, or ``programs``, of those that the role calls ``item`` and the exit status ``rc``, and the ``host`` that has them.
    """
    registry, operator, bundle = (given[f"publish_{name}"] for name in ("registry", "operator_image", "bundle_image"))
    found = []
    if not registry:
        found.append(
            "publish_registry is not given: name the registry that the images are pushed to, such as registry.example.com:5000/team."
        )
    else:
        try:
            mirroring.plan(["none:1"], registry)
        except ValueError as error:
            found.append(str(error))
    if operator and "@sha256:" not in operator:
        found.append(
            f"publish_operator_image is {operator}: name it by digest (NAME@sha256:...), as it goes into a bundle that must not change."
        )
    if operator and bundle:
        found.append("publish_bundle_image and publish_operator_image exclude each other: a bundle names its operator itself.")
    if bundle and given["publish_method"] != "olm":
        found.append("publish_bundle_image is for OLM: set publish_method to olm, or leave it empty.")
    return {"errors": found + (_missing(given, facts) if facts else [])}


def _missing(given: Mapping[str, Any], facts: Mapping[str, Any]) -> list[str]:
    """The programs that cannot be run."""
    runs = {one["item"] for one in facts["programs"] if one["rc"] == 0}
    skopeo, engine, opm = (given[f"publish_{name}"] for name in ("skopeo", "engine", "opm"))
    found = []
    if skopeo not in runs:
        found.append(
            f"{skopeo} cannot be run on {facts['host']}, and digests are compared by it. Install it (apt-get install skopeo, dnf install skopeo), "
            "or name it in publish_skopeo."
        )
    if not runs.intersection([engine] if engine else ENGINES):
        which = f"{engine} cannot" if engine else "Neither buildah nor podman can"
        found.append(
            f"{which} be run on {facts['host']}, and images are built by it. Install buildah or podman (apt-get install buildah, dnf install podman)."
        )
    if given["publish_bundle_image"] and opm not in runs:
        found.append(
            f"{opm} cannot be run on {facts['host']}, and what is in publish_bundle_image is read by it. Install it "
            "(https://github.com/operator-framework/operator-registry/releases), or name it in publish_opm."
        )
    return found
