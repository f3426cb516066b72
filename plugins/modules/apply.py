#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: apply
short_description: Apply or delete a set of Kubernetes objects in one task
version_added: 1.0.0
author:
  - osso.scheduler contributors (@osso)
description:
  - Applies any number of manifests in one task. The module sorts them (namespaces, CustomResourceDefinitions, accounts and RBAC, configuration,
    services, workloads, custom resources), uses server-side apply, and waits for them.
  - An unchanged object costs one read and no write. The module compares the live object with the manifest and with the fields that the server records
    for O(field_manager). So it also detects removed fields and changes by others.
  - In check mode the server validates each object by a dry run. If an earlier object of the set creates its namespace or kind, the server cannot
    validate it, and the module predicts the result. So check mode also works on an empty cluster.
  - With O(set_name) the module knows which objects it created. It changes no other object unless O(adopt), and deletes no other. With
    O(set_namespace) an inventory is kept in the cluster, too, so that objects which are no longer in the set can be pruned.
  - If the task has several writes, or one write of an object with other field managers, the module first sends all of them as dry runs. So a
    conflict, a rejected object or a missing permission ends the task before its first write. An unchanged set sends no dry run.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.attributes
  - osso.scheduler.attributes.actiongroup_scheduler
attributes:
  check_mode:
    support: full
    details:
      - Sends only reads and server-side dry runs; an unchanged set only reads. RV(unvalidated) lists the objects that the server could not validate.
  diff_mode:
    support: full
    details:
      - Values of Secrets are masked; the diff only shows which of them change. The texts in O(mask), and credentials in a
        C(KubeSchedulerConfiguration) in a ConfigMap, are also masked. So are copies of them as JSON in annotations.
  idempotent:
    support: full
    details:
      - The second run sends no write.
