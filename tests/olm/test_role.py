# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Our own bundle and catalog, and the role operator that installs them by a real OLM."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.operators import UPSTREAM as LINES
from support.olm import Bundle, Package
from support.site import NAMESPACE, gone

ROOT = Path(__file__).resolve().parents[2]
UPSTREAM = "openshift-secondary-scheduler-operator"


class TestShipping:
    """F013, F164: what the real tools say of bundle and catalog."""

    def test_opm_and_operator_verify_accept_bundle_and_catalog(self, olm, catalog):
        for command in (
            [olm.opm, "validate", ROOT / "operator/catalog"],
            [olm.opm, "validate", ROOT / ".cache/olm/catalog"],
            [olm.operator_verify, "manifests", ROOT / "operator/bundle/manifests"],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr

    def test_operator_verify_reports_a_planted_error(self, olm, tmp_path):
        for path in (ROOT / "operator/bundle/manifests").iterdir():
            (tmp_path / path.name).write_text(path.read_text().replace("minKubeVersion: 1.25.0", "minKubeVersion: soon"))
        # It ends well all the same.
        done = subprocess.run([olm.operator_verify, "manifests", tmp_path], capture_output=True, text=True, check=False)
        assert "csv.Spec.MinKubeVersion has an invalid value: soon" in done.stderr

    def test_opm_renders_the_contents_of_the_catalog(self, olm, catalog):
        """From the folder and from the image that was pushed."""
        reference = (ROOT / ".cache/olm/bundle-reference").read_text()
        for where, made in ((ROOT / "operator/bundle", ROOT / "operator/catalog"), (reference, ROOT / ".cache/olm/catalog")):
            (path,) = made.glob("*/*.v*.yaml")
            held = yaml.safe_load(path.read_text())
            options = ["--migrate-level=bundle-object-to-csv-metadata", "--output=json", "--use-http"]
            template = [] if where == reference else [f"--alpha-image-ref-template={held['image']}"]
            done = subprocess.run([olm.opm, "render", where, *options, *template], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout) == held


def test_without_a_catalog_both_remedies_are_named(role, audit):
    with audit:
        (failure,) = role({"operator_method": "olm"}, succeed=False).failures
    assert "No catalog of the cluster holds the package osso-scheduler-operator. Set operator_catalog_image" in failure.result["msg"]
    assert "or operator_catalog_source" in failure.result["msg"]
    assert audit.writes() == []


@pytest.mark.long
def test_a_package_in_two_catalogs_is_an_error_without_a_write(role, olm, catalog, kubectl, audit):
    kubectl("create", "namespace", NAMESPACE)
    for name in ("one", "two"):
        olm.serve(catalog, NAMESPACE, name)
    with audit:
        (failure,) = role({"operator_method": "olm"}, succeed=False).failures
    assert f"is in more than one catalog: {NAMESPACE}/one, {NAMESPACE}/two. Say which with" in failure.result["msg"]
    assert audit.writes() == []
    olm.clear(NAMESPACE)
    kubectl("delete", "namespace", NAMESPACE)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"operator_image": "a/b:c"}, "operator_image cannot be honoured with operator_variant osso and operator_method olm"),
        ({"operator_replicas": 2}, "operator_replicas cannot be honoured"),
        ({"operator_variant": "upstream", "operator_version": "1.4.0"}, "operator_version is 1.4.0, which is for OpenShift 4.18 and 4.19"),
    ],
)
def test_options_that_olm_cannot_honour_are_rejected_before_any_write(role, by_olm, audit, variables, message):
    with audit:
        (failure,) = role({**by_olm, **variables}, succeed=False).failures
    assert message in failure.result["msg"]
    assert audit.writes() == []


@pytest.mark.long
def test_the_requested_upstream_version_is_installed_from_another_catalog(role, olm, kubectl, audit):
    """F004, F006, F016: the version that is asked for, from another catalog than Red Hat's; a stand-in, as its images are in no registry here."""
    # OpenShift 4.n has Kubernetes 1.(n + 13).
    minor = int(kubectl.json("version")["serverVersion"]["minor"]) - 13
    lines = [line for releases, line in LINES.values() if minor in {release.minor for release in releases}]
    first, last = (lines or [LINES[max(LINES)][1]])[0][:2]
    versions = [Bundle(UPSTREAM, version) for version in (first, last)]
    image = olm.catalog(Package(UPSTREAM, {"stable": versions}))
    variables = {"operator_variant": "upstream", "operator_method": "olm", "operator_catalog_image": image, "operator_version": first}
    run = role(variables)
    assert run.task("Install the operator with OLM").result["csv"]["version"] == first
    labels = kubectl.json("get", "namespace", NAMESPACE)["metadata"]["labels"]
    assert labels["openshift.io/cluster-monitoring"] == "true"
    with audit:
        assert role(variables).changed == []
    assert audit.writes() == []
    role({"operator_variant": "upstream", "operator_state": "absent"})
    assert gone(kubectl)
    assert kubectl("get", "customresourcedefinition", versions[0].definition, "--ignore-not-found").stdout == ""
