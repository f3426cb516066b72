# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of the role mirror."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._variables.operator import IMAGE_WAYS


def complete(given: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """``errors``: what of ``given``, the variables, cannot work on a cluster, with value and remedy; ``kind`` of the mirror set, or ``none``.

    ``facts``: ``served``, the kinds of mirror sets that the cluster serves, the best one first.
    """
    served, method, catalog = facts["served"], given["mirror_method"], given["mirror_catalog_image"]
    kind = given["mirror_set_kind"]
    if kind == "auto":
        kind = next(iter(served), "none")
    found = []
    if not given["mirror_registry"]:
        found.append("mirror_registry is not given: name the registry for the copies, such as registry.example.com:5000/mirror.")
    if not catalog and not given["mirror_operator_image"]:
        found.append(f"mirror_operator_image is missing. {IMAGE_WAYS['osso']}")
    if kind != "none" and kind not in served:
        found.append(f"The cluster does not serve {kind}: set mirror_set_kind to auto, or to none to rewrite image references.")
    if given.get("mirror_never_contact_source") and kind != "ImageDigestMirrorSet":
        found.append(
            f"mirror_never_contact_source is true, but only an ImageDigestMirrorSet can do that, and the kind is {kind}: set it to false."
        )
    if kind == "none" and catalog:
        found.append(
            f"The cluster has no mirror sets, so the bundles of {catalog} would be pulled from where they are. Leave mirror_catalog_image empty and set "
            "mirror_method to olm: a catalog that refers to the copies is made then, for mirror_operator_image."
        )
    if kind != "none" and (method == "olm") != bool(catalog):
        found.append(
            f"mirror_method is {method} and mirror_catalog_image is {catalog or 'not given'}. The cluster redirects images by itself, so a catalog that is "
            "published (build_and_publish makes one) can be copied for OLM: name it, or set mirror_method to manifests."
        )
    return {"errors": found, "kind": kind}