options:
  manifests:
    description:
      - The objects, as a list of mappings, as one mapping, or as YAML text with any number of documents; a list may mix mappings
        and texts.
      - Objects of a kind C(List) are split into their items. A null means that the field is not set. Fields that only the server sets are ignored.
      - The manifests are never logged. The task's C(invocation) shows only the identities of their objects.
    type: raw
  templates:
    description:
      - Paths of Jinja2 templates with further manifests. The search is the same as in M(ansible.builtin.template). They are rendered on the
        controller with the variables of the task.
    type: list
    elements: str
  src:
    description:
      - Paths of files with further manifests. The search is the same as in M(ansible.builtin.copy). They are read on the controller, and can be
        encrypted with Ansible Vault.
    type: list
    elements: str
  state:
    description:
      - V(present) applies the set. V(absent) deletes it in the opposite order. It waits for the deletion of each object before it deletes others that
        its clean-up may require. Objects that do not exist are ignored.
      - With O(set_name), V(absent) deletes only objects that the set created, and releases the objects that it adopted. A released object stays as it
        is, without the labels of the set. Its fields are assigned to the field manager that had the object before, whose next apply restores its own
        values. Other objects among the manifests stay; a warning names them.
      - With O(set_namespace), V(absent) also deletes the objects in the set's inventory, and the inventory; manifests are optional then. A
        CustomResourceDefinition of which other objects exist stays, because they would be deleted with it; a warning names it.
      - Without O(set_name), V(absent) deletes the manifests, whoever created them.
      - A Namespace is deleted with everything in it, unless O(keep_nonempty).
    type: str
    choices: [present, absent]
    default: present
  all_of:
    description:
      - With O(state=absent), also deletes every object of these kinds. A kind that the cluster does not have is ignored.
      - With a O(all_of[].label_selector), an object that a set adopted is released instead.
    type: list
    elements: dict
    suboptions:
      api_version:
        description: API version of the kind.
        type: str
        required: true
      kind:
        description: The kind.
        type: str
        required: true
      namespace:
        description: Only objects in this namespace. Without it those of all namespaces.
        type: str
      label_selector:
        description: Only objects that match this label selector.
        type: str
  field_manager:
    description:
      - The field manager, under whose name the server records the applied fields. A set that is applied under another name shares the objects but not
        the fields.
    type: str
    default: osso.scheduler
  force_conflicts:
    description:
      - Specifies what happens if another field manager has set a field of the manifests to another value, for instance with C(kubectl edit).
      - With V(true) the field gets the value of the manifest; a warning names object, field and manager, also in check mode.
      - With V(false) the task fails before its first write, and the error names the same.
      - It has no effect on fields that others removed, which are restored, nor on fields that the manifests do not have, which stay.
      - In an object of the set O(set_name), fields of others do not stay if the API server rejects the merged object. With V(true) they are removed, except
        labels, annotations, finalizers and, where the manifest has none, owners; with V(false) the error names the managers.
    type: bool
    default: false
  takeover_field_managers:
    description:
      - Field managers to replace, such as an operator that wrote these objects before, or V(kubectl-client-side-apply). O(field_manager) takes over
        the fields that they own, before it applies an object. So the write that sets the fields of the manifests also removes fields that they have
        set and the manifests do not contain.
      - With O(set_name), an object in which one of them owns fields counts as created by the set, which replaces their installation.
      - This does not change an object in which they own no fields. Rewriting C(metadata.managedFields) is a separate write that changes nothing else,
        so a Deployment rolls out at most once.
      - In check mode the module predicts the removal, and the server validates the result by a dry run.
    type: list
    elements: str
    default: []
  revert_additions:
    description:
      - Remove additions of others to the pod template of a Deployment, DaemonSet or StatefulSet that was applied under O(field_manager), such as a
        container, a variable or an annotation. Defaults of the server and the annotation C(kubectl.kubernetes.io/restartedAt) stay.
      - An addition is removed once for each pod template that is applied. One that returns within ten minutes stays, for example a
        sidecar that a mutating admission policy adds to every write; RV(additions) and a warning name it. A warning also names what is removed.
        RV(additions) and a warning name what admission replaces or removes in the declared template, with both values. The annotation
        C(osso.scheduler/reverted) on the object records what was removed.
    type: bool
    default: false
  track_accounts:
    description:
      - Record the uid of the ServiceAccount in the label C(osso.scheduler/service-account) of each Deployment whose ServiceAccount is also in the
        manifests.
      - The tokens of pods are bound to this uid. If the account was deleted and recreated, the API server rejects them. The task then replaces the
        pods with a rollout, also if it recreates the account itself, and a warning names the Deployment. The annotation
        C(osso.scheduler/service-account) of the pod template has the new uid.
    type: bool
    default: false
  track_config_maps:
    description:
      - Replace the pods of a Deployment with a rollout if the task restores a ConfigMap that others edited and that the pods mount. Pods that were
        started after the edit have read it. A warning names the Deployment and the ConfigMap.
      - Only for ConfigMaps among the manifests. If the annotations of the pod template change, such as the hash of a new content, that is the rollout.
      - The annotation C(osso.scheduler/restored) of the pod template has the C(resourceVersion) of the edited ConfigMap.
    type: bool
    default: false
  set_name:
    description:
      - Name of the set, a lower-case DNS label. Each object that the set creates gets the labels C(osso.scheduler/set) with this value and, with
        O(set_namespace), C(osso.scheduler/set-namespace).
      - An object that exists without these labels was not created by the set. The task fails before its first write and names all of them,
        unless O(adopt). A Lease in the inventory is an exception, because its clients create it again without the labels.
      - A Namespace or CustomResourceDefinition that existed before the set is applied all the same, but does not become a member,
        so it is never deleted with the set.
    type: str
  set_namespace:
    description:
      - Namespace in which the ConfigMap C(osso-set-<set_name>), the inventory, records the members of the set. The set itself may contain
        this namespace.
      - Without it, no inventory exists and nothing is pruned. The labels identify the members.
    type: str
  set_kinds:
    description:
      - Kinds whose objects are also found by the labels of the set. List the kinds that the set may contain outside O(set_namespace), so that
        O(state=absent) deletes everything even if the inventory was deleted, for example together with its namespace.
      - O(state=absent) lists the objects of these kinds always, O(state=present) only if the inventory does not exist. An object whose labels
        O(field_manager) did not apply, such as a copy of a member, does not count as a member.
      - A kind that the cluster does not serve is ignored.
    type: list
    elements: dict
    default: []
    suboptions:
      api_version:
        description: API version of the kind.
        type: str
        required: true
      kind:
        description: The kind.
        type: str
        required: true
      namespace:
        description: Only objects in this namespace. Without it those of all namespaces.
        type: str
  adopt:
    description:
      - Adopt objects that existed before the set. They get the values of the manifests, even if others have set these fields. When they leave the
        set, or the set is removed, they are released, not deleted.
      - A warning names them, also in check mode. Their annotation C(osso.scheduler/adopted-from) names the field manager that had them before. They
        get no owner reference to O(owner), because they would be deleted with it.
      - An object of another set is never adopted.
    type: bool
    default: false
  keep_existing:
    description:
      - Names of Namespaces and CustomResourceDefinitions in the manifests that stay unchanged if they existed before the set.
    type: list
    elements: str
    default: []
  take_ownership:
    description:
      - Names of Namespaces and CustomResourceDefinitions in the manifests that become members of the set although they existed before it, so that
        they are deleted with it. Use it for objects that another installation method left behind.
    type: list
    elements: str
    default: []
  orphan:
    description:
      - With O(prune), names of Namespaces and CustomResourceDefinitions that leave the set without being deleted when the manifests no longer
        contain them. With O(state=absent), names of those that stay when the set is deleted.
      - They lose only the labels of the set. Use it for objects that another installation method takes over.
    type: list
    elements: str
    default: []
  keep_members:
    description:
      - With O(state=absent), members of the set that are neither deleted nor changed, as C(KIND/NAME), such as C(Service/metrics). Use it for
        objects that others look after from now on.
    type: list
    elements: str
    default: []
  prune:
    description:
      - Delete objects that an earlier run applied under the same O(set_name) and that the manifests no longer contain. Only objects in the
        inventory that still carry the labels of the set are deleted, and without an inventory those of O(set_kinds).
      - A namespace, or a CustomResourceDefinition of which foreign objects exist, is never pruned, because objects of others would be deleted with
        it; a warning names it.
      - Without it such objects stay in the cluster and in the inventory.
    type: bool
    default: false
  keep_nonempty:
    description:
      - With O(state=absent), keep a Namespace that contains objects of others; a warning names them.
      - Objects that every namespace has, and objects that are deleted together with their owner, do not count. To find other objects, the module
        lists every kind that the cluster serves.
    type: bool
    default: false
  owner:
    description:
      - The object that owns the set. Objects in its namespace get an owner reference to it, so that they are deleted with it. Objects
        elsewhere get none, since an owner must live in the same namespace.
    type: dict
    suboptions:
      apiVersion:
        description: API version of the owner.
        type: str
        required: true
        aliases: [api_version]
      kind:
        description: Kind of the owner.
        type: str
        required: true
      name:
        description: Name of the owner.
        type: str
        required: true
      namespace:
        description: Namespace of the owner.
        type: str
        required: true
      uid:
        description: C(metadata.uid) of the owner.
        type: str
        required: true
  subresource:
    description:
      - Apply the C(status) of the manifests, and nothing else of them, to the status subresource of objects that exist.
    type: str
    choices: [status]
  wait:
    description:
      - Wait until the workloads of the set (Deployment, DaemonSet, StatefulSet, Job) have rolled out.
      - A container without a readiness probe must run for 10 seconds, and one that was restarted for 60 seconds.
      - CustomResourceDefinitions are always waited for, and so is deletion.
    type: bool
    default: false
  wait_for:
    description:
      - Further objects to wait for. They do not have to be part of the set, nor exist yet. Check mode does not wait.
    type: list
    elements: dict
    default: []
    suboptions:
      api_version:
        description: API version of the object. May be left out for kinds in the manifests and for common kinds of Kubernetes.
        type: str
        aliases: [apiVersion]
      kind:
        description: Kind of the object.
        type: str
        required: true
      name:
        description: Name of the object.
        type: str
        required: true
      namespace:
        description: Namespace of the object, unless it is cluster-scoped.
        type: str
      condition:
        description:
          - The condition in C(status.conditions) to wait for. Where the status has an C(observedGeneration), the condition counts
            only once that has reached C(metadata.generation).
        type: dict
        suboptions:
          type:
            description: Type of the condition.
            type: str
            required: true
          status:
            description: Status that it must have.
            type: str
            choices: ["True", "False", "Unknown"]
            default: "True"
          reason:
            description: Reason that it must have; any when not given.
            type: str
          final_reasons:
            description:
              - Reasons of this condition with which the object does not become ready without an edit. They end the wait at once, or after a minute if
                the condition has had such a reason since before the wait.
            type: list
            elements: str
      fields:
        description:
          - Paths of fields in the object, such as C(status.generations[0].hash) or C(metadata.labels['app.kubernetes.io/name']), each with the
            text that it must have. A condition or rollout in the same entry must be fulfilled at the same time.
        type: dict
      rollout:
        description: Wait until the workload has rolled out.
        type: bool
        default: false
  wait_timeout:
    description:
      - Timeout in seconds, for everything that the task waits for together.
      - A workload ends the wait earlier, with the reason, if its newest pods cannot start for 20 seconds. Their image cannot be pulled, a container cannot be
        created, the API server rejects the pods, or a container has crashed three times.
    type: int
    default: 300
  assume_deleted:
    description:
      - For check mode, the RV(objects) of an earlier task that deletes some of the objects which this task applies. Entries with the action
        V(deleted) count as absent, together with the objects that they own and the contents of a namespace among them. Their replacements are
        validated under another name.
      - Outside of check mode this has no effect.
    type: list
    elements: dict
    default: []
    suboptions:
      apiVersion: &assumed_apiversion
        description: API version of the object.
        type: str
        required: true
        aliases: [api_version]
      kind: &assumed_kind
        description: Kind of the object.
        type: str
        required: true
      namespace: &assumed_namespace
        description: Namespace of the object.
        type: str
      name: &assumed_name
        description: Name of the object.
        type: str
        required: true
      uid:
        description: UID of the object, used to find the objects that it owns.
        type: str
      action:
        description: The action on the object. Values other than V(deleted) are ignored; without it the object counts as deleted.
        type: str
  assume_created:
    description:
      - For check mode, the RV(objects) of earlier tasks of the play. A namespace or a CustomResourceDefinition among them with the action V(created)
        counts as existing, so no warning names it as missing.
      - Outside of check mode this has no effect.
    type: list
    elements: dict
    default: []
    suboptions:
      apiVersion: *assumed_apiversion
      kind: *assumed_kind
      namespace: *assumed_namespace
      name: *assumed_name
      uid:
        description: UID of the object; not used.
        type: str
      action:
        description: The action on the object. Values other than V(created) are ignored.
        type: str
  return_removed:
    description:
      - Return, in RV(removed), the manifests of the objects that leave the set by O(prune), for a later task that restores them.
    type: bool
    default: false
  mask:
    description:
      - Texts that are replaced by asterisks in the diff, in messages and in return values. Use it for credentials that an object other than a Secret
        must contain.
    type: list
    elements: str
    default: []
  return_kinds:
    description:
      - Kinds whose objects RV(resources) returns in their final state in the cluster. V(Secret) is rejected.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Apply a template, and wait for the rollout
  osso.scheduler.apply:
    templates: scheduler.yaml.j2
    wait: true

