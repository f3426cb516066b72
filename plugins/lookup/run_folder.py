# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: run_folder
short_description: The folder that goes with the run of Ansible
version_added: 1.0.0
author: osso.scheduler contributors (@osso-scheduler)
description:
  - A folder below Ansible's setting C(DEFAULT_LOCAL_TMP) that nobody else can read. Ansible removes it at the end of the run, also when the run was
    interrupted by Ctrl-C, where C(always) of blocks is not run any more. A run that was killed leaves it.
  - The lookup P(ansible.builtin.config#lookup) makes another one each time, which nobody removes.
notes:
  - It is on the machine where Ansible runs.
"""

EXAMPLES = r"""
- name: Make a folder for what must not outlast the run
  ansible.builtin.tempfile:
    path: "{{ lookup('osso.scheduler.run_folder') }}"
    state: directory
  delegate_to: localhost
"""

RETURN = r"""
_raw:
  description: Its path, the one item.
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
