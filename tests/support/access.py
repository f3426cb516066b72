# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Being somebody with few permissions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

RBAC = "rbac.authorization.k8s.io"


@contextmanager
def service_account(kubectl, namespace, *rules, everywhere=False):
    """A ServiceAccount `robot` in the namespace with these RBAC rules; yields the module options to be it.

    `everywhere` grants them in all namespaces.
    """
    account = {"name": "robot", "namespace": namespace}
    about = {"name": f"{namespace}-robot"} if everywhere else account
    role = "ClusterRole" if everywhere else "Role"
    reference = {"apiGroup": RBAC, "kind": role, "name": about["name"]}
    subjects = [{"kind": "ServiceAccount", **account}]
    kubectl.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account},
        {"apiVersion": f"{RBAC}/v1", "kind": role, "metadata": about, "rules": list(rules)},
        {"apiVersion": f"{RBAC}/v1", "kind": f"{role}Binding", "metadata": about, "roleRef": reference, "subjects": subjects},
    )
    try:
        yield {"kubeconfig": kubeconfig_of(kubectl, namespace, "robot")}
    finally:
        if everywhere:
            kubectl("delete", "clusterrole,clusterrolebinding", about["name"])


def kubeconfig_of(kubectl, namespace: str, name: str) -> dict[str, Any]:
    """The content of a kubeconfig to be a ServiceAccount that exists."""
    cluster = kubectl.json("config", "view", "--minify", "--flatten", "--raw")["clusters"][0]["cluster"]
    token = kubectl("create", "token", name, f"--namespace={namespace}").stdout.strip()
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "cluster", "cluster": cluster}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": "cluster", "user": name}}],
        "current-context": name,
    }
