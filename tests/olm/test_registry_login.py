# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Catalog and bundle from a registry that requires a login, which the nodes do not have: only a pull secret in the namespace does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.private_registry import PrivateRegistry, skopeo
from support.site import NAMESPACE

pytestmark = pytest.mark.long

SECRET = "registry-login"


@pytest.fixture
def private(own_cluster, tmp_path):
    """Such a registry, whose certificate the nodes trust."""
    registry = PrivateRegistry(tmp_path / "registry", os.environ["REGISTRY"].partition(":")[0])
    with registry.serving(), registry.known_to_nodes(own_cluster, login=False):
        yield registry


def published(play, olm, private, tmp_path) -> dict:
    """Bundle and catalog, built and pushed there. The operator's image is in the cluster's own registry: OLM gives no pull secret to operators."""
    variables = {
        "publish_registry": f"{private.host}/team",
        "publish_credentials": private.credentials,
        "publish_ca_file": str(private.ca_file),
        "publish_insecure_registries": [olm.registry],
        "publish_opm_image": olm.opm_image,
        "publish_opm": str(olm.opm),
        "publish_scheduler_image": f"{olm.registry}/scheduler-plugins/kube-scheduler:v0.34.7",
        "publish_skopeo": skopeo(tmp_path),
        "publish_operator_image": Path(os.environ["OPERATOR_IMAGE_FILE"]).read_text().strip(),
        "publish_install": False,
    }
    run = play("osso.scheduler.build_and_publish", variables=variables)
    return run.task("Set the references of the images").result["ansible_facts"]["publish_images"]


def test_a_pull_secret_is_enough_for_catalog_and_bundle(role, play, olm, private, kubectl, tmp_path):
    made = published(play, olm, private, tmp_path)
    kubectl.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, private.pull_secret(SECRET, NAMESPACE))
    by_olm = {"operator_method": "olm", "operator_catalog_image": made["catalog"], "operator_catalog_pull_secrets": [SECRET]}
    run = role(by_olm)
    assert private.password not in run.output()
    assert olm.phase("osso-scheduler-operator.v1.0.0", NAMESPACE)[0] == "Succeeded"
    for suffix in ("-bundle", "-catalog"):
        assert private.pulls_of_nodes(f"team/osso/scheduler-operator{suffix}"), suffix
    assert role(by_olm).changed == []
    role({**by_olm, "operator_state": "absent"})
    # The role leaves a namespace that it did not make.
    kubectl("delete", "namespace", NAMESPACE)
