# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Filters of the roles mirror, publish and registry_login. Each is documented in the file NAME.yml beside this one."""

from __future__ import annotations

from functools import wraps

from ansible.errors import AnsibleFilterError
from ansible_collections.osso.scheduler.plugins.module_utils._images import credentials, mirroring, registry_errors


def readable(function):
    """The function with its ValueError as an error of a filter, which Ansible shows without a traceback."""

    @wraps(function)
    def call(*arguments, **options):
        try:
            return function(*arguments, **options)
        except ValueError as error:
            raise AnsibleFilterError(str(error)) from None

    return call


class FilterModule:
    def filters(self):
        return {
            "mirror_catalog_images": readable(mirroring.catalog_images),
            "mirror_compare": mirroring.compare,
            "mirror_plan": readable(mirroring.plan),
            "mirror_rewritten": readable(mirroring.rewritten),
            "mirror_set": readable(mirroring.mirror_set),
            "mirror_variables": mirroring.variables,
            "registry_auth": readable(credentials.auth_file),
            "registry_problems": registry_errors.problems,
            "registry_trouble": registry_errors.explain,
        }
