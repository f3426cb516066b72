# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plants bugs into the operator that runs on the cluster, to see the tests fail that are about them (README.md).

What plants.yml says of a case is mounted over the operator's own files, so no image is built; some bugs are in the cluster instead.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
COLLECTION = "/usr/share/ansible/collections/ansible_collections/osso/scheduler"
DEPLOYMENT = "osso-scheduler-operator"
OURS = ("planted", "planted-cache")


def plants() -> dict[str, list[dict]]:
    """Case -> what to replace (``file``, ``old``, ``new``) or to do to the cluster (``kubectl``: arguments)."""
    return yaml.safe_load((Path(__file__).parent / "plants.yml").read_text())


def planted(cases, table=None) -> dict[str, str]:
    """Path -> text of the files with the bugs of these cases."""
    table = table or plants()
    files: dict[str, str] = {}
    for case in cases:
        for plant in (plant for plant in table[case] if "file" in plant):
            text = files.get(plant["file"]) or (ROOT / plant["file"]).read_text()
            if text.count(plant["old"]) != 1:
                raise ValueError(f"{case}: {plant['file']} holds {text.count(plant['old'])} times {plant['old']!r}")
            files[plant["file"]] = text.replace(plant["old"], plant["new"])
    return files


@contextmanager
def bugs(kubectl, namespace, cases):
    """The operator has the bugs of these cases inside the block."""
    try:
        for arguments in (plant["kubectl"] for case in cases for plant in plants()[case] if "kubectl" in plant):
            kubectl(*arguments)
        _mount(kubectl, namespace, planted(cases))
        yield
    finally:
        _mount(kubectl, namespace, {})


def _mount(kubectl, namespace, files):
    """Have the operator run with these files (path -> text) and no other ones than its own."""
    place = f"--namespace={namespace}"
    pod = kubectl.json("get", "deployment", DEPLOYMENT, place)["spec"]["template"]["spec"]
    mounts = [mount for mount in pod["containers"][0]["volumeMounts"] if mount["name"] not in OURS]
    volumes = [volume for volume in pod["volumes"] if volume["name"] not in OURS]
    kubectl("delete", "configmap", OURS[0], place, "--ignore-not-found")
    if files:
        data = {path.replace("/", "--"): text for path, text in files.items()}
        kubectl(
            "create", place, "--filename=-", stdin={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": OURS[0]}, "data": data}
        )
        volumes += [{"name": OURS[0], "configMap": {"name": OURS[0]}}, {"name": OURS[1], "emptyDir": {}}]
        mounts += [{"name": OURS[0], "mountPath": f"{COLLECTION}/{path}", "subPath": path.replace("/", "--")} for path in files]
        # What was compiled of the files before does not count.
        folders = sorted({str(Path(path).parent) for path in files if path.endswith(".py")})
        mounts += [{"name": OURS[1], "mountPath": f"{COLLECTION}/{folder}/__pycache__", "subPath": folder} for folder in folders]
    where = "/spec/template/spec"
    patch = [
        {"op": "replace", "path": f"{where}/containers/0/volumeMounts", "value": mounts},
        {"op": "replace", "path": f"{where}/volumes", "value": volumes},
    ]
    kubectl("patch", "deployment", DEPLOYMENT, place, "--type=json", f"--patch={json.dumps(patch)}")
    kubectl("rollout", "status", f"deployment/{DEPLOYMENT}", place, "--timeout=120s")
