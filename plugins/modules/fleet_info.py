#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: fleet_info
short_description: Check which clusters the hosts of a play are
version_added: 1.0.0
author:
  - osso.scheduler contributors (@osso-scheduler)
description:
  - Checks the variable C(cluster_access) of each host of the play that is in the group C(clusters), and identifies their clusters. It runs once for all
    hosts of the play, those of later batches included. The playbooks of this collection begin with it.
  - Fails for the whole play if C(cluster_access) is missing, has an unknown key, names no cluster or no credentials by itself, names a file that does not
    exist, or would be completed from E(K8S_AUTH_*) of the environment. Only the settings of a proxy may come from there, and the kubeconfig that a C(context)
    without C(kubeconfig) is in.
  - Fails for the whole play if two hosts are one cluster, or if the inventory has no group C(clusters) but hosts with C(cluster_access).
  - A cluster that does not answer, or does not accept the credentials, is in RV(unknown) and is no failure.
  - Warns of extra variables, and of variables of hosts, that no role or playbook of this collection knows although they look like one of theirs.
  - With one host it sends no request, with more one request to each cluster.
extends_documentation_fragment:
  - osso.scheduler.attributes
  - osso.scheduler.attributes.info_module
attributes:
  action_group:
    support: none
    membership: []
  check_mode: {}
  diff_mode: {}
  idempotent: {}
notes:
  - A cluster is identified by the uid of its namespace C(kube-system), for a user who must not read that by the URL of its API server.
"""

EXAMPLES = r"""
- name: Select the clusters
  osso.scheduler.fleet_info:
  run_once: true
  register: fleet_clusters
"""

RETURN = r"""
clusters:
  description: The clusters that were identified, by the names of their hosts.
  returned: success
  type: dict
  sample:
    berlin:
      id: 3c0d5a9e
      server: https://api.berlin.example.com:6443
unknown:
  description: Why other clusters were not identified, by the names of their hosts.
  returned: success
  type: dict
  sample:
    lisbon: the API server https://api.lisbon.example.com:6443 cannot be reached
"""

from ansible.module_utils.basic import AnsibleModule


def main():
    AnsibleModule(argument_spec={}, supports_check_mode=True).fail_json(
        msg="fleet_info reads the variables of all hosts, which a module does not have: call it as a task of a play, so that its action plugin runs."
    )


if __name__ == "__main__":
    main()
