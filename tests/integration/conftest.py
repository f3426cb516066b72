# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the tests of the module apply share."""

from __future__ import annotations

import pytest
from support.direct_module import run_directly


@pytest.fixture
def apply(kubeconfig):
    """Run the module on the cluster."""

    def run(manifests=None, **options):
        return run_directly("apply", kubeconfig=str(kubeconfig), manifests=manifests, **options)

    return run


@pytest.fixture
def group(kubectl, namespace):
    """An API group for the test's own kinds."""
    group = f"{namespace}.example.com"
    yield group
    kubectl("delete", "customresourcedefinition", f"things.{group}", "--ignore-not-found", "--wait=false")
