#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: olm_operator
short_description: Install, upgrade or remove an operator with the Operator Lifecycle Manager (OLM)
version_added: 1.0.0
author:
  - osso.scheduler contributors (@osso)
description:
  - Installs an operator in one task, up to a ClusterServiceVersion (CSV) in the phase C(Succeeded). Creates namespace, OperatorGroup and
    Subscription, and on request the CatalogSource. On request, it approves one InstallPlan.
  - Before the Subscription is written, the catalog must be available, and contain package and channel; the error names its contents. The module reads
    this from C(PackageManifests). If the cluster does not serve them, OLM makes these checks.
  - It waits by watching Subscription, InstallPlans, CSVs, Deployments and CatalogSource together. After the timeout, the error names the resource
    that makes no progress, with OLM's reason and the messages of the pods.
  - The module supports OLM v0, with C(Subscription) resources, as on OpenShift 4. It fails if OLM is not installed.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.attributes
  - osso.scheduler.attributes.actiongroup_scheduler
attributes:
  check_mode:
    support: full
    details:
      - Sends only reads and dry runs. It does not predict the actions of OLM. A catalog that the task itself would create or change cannot be
        queried. A warning then reports that package, channel, version and bundle are not verified.
  diff_mode:
    support: full
  idempotent:
    support: full
    details:
      - The second run sends no write.
