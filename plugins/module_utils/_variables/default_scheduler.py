# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of the role default_scheduler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def complete(given: Mapping[str, Any], refusals: Sequence[str] | None = None) -> dict[str, Any]:
    """``errors``: what of ``given``, the variables, contradicts itself or has to be confirmed, with value and remedy.

    ``refusals``: what default_scheduler_info returns against the change; None before it was called, as all errors are reported at once.
    """

    def of(name: str, default: Any = None) -> Any:
        value = given.get(f"default_scheduler_{name}")
        return default if value is None else value

    found = list(refusals or ())
    if of("provider") == "static_pod":
        if of("profile") and of("config"):
            found.append(
                "default_scheduler_profile and default_scheduler_config are both set. Set one of them, the profile inside of your configuration is yours."
            )
        return {"errors": found}
    if refusals is None:
        return {"errors": []}
    if not of("operator_managed", True) and not of("i_understand_unmanaged_operator"):
        found.append(
            "default_scheduler_operator_managed is false. The cluster cannot be upgraded then, and the operator is not repaired: set "
            "default_scheduler_i_understand_unmanaged_operator to true if you mean it. default_scheduler_operator_managed true is the way back."
        )
    if of("operator_image") and not of("i_understand_custom_operator_image"):
        found.append(
            "default_scheduler_operator_image is set. Red Hat does not support a cluster with another operator: set "
            "default_scheduler_i_understand_custom_operator_image to true if you mean it. Without it, default_scheduler_operator_managed true is the way "
            "back."
        )
    if of("operator_image") and of("operator_managed", True):
        found.append(
            "default_scheduler_operator_image is set, but the cluster-version operator would put its own image back: set "
            "default_scheduler_operator_managed to false, too."
        )
    if of("cluster_version_operator") == "stopped" and not of("i_understand_stopped_cluster_version_operator"):
        found.append(
            "default_scheduler_cluster_version_operator is stopped. Nothing of the cluster is repaired or upgraded then; "
            "default_scheduler_operator_managed false does for the scheduler's operator alone. Set "
            "default_scheduler_i_understand_stopped_cluster_version_operator to true if you mean it; running is the way back."
        )
    return {"errors": found}
