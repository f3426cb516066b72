# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The command kube-scheduler-config of an installed collection: `python -m ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler_config`."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.command_line import run

if __name__ == "__main__":
    run()
