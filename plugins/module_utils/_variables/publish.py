# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of the role publish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._images import mirroring


def complete(given: Mapping[str, Any]) -> dict[str, Any]:
    """``errors``: what of ``given``, the variables, cannot work, with value and remedy."""
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
    return {"errors": found}