- name: Apply exactly these objects, and delete other objects of an earlier version of the set
  osso.scheduler.apply:
    src: crd.yaml
    templates:
      - namespace.yaml.j2
      - operator.yaml.j2
    set_name: my-operator
    set_namespace: my-operator
    prune: true
    wait: true
    wait_timeout: 120

- name: Apply a custom resource and wait for its condition
  osso.scheduler.apply:
    manifests:
      apiVersion: operator.openshift.io/v1
      kind: SecondaryScheduler
      metadata:
        name: cluster
        namespace: openshift-secondary-scheduler-operator
      spec:
        managementState: Managed
        schedulerConfig: secondary-scheduler-config
        schedulerImage: registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7
    wait_for:
      - kind: SecondaryScheduler
        name: cluster
        namespace: openshift-secondary-scheduler-operator
        condition:
          type: Available

- name: Take over an object from kubectl, and remove fields that the manifests do not contain
  osso.scheduler.apply:
    src: deployment.yaml
    takeover_field_managers:
      - kubectl-client-side-apply

- name: Remove the set, custom resources first
  osso.scheduler.apply:
    state: absent
    set_name: my-operator
    set_namespace: my-operator
    all_of:
      - api_version: operator.openshift.io/v1
        kind: SecondaryScheduler
