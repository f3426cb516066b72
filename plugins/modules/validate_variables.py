#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: validate_variables
short_description: Validate the variables of a role of this collection
version_added: 1.0.0
author:
  - osso.scheduler contributors (@osso-scheduler)
description:
  - The first task of roles of this collection. It checks the variables of the role that runs it together, beyond what its argument specification says, and
    fails with all errors at once. Wrong types are reported first and alone, because the other rules need values of the right types.
  - A list or dict that is given as a text, such as with C(-e name=value), is an error.
extends_documentation_fragment:
  - osso.scheduler.attributes
  - osso.scheduler.attributes.info_module
attributes:
  action_group:
    support: none
    membership: []
  check_mode: {}
  diff_mode: {}
  idempotent: {}
options:
  facts:
    description: What is known of the cluster. Which facts are used depends on the role.
    type: dict
"""

EXAMPLES = r"""
- name: Validate the variables
  osso.scheduler.validate_variables:
    facts: "{{ operator_found }}"
  register: operator_plan
"""

RETURN = r"""
method:
  description: How the role installs the operator, V(manifests) or V(olm).
  returned: by the role operator
  type: str
  sample: manifests
installed:
  description: The methods by which the operator is installed now.
  returned: by the role operator
  type: list
  elements: str
  sample: [olm]
config:
  description: The fields C(spec.config) of the Subscription.
  returned: by the role operator
  type: dict
  sample: {nodeSelector: {node-role.kubernetes.io/infra: ""}}
upgrade:
  description: How far OLM upgrades the operator, as the option of M(osso.scheduler.olm_operator).
  returned: by the role operator
  type: str
  sample: channel
kind:
  description: The kind of mirror sets that the cluster uses, V(none) if image references are rewritten.
  returned: by the role mirror
  type: str
  sample: ImageDigestMirrorSet
warnings:
  description: What of the variables is probably not meant, such as an empty list of schedulers.
  returned: by roles with such checks
  type: list
  elements: str
  sample: ["secondary_schedulers is empty: no scheduler is configured."]
"""

from ansible.module_utils.basic import AnsibleModule


def main():
    AnsibleModule(argument_spec={"facts": {"type": "dict"}}, supports_check_mode=True).fail_json(
        msg="validate_variables reads the variables of a role, which a module does not have: call it as a task of a role, so that its action plugin runs."
    )


if __name__ == "__main__":
    main()
