# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The order of application."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_order import phases
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity


def identity(api_version, kind, name="a"):
    return Identity(api_version, kind, None, name)


def test_objects_that_others_need_are_applied_first():
    in_order = [
        [identity("v1", "Namespace")],
        [identity("apiextensions.k8s.io/v1", "CustomResourceDefinition")],
        [identity("v1", "ServiceAccount"), identity("rbac.authorization.k8s.io/v1", "ClusterRole")],
        [identity("rbac.authorization.k8s.io/v1", "ClusterRoleBinding")],
        [identity("v1", "Secret"), identity("v1", "ConfigMap")],
        [identity("v1", "Service"), identity("networking.k8s.io/v1", "NetworkPolicy")],
        [identity("apps/v1", "Deployment"), identity("batch/v1", "Job")],
        [identity("operator.openshift.io/v1", "SecondaryScheduler")],
        [identity("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")],
    ]
    backwards = [one for phase in reversed(in_order) for one in phase]
    assert phases(backwards) == in_order


def test_a_custom_kind_is_not_taken_for_a_builtin_one_of_the_same_name():
    custom, namespace = identity("example.com/v1", "Deployment"), identity("v1", "Namespace")
    assert phases([custom, namespace, identity("apps/v1", "Deployment")])[-1] == [custom]


def test_within_a_phase_the_given_order_is_kept():
    given = [identity("v1", "ConfigMap", name) for name in "cab"]
    assert phases(given) == [given]
