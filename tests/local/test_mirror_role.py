# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""F022: how the role mirror chooses what the cluster is told, by what it serves."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._variables.mirror import complete
from support.ansible_runs import play

ROLE = {"ansible.builtin.include_role": {"name": "osso.scheduler.mirror"}}
SERVED = "Detect the kinds that the cluster serves"


def test_the_cluster_is_not_queried_if_no_mirror_set_is_created():
    """There need not be one yet."""
    run = play([ROLE], variables={"mirror_set_kind": "none"}, env={"K8S_AUTH_HOST": "https://127.0.0.1:9"}, succeed=False)
    assert run.task(SERVED).status == "skipped"
    (failure,) = run.failures
    assert failure.result["msg"].startswith("mirror_registry is not given")


def test_a_missing_skopeo_is_reported_with_the_remedy():
    variables = {
        "mirror_registry": "registry.example.com/mirror",
        "mirror_operator_image": "quay.io/a/b:1",
        "mirror_set_kind": "none",
        "mirror_skopeo": "no-such-skopeo",
    }
    run = play([ROLE], variables=variables, succeed=False)
    (failure,) = run.failures
    message = failure.result["msg"]
    assert message.startswith("no-such-skopeo cannot be run on localhost, and copies are made by it. Install it ")
    assert message.endswith("or name it in mirror_skopeo.")
    assert run.task("Remove the private folder").status == "ok"


GIVEN = {
    "mirror_registry": "registry.example.com/mirror",
    "mirror_catalog_image": "",
    "mirror_operator_image": "quay.io/a/b:1",
    "mirror_set_kind": "auto",
    "mirror_method": "manifests",
}


@pytest.mark.parametrize("set_kind", ["auto", "none", "ImageContentSourcePolicy"])
@pytest.mark.parametrize(
    ("served", "best"),
    [
        ([], "none"),
        (["ImageContentSourcePolicy"], "ImageContentSourcePolicy"),
        (["ImageDigestMirrorSet", "ImageContentSourcePolicy"], "ImageDigestMirrorSet"),
    ],
)
def test_the_best_kind_of_mirror_set_that_the_cluster_serves_is_chosen(served, best, set_kind):
    found = complete({**GIVEN, "mirror_set_kind": set_kind}, {"served": served})
    assert found["kind"] == (best if set_kind == "auto" else set_kind)
    assert bool(found["errors"]) == (set_kind not in ("auto", "none", *served))


@pytest.mark.parametrize(
    ("given", "served", "errors"),
    [
        ({"mirror_registry": "", "mirror_operator_image": ""}, [], ["mirror_registry is not given", "mirror_operator_image is missing"]),
        ({"mirror_catalog_image": "a/b:1", "mirror_method": "olm"}, [], ["The cluster has no mirror sets, so the bundles of a/b:1"]),
        ({"mirror_method": "olm"}, ["ImageDigestMirrorSet"], ["mirror_method is olm and mirror_catalog_image is not given"]),
        ({"mirror_method": "olm"}, [], []),
    ],
)
def test_all_errors_of_the_variables_are_reported_together(given, served, errors):
    found = complete({**GIVEN, **given}, {"served": served})["errors"]
    assert len(found) == len(errors)
    for error, start in zip(found, errors, strict=True):
        assert error.startswith(start)