"""

RETURN = r"""
changed:
  description: Whether anything was written, or would be in check mode.
  returned: always
  type: bool
objects:
  description:
    - One entry per object, in the order of processing, including the set's inventory. After a failure, the objects that were processed.
  returned: always
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
      description:
        - V(created), V(adopted), V(updated) or V(unchanged) when it was applied.
        - V(deleted) or V(released) when it was removed, V(absent) when it did not exist, and V(unchanged) when it does not belong to the set.
      type: str
  sample:
    - apiVersion: v1
      kind: ConfigMap
      namespace: my-operator
      name: settings
      uid: 5a0b6c4e-5d9d-4d39-8c68-7a8f9b1a2c3d
      action: updated
counts:
  description: Number of objects for each action.
  returned: always
  type: dict
  sample: {"created": 0, "adopted": 0, "updated": 1, "deleted": 0, "released": 0, "unchanged": 12, "absent": 0}
requests:
  description: Number of requests by type. Only C(write) requests can change something.
  returned: always
  type: dict
  sample: {"read": 13, "write": 1, "dry_run": 0}
resources:
  description: The objects of the kinds in O(return_kinds), without C(managedFields). Credentials are masked as in the diff.
  returned: always
  type: list
  elements: dict
additions:
  description:
    - Additions of others to pod templates that returned after removal, see O(revert_additions). C(field) is the path;
      C(manager) is the field manager, empty for additions by admission plugins.
    - Also fields of the declared template that admission changes. They have C(declared) and C(live), the two values as JSON. C(live) is empty if
      admission removes the field.
  returned: always
  type: list
  elements: dict
  sample:
    - apiVersion: apps/v1
      kind: Deployment
      namespace: my-operator
      name: my-operator
      field: spec.template.spec.containers[name=sidecar]
      manager: ""
