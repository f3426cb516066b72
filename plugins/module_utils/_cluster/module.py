# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every module has in common: authentication options, how it fails, and that its arguments are not logged."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, message_of
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import masked_objects
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.unicode import joined

NOT_SHOWN = "(not shown: it can contain a credential)"


def argument_spec(**own: Any) -> dict[str, Any]:
    """The options of the doc fragment ``osso.scheduler.cluster``, and the module's own."""
    return dict(copy.deepcopy(AUTH_ARG_SPEC), retry_seconds=dict(type="int", default=30), **own)


class _Unlogged(AnsibleModule):  # type: ignore[misc]  # ansible-core has no types
    """A module whose arguments are not written to the system log of its host: manifests and configurations contain credentials that the names of
    options do not reveal. The invocation, a part of the result, shows neither the arguments ``hidden`` nor an inline kubeconfig, and of all others no
    credential in an address. A module that has replaced the values of ``hidden`` by harmless ones empties it."""

    def __init__(self, hidden: Sequence[str], **module_args: Any):
        self.hidden = hidden
        super().__init__(**module_args)

    def exit_json(self, **result: Any) -> None:
        super().exit_json(invocation=self._invocation(), **result)

    def fail_json(self, msg: str, **result: Any) -> None:
        super().fail_json(msg, invocation=self._invocation(), **result)

    def _invocation(self) -> dict[str, Any]:
        shown = {name: NOT_SHOWN if value and self._is_hidden(name, value) else value for name, value in self.params.items()}
        return {"module_args": masked_objects(shown, {})[0]}

    def _is_hidden(self, name: str, value: Any) -> bool:
        return name in self.hidden or (name == "kubeconfig" and isinstance(value, dict))

    def _log_invocation(self) -> None:
        """In the place of what AnsibleModule does before a module can do anything."""


def cluster_module(run: Callable[[Any], dict[str, Any]], hidden: Sequence[str] = (), **module_args: Any) -> None:
    """Make an AnsibleModule of ``module_args``, call ``run(module)``, and exit with the dict that it returns.

    ``hidden``: arguments with configurations, manifests or pod templates, which can contain credentials.

    A `ClusterError` becomes one readable failure. Any other exception is a bug: of it only type and places are shown.
    """
    module = _Unlogged(hidden, **module_args)
    kubeconfig = module.params.get("kubeconfig")
    if isinstance(kubeconfig, dict):
        module.no_log_values.update(_credentials(kubeconfig))
    try:
        for name, value in module.params.items():
            joined(value, name)
        result, failure = run(module), None
    except Exception as error:
        result, failure = error.result if isinstance(error, ClusterError) else {}, {"msg": message_of(error)}
    for warning in result.pop("warnings", ()):
        module.warn(warning)
    # Outside of the handlers, since newer releases of ansible-core add the traceback of the exception that is being handled
    if failure:
        module.fail_json(**failure, **result)
    module.exit_json(**result)


def _credentials(kubeconfig: Mapping[str, Any]) -> Iterator[str]:
    """Every text in the user entries of an inline kubeconfig."""
    pending = [user.get("user") for user in kubeconfig.get("users") or []]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
        elif isinstance(value, str) and value:
            yield value
