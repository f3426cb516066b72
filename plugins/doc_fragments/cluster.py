# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """Options of every module that connects to a cluster, in addition to those of kubernetes.core.k8s_auth_options."""

    DOCUMENTATION = r"""
options:
  retry_seconds:
    description:
      - How long to retry, in seconds, if the API server cannot be reached or reports that it is overloaded or unavailable,
        as it does for a moment when a control plane node restarts.
      - Only what is safe to repeat is repeated. V(0) fails at once.
    type: int
    default: 30
requirements:
  - python >= 3.9
  - kubernetes >= 29.0.0, but not 36.0.0 and 36.0.1, which lose bearer tokens
  - PyYAML
notes:
  - A task without any authentication option takes all of them, and O(retry_seconds), from the variable C(cluster_access) of its host, if there is one. For a
    host of the inventory group C(clusters) that variable is required then.
  - The connection is made as by M(kubernetes.core.k8s), from the options, else from E(K8S_AUTH_KUBECONFIG), E(K8S_AUTH_HOST),
    E(K8S_AUTH_API_KEY) and the other E(K8S_AUTH_*) variables, else from the pod's service account, else from E(KUBECONFIG) or C(~/.kube/config).
  - O(kubeconfig) or O(context) without O(host) is refused where the environment has E(K8S_AUTH_HOST), which would be gone to instead.
  - A warning is given when the API server's certificate is not verified.
seealso:
  - module: kubernetes.core.k8s
"""
