# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the action plugins of modules with authentication options share: where a task gives none of them, they come from ``cluster_access``."""

from __future__ import annotations

from ansible.errors import AnsibleError
from ansible.plugins.action.normal import ActionModule as Normal
from ansible_collections.osso.scheduler.plugins.module_utils._fleet.cluster_identity import GROUP, VARIABLE, option_names, problems
from ansible_collections.osso.scheduler.plugins.plugin_utils.in_fork import InFork, share
from ansible_collections.osso.scheduler.plugins.plugin_utils.user_error import UserError


class OnCluster(InFork):
    """An action that executes a module with authentication options."""

    def _execute_module(self, module_name=None, module_args=None, task_vars=None, **others):
        arguments = self._task.args if module_args is None else module_args
        arguments = with_access(arguments, task_vars or {}, self._templar)
        return super()._execute_module(module_name=module_name, module_args=arguments, task_vars=task_vars, **others)


def action_of(module, *parts):
    """The action plugin of a module that needs nothing else from the controller; ``parts``: as `share` has them."""
    share(module, *parts)
    return type("ActionModule", (OnCluster, Normal), {})


def with_access(arguments, variables, templar):
    """The arguments of a module with the options of ``cluster_access``, unless they have authentication options of their own.

    Raises `UserError` where that variable is no mapping of options, and for a host of the group ``clusters`` without it: such a host is never
    the cluster of the environment.
    """
    if any(arguments.get(name) not in (None, "") for name in option_names() if name != "retry_seconds"):
        return arguments
    try:
        access = templar.template(variables.get(VARIABLE))
    except AnsibleError as error:
        raise UserError(f"{VARIABLE} cannot be evaluated: {error}") from error
    wrong = problems({VARIABLE: access}, {}, required=False)
    if access is None and GROUP in variables.get("group_names", ()):
        wrong = [f"{VARIABLE} is missing for {variables['inventory_hostname']}, a host of the group {GROUP}"]
    if wrong:
        raise UserError(". ".join(wrong))
    given = {name: value for name, value in arguments.items() if value not in (None, "") or name not in option_names()}
    return {**(access or {}), **given}
