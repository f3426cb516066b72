# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.plugin_utils.cluster_action import action_of

ActionModule = action_of(
    "kube_scheduler_config", *(f"_kube_scheduler.{part}" for part in ("encode", "extenders", "framework", "lint", "pem", "startup"))
)
