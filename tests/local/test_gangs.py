# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter in_tree_gangs. What it converts: tests/unit/plugins/module_utils/_scheduling/test_gangs.py."""

from __future__ import annotations

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from ansible_collections.osso.scheduler.plugins.filter.scheduler import in_tree_gangs


def test_empty_documents_are_left_out():
    assert in_tree_gangs(yaml.safe_load_all("---\n---\nkind: ConfigMap\n---\n")) == [{"kind": "ConfigMap"}]


@pytest.mark.parametrize(("manifests", "wrong"), [(["kind: Pod"], "'kind: Pod'"), ({"kind": "Pod"}, "'kind'"), (3, "'3'")])
def test_a_value_that_is_not_a_manifest_is_an_error_of_the_filter(manifests, wrong):
    with pytest.raises(AnsibleFilterError, match=f"{wrong} is no manifest: give a list of mappings"):
        in_tree_gangs(manifests)
