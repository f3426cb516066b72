# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Mutating admission of a cluster, for tests."""

from __future__ import annotations

import contextlib
import json

from support.objects import deployment
from support.scheduler import eventually


@contextlib.contextmanager
def mutating_policy(kubectl, namespace, expression):
    """Meanwhile a MutatingAdmissionPolicy applies the CEL ``expression`` to every Deployment of the namespace."""
    admission, beta = "admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1beta1"
    if beta in kubectl("api-versions").stdout.split():  # v1 has these policies since 1.36
        admission = beta
    metadata = {"name": f"{namespace}-changes"}
    rules = [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["deployments"]}]

    def stored():
        answer = kubectl("create", "--dry-run=server", "--output=json", "--filename=-", stdin=deployment(namespace, name="probe"))
        return json.loads(answer.stdout)["spec"]["template"]["spec"]["containers"]

    unchanged = stored()
    kubectl.apply(
        {
            "apiVersion": admission,
            "kind": "MutatingAdmissionPolicy",
            "metadata": metadata,
            "spec": {
                "matchConstraints": {
                    "resourceRules": rules,
                    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                },
                "failurePolicy": "Fail",
                "reinvocationPolicy": "Never",
                "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}],
            },
        },
        {"apiVersion": admission, "kind": "MutatingAdmissionPolicyBinding", "metadata": metadata, "spec": {"policyName": metadata["name"]}},
    )
    eventually(lambda: stored() != unchanged)
    yield
    kubectl("delete", "mutatingadmissionpolicy,mutatingadmissionpolicybinding", metadata["name"])
