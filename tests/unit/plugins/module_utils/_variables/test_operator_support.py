# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which operator is for which cluster (F016, F018)."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.operators import UPSTREAM, UPSTREAM_SINCE
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.releases import OpenShift
from ansible_collections.osso.scheduler.plugins.module_utils._variables.operator import support


@pytest.mark.parametrize(
    ("kubernetes", "variant", "version", "answer"),
    [
        ("1.25", "osso", "", ""),
        ("1.24", "osso", "", "The cluster runs Kubernetes 1.24, and the operator needs 1.25. Upgrade the cluster first."),
        ("1.34", "upstream", "", ""),
        ("1.34", "upstream", "1.5.1", ""),
        ("1.34", "upstream", "1.6.0", "operator_version is 1.6.0, which is for OpenShift 4.22 and 4.23. Choose 1.5.0 or 1.5.1, or leave it out: the"),
        ("1.34", "upstream", "1.6.0", "or leave it out: the cluster runs Kubernetes 1.34, as OpenShift 4.21."),
        ("1.24", "upstream", "1.1.5", "operator_version is 1.1.5, which is for OpenShift 4.12 and later. Choose 1.1.0, or leave it out: the"),
        ("1.29", "upstream", "1.3", "operator_version is 1.3, which is no version of the upstream operator. Choose 1.3.0, 1.3.1 or 1.3.2, or"),
        ("1.29", "upstream", "1.2.9", "operator_version is 1.2.9, which is no version of the upstream operator. Choose 1.3.0"),
        ("1.29", "upstream", "1.3.7", ""),  # a patch that is newer than the table
        ("1.36", "upstream", "1.6.1", ""),
        ("1.36", "upstream", "1.5.1", "Choose 1.6.0 or 1.6.1, or leave it out: the cluster runs Kubernetes 1.36, as OpenShift 4.23 and 5.0."),
        ("1.40", "upstream", "1.8.0", ""),  # all newer than the table
        ("1.37", "upstream", "1.6.1", ""),  # perhaps OpenShift 5.1
        ("1.37", "upstream", "1.6.9", ""),
        ("1.40", "upstream", "1.5.0", "which is for OpenShift 4.20 and 4.21. Leave it out: the cluster runs Kubernetes 1.40."),
        ("1.34", "upstream", "1.5.\u00b2", "operator_version is 1.5.\u00b2, which is no version of the upstream operator. Choose 1.5.0"),
        ("1.34", "upstream", "1.5." + 5000 * "9", "which is no version of the upstream operator"),
        (".", "upstream", "1.5.0", ""),  # an API server that does not tell its release
        ("1." + 5000 * "9", "osso", "", ""),
        ("1.22", "upstream", "", "as OpenShift 4.9, and the first upstream operator was for 4.11. Set operator_variant to osso."),
    ],
)  # fmt: skip
def test_an_unsupported_release_is_reported_with_the_remedy(kubernetes, variant, version, answer):
    told = support(kubernetes, variant, version)
    assert answer in told
    assert bool(answer) == bool(told)


def test_the_table_has_a_line_for_every_openshift_release():
    """Each OpenShift release has one line of the operator, and exceptions name versions that exist."""
    releases = [release for releases, _versions in UPSTREAM.values() for release in releases]
    assert releases == [OpenShift(4, minor) for minor in range(11, 24)]
    assert set(UPSTREAM_SINCE) < {version for _releases, versions in UPSTREAM.values() for version in versions}
    assert all(version.startswith(f"1.{line}.") for line, (_releases, versions) in UPSTREAM.items() for version in versions)