options:
  state:
    description:
      - V(present) installs or upgrades. V(absent) deletes the Subscription, the CSV and the objects that it owns, and other objects that an
        InstallPlan of the package created. It deletes the OperatorGroup, the CatalogSource and the namespace if this module created them and they are
        not otherwise in use; the namespace only if it contains nothing else. A warning names the objects that stay.
      - V(prepared) does the same as V(present) up to an InstallPlan that waits for approval. It approves nothing, so no part of the operator is in
        the cluster yet. This verifies catalog, package, channel, version and dependencies, and that the bundle can be pulled and unpacked. Then the
        CustomResourceDefinitions in the bundle are compared with those of the cluster, and with the objects that exist. If one of these checks fails,
        the module reverts its writes. V(present) with the same options continues from there.
    type: str
    choices: [present, prepared, absent]
    default: present
  package:
    description: Name of the package in the catalog.
    type: str
    required: true
  namespace:
    description:
      - Namespace of Subscription, OperatorGroup and CSV. It is created if it does not exist.
    type: str
    required: true
  name:
    description:
      - Name of the Subscription, and of an OperatorGroup that is created. Default is the name of the package.
      - A Subscription for the same package under another name in the namespace is an error, and so is one in another namespace that watches some
        of the same namespaces.
    type: str
  channel:
    description:
      - Channel of the package. Default is the channel of the Subscription that exists, else the package's default channel.
    type: str
  source:
    description:
      - Name of the CatalogSource. Required unless the Subscription exists.
      - If a ready catalog was created or connected less than a minute ago, or lists nothing, the module waits until it lists the package.
    type: str
  source_namespace:
    description:
      - Namespace of the CatalogSource, which must exist unless it is O(namespace). Default is V(openshift-marketplace) for the sources
        V(redhat-operators), V(certified-operators), V(community-operators) and V(redhat-marketplace), and O(namespace) for others.
    type: str
  catalog:
    description:
      - Creates or updates the CatalogSource O(source). Without it the CatalogSource must exist.
    type: dict
    suboptions:
      image:
        description: Image that serves the catalog.
        type: str
        required: true
      display_name:
        description: Display name.
        type: str
      publisher:
        description: Name of the publisher.
        type: str
      description:
        description: Description of the catalog.
        type: str
      priority:
        description: Catalogs with a higher priority are preferred for dependencies.
        type: int
      secrets:
        description: Names of pull secrets in O(source_namespace).
        type: list
        elements: str
      security_context_config:
        description: How the pod of the catalog runs. V(restricted) for namespaces that enforce that Pod Security level.
        type: str
        choices: [legacy, restricted]
      grpc_pod_config:
        description: Further fields of C(spec.grpcPodConfig), such as C(nodeSelector), C(tolerations) or C(memoryTarget).
        type: dict
      registry_poll_interval:
        description: How often OLM checks whether the tag refers to a newer image, such as V(30m).
        type: str
  starting_csv:
    description:
      - Name, or version, of the CSV to install first. Matters only until one is installed, and is not changed afterwards.
    type: str
  upgrade:
    description:
      - V(channel) follows what the channel offers.
      - V(none) keeps the installed version, even if a newer version exists.
      - V(version) installs exactly O(version). Intermediate versions that the channel requires are installed before it.
      - With V(none) and V(version) the Subscription gets C(installPlanApproval) V(Manual), and this module approves the required InstallPlans.
    type: str
    choices: [none, channel, version]
    default: channel
  version:
    description: The version for O(upgrade=version), such as V(1.2.0).
    type: str
  approval:
    description:
      - Who approves InstallPlans. V(Automatic) is OLM, or this module if OLM must wait. OLM waits for every operator in a namespace if one of its
        Subscriptions has manual approval. With V(Manual), only O(approve) is approved.
      - With V(Manual) and without O(approve), an InstallPlan that waits for approval is no failure; RV(msg) and a warning report it, also if an
        older version is installed.
    type: str
    choices: [Automatic, Manual]
    default: Automatic
  approve:
    description:
      - The version (or the name of its CSV) whose InstallPlan is approved, with O(approval=Manual). No other is approved. If that version or a newer
        one is installed, nothing happens.
    type: str
  approve_others:
    description:
      - Approve an InstallPlan even if it installs CSVs of other packages. Without it, this is an error that names them.
    type: bool
    default: false
  watch_namespaces:
    description:
      - Namespaces that the operator watches, the OperatorGroup's C(targetNamespaces). An empty list means all. Default is O(namespace).
      - An existing OperatorGroup for exactly these namespaces is used unchanged; any other is an error. An OperatorGroup of this module is changed if
        no other operator is in the namespace.
    type: list
    elements: str
  config:
    description:
      - The Subscription's C(spec.config), such as C(env), C(envFrom), C(resources), C(nodeSelector), C(tolerations), C(volumes), C(volumeMounts),
        C(affinity) or C(annotations), with the API's field names. Do not put secrets here; name a Secret in C(envFrom).
    type: dict
  labels:
    description: Labels for the objects that the task creates.
    type: dict
    default: {}
  namespace_labels:
    description:
      - Labels for the namespace only, even if it exists, such as C(openshift.io/cluster-monitoring).
    type: dict
    default: {}
  delete_crds:
    description:
      - With O(state=absent), also delete the CustomResourceDefinitions that the CSV owns. A CRD of which objects exist stays, with a warning, unless
        O(force) is set. A CRD that also belongs to an operator in another namespace always stays, and so does a CRD that existed before OLM installed the
        operator.
    type: bool
    default: false
  force:
    description:
      - With O(state=absent) and O(delete_crds), also delete all objects of the operator's kinds, before the operator is deleted.
      - With O(state=present), take over fields that another manager has set to another value. Without it, such a field is an error.
    type: bool
    default: false
  wait:
    description:
      - Wait until the CSV has succeeded and its Deployments have rolled out with O(config). The module always waits for the catalog, and for
        deletion.
    type: bool
    default: true
  wait_timeout:
    description: Timeout in seconds, for everything that the task waits for together.
    type: int
    default: 300
notes:
  - Objects of this module have the label C(osso.scheduler/olm), set by the field manager C(osso.scheduler.olm).
  - For complete checks the user requires the permission to list Subscriptions in all namespaces; without it, only those in O(namespace) are checked.
"""

EXAMPLES = r"""
- name: Install an operator from a private catalog
  osso.scheduler.olm_operator:
    package: osso-scheduler-operator
    namespace: osso-scheduler-operator
    source: osso-scheduler
    catalog:
      image: registry.example.com/osso/scheduler-catalog:1.0.0
      display_name: osso.scheduler
    config:
      resources:
        requests:
          memory: 128Mi

- name: Verify that an operator can be installed, before its predecessor is removed
  osso.scheduler.olm_operator:
    package: osso-scheduler-operator
    namespace: osso-scheduler-operator
    source: osso-scheduler
    catalog:
      image: registry.example.com/osso/scheduler-catalog:1.0.0
    state: prepared

