# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """The option by which a module may read the metrics of schedulers: that of ``debugging.inside.METRICS_ACCOUNT_SPEC``."""

    DOCUMENTATION = r"""
options:
  metrics_account:
    description:
      - ServiceAccount with whose token metrics are read, if they are to be gathered. It needs a ClusterRole for C(GET /metrics). A token of
        it is requested that lives for ten minutes.
      - Without it the client certificate of the user is shown, where the connection to the API server has one. The user's token is never
        sent to a scheduler.
      - The scheduler's certificate, which it signs itself as a rule, is not verified. The way to the pod is the API server's and the
        kubelet's, both authenticated. So give an account that may do little else.
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
