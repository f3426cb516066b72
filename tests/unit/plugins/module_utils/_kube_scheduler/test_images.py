# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What images tell by their names (images.py, tables/images.py)."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.images import check_image, identify, program, split

DIGEST = "@sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("reference", "kubernetes", "plugins"),
    [
        ("registry.k8s.io/scheduler-plugins/kube-scheduler:v0.31.8", "1.31", "scheduler-plugins"),
        ("registry.k8s.io/scheduler-plugins/kube-scheduler:v0.28.900", "1.28", "scheduler-plugins"),
        ("registry.k8s.io/scheduler-plugins/kube-scheduler:v0.31.8" + DIGEST, "1.31", "scheduler-plugins"),
        ("k8s.gcr.io/scheduler-plugins/kube-scheduler:v0.22.6", "1.22", "scheduler-plugins"),
        ("mirror.example.com:5000/k8s/scheduler-plugins/kube-scheduler:v0.34.7-amd64", "1.34", "scheduler-plugins"),
        ("gcr.io/k8s-staging-scheduler-plugins/kube-scheduler:v20240529-v0.28.9", "1.28", "scheduler-plugins"),
        ("registry.k8s.io/kube-scheduler:v1.31.4", "1.31", "in-tree"),
        ("registry.example.com/kube-scheduler:v1.36.0-rc.1", "1.36", "in-tree"),
        ("registry.k8s.io/kube-scheduler-arm64:v1.25.16", "1.25", "in-tree"),
        ("public.ecr.aws/eks-distro/kubernetes/kube-scheduler:v1.31.3-eks-1-31-8", "1.31", "in-tree"),
        ("kube-scheduler:v1.29.0", "1.29", "in-tree"),
        ("quay.io/openshift-release-dev/ocp-release:4.21.3-x86_64", "1.34", "in-tree"),
        ("quay.io/openshift-release-dev/ocp-release:5.0.1-multi", "1.36", "in-tree"),
        ("registry.example.com:5000/openshift/release-images:5.0.0-ec.2-aarch64", "1.36", "in-tree"),
        ("quay.io/okd/scos-release:5.0.0-okd-scos.4", "1.36", "in-tree"),
        ("registry.redhat.io/openshift4/ose-hyperkube-rhel9:v4.18.0-202511130523.p2.g94db9dc.assembly.stream.el9", "1.31", "in-tree"),
        ("registry.redhat.io/openshift5/ose-hyperkube-rhel9:v5.0", "1.36", "in-tree"),
        ("quay.io/openshift/origin-hyperkube:5.0", "1.36", "in-tree"),
    ],
)
def test_release_and_plugins_are_derived_from_the_image_reference(reference, kubernetes, plugins):
    assert identify(reference) == (kubernetes, plugins, "")


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("quay.io/openshift-release-dev/ocp-v4.0-art-dev" + DIGEST, "not one that a table describes"),
        ("registry.example.com/my-scheduler:v1.31.4", "not one that a table describes"),
        ("registry.example.com/fork-of-kube-scheduler:v1.31.4", "not one that a table describes"),
        ("registry.k8s.io/kube-scheduler", "no tag"),
        ("registry.k8s.io/kube-scheduler" + DIGEST, "no tag"),
        ("registry.k8s.io:443/kube-scheduler", "no tag"),
        ("registry.k8s.io/kube-scheduler:latest", "latest"),
        ("registry.k8s.io/kube-scheduler:v1.36.0-alpha.1", "v1.36.0-alpha.1"),
        ("registry.example.com/kube-scheduler:v1.30.1-aliyun.6.5.4", "v1.30.1-aliyun.6.5.4"),
        ("registry.example.com/kube-scheduler:v0.31.8", "v0.31.8"),
        ("registry.k8s.io/scheduler-plugins/kube-scheduler:v1.31.8", "v1.31.8"),
        ("registry.k8s.io/kube-scheduler:v1.20.0", "1.20"),
        ("registry.k8s.io/kube-scheduler:v1.99.0", "1.99"),
        (f"registry.k8s.io/kube-scheduler:v1.{5000 * '9'}.0", "is no release"),
        (f"quay.io/openshift-release-dev/ocp-release:5.{5000 * '9'}.0", "is no release"),
        ("quay.io/openshift-release-dev/ocp-release:5.1.0-x86_64", "openshift-5.1 is not known here"),
        ("quay.io/openshift-release-dev/ocp-release:6.0.0-x86_64", "openshift-6.0 is not known here"),
        ("quay.io/openshift-release-dev/ocp-release:latest", "latest"),
        ("registry.redhat.io/openshift5/ose-hyperkube-rhel9:v5.9", "openshift-5.9 is not known here"),
        ("registry.k8s.io/scheduler-plugins/kube-scheduler:v0.36.1", "1.36"),
        ("", "not one that a table describes"),
    ],
)
def test_an_unknown_image_gives_a_reason_and_no_guess(reference, why):
    image = identify(reference)
    assert image[:2] == (None, None)
    assert why in image.reason


