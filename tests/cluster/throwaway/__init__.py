# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real Kubernetes cluster for tests, made out of Go modules and Debian packages, and gone without a trace afterwards.

docs/cluster.md describes it as a whole. Here, each module has one concern:

    layout         where everything is; what is recorded about this cluster
    progress       what the user sees; durations; logged commands
    prerequisites  what the machine must have
    build          Go programs
    pki            certificates, keys and kubeconfigs
    network        bridge, addresses, routes
    cgroups        the cgroups below which the nodes' containers live
    processes      daemons: start, find, stop
    control_plane  registry, etcd and Kubernetes' own servers
    nodes          namespaces with containerd, kubelet and kube-proxy inside
    images         container images and the registry they are in
    addons         what runs in the cluster as pods
    api            questions to the API server
    start, status, clean   the commands
"""