- name: Preview the removal
  osso.scheduler.olm_operator:
    package: osso-scheduler-operator
    namespace: osso-scheduler-operator
    state: absent
  check_mode: true

- name: Install one version of Red Hat's operator, without upgrades
  osso.scheduler.olm_operator:
    package: openshift-secondary-scheduler-operator
    namespace: openshift-secondary-scheduler-operator
    namespace_labels:
      openshift.io/cluster-monitoring: "true"
    source: redhat-operators
    channel: stable
    upgrade: version
    version: 1.5.1

- name: Approve the upgrade to one version
  osso.scheduler.olm_operator:
    package: openshift-secondary-scheduler-operator
    namespace: openshift-secondary-scheduler-operator
    source: redhat-operators
    approval: Manual
    approve: 1.6.0

- name: Remove the operator, and its CRDs unless they are in use
  osso.scheduler.olm_operator:
    package: openshift-secondary-scheduler-operator
    namespace: openshift-secondary-scheduler-operator
    state: absent
    delete_crds: true
"""

RETURN = r"""
changed:
  description: Whether anything was written, or would be in check mode.
  returned: always
  type: bool
msg:
  description: The outcome in one sentence, or why it failed.
  returned: always
  type: str
  sample: my-operator.v1.0.0 is installed in namespace my-operator.
csv:
  description: The installed ClusterServiceVersion, else the next one; nulls if there is none.
  returned: always, unless the options or the connection cannot be used
  type: dict
  sample: {name: my-operator.v1.0.0, version: 1.0.0, phase: Succeeded, reason: InstallSucceeded, message: install strategy completed with no errors}
subscription:
  description: The Subscription, with nulls for fields that do not exist. C(conditions) contains the true ones.
  returned: always, unless the options or the connection cannot be used
  type: dict
  sample:
    name: my-operator
    namespace: my-operator
    package: my-operator
    channel: stable
    source: my-catalog
    source_namespace: my-operator
    approval: Automatic
    starting_csv:
    state: AtLatestKnown
    current_csv: my-operator.v1.0.0
    installed_csv: my-operator.v1.0.0
    conditions: []
install_plan:
  description: The InstallPlan that this task approved, else the one that the Subscription refers to; nulls if there is none.
  returned: always, unless the options or the connection cannot be used
  type: dict
  sample: {name: install-x7k2p, approved: true, csvs: [my-operator.v1.0.0], phase: Complete}
catalog:
  description: The CatalogSource, the names of its packages as far as they were read, and the channels of the package.
  returned: always, unless the options or the connection cannot be used
  type: dict
  sample: {name: my-catalog, namespace: my-operator, state: READY, packages: [my-operator], channels: [candidate, stable]}
upgrade:
  description:
    - The version that the channel offers, if it is newer than the installed one, else null.
    - With O(approval=Manual), the version of the InstallPlan that waits, which O(approve) can name. If there is no such plan yet, the newer version of the
      channel if it has only one, else null.
  returned: always, unless the options or the connection cannot be used
  type: str
  sample: 1.1.0
objects:
  description: One entry per object that was written, deleted or unchanged, in the order of processing.
  returned: always, unless the options or the connection cannot be used
  type: list
  elements: dict
  contains:
    apiVersion:
      description: API version of the object.
      type: str
    kind:
      description: Kind of the object.
      type: str
    namespace:
      description: Namespace of the object, V(null) when it is cluster-scoped.
      type: str
    name:
      description: Name of the object.
      type: str
    uid:
      description: C(metadata.uid), where the object exists or existed.
      type: str
    action:
      description: V(created), V(updated), V(unchanged), V(deleted), or V(absent) when it was to be deleted and did not exist.
      type: str
counts:
  description: Number of objects for each action.
  returned: always, unless the options or the connection cannot be used
  type: dict
  sample: {"created": 3, "updated": 0, "unchanged": 1, "deleted": 0, "absent": 0}
requests:
  description: Number of requests by type. Only C(write) requests can change something.
  returned: always, unless the options or the connection cannot be used
  type: dict
  sample: {"read": 20, "write": 4, "dry_run": 0}
