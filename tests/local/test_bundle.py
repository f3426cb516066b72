# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bundle and catalog are what role and package.yaml say, and hold together (F013, F022, F164). What OLM makes of them is tested in tests/olm."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.images import identify

ROOT = Path(__file__).resolve().parents[2]
BUNDLE = ROOT / "operator/bundle"
CATALOG = ROOT / "operator/catalog"
VERSION = yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"]


@pytest.fixture(scope="module")
def tool():
    """operator/olm/bundle.py"""
    spec = importlib.util.spec_from_file_location("osso_olm_bundle", ROOT / "operator/olm/bundle.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def src(tool):
    return tool.sources()


@pytest.fixture(scope="module")
def csv():
    (path,) = (BUNDLE / "manifests").glob("*.clusterserviceversion.yaml")
    return yaml.safe_load(path.read_text())


def generate(how):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".cache/collections")}
    return subprocess.run([ROOT / "operator/olm/generate", how], capture_output=True, text=True, check=False, env=environment)


def test_bundle_and_catalog_in_the_repository_are_up_to_date():
    done = generate("check")
    assert (done.returncode, done.stderr) == (0, "")


def test_changed_and_superfluous_files_of_the_bundle_are_detected(tool, src, tmp_path):
    versions = tool.releases(src.told)
    files = tool.bundle(src, versions[-1])
    assert len(tool.write(tmp_path, files)) == len(files)
    assert tool.write(tmp_path, files) == []
    (tmp_path / "manifests/old.yaml").write_text("kind: Old\n")
    annotations = tmp_path / "metadata/annotations.yaml"
    annotations.write_text(annotations.read_text() + "\n")
    assert {path.name for path in tool.write(tmp_path, files)} == {"annotations.yaml", "old.yaml"}


def test_bundle_and_collection_have_the_same_version(src, csv):
    assert [release["version"] for release in src.told["releases"]][-1] == VERSION
    assert (csv["spec"]["version"], csv["metadata"]["name"]) == (VERSION, f"osso-scheduler-operator.v{VERSION}")


@pytest.mark.parametrize("path", sorted([*BUNDLE.rglob("*.yaml"), *CATALOG.rglob("*.yaml")]), ids=lambda path: path.name)
def test_no_comment_precedes_the_first_document(path):
    """OLM would wait for ever."""
    assert path.read_text().startswith("---\n")


def test_related_images_lists_every_image_of_the_bundle(csv):
    """F022: the operator's, and that of the sample."""
    listed = {entry["image"] for entry in csv["spec"]["relatedImages"]}
    (deployment,) = csv["spec"]["install"]["spec"]["deployments"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    (sample,) = json.loads(csv["metadata"]["annotations"]["alm-examples"])
    assert listed == {container["image"], sample["spec"]["schedulerImage"], csv["metadata"]["annotations"]["containerImage"]}


def test_the_sample_is_complete_and_its_configuration_is_valid(csv):
    """Not so upstream's: B17."""
    (sample,) = json.loads(csv["metadata"]["annotations"]["alm-examples"])
    config_map = yaml.safe_load((BUNDLE / "manifests/secondary-scheduler-example.configmap.yaml").read_text())
    assert sample["spec"]["schedulerConfig"] == config_map["metadata"]["name"]
    image = identify(sample["spec"]["schedulerImage"])
    assert image.kubernetes
    result = check(config_map["data"]["config.yaml"], image.kubernetes, image.plugins)
    assert (result.valid, list(result.scheduler_names)) == (True, ["secondary-scheduler"])


def test_described_fields_exist_and_are_described(csv):
    (owned,) = csv["spec"]["customresourcedefinitions"]["owned"]
    described = owned["specDescriptors"] + owned["statusDescriptors"]
    assert {"schedulerConfig", "schedulerImage", "managementState", "conditions"} <= {one["path"] for one in described}
    assert [one["path"] for one in described if not one["description"]] == []


def test_bundle_and_manifests_grant_the_same_permissions(src, csv):
    """Each rule of each role is there once, and none besides."""
    spec = csv["spec"]["install"]["spec"]
    rules = [rule for kind in ("permissions", "clusterPermissions") for entry in spec[kind] for rule in entry["rules"]]
    roles = [role for role in src.objects if role["kind"] in ("Role", "ClusterRole")]
    assert sorted(map(json.dumps, rules)) == sorted(json.dumps(rule) for role in roles for rule in role["rules"])
    assert not [rule for rule in rules if "*" in json.dumps(rule)]


def test_catalog_channels_contain_the_upgrade_graph_of_all_releases(tool, src):
    """F019: channels, what replaces what, and bundles of former releases that are kept."""
    told = {**src.told, "releases": [
        *src.told["releases"],
        {"version": "1.1.0", "created": "2027-01-01", "channels": ["candidate"], "replaces": VERSION, "skips": ["1.0.9"], "skip_range": ">=1.0.0 <1.1.0"},
    ]}  # fmt: skip
    versions = tool.releases(told, "registry.example.com/operator@sha256:1", "registry.example.com/bundle@sha256:2")
    files = tool.catalog(src._replace(told=told), versions)
    package = yaml.safe_load(files["osso-scheduler-operator/package.yaml"])
    channels = [yaml.safe_load(text) for name, text in files.items() if "/channel-" in name]
    assert package["defaultChannel"] == "stable"
    assert {channel["name"]: channel["entries"] for channel in channels} == {
        "stable": [{"name": "osso-scheduler-operator.v1.0.0"}],
        "candidate": [
            {"name": "osso-scheduler-operator.v1.0.0"},
            {
                "name": "osso-scheduler-operator.v1.1.0",
                "replaces": "osso-scheduler-operator.v1.0.0",
                "skips": ["osso-scheduler-operator.v1.0.9"],
                "skipRange": ">=1.0.0 <1.1.0",
            },
        ],
    }
    bundle = yaml.safe_load(files["osso-scheduler-operator/osso-scheduler-operator.v1.1.0.yaml"])
    assert bundle["image"] == "registry.example.com/bundle@sha256:2"
    assert "osso-scheduler-operator/osso-scheduler-operator.v1.0.0.yaml" not in files
    made = yaml.safe_load(tool.bundle(src, versions[-1])["manifests/osso-scheduler-operator.clusterserviceversion.yaml"])
    assert made["spec"]["replaces"] == "osso-scheduler-operator.v1.0.0"
    assert made["metadata"]["annotations"]["olm.skipRange"] == ">=1.0.0 <1.1.0"
    (deployment,) = made["spec"]["install"]["spec"]["deployments"]
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example.com/operator@sha256:1"