removed:
  description:
    - Manifests of the objects that O(prune) deleted or O(orphan) released, with the fields that O(field_manager) had applied to them. They are also
      returned if the task failed after the first of them. Secrets are omitted.
  returned: with O(return_removed), when O(prune) was reached
  type: list
  elements: dict
unvalidated:
  description: In check mode, the objects that the server could not validate, each with a C(reason).
  returned: always
  type: list
  elements: dict
  sample:
    - apiVersion: v1
      kind: ConfigMap
      namespace: my-operator
      name: settings
      reason: its namespace is created by this set
status:
  description: HTTP status of the API server's rejection; V(0) if it did not answer.
  returned: when the API server refused
  type: int
reason:
  description: The server's machine-readable reason.
  returned: when the API server refused
  type: str
  sample: Conflict
"""

import re

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply import Options, Run
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_result import Report
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import FIELD_MANAGER, Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity, read
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module

# "osso-set-" and the name must fit into a label value and an object's name
_SET_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,52}[a-z0-9])?")


def main():
    condition = dict(
        type=dict(type="str", required=True),
        status=dict(type="str", choices=["True", "False", "Unknown"], default="True"),
        reason=dict(type="str"),
        final_reasons=dict(type="list", elements="str"),
    )
    assumed = dict(
        apiVersion=dict(type="str", required=True, aliases=["api_version"]),
        kind=dict(type="str", required=True),
        namespace=dict(type="str"),
        name=dict(type="str", required=True),
        uid=dict(type="str"),
        action=dict(type="str"),
    )
    cluster_module(
        run,
        hidden=("manifests",),
        argument_spec=argument_spec(
            manifests=dict(type="raw"),
            templates=dict(type="list", elements="str"),
            src=dict(type="list", elements="str"),
            state=dict(type="str", choices=["present", "absent"], default="present"),
            all_of=dict(
                type="list",
                elements="dict",
                options=dict(
                    api_version=dict(type="str", required=True),
                    kind=dict(type="str", required=True),
                    namespace=dict(type="str"),
                    label_selector=dict(type="str"),
                ),
            ),
            field_manager=dict(type="str", default=FIELD_MANAGER),
            force_conflicts=dict(type="bool", default=False),
            takeover_field_managers=dict(type="list", elements="str", default=[]),
            revert_additions=dict(type="bool", default=False),
            track_accounts=dict(type="bool", default=False),
            track_config_maps=dict(type="bool", default=False),
            set_name=dict(type="str"),
            set_namespace=dict(type="str"),
            set_kinds=dict(
                type="list",
                elements="dict",
                default=[],
                options=dict(
                    api_version=dict(type="str", required=True),
                    kind=dict(type="str", required=True),
                    namespace=dict(type="str"),
                ),
            ),
            adopt=dict(type="bool", default=False),
            keep_existing=dict(type="list", elements="str", default=[]),
            take_ownership=dict(type="list", elements="str", default=[]),
            orphan=dict(type="list", elements="str", default=[]),
            keep_members=dict(type="list", elements="str", default=[]),
            prune=dict(type="bool", default=False),
            keep_nonempty=dict(type="bool", default=False),
            owner=dict(
                type="dict",
                options=dict(
                    apiVersion=dict(type="str", required=True, aliases=["api_version"]),
                    kind=dict(type="str", required=True),
                    name=dict(type="str", required=True),
                    namespace=dict(type="str", required=True),
                    uid=dict(type="str", required=True),
                ),
            ),
            subresource=dict(type="str", choices=["status"]),
            wait=dict(type="bool", default=False),
            wait_for=dict(
                type="list",
                elements="dict",
                default=[],
                options=dict(
                    api_version=dict(type="str", aliases=["apiVersion"]),
                    kind=dict(type="str", required=True),
                    name=dict(type="str", required=True),
                    namespace=dict(type="str"),
                    condition=dict(type="dict", options=condition),
                    fields=dict(type="dict"),
                    rollout=dict(type="bool", default=False),
                ),
            ),
            wait_timeout=dict(type="int", default=300),
            assume_deleted=dict(type="list", elements="dict", default=[], options=assumed),
            assume_created=dict(type="list", elements="dict", default=[], options=assumed),
            return_removed=dict(type="bool", default=False),
            mask=dict(type="list", elements="str", default=[], no_log=True),
            return_kinds=dict(type="list", elements="str", default=[]),
        ),
        supports_check_mode=True,
    )


def run(module):
    params = module.params
    given = params["manifests"]
    params["manifests"] = None
    objects = read(given)
    # The invocation is part of the result
    params["manifests"] = [str(Identity.of(obj)) for obj in objects]
    module.hidden = ()
    _check(params, objects)
    client = Client.connect(module.params, module.warn)
    report = Report(client, module.check_mode, module._diff, return_kinds=params["return_kinds"])
    options = Options(
        manifests=objects,
        check=module.check_mode,
        field_manager=params["field_manager"],
        force_conflicts=params["force_conflicts"],
        takeover_field_managers=params["takeover_field_managers"],
        revert_additions=params["revert_additions"],
        track_accounts=params["track_accounts"],
        track_config_maps=params["track_config_maps"],
        set_name=params["set_name"],
        set_namespace=params["set_namespace"],
        set_kinds=params["set_kinds"],
        adopt=params["adopt"],
        keep_existing=params["keep_existing"],
        take_ownership=params["take_ownership"],
        orphan=params["orphan"],
        keep_members=params["keep_members"],
        prune=params["prune"],
        keep_nonempty=params["keep_nonempty"],
        owner=params["owner"],
        subresource=params["subresource"],
        wait=params["wait"],
        wait_for=params["wait_for"],
        wait_timeout=params["wait_timeout"],
        all_of=params["all_of"] or [],
        assume_deleted=params["assume_deleted"],
        assume_created=params["assume_created"],
        return_removed=params["return_removed"],
    )
    try:
        run = Run(client, options, report, module.warn)
        if params["state"] == "present":
            run.present()
        else:
            run.absent()
    except ClusterError as error:
        error.result = dict(report.result(), **error.result)
        raise
    return report.result()


def _check(params, objects):
    """Refuse options that do not go together or cannot be meant."""
    present = params["state"] == "present"
    if params["templates"] or params["src"]:
        raise InputError(
            "templates and src are read on the controller by the action plugin osso.scheduler.apply; use the module by that name."
        )
    if present and not objects:
        raise InputError("manifests, templates and src contain no object; give at least one. To remove a set, use state: absent.")
    if not (present or objects or params["set_namespace"] or params["all_of"]):
        raise InputError("state is absent, but the task names no objects; give manifests, templates, src, set_namespace or all_of.")
    if params["set_name"] is not None and not _SET_NAME.fullmatch(params["set_name"]):
        raise InputError(
            "set_name is {0!r}; it must be at most 54 lower-case letters, digits and hyphens, such as my-operator.".format(
                params["set_name"]
            )
        )
    if params["return_removed"] and not params["prune"]:
        raise InputError("return_removed is true but prune is false; without prune nothing leaves the set. Set prune to true.")
    for option, said in (
        ("set_namespace", "given"),
        ("set_kinds", "given"),
        ("adopt", "true"),
        ("keep_existing", "given"),
        ("take_ownership", "given"),
        ("orphan", "given"),
        ("keep_members", "given"),
        ("prune", "true"),
    ):
        if params[option] and not params["set_name"]:
            raise InputError(f"{option} is {said} but set_name is missing; name the set, so that what belongs to it can be known.")
    for option, said in (("set_kinds", "given"), ("prune", "true")):
        if params[option] and not params["set_namespace"]:
            raise InputError(f"{option} is {said} but set_namespace is missing; name the namespace for the set's inventory.")
    if params["orphan"] and present and not params["prune"]:
        raise InputError("orphan is given but prune is false; without prune nothing leaves the set. Set prune to true.")
    if present and params["all_of"]:
        raise InputError("all_of deletes every object of a kind: use it only with state: absent.")
    for option in ("keep_nonempty", "keep_members"):
        if present and params[option]:
            raise InputError(f"{option} is for deletions: use it only with state: absent.")
    if not present and params["adopt"]:
        raise InputError("adopt is for objects that are applied: use it only with state: present.")
    if not present and (params["wait_for"] or params["subresource"] or params["takeover_field_managers"]):
        raise InputError("wait_for, subresource and takeover_field_managers go with state: present only; remove them.")
    if params["subresource"] and (params["set_name"] or params["owner"]):
        raise InputError("subresource: status applies nothing but the status; remove set_name and owner.")
    if "Secret" in params["return_kinds"]:
        raise InputError("return_kinds contains Secret; Secrets are never returned, remove it.")
    for entry in params["wait_for"]:
        if not (entry["condition"] or entry["fields"] or entry["rollout"]):
            raise InputError("wait_for: {kind} {name} has neither condition nor fields nor rollout; give one of them.".format(**entry))
    for field in ("wait_timeout", "retry_seconds"):
        if params[field] < 0:
            raise InputError(f"{field} is {params[field]}; give a number of seconds of at least 0.")


if __name__ == "__main__":
    main()
