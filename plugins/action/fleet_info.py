# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action fleet_info: once for all hosts of a play. The module of that name only documents it."""

from __future__ import annotations

import os

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase
from ansible.utils.vars import load_extra_vars
from ansible_collections.osso.scheduler.plugins.module_utils._fleet.cluster_identity import GROUP, VARIABLE, problems, similar, twins
from ansible_collections.osso.scheduler.plugins.module_utils._variables import playbooks, spelling
from ansible_collections.osso.scheduler.plugins.plugin_utils.in_fork import InFork, share
from ansible_collections.osso.scheduler.plugins.plugin_utils.user_error import UserError

SHORT = 8
# What playbooks keep the result in
REGISTERED = "fleet_clusters"
# Jobs that read `preview` and `probe`
DEPLOYING = ("configure.yml", "site.yml")
REMEDY = "Nothing was changed. docs/install.md, Many clusters, has examples."


class ActionModule(InFork, ActionBase):
    BYPASS_HOST_LOOP = True
    TRANSFERS_FILES = False
    _VALID_ARGS = frozenset()

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        hosts, members = task_vars["ansible_play_hosts_all"], set(task_vars["groups"].get(GROUP, ()))
        variables = {name: _variables(task_vars["hostvars"], name) for name in hosts}
        wrong = [
            f"{name}: {problem}." for name in hosts for problem in problems(variables[name], os.environ, required=name in members)
        ] + _outside(task_vars, members, variables)
        if wrong:
            return dict(result, failed=True, msg=" ".join([*wrong, REMEDY]))
        misread = {problem for name in hosts for problem in _misread(task_vars["hostvars"][name], task_vars.get("fleet_job"))}
        if misread:
            return dict(result, failed=True, msg=" ".join([*sorted(misread), "Nothing was changed."]))
        found, unknown = self._identify(hosts, variables, task_vars) if len(hosts) > 1 else ({}, {})
        several = twins(found)
        if several:
            told = " ".join(f"{', '.join(names)} are one cluster ({_shown(found[names[0]])})." for names in several)
            return dict(result, failed=True, msg=f"{told} Leave all but one of them out, or correct their {VARIABLE}. {REMEDY}")
        clusters = {name: {"id": _short(cluster["uid"]), "server": cluster["server"]} for name, cluster in found.items()}
        return dict(result, changed=False, clusters=clusters, unknown=unknown, warnings=_misspelt(variables, self._loader))

    def _identify(self, hosts, variables, task_vars):
        """What is known of each cluster; and why nothing is known of others, by name."""
        arguments = [{**variables[name].get(VARIABLE, {}), "gather": ["cluster"]} for name in hosts]
        answers = self._execute_side_by_side("osso.scheduler.scheduler_info", arguments, task_vars, int(task_vars["ansible_forks"]))
        told = dict(zip(hosts, answers))
        failed = {name: answer.get("msg") or "it does not say why" for name, answer in told.items() if "cluster" not in answer}
        return {name: answer["cluster"] for name, answer in told.items() if name not in failed}, failed


def _variables(hostvars, name):
    """Variables of a host by their names; only the access has its value, which may be a template."""
    of_host = hostvars[name]
    known = dict.fromkeys(of_host)
    if VARIABLE in known:
        try:
            access = of_host[VARIABLE]
            known[VARIABLE] = dict(access) if hasattr(access, "items") else access if access is not None else ""
        except AnsibleError as error:
            raise UserError(f"{name}: {VARIABLE} cannot be evaluated: {error}") from error
    return known


def _misread(of_host, job):
    """Values of a host that a playbook would misread. Other collections may have a variable `probe`, too."""
    names = (*playbooks.BOOLS, *playbooks.NAMESPACES, *playbooks.NUMBERS, *(playbooks.CHOICES if job in DEPLOYING else ()))
    return playbooks.errors({name: of_host[name] for name in names if name in of_host})


def _misspelt(variables, loader):
    """Warnings of variables without an effect. The facts of an earlier play are among those of the hosts; that play has warned already."""
    names = {name for known in variables.values() for name in known if isinstance(name, str)}
    return spelling.warnings(load_extra_vars(loader), () if REGISTERED in names else names)


def _outside(task_vars, members, variables):
    """A group with another name leaves the play to the cluster of the environment."""
    if members or any(known.get(VARIABLE) is not None for known in variables.values()):
        return []
    others = {}
    for name in task_vars["groups"].get("all", ()):
        known = () if name in variables else task_vars["hostvars"][name]
        variable = VARIABLE if VARIABLE in known else similar(known)
        if variable:
            others.setdefault(variable, []).append(name)
    if not others:
        return []
    told = " and ".join(f"{variable} for {', '.join(names[:3])}{' and others' if names[3:] else ''}" for variable, names in others.items())
    rename = "" if set(others) == {VARIABLE} else f", and name the variable {VARIABLE}"
    return [f"The inventory has no host in the group {GROUP}, but {told}: put them into that group{rename}."]


def _short(uid):
    return (uid or "")[:SHORT]


def _shown(cluster):
    return f"{cluster['server']}{', id ' + _short(cluster['uid']) if cluster['uid'] else ''}"


share("scheduler_info")
