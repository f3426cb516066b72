# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module prometheus_info: in a fork of Ansible's worker process where it can, on the cluster of ``cluster_access``."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.plugin_utils.cluster_action import ClusterModule
from ansible_collections.osso.scheduler.plugins.plugin_utils.in_fork import share


class ActionModule(ClusterModule):
    pass


share("prometheus_info")
