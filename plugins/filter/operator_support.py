# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: operator_support
short_description: Whether an operator is made for a release of Kubernetes or OpenShift
version_added: 1.0.0
author: osso.scheduler contributors
description:
  - The operator of this collection needs a certain release of Kubernetes or a later one. Of the upstream Secondary Scheduler Operator each
    minor release is for two minor releases of OpenShift, and catalogs offer others as well, as steps of an upgrade.
positional: variant, version
options:
  _input:
    description: RV(osso.scheduler.scheduler_info#module:kubernetes_version), such as V(1.34).
    type: str
    required: true
  variant:
    description: Whose operator, V(osso) or V(upstream).
    type: str
    required: true
  version:
    description: The version that is to be installed, such as V(1.5.1); empty for whatever the catalog offers.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Say which version is the right one
  ansible.builtin.debug:
    msg: "{{ '1.34' | osso.scheduler.operator_support('upstream', '1.6.0') }}"
"""

RETURN = r"""
_value:
  description: Why not, with what to choose instead; empty if it is, and where nobody knows.
  type: str
"""

from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.tables.operators import (
    OSSO_SINCE,
    UPSTREAM,
    UPSTREAM_SINCE,
)
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.tables.releases import OPENSHIFT


def support(kubernetes, variant, version=""):
    minor = int(kubernetes.split(".")[1])
    if variant == "osso":
        if minor < OSSO_SINCE:
            return f"The cluster runs Kubernetes {kubernetes}, and the operator needs 1.{OSSO_SINCE}. Upgrade the cluster first."
        return ""
    clusters = {release for release, runs in OPENSHIFT.items() if runs == minor}
    cluster = f"Kubernetes {kubernetes}" + (f", as OpenShift {' and '.join(map(str, sorted(clusters)))}" if clusters else "")
    oldest = min(release for releases, _versions in UPSTREAM.values() for release in releases)
    if minor < OPENSHIFT[oldest]:
        return f"The cluster runs {cluster}, and the first upstream operator was for {oldest}. Set operator_variant to osso."
    wrong = _wrong(version, clusters) if version else ""
    if not wrong:
        return ""
    fitting = _fitting(clusters)
    remedy = f"Choose {' or '.join(filter(None, [', '.join(fitting[:-1]), fitting[-1]]))}, or leave it out" if fitting else "Leave it out"
    return f"operator_version is {version}, {wrong}. {remedy}: the cluster runs {cluster}."


def _wrong(version, clusters):
    """Why an upstream version is for none of these releases of OpenShift; empty if it is, or if it is newer than the table."""
    number = _number(version)
    releases, versions = UPSTREAM.get(number[1], ((), ())) if number else ((), ())
    if number and number[0] == 1 and (number[1] > max(UPSTREAM) or (clusters & set(releases) and number > _number(versions[-1]))):
        return ""
    if version not in versions:
        return "which is no version of the upstream operator"
    if not clusters & set(releases):
        return f"which is for OpenShift {' and '.join(map(str, releases))}"
    if version not in _fitting(clusters):
        return f"which is for OpenShift {UPSTREAM_SINCE[version]} and later"
    return ""


def _fitting(clusters):
    return [
        version
        for releases, versions in UPSTREAM.values()
        for version in versions
        if any(release in clusters and UPSTREAM_SINCE.get(version, release) <= release for release in releases)
    ]


def _number(version):
    """(1, 5, 1) of ``1.5.1``, else None."""
    parts = version.split(".")
    return tuple(map(int, parts)) if len(parts) == 3 and all(part.isdigit() for part in parts) else None


class FilterModule:
    def filters(self):
        return {"operator_support": support}
