# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The demo's installation, which the tests of operator and playbooks work on."""

from __future__ import annotations

from pathlib import Path

import yaml

from .ansible_runs import Run, play

DEMO = Path(__file__).parents[1] / "demo/vars.yml"
VARIABLES = yaml.safe_load(DEMO.read_text())
NAMESPACE = "openshift-secondary-scheduler-operator"
RESOURCE = "secondaryschedulers.operator.openshift.io"


_is_as_installed = False


def installed() -> None:
    """See to it that the demo's installation is there, as `site` leaves it without a probe.

    That costs nothing where no test has installed anything else since: tests leave it as they found it.
    """
    global _is_as_installed
    if not _is_as_installed:
        site(variables={"probe": "never"})
        _is_as_installed = True


def changed() -> None:
    """To be called by a test that has changed the demo's installation otherwise than by `site` or `remove`."""
    global _is_as_installed
    _is_as_installed = False


def site(variables_file: Path = DEMO, **options) -> Run:
    """Run osso.scheduler.site with the demo's variables or those of another file; `options` as for `play`."""
    changed()
    return play("osso.scheduler.site", args=[f"--extra-vars=@{variables_file}"], **options)


def remove(**options) -> Run:
    """Run osso.scheduler.remove."""
    changed()
    return play("osso.scheduler.remove", **options)


def gone(kubectl) -> bool:
    """Whether neither namespace nor definition is there."""
    found = kubectl("get", "namespaces,customresourcedefinitions", "--output=name").stdout.split()
    return not {f"namespace/{NAMESPACE}", f"customresourcedefinition.apiextensions.k8s.io/{RESOURCE}"} & set(found)


def removed(kubectl) -> None:
    """See to it that nothing is installed. Like `installed`, that costs nothing where it is so."""
    changed()
    if not gone(kubectl):
        remove()
