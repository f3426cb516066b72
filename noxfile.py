# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks and tests as sessions of nox, for contributors who know these names from other collections: `nox --list`.

Each session is a target of make, which makes the environment; after `--`, units, api, reconcile and cluster take a selection of tests:
`nox -s units -- tests/unit -k access`.
"""

import shlex

import nox

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "none"
nox.options.sessions = ["lint", "sanity", "units", "api", "reconcile"]


def make(session, target, selects=False):
    if session.posargs and not selects:
        session.error(f"this session takes no arguments: nox -s {session.name}")
    selected = [f"TESTS={shlex.join(session.posargs)}"] if session.posargs else []
    session.run("make", target, *selected, external=True)


@nox.session
def lint(session):
    """ruff, mypy, yamllint, ansible-lint, prose, changelog and documentation checks."""
    make(session, "lint")


@nox.session
def sanity(session):
    """ansible-test sanity on the series of ansible-core that Red Hat certifies with."""
    make(session, "sanity")


@nox.session
def units(session):
    """Unit tests, and tests of tools, generated files and plays on this host."""
    make(session, "unit", selects=True)


@nox.session
def api(session):
    """Tests on API servers without nodes."""
    make(session, "test-api", selects=True)


@nox.session
def reconcile(session):
    """The operator's reconcile in the process of the test."""
    make(session, "test-reconcile", selects=True)


@nox.session
def cluster(session):
    """Integration tests on the throwaway cluster."""
    make(session, "test-integration", selects=True)


@nox.session
def molecule(session):
    """Molecule scenarios on the throwaway cluster."""
    make(session, "molecule")


@nox.session
def docs(session):
    """The documentation as a site in .cache/docs/html."""
    make(session, "docs")
