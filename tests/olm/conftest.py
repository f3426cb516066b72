# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the tests with OLM share. Their cluster has OLM from the first of them until its own end."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
import yaml
from support.olm import Olm
from support.shipped import Shipped
from support.site import DEMO, NAMESPACE, remove, removed

FOLDER, LONGEST = Path(__file__).parent, "test_site.py"
ROLE = [{"name": "Install", "ansible.builtin.import_role": {"name": "osso.scheduler.operator"}}]


def pytest_collection_modifyitems(items):
    """The longest file first, for where two clusters share these files."""
    places = [place for place, item in enumerate(items) if item.path.parent == FOLDER]
    for place, item in zip(places, sorted((items[place] for place in places), key=lambda item: item.path.name != LONGEST), strict=True):
        items[place] = item


@pytest.fixture(scope="session")
def olm(own_cluster, kubectl) -> Olm:
    """OLM, installed; none of the operator that tests before may have left."""
    remove()
    return Olm(own_cluster, kubectl)


@pytest.fixture(autouse=True)
def packages_are_served(olm, kubectl):
    """Tests begin while OLM's package server is available: OLM replaces it by itself now and then, and every discovery of kinds fails meanwhile."""
    kubectl("wait", "--for=condition=Available", "--timeout=300s", "apiservice/v1.packages.operators.coreos.com", timeout=310)


@pytest.fixture
def namespace(olm, kubectl) -> str:
    """A new namespace of its own; what a test leaves in it of OLM goes, in an order that OLM survives."""
    name = f"test-{uuid.uuid4().hex[:10]}"
    kubectl("create", "namespace", name)
    yield name
    olm.clear(name)
    kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")


@pytest.fixture(scope="module")
def catalog(olm, tmp_path_factory) -> str:
    """The image of our catalog, as `make images` builds it; it names the bundle, and that the operator, by digest."""
    return Shipped(olm, tmp_path_factory.mktemp("shipped")).catalog()


@pytest.fixture(scope="module")
def by_olm(catalog) -> dict:
    return {"operator_method": "olm", "operator_catalog_image": catalog}


@pytest.fixture(scope="module")
def by_manifests() -> dict:
    return {"operator_method": "manifests", "operator_image": yaml.safe_load(DEMO.read_text())["operator_image"]}


@pytest.fixture(scope="module")
def role(olm, play, kubectl):
    """Run the role, on a cluster without an operator at first and at last."""

    def run(variables=(), **options):
        return play(ROLE, variables=dict(variables), **options)

    removed(kubectl)
    yield run
    removed(kubectl)
    olm.clear(NAMESPACE)