BIN, LOCAL = "/bin/kube-scheduler", "/usr/local/bin/kube-scheduler"
PRIVATE = {"base": "in-tree", "extra": [{"name": "RackAware"}]}


@pytest.mark.parametrize(
    ("reference", "plugins", "path"),
    [
        ("registry.k8s.io/kube-scheduler:v1.34.7", None, LOCAL),
        ("registry.k8s.io/kube-scheduler:v1.34.7", "", LOCAL),
        ("registry.k8s.io/kube-scheduler:v1.99.0", "in-tree", LOCAL),
        ("registry.k8s.io/kube-scheduler:v1.36.0-alpha.1", None, LOCAL),
        ("registry.k8s.io/kube-scheduler" + DIGEST, None, LOCAL),
        ("k8s.gcr.io/kube-scheduler-amd64" + DIGEST, None, LOCAL),
        ("mirror.example.com:5000/k8s/kube-scheduler:v1.34.7-arm64", None, LOCAL),
        ("mirror.example.com:5000/k8s/kube-scheduler:v1.34.7" + DIGEST, "in-tree", LOCAL),
        ("public.ecr.aws/eks-distro/kubernetes/kube-scheduler" + DIGEST, None, LOCAL),
        ("registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7", None, BIN),
        ("registry.k8s.io/scheduler-plugins/kube-scheduler" + DIGEST, None, BIN),
        ("mirror.example.com/scheduler-plugins/kube-scheduler:mine", PRIVATE, BIN),
        ("registry.k8s.io/scheduler-plugins/kube-scheduler:v0.29.8", None, BIN),
        ("registry.k8s.io/scheduler-plugins/kube-scheduler:v0.29.7", None, "/kube-scheduler"),
        ("gcr.io/k8s-staging-scheduler-plugins/kube-scheduler:v20240529-v0.29.7-arm64", None, "/kube-scheduler"),
        ("registry.redhat.io/openshift4/ose-hyperkube-rhel9" + DIGEST, None, BIN),
        ("quay.io/openshift/origin-hyperkube:5.0", "in-tree", BIN),
    ],
)
def test_the_program_of_a_known_image_is_where_its_builder_puts_it(reference, plugins, path):
    assert program(reference, plugins) == program(reference, plugins, "/unknown") == path


@pytest.mark.parametrize(
    ("reference", "plugins"),
    [
        ("registry.example.com/team/scheduler:7", None),
        ("registry.example.com/team/scheduler:7", "in-tree"),
        ("registry.example.com/kube-scheduler" + DIGEST, None),
        ("registry.example.com/kube-scheduler:v0.34.7", None),
        ("registry.example.com/kube-scheduler:v1.34.7-mine", None),
        ("registry.example.com/kube-scheduler:v1.34.7", PRIVATE),
        ("registry.example.com/kube-scheduler:v1.34.7", str(PRIVATE)),
        ("", None),
    ],
)
def test_the_program_of_an_unknown_image_is_where_the_caller_expects_it(reference, plugins):
    assert (program(reference, plugins), program(reference, plugins, LOCAL)) == (BIN, LOCAL)


