# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """The option by which a module may read the metrics of schedulers: that of ``debugging.scheduler_details.METRICS_ACCOUNT_SPEC``."""

    DOCUMENTATION = r"""
options:
  metrics_account:
    description:
      - ServiceAccount whose token is used to read metrics, if metrics are gathered. It requires a ClusterRole for C(GET /metrics). The module
        requests a token for it that is valid for ten minutes.
      - Without it, the module presents the client certificate of the user, if the connection to the API server has one. It never sends the user's
        token to a scheduler.
      - The scheduler's certificate is usually self-signed and is not verified. The connection to the pod goes through the API server and the kubelet,
        which are both authenticated. Use an account that may only C(GET /metrics).
      - The token is sent to schedulers in the namespaces C(kube-*) and C(openshift-*). In other namespaces they receive it only if O(namespaces) contains
        these, because any user of a namespace can create a Deployment that runs C(kube-scheduler).
    type: dict
    suboptions:
      namespace:
        description: Namespace of the ServiceAccount.
        type: str
        required: true
      name:
        description: Name of the ServiceAccount.
        type: str
        required: true
"""
