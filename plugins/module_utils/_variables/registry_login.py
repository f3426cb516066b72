# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of the role registry_login."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._images.credentials import auth_file


def complete(given: Mapping[str, Any]) -> dict[str, Any]:
    """``errors``: what of ``given``, the variables, cannot work, with the names that these have in the role of the user. No value is shown."""
    prefix, credentials = given["registry_login_prefix"], given["registry_login_credentials"]
    found = []
    try:
        auth_file(credentials, f"{prefix}credentials")
    except ValueError as error:
        found.append(f"{error}.")
    if credentials and given["registry_login_auth_file"]:
        found.append(f"{prefix}credentials and {prefix}auth_file exclude each other: give one of them.")
    files = {name: given[f"registry_login_{name}"] for name in ("auth_file", "ca_file")}
    found += [f"There is no file {path}: correct {prefix}{name}." for name, path in files.items() if path and not os.path.isfile(path)]
    return {"errors": found}
