# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: run_folder
short_description: A private folder that exists for the duration of the Ansible run
version_added: 1.0.0
author: osso.scheduler contributors (@osso-scheduler)
description:
  - Returns a folder below Ansible's setting C(DEFAULT_LOCAL_TMP) that no other user can read. Ansible removes it at the end of the run. It also does
    so after Ctrl-C, when C(always) sections of blocks are not run. A killed run leaves it behind.
  - The lookup P(ansible.builtin.config#lookup) creates another folder at each call, and Ansible does not remove these.
notes:
  - The folder is on the Ansible controller.
"""

EXAMPLES = r"""
- name: Create a folder for files that must not outlast the run
  ansible.builtin.tempfile:
    path: "{{ lookup('osso.scheduler.run_folder') }}"
    state: directory
  delegate_to: localhost
"""

RETURN = r"""
_raw:
  description: The path of the folder, as the only item.
  type: list
  elements: path
"""

from ansible import constants
from ansible.plugins.lookup import LookupBase


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        self.set_options(var_options=variables, direct=kwargs)
        # As it was when the run began: its process removes it.
        return [str(constants.DEFAULT_LOCAL_TMP)]
