# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module scheduler_pool in a fork of Ansible's worker process, where it can."""

from __future__ import annotations

from ansible.plugins.action.normal import ActionModule as Normal
from ansible_collections.osso.scheduler.plugins.plugin_utils.in_fork import InFork, share


class ActionModule(InFork, Normal):
    pass


share("scheduler_pool")
