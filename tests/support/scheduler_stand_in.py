# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stand-in for kube-scheduler, for previews without one: a program that knows CPU, taints, cordons and the affinity for one node.

A node with the highest number in the label `score` is chosen, of several the last one. It logs as kube-scheduler does. It preempts a pod of a lower
priority. Pods with the label `silent` are not processed. Its arguments and configuration are written to the file that `write` returns.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from urllib.request import Request, urlopen

VERSION = GIVEN = ""


def write(folder: Path, version: str = "Kubernetes v1.34.1") -> tuple[str, Path]:
    """The program, and the file with what it was given."""
    path, given = folder / "kube-scheduler", folder / "given.json"
    text = Path(__file__).read_text().replace('VERSION = GIVEN = ""', f"VERSION, GIVEN = {version!r}, {str(given)!r}", 1)
    path.write_text(f"#!{sys.executable} -S\n{text}")
    path.chmod(0o755)
    return str(path), given


def amount(text):
    return Fraction(text.removesuffix("m")) / (1000 if text.endswith("m") else 1)


class Scheduler:
    def __init__(self, url, names):
        self.url, self.names, self.assigned = url, names, set()

    def request(self, method, path, body=None):
        content = None if body is None else json.dumps(body).encode()
        with urlopen(Request(f"{self.url}{path}", content, method=method)) as answer:
            return json.load(answer)

    def log(self, message, pod, more=""):
        about = pod["metadata"]
        sys.stderr.write(f'I1125 10:00:00.000000       1 a.go:1] "{message}" pod="{about["namespace"]}/{about["name"]}"{more}\n')
        sys.stderr.flush()

    def run(self):
        with urlopen(f"{self.url}/api/v1/pods?watch=true&sendInitialEvents=true") as stream:
            for line in stream:
                event = json.loads(line)
                if event["type"] != "BOOKMARK":
                    self.handle(event["type"], event["object"])

    def handle(self, event, pod):
        key = (pod["metadata"]["namespace"], pod["metadata"]["name"])
        if pod["spec"].get("nodeName"):
            if event == "DELETED":
                self.assigned.discard(key)
                self.log("Delete event for scheduled pod", pod)
            elif key not in self.assigned:
                self.assigned.add(key)
                self.log("Add event for scheduled pod", pod)
        elif event == "ADDED" and pod["spec"].get("schedulerName") in self.names and "silent" not in pod["metadata"].get("labels", {}):
            self.schedule(pod, "/api/v1/namespaces/{}/pods/{}".format(*key))

    def schedule(self, pod, path):
        self.log("Attempting to schedule pod", pod)
        present = self.request("GET", "/api/v1/pods")["items"]
        nodes = {one["metadata"]["name"]: one for one in self.request("GET", "/api/v1/nodes")["items"]}
        reasons = {name: self.rejects(pod, node, present) for name, node in nodes.items()}
        fitting = [name for name, reason in reasons.items() if reason is None]
        scores = {name: int(nodes[name]["metadata"].get("labels", {}).get("score", 0)) for name in fitting}
        if len(fitting) > 1:
            for name, points in scores.items():
                self.log("Plugin scored node for pod", pod, f' plugin="Label" node="{name}" score={points}')
                self.log("Calculated node's final score for pod", pod, f' node="{name}" score={points}')
        if fitting:
            best = [name for name in fitting if scores[name] == max(scores.values())][-1]
            self.request("POST", f"{path}/binding", {"target": {"name": best}})
            return
        plugins = "".join(f'"{plugin}":{{}},' for plugin in sorted({plugin for plugin, _reason in reasons.values()}))
        self.log("Pod moved to an internal scheduling queue", pod, f" unschedulable plugins={{{plugins[:-1]}}}")
        counted = [reason for _plugin, reason in reasons.values()]
        words = ", ".join(f"{counted.count(reason)} {reason}" for reason in dict.fromkeys(counted))
        condition = {"type": "PodScheduled", "status": "False", "message": f"0/{len(nodes)} nodes are available: {words}."}
        victim = self.victim(pod, present, reasons)
        nominated = {"nominatedNodeName": victim["spec"]["nodeName"]} if victim else {}
        if victim:
            about = {name: victim["metadata"][name] for name in ("namespace", "name")}
            self.request("DELETE", "/api/v1/namespaces/{namespace}/pods/{name}".format(**about))
            event = {"reason": "Preempted", "regarding": about, "note": f"Preempted by pod {pod['metadata']['uid']} on node x"}
            self.request("POST", f"/apis/events.k8s.io/v1/namespaces/{about['namespace']}/events", event)
        self.request("PATCH", f"{path}/status", {"status": {"conditions": [condition], **nominated}})
        if victim:
            self.request("POST", f"{path}/binding", {"target": {"name": victim["spec"]["nodeName"]}})

    def victim(self, pod, present, reasons):
        if pod["spec"].get("preemptionPolicy") == "Never":
            return None
        full = [name for name, reason in reasons.items() if reason[0] == "NodeResourcesFit"]
        lower = [one for one in present if one["spec"].get("nodeName") in full]
        return next((one for one in lower if one["spec"].get("priority", 0) < pod["spec"].get("priority", 0)), None)

    def rejects(self, pod, node, present):
        """Plugin and reason, None if the pod fits."""
        spec, tolerated = pod["spec"], {one.get("key") for one in pod["spec"].get("tolerations", [])}
        affinity = spec.get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {})
        names = [
            value for term in affinity.get("nodeSelectorTerms", []) for field in term.get("matchFields", []) for value in field["values"]
        ]
        if names and node["metadata"]["name"] not in names:
            return "NodeAffinity", "node(s) didn't satisfy plugin(s) [NodeAffinity]"
        labels = node["metadata"].get("labels", {})
        if any(labels.get(name) != value for name, value in spec.get("nodeSelector", {}).items()):
            return "NodeAffinity", "node(s) didn't match Pod's node affinity/selector"
        if node["spec"].get("unschedulable") and "node.kubernetes.io/unschedulable" not in tolerated:
            return "NodeUnschedulable", "node(s) were unschedulable"
        for taint in node["spec"].get("taints", []):
            if taint["key"] not in tolerated:
                return "TaintToleration", f"node(s) had untolerated taint {{{taint['key']}: }}"
        used = sum(self.cpu(one) for one in present if one["spec"].get("nodeName") == node["metadata"]["name"])
        if used + self.cpu(pod) > amount(node["status"]["allocatable"]["cpu"]):
            return "NodeResourcesFit", "Insufficient cpu"
        return None

    def cpu(self, pod):
        return sum(amount(one.get("resources", {}).get("requests", {}).get("cpu", "0")) for one in pod["spec"]["containers"])


def main(arguments):
    if arguments == ["--version"]:
        print(VERSION)
        return
    config = json.loads(Path(arguments[0].partition("=")[2]).read_text())
    Path(GIVEN).write_text(json.dumps({"arguments": arguments[1:], "config": config}))
    cluster = json.loads(Path(config["clientConnection"]["kubeconfig"]).read_text())["clusters"][0]["cluster"]
    Scheduler(cluster["server"], [one["schedulerName"] for one in config["profiles"]]).run()


if __name__ == "__main__":
    main(sys.argv[1:])