unvalidated:
  description: In check mode, the objects that the server could not validate, each with a C(reason).
  returned: always, unless the options or the connection cannot be used
  type: list
  elements: dict
"""

import re

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_result import Report
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._olm.install import Install
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import PREPARED, Options
from ansible_collections.osso.scheduler.plugins.module_utils._olm.removal import Removal

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")

OPTIONS = dict(
    state=dict(type="str", choices=["present", PREPARED, "absent"], default="present"),
    package=dict(type="str", required=True),
    namespace=dict(type="str", required=True),
    name=dict(type="str"),
    channel=dict(type="str"),
    source=dict(type="str"),
    source_namespace=dict(type="str"),
    catalog=dict(
        type="dict",
        options=dict(
            image=dict(type="str", required=True),
            display_name=dict(type="str"),
            publisher=dict(type="str"),
            description=dict(type="str"),
            priority=dict(type="int"),
            secrets=dict(type="list", elements="str", no_log=False),
            security_context_config=dict(type="str", choices=["legacy", "restricted"]),
            grpc_pod_config=dict(type="dict"),
            registry_poll_interval=dict(type="str"),
        ),
    ),
    starting_csv=dict(type="str"),
    upgrade=dict(type="str", choices=["none", "channel", "version"], default="channel"),
    version=dict(type="str"),
    approval=dict(type="str", choices=["Automatic", "Manual"], default="Automatic"),
    approve=dict(type="str"),
    approve_others=dict(type="bool", default=False),
    watch_namespaces=dict(type="list", elements="str"),
    config=dict(type="dict"),
    labels=dict(type="dict", default={}),
    namespace_labels=dict(type="dict", default={}),
    delete_crds=dict(type="bool", default=False),
    force=dict(type="bool", default=False),
    wait=dict(type="bool", default=True),
    wait_timeout=dict(type="int", default=300),
)


def main():
    cluster_module(run, hidden=("config",), argument_spec=argument_spec(**OPTIONS), supports_check_mode=True)


def run(module):
    params = {name: module.params[name] for name in OPTIONS}
    _check(params, module.params["retry_seconds"])
    options = Options(**dict(params, name=params["name"] or params["package"]))
    client = Client.connect(module.params, module.warn)
    report = Report(client, module.check_mode, module._diff)
    work = (Removal if options.state == "absent" else Install)(client, options, report, module.warn, module.check_mode)
    try:
        work.run()
    except ClusterError as error:
        error.result = dict(_result(work, report), **error.result)
        error.result.pop("msg")
        raise
    return _result(work, report)


def _result(work, report):
    told = report.result()
    told.pop("resources")
    return dict(told, **work.result())


def _check(params, retry_seconds):
    """Refuse options that do not go together or cannot be meant."""
    for field in ("package", "namespace", "name", "source", "source_namespace"):
        if params[field] is not None and not _NAME.fullmatch(params[field]):
            raise InputError(f"{field} is {params[field]!r}; give a name of lower-case letters, digits, dots and hyphens.")
    for field, value in (("wait_timeout", params["wait_timeout"]), ("retry_seconds", retry_seconds)):
        if value < 0:
            raise InputError(f"{field} is {value}; give a number of seconds of at least 0.")
    if params["state"] == "absent":
        return
    if params["upgrade"] == "version" and not params["version"]:
        raise InputError("upgrade is version but version is missing; specify the version, such as 1.2.0.")
    if params["version"] and params["upgrade"] != "version":
        raise InputError("version is {version} but upgrade is {upgrade}; set upgrade: version, or remove version.".format(**params))
    if params["approve"] and params["approval"] != "Manual":
        raise InputError("approve is {approve} but approval is {approval}; set approval: Manual, or remove approve.".format(**params))
    if params["catalog"] and not params["source"]:
        raise InputError("catalog is given but source is missing; name the CatalogSource that it makes.")
    if "" in (params["watch_namespaces"] or []):
        raise InputError("watch_namespaces contains an empty name; for all namespaces give an empty list.")


if __name__ == "__main__":
    main()
