# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: fleet_row
short_description: How a play went on one of many clusters
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - Makes the row of one cluster out of what is known of it, and of the task that failed. Credentials of the cluster's C(cluster_access) are masked.
positional: cluster, access, task, result, hidden
options:
  _input:
    description: >-
      What is known. C(job), of which it is a row; C(id) of the cluster; C(version) of Kubernetes; C(variant) of the operator with its C(image) or
      C(csv); C(schedulers), the names that they place pods under; C(operator), C(metrics) and C(schedulers_changed), whether a run changed them.
    type: dict
    required: true
  cluster:
    description: Its name.
    type: str
    required: true
  access:
    description: The options of authentication for it.
    type: dict
    default: {}
  task:
    description: Name of the task that failed. If not given, none did.
    type: str
  result:
    description: The result of that task.
    type: dict
    default: {}
  hidden:
    description: Whether nobody is to see that result.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Show a cluster that could not be reached
  ansible.builtin.debug:
    msg: "{{ {'version': '1.34.4'} | osso.scheduler.fleet_row('berlin', {'api_key': 'not a real one'}, 'Look', {'msg': 'not a real one is expired'}) }}"
"""

RETURN = r"""
_value:
  description: >-
    C(job), C(cluster), C(id), C(outcome), which is V(done) or V(failed), C(version), C(operator), C(schedulers), C(changed), a list of what was changed,
    and C(reason), one line. What is not known is empty.
  type: dict
"""

from ansible_collections.osso.scheduler.plugins.module_utils.fleet.rows import row


class FilterModule:
    def filters(self):
        return {"fleet_row": row}
