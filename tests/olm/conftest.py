# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the tests with OLM share. They all run on one cluster, which has OLM from the first of them until its own end."""

from __future__ import annotations

import uuid

import pytest
from support.olm import Olm
from support.site import remove


@pytest.fixture(scope="session")
def olm(own_cluster, kubectl) -> Olm:
    """OLM, installed; none of the operator that tests before may have left."""
    remove()
    return Olm(own_cluster, kubectl)


@pytest.fixture
def namespace(olm, kubectl) -> str:
    """A new namespace of its own; what a test leaves in it of OLM goes, in an order that OLM survives."""
    name = f"test-{uuid.uuid4().hex[:10]}"
    kubectl("create", "namespace", name)
    yield name
    olm.clear(name)
    kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")
