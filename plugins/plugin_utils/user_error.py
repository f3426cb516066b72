# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The exception of action plugins."""

from __future__ import annotations

from ansible.errors import AnsibleActionFail


class UserError(AnsibleActionFail):
    """What the user can correct, so without the traceback that ansible-core before 2.19 prints with every failure of an action."""

    def __init__(self, message):
        super().__init__(message)
        self.result.pop("exception", None)
