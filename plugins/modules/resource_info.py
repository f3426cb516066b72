#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: resource_info
short_description: Read objects of one kind
version_added: 1.0.0
description:
  - Reads one object, or lists objects of one kind.
  - An object that does not exist, and a kind that the cluster does not serve, are no failure.
author:
  - osso.scheduler contributors (@osso-scheduler)
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.attributes
  - osso.scheduler.attributes.actiongroup_scheduler
  - osso.scheduler.attributes.info_module
attributes:
  action_group: {}
  check_mode: {}
  diff_mode: {}
  idempotent: {}
options:
  api_version:
    description: API version of the kind.
    type: str
    default: v1
  kind:
    description: Kind of the objects.
    type: str
    required: true
  namespace:
    description: Namespace of the objects. Without it, and without O(name), objects of all namespaces are listed.
    type: str
  name:
    description: Name of one object.
    type: str
  label_selector:
    description: Selects objects by their labels, such as V(app=web). It is not used with O(name).
    type: str
  field_selector:
    description: Selects objects by their fields, such as V(reason=Scheduled). It is not used with O(name).
    type: str
"""

EXAMPLES = r"""
- name: List all secondary schedulers
  osso.scheduler.resource_info:
    api_version: operator.openshift.io/v1
    kind: SecondaryScheduler
"""

RETURN = r"""
resources:
  description: The objects as the API server returns them.
  returned: success
  type: list
  elements: dict
  sample: []
"""

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import live_objects
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module


def run(module):
    client, params = Client.connect(module.params, module.warn), module.params
    if params["name"]:
        identity = Identity(params["api_version"], params["kind"], params["namespace"], params["name"])
        found = [live_objects.read(client, {identity: live_objects.locate(client, identity)})[identity]]
    else:
        try:
            resource = client.resource(params["api_version"], params["kind"])
            found = client.list(resource, params["namespace"], params["label_selector"], params["field_selector"])
        except ApiError as error:
            if error.status != 404:
                raise
            found = []
    return {"changed": False, "resources": [one for one in found if one]}


def main():
    cluster_module(
        run,
        argument_spec=argument_spec(
            api_version=dict(type="str", default="v1"),
            kind=dict(type="str", required=True),
            namespace=dict(type="str"),
            name=dict(type="str"),
            label_selector=dict(type="str"),
            field_selector=dict(type="str"),
        ),
        supports_check_mode=True,
    )


if __name__ == "__main__":
    main()
