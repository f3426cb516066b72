# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action validate_variables, the first task of a role. The module of that name only documents it.

The argument specification is part of it. Ansible validates that itself, too, unless the role is called with ``rolespec_validate: false``.
"""

from __future__ import annotations

import os
from pathlib import Path

from ansible.errors import AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.action import ActionBase
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.secrets import without_tokens
from ansible_collections.osso.scheduler.plugins.module_utils._variables import (
    custom_scheduler,
    default_scheduler,
    mirror,
    monitoring,
    operator,
    publish,
    registry_login,
    secondary_scheduler,
    typed_values,
)
from ansible_collections.osso.scheduler.plugins.plugin_utils.user_error import UserError

# What is checked beside types, by the name of the role: ``given``, the variables; ``changed``, those that differ from their defaults; ``facts``
VALIDATORS = {
    "custom_scheduler": lambda given, changed, facts: custom_scheduler.complete(
        given["custom_schedulers"], facts.get("names", ()), facts.get("checked", ())
    ),
    "default_scheduler": lambda given, changed, facts: default_scheduler.complete(given, changed, facts.get("refusals")),
    "mirror": lambda given, changed, facts: mirror.complete(given, facts),
    "monitoring": lambda given, changed, facts: monitoring.complete(given),
    # Types alone, as long as nothing is known of the cluster
    "operator": lambda given, changed, facts: operator.complete(given, changed, facts) if facts else {"errors": []},
    "publish": lambda given, changed, facts: publish.complete(given, facts),
    "registry_login": lambda given, changed, facts: registry_login.complete(given),
    "secondary_scheduler": lambda given, changed, facts: secondary_scheduler.complete(
        given["secondary_schedulers"], given["secondary_scheduler_operator_variant"], facts.get("names", ()), facts.get("upstream")
    ),
}
# A configuration may hold a token.
HIDDEN = ("items", "errors")


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = False
    _VALID_ARGS = frozenset(["facts"])

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        if not self._task._role:
            raise UserError("validate_variables checks the variables of a role: call it as a task of a role.")
        folder = Path(task_vars["role_path"])
        specification = self._loader.load_from_file(str(folder / "meta/argument_specs.yml"))
        options = specification["argument_specs"]["main"]["options"]
        given = {name: self._templar.template(task_vars[name]) for name in options if name in task_vars}
        # Each ends the validation: the rules after it need well-typed values, and Ansible would report a wrong type again.
        errors = typed_values.errors(options, given) or ArgumentSpecValidator(options).validate(given).error_messages
        if not errors:
            given = {name: typed_values.typed(value, options[name].get("type")) for name, value in given.items()}
            # A default that is a template counts as changed; of the variables that matter none is.
            defaults = self._task._role.get_default_vars()
            changed = [name for name, value in given.items() if name not in defaults or value != defaults[name]]
            validate = VALIDATORS.get(folder.name)
            found = validate(given, changed, self._task.args.get("facts") or {}) if validate else {"errors": []}
            result.update({name: value for name, value in found.items() if name not in HIDDEN})
            errors = found["errors"] + list(self._errors_of_files(found.get("items", ())))
        if errors:
            raise UserError(without_tokens("\n".join(errors)))
        return dict(result, changed=False)

    def _errors_of_files(self, items):
        """The files of configurations that cannot be read, where the roles look for them: errors with place, value and remedy."""
        for item in items:
            name = item.get("config_file")
            if name and item["state"] == "present" and not self._is_readable(name):
                yield (
                    f"{item['where']}: config_file is {name}, which is no readable file on the control node. Correct the path; a relative one starts at "
                    f"the working directory of the play, {os.getcwd()}."
                )

    def _is_readable(self, name):
        path = os.path.realpath(os.path.expanduser(name))
        if not os.path.exists(path):
            try:
                path = self._find_needle("files", name)
            except AnsibleError:
                return False
        return os.path.isfile(path) and os.access(path, os.R_OK)
