# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Images that contain a kube-scheduler: release and plugins by their names and tags.

Sources: the promoted images of the Kubernetes project (kubernetes/k8s.io, registry.k8s.io/images), the compatibility matrix
in the README of kubernetes-sigs/scheduler-plugins (tag v0.N.P holds Kubernetes 1.N), the tags of EKS Distro, the tags of OpenShift's
releases and of its image hyperkube, which contains the kube-scheduler. Paths of the program: build/server-image/Dockerfile of
kubernetes/kubernetes, build/scheduler/Dockerfile of scheduler-plugins, projects/kubernetes/kubernetes/docker/Dockerfile of aws/eks-distro.
"""

from __future__ import annotations

from typing import NamedTuple

from ..target import IN_TREE, SCHEDULER_PLUGINS

_ARCHITECTURE = r"(-linux)?(-(amd64|arm64|arm|ppc64le|s390x))?"

PROGRAM = "/bin/kube-scheduler"
"""In images of scheduler-plugins and of OpenShift, and where the upstream operator expects it in every image."""
LOCAL_PROGRAM = "/usr/local/bin/kube-scheduler"
"""In the images of the Kubernetes project, which contain nothing at `PROGRAM`."""
ROOT_PROGRAM, AT_ROOT = "/kube-scheduler", rf"(v\d{{8}}-)?v0\.29\.7{_ARCHITECTURE}"
"""In one release of scheduler-plugins, and the tags of that."""


class Row(NamedTuple):
    """name: the last components of the repository, on whatever registry, since mirrors keep them.

    tag: a regular expression for the whole tag; its group ``minor`` is the Kubernetes minor, or ``openshift`` the release of OpenShift.
    program: path of kube-scheduler in the image.
    """

    name: str
    tag: str
    plugins: str
    program: str = PROGRAM


_OPENSHIFT = r"(?P<openshift>\d+\.\d+)"

RELEASE_IMAGES = ("openshift-release-dev/ocp-release", "okd/scos-release", "openshift/release-images")
"""Images that list all images of an OpenShift release. They contain no kube-scheduler."""

IMAGES = (
    # The first row whose name fits decides. A tag with another suffix is a custom build with unknown plugins.
    Row("scheduler-plugins/kube-scheduler", rf"v0\.(?P<minor>\d+)\.\d+{_ARCHITECTURE}", SCHEDULER_PLUGINS),
    # Staging tags begin with the day of the build.
    Row("k8s-staging-scheduler-plugins/kube-scheduler", rf"(v\d{{8}}-)?v0\.(?P<minor>\d+)\.\d+{_ARCHITECTURE}", SCHEDULER_PLUGINS),
    Row("eks-distro/kubernetes/kube-scheduler", r"v1\.(?P<minor>\d+)\.\d+-eks-\d+-\d+-\d+", IN_TREE, LOCAL_PROGRAM),
    Row("origin-hyperkube", rf"v?{_OPENSHIFT}(\.\d+)?", IN_TREE),
    *(Row(name, rf"v{_OPENSHIFT}(\.\d+)?(-\d+(\.[\w.]+)?)?", IN_TREE) for name in ("ose-hyperkube", "ose-hyperkube-rhel9")),
    *(Row(name, rf"{_OPENSHIFT}\.\d+(-[\w.]+)*", IN_TREE) for name in RELEASE_IMAGES),
    Row("kube-scheduler", rf"v1\.(?P<minor>\d+)\.\d+(-rc\.\d+)?{_ARCHITECTURE}", IN_TREE, LOCAL_PROGRAM),
    *(
        Row(f"kube-scheduler-{architecture}", r"v1\.(?P<minor>\d+)\.\d+(-rc\.\d+)?", IN_TREE, LOCAL_PROGRAM)
        for architecture in ("amd64", "arm64", "arm", "ppc64le", "s390x")
    ),
)

FROZEN = {
    # registry, or registry and path: what to use instead. Frozen since 2023-04-03 (Kubernetes blog, "k8s.gcr.io Image Registry
    # Will Be Frozen From the 3rd of April 2023"); the gcr.io paths are its earlier names and what it was served from.
    "k8s.gcr.io": "registry.k8s.io",
    "gcr.io/google-containers": "registry.k8s.io",
    "gcr.io/google_containers": "registry.k8s.io",
    "us.gcr.io/k8s-artifacts-prod": "registry.k8s.io",
    "eu.gcr.io/k8s-artifacts-prod": "registry.k8s.io",
    "asia.gcr.io/k8s-artifacts-prod": "registry.k8s.io",
}

KUBERNETES_REGISTRIES = ("registry.k8s.io", *FROZEN)
"""Of the Kubernetes project: its kube-scheduler is right below them."""
