# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Presets: the real kube-scheduler accepts each of them, and wrong ones are refused before anything is written."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import PRESETS
from cluster.throwaway.layout import Layout
from support.direct_module import run_directly
from support.scheduler import IMAGE, program_with_plugins
from support.site import site

NEEDED = {
    "peaks": {
        "watcher_address": "http://load-watcher.invalid:2020",
        "node_power_model": {"node-1": {"k0": 300.5, "k1": -100.25, "k2": -0.03}},
    },
}


def program_of(own_cluster, preset) -> Path:
    """The kube-scheduler that can run the preset."""
    release = Layout(Path(os.environ["CLUSTER_DIR"])).release
    if preset.since > int(release.minor.partition(".")[2]):
        pytest.skip(f"the throwaway cluster is of Kubernetes {release.minor}")
    return own_cluster / "bin/kube-scheduler" if preset.image == "in-tree" else program_with_plugins(own_cluster)


@pytest.mark.parametrize("name", PRESETS)
def test_the_real_kube_scheduler_accepts_each_preset(kinds, own_cluster, name, tmp_path):
    """The program of the image; it queries the API server when it builds the plugins."""
    image = IMAGE if PRESETS[name].since <= 34 else "registry.k8s.io/kube-scheduler:v1.37.2"
    judged = run_directly("kube_scheduler_config", preset=name, preset_parameters=NEEDED.get(name, {}), image=image)
    assert judged.result["valid"] is True
    given, written = tmp_path / "config.yaml", tmp_path / "written.yaml"
    # With a file, the flag --kubeconfig does not count.
    connection = {"clientConnection": {"kubeconfig": f"{own_cluster}/kubeconfig"}}
    given.write_text(yaml.safe_dump({**yaml.safe_load(judged.result["text"]), **connection}))
    flags = [f"--config={given}", "--secure-port=0", f"--write-config-to={written}"]
    program = program_of(own_cluster, PRESETS[name])
    done = subprocess.run(["kube-scheduler", *flags], executable=program, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, written.exists()) == (0, True), done.stderr[-2000:]


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ({"preset": "no_scorin"}, "no_scoring"),
        (
            {"preset": "no_scoring", "preset_parameters": {"weight": 1}},
            "preset_parameters.weight: the preset no_scoring has no such parameter",
        ),
        ({"preset": "no_scoring", "config_text": "{}"}, "one of config, config_text, config_file and preset"),
        ({"preset": "peaks", "preset_parameters": NEEDED["peaks"], "image": IMAGE.replace("0.34.7", "0.30.12")}, "Peaks"),
    ],
    ids=["no such preset", "no such parameter", "two configurations", "too old"],
)
def test_invalid_preset_parameters_are_rejected_before_anything_is_written(kubeconfig, audit, item, said):
    with audit:
        run = site(variables={"secondary_schedulers": [{"name": "wrong", "image": IMAGE, **item}]}, succeed=False)
    (failure,) = run.failures
    assert said in str(failure.result), failure.result
    assert audit.writes() == []
