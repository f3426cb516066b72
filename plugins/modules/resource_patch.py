#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: resource_patch
short_description: Change some fields of an existing object
version_added: 1.0.0
description:
  - Patches one object that exists. Fields that the patch does not name stay as they are, whoever manages them.
  - To create objects, or to keep fields as they are declared, use M(osso.scheduler.apply).
author:
  - osso.scheduler contributors (@osso-scheduler)
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.attributes
  - osso.scheduler.attributes.actiongroup_scheduler
attributes:
  action_group: {}
  check_mode:
    support: full
    details:
      - The API server checks the patch without storing its result.
  diff_mode:
    support: full
  idempotent:
    support: partial
    details:
      - A merge patch changes nothing the second time. A JSON patch may fail, for example if it removes a field.
options:
  api_version:
    description: API version of the kind.
    type: str
    default: v1
  kind:
    description: Kind of the object.
    type: str
    required: true
  namespace:
    description: Namespace of the object. Required for objects in namespaces.
    type: str
  name:
    description: Name of the object.
    type: str
    required: true
  patch:
    description:
      - A dict is a merge patch (RFC 7386), in which V(null) removes a field. A list is a JSON patch (RFC 6902).
    type: raw
    required: true
  wait:
    description: Whether to wait until the rollout of a workload is complete.
    type: bool
    default: false
  wait_timeout:
    description: How long to wait at most, in seconds.
    type: int
    default: 300
"""

EXAMPLES = r"""
- name: Have another scheduler place the pods of a Deployment
  osso.scheduler.resource_patch:
    api_version: apps/v1
    kind: Deployment
    namespace: jobs
    name: crunch
    patch: {spec: {template: {spec: {schedulerName: batch}}}}
    wait: true
"""

RETURN = r"""#"""

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import diff, live_objects, readiness
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.api_errors import refusal
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import FIELD_MANAGER, Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.wait import Deadline, Target, until_ready

CONTENT_TYPES = {dict: "application/merge-patch+json", list: "application/json-patch+json"}


def run(module):
    params = module.params
    identity = Identity(params["api_version"], params["kind"], params["namespace"], params["name"])
    content_type = next((name for kind, name in CONTENT_TYPES.items() if isinstance(params["patch"], kind)), None)
    if not content_type:
        raise InputError(
            f"patch is a {type(params['patch']).__name__}; give a dict for a merge patch, or a list of operations for a JSON patch."
        )
    if params["wait"] and identity.kind not in readiness.ROLLOUTS:
        raise InputError(f"wait is true, but {identity.kind} has no rollout. These have one: {', '.join(readiness.ROLLOUTS)}.")
    client = Client.connect(module.params, module.warn)
    resource = live_objects.locate(client, identity)
    before = live_objects.read(client, {identity: resource})[identity]
    if before is None:
        raise InputError(f"{identity} does not exist; create it first.")
    try:
        after = client.request(
            "PATCH",
            resource.path(identity.namespace, identity.name),
            query={"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict", "dryRun": "All" if module.check_mode else None},
            body=params["patch"],
            content_type=content_type,
        )
    except ApiError as error:
        raise refusal(error, identity, "patch", before) from None
    if params["wait"] and not module.check_mode:
        until_ready(client, [Target(identity, resource, readiness.rollout)], Deadline(params["wait_timeout"]), {identity: after})
    result = {"changed": diff.content(before) != diff.content(after)}
    if module._diff:
        result["diff"] = diff.as_diff(str(identity), *diff.difference(before, after))
    return result


def main():
    cluster_module(
        run,
        hidden=("patch",),
        argument_spec=argument_spec(
            api_version=dict(type="str", default="v1"),
            kind=dict(type="str", required=True),
            namespace=dict(type="str"),
            name=dict(type="str", required=True),
            patch=dict(type="raw", required=True),
            wait=dict(type="bool", default=False),
            wait_timeout=dict(type="int", default=300),
        ),
        supports_check_mode=True,
    )


if __name__ == "__main__":
    main()
