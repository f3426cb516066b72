# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The command scheduler-preview of docs/preview.md: `python -m ansible_collections.osso.scheduler.plugins.module_utils.scheduler_preview`."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview_command import main

if __name__ == "__main__":
    raise SystemExit(main())
