# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The example inventories of docs/inventories, as Ansible reads them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "docs/inventories"


def listed(inventory, **environment) -> dict:
    """What Ansible finds in it: groups and, below _meta, variables of hosts."""
    command = ["ansible-inventory", f"--inventory={inventory}", "--list"]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    return {**json.loads(done.stdout), "said": done.stderr}


def test_the_example_inventory_has_clusters_as_hosts_with_cluster_access():
    found = listed(EXAMPLES / "clusters.yml")
    accesses = {name: about["cluster_access"] for name, about in found["_meta"]["hostvars"].items()}
    assert accesses.keys() == {"berlin", "lisbon", "oslo", "paris"}
    assert accesses["berlin"].keys() == {"kubeconfig", "context"}
    assert accesses["lisbon"].keys() == {"host", "api_key", "ca_cert"}
    assert set(found["canary"]["hosts"]) <= accesses.keys()


@pytest.fixture
def script(tmp_path):
    """A copy of the script, with an empty folder of kubeconfigs beside it."""
    (tmp_path / "kubeconfigs").mkdir()
    return Path(shutil.copy(EXAMPLES / "kubeconfigs.sh", tmp_path))


def test_each_file_of_a_folder_is_a_cluster(script, tmp_path):
    folder = tmp_path / "kubeconfigs"
    for name in ("berlin.kubeconfig", "lisbon.yaml", "oslo", "eu.paris.conf", ".hidden"):
        (folder / name).touch()
    (folder / "more").mkdir()
    found = listed(script)
    assert sorted(found["clusters"]["hosts"]) == ["berlin", "eu.paris", "lisbon", "oslo"]
    assert found["_meta"]["hostvars"]["lisbon"] == {"cluster_access": {"kubeconfig": str(folder / "lisbon.yaml")}}
    elsewhere = folder.rename(tmp_path / "elsewhere")
    assert "berlin" in listed(script, KUBECONFIGS=str(elsewhere))["clusters"]["hosts"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "there is no kubeconfig in"),
        (["a b.yaml"], "a b.yaml: rename it"),
        (['a".yaml'], "rename it"),
        (["a.yaml", "a.conf"], "another file is called a, too"),
        (None, "set KUBECONFIGS to a folder"),
    ],
)
def test_an_unusable_folder_of_kubeconfigs_is_rejected(script, tmp_path, names, said):
    for name in names or []:
        (tmp_path / "kubeconfigs" / name).touch()
    if names is None:
        (tmp_path / "kubeconfigs").rmdir()
    found = listed(script)
    assert said in " ".join(found["said"].split())
    assert "clusters" not in found
