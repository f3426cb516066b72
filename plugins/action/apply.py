# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The controller's part of the module apply: read files and render templates where the playbook and its variables are."""

from __future__ import annotations

from ansible.errors import AnsibleError
from ansible.plugins.loader import lookup_loader
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import read
from ansible_collections.osso.scheduler.plugins.plugin_utils.cluster_action import OnCluster
from ansible_collections.osso.scheduler.plugins.plugin_utils.in_fork import share
from ansible_collections.osso.scheduler.plugins.plugin_utils.user_error import UserError


class ActionModule(OnCluster):
    TRANSFERS_FILES = False
    _supports_async = True

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        args = dict(self._task.args)
        manifests = _as_list(args.pop("manifests", None))
        try:
            for path in _as_list(args.pop("src", None)):
                manifests += read(self._content(path), f"src {path}")
            for path in _as_list(args.pop("templates", None)):
                manifests += read(self._rendered(path, task_vars), f"templates {path}")
        except InputError as error:
            raise UserError(error.message) from None
        result.update(
            self._execute_module(
                module_name="osso.scheduler.apply",
                module_args=dict(args, manifests=manifests),
                task_vars=task_vars,
                wrap_async=self._task.async_val,
            )
        )
        return result

    def _content(self, path):
        try:
            # Decrypts what ansible-vault encrypted
            content, _show = self._loader._get_file_contents(self._find_needle("files", path))
            return content.decode("utf-8")
        except (AnsibleError, UnicodeDecodeError) as error:
            raise UserError(f"src {path}: {error}") from None

    def _rendered(self, path, task_vars):
        """What the lookup plugin ``template`` makes of it: the same search path and variables in every release of ansible-core."""
        lookup = lookup_loader.get("ansible.builtin.template", loader=self._loader, templar=self._templar)
        try:
            (rendered,) = lookup.run([path], variables=_Variables(task_vars))
        except AnsibleError as error:
            raise UserError(f"templates {path}: {error}") from None
        # What looks like JSON comes decoded from ansible-core before 2.19. A text has to be a plain one, since PyYAML's C parser takes
        # no subclass: neither the tagged text of 2.19 nor the unsafe one before, whose str() is unsafe again.
        return "".join([rendered]) if isinstance(rendered, str) else rendered


class _Variables(dict):
    """Variables of a task. The lookup copies them with all that they hold for each template, which takes longer than to render one."""

    def __deepcopy__(self, memo):
        return dict(self)


def _as_list(value):
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


share("apply")