@pytest.mark.parametrize("plugins", ["scheduler-plugins", {"base": "scheduler-plugins"}, "{base: scheduler-plugins}"])
def test_the_program_of_a_build_of_scheduler_plugins_is_where_those_have_it(plugins):
    for reference in ("registry.example.com/team/scheduler:7", "registry.example.com/kube-scheduler:v1.34.7"):
        assert program(reference, plugins, "/unknown") == BIN


def test_a_reference_is_split_into_repository_and_tag():
    assert split("host:5000/a/b:tag" + DIGEST) == ("host:5000/a/b", "tag")
    assert split("host:5000/a/b") == ("host:5000/a/b", "")
    assert split("b") == ("b", "")
    assert split("localhost:5000/s") == ("localhost:5000/s", "")
    assert split("localhost:5000/s:1@sha256:ab") == ("localhost:5000/s", "1")
    assert split("s@sha256:ab") == ("s", "")
    assert split("") == ("", "")


def codes(*args):
    return [(finding.severity, finding.code) for finding in check_image(*args)]


@pytest.mark.parametrize(
    ("reference", "instead"),
    [
        ("k8s.gcr.io/scheduler-plugins/kube-scheduler:v0.22.6", "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.22.6"),
        ("gcr.io/google_containers/kube-scheduler:v1.21.0", "registry.k8s.io/kube-scheduler:v1.21.0"),
        ("eu.gcr.io/k8s-artifacts-prod/kube-scheduler:v1.21.0", "registry.k8s.io/kube-scheduler:v1.21.0"),
    ],
)
def test_a_frozen_registry_is_a_warning_with_its_replacement(reference, instead):
    (finding,) = check_image(reference, None)
    assert (finding.severity, finding.code, finding.hint) == ("warning", "frozen-registry", f"use {instead}")


@pytest.mark.parametrize("release", ["4.21.3-x86_64", "5.0.1-multi", "5.1.0-x86_64"])
def test_a_release_image_contains_no_scheduler(release):
    reference = f"quay.io/openshift-release-dev/ocp-release:{release}"
    (finding,) = check_image(reference, identify(reference).kubernetes)
    assert (finding.severity, finding.code) == ("warning", "release-image")
    assert finding.hint == f"use the image that `oc adm release info --image-for=hyperkube {reference}` prints"
    assert codes("quay.io/openshift/origin-hyperkube:5.0", "1.36", "v1.36.1") == []


@pytest.mark.parametrize("registry", ["registry.k8s.io", "k8s.gcr.io.example.com", "mirror.example.com/k8s.gcr.io"])
def test_other_registries_cause_no_warning(registry):
    assert codes(f"{registry}/kube-scheduler:v1.31.0", "1.31") == []


@pytest.mark.parametrize(
    ("kubernetes", "cluster", "warned"),
    [
        ("1.31", "v1.31.4", False),
        ("1.30", "v1.31.4+abc", False),
        ("1.29", "v1.31.4", True),
        ("1.32", "v1.31.4", True),
        ("openshift-4.18", "v1.31.4", False),
        ("1.37", "v1.38.0", False),
        ("1.37", "v1.39.0", True),
        (None, "v1.31.4", False),
        ("1.31", None, False),
        ("1.31", "unheard-of", False),
        ("1.31", f"v1.{5000 * '9'}.0", False),
    ],
)
def test_a_version_skew_between_image_and_cluster_is_a_warning(kubernetes, cluster, warned):
    assert codes("registry.example.com/x:1", kubernetes, cluster) == [("warning", "version-skew")] * warned


@pytest.mark.parametrize(
    ("kubernetes", "cluster", "told"), [("1.34", "v1.33.1", True), ("1.37", "v1.30.0", True), ("1.37", "v1.34.0", False)]
)
def test_the_warning_names_an_api_that_the_scheduler_needs_and_the_cluster_lacks(kubernetes, cluster, told):
    (finding,) = check_image("registry.example.com/x:1", kubernetes, cluster)
    assert ("it places no pod without resource.k8s.io/v1" in finding.message) is told
