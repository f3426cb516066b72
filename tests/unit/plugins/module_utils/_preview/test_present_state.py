# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Baselines that are read from a cluster: a SecondaryScheduler, and the scheduler of a schedulerName."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import PLUGINS_ANNOTATION, VERSION_ANNOTATION
from ansible_collections.osso.scheduler.plugins.module_utils._preview import present_state, running_scheduler

TEXT = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


class Operator:
    """An API server with a SecondaryScheduler and the ConfigMap that it names, as far as they are given."""

    def __init__(self, resource=None, data=None, status=0):
        self.live, self.data, self.status = resource, data, status

    def resource(self, api_version, kind):
        if kind == "SecondaryScheduler" and self.status:
            raise ApiError(self.status, "Reason", "words")
        return (api_version, kind)

    def get(self, resource, name, namespace):
        if resource == ("operator.openshift.io/v1", "SecondaryScheduler"):
            assert (name, namespace) == ("one", "ns")
            return self.live
        assert (resource, name, namespace) == (("v1", "ConfigMap"), "config", "ns")
        return None if self.data is None else {"metadata": {"name": name}, "data": self.data}


RESOURCE = {
    "metadata": {"name": "one", "annotations": {VERSION_ANNOTATION: "1.34", PLUGINS_ANNOTATION: "in-tree"}},
    "spec": {"schedulerConfig": "config", "schedulerImage": "registry.example.com/s:1"},
}
GIVEN = {"secondary_scheduler": {"name": "one", "namespace": "ns"}, "image": None}


def test_a_baseline_is_read_from_a_secondary_scheduler():
    found = present_state.read(Operator(RESOURCE, {"config.yaml": TEXT}), GIVEN)
    assert found == {
        "release": "1.34",
        "plugins": "in-tree",
        "source": "baseline.secondary_scheduler: ns/one",
        "image": "registry.example.com/s:1",
        "config_text": TEXT,
        "may_be_broken": True,
    }
    bare = {"metadata": {}, "spec": {"schedulerConfig": "config"}}
    own = present_state.read(Operator(bare, {"config.yaml": TEXT}), {**GIVEN, "release": "1.33", "skopeo": "s"})
    assert (own["release"], own["plugins"], own["image"], own["skopeo"]) == ("1.33", None, None, "s")
    assert "secondary_scheduler" not in own


@pytest.mark.parametrize("server", [Operator(status=404), Operator(), Operator(RESOURCE), Operator(RESOURCE, {"other": TEXT})])
def test_a_secondary_scheduler_that_does_not_exist_yet_gives_no_baseline(server):
    assert present_state.read(server, GIVEN) is None


def test_a_secondary_scheduler_that_may_not_be_read_is_an_error():
    with pytest.raises(ApiError, match="words"):
        present_state.read(Operator(status=403), GIVEN)


def test_placeholders_are_filled_with_harmless_values():
    assert present_state.filled("a: ${PROM_URL}\nb: ${PROM_TOKEN}\n") == "a: http://127.0.0.1:9\nb: preview\n"


class Cluster:
    """An API server with OpenShift's default scheduler, with these words on its command line, and its configuration by revision."""

    def __init__(self, *words, text=TEXT, image="registry.k8s.io/kube-scheduler:v1.34.1", refuses=()):
        self.words, self.text, self.image, self.refuses = words, text, image, refuses

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def list(self, resource, namespace=None, **selectors):
        if resource.kind in self.refuses:
            raise ApiError(403, "Forbidden", f"no {resource.plural}")
        if resource.kind != "Pod" or namespace != "openshift-kube-scheduler":
            return []
        container = {"name": "kube-scheduler", "image": self.image, "command": ["kube-scheduler"], "args": list(self.words)}
        return [
            {
                "metadata": {
                    "namespace": namespace,
                    "name": "openshift-kube-scheduler-m1",
                    "labels": {"revision": "7"},
                    "annotations": {"kubernetes.io/config.mirror": "1"},
                },
                "spec": {"containers": [container], "nodeName": "m1", "hostNetwork": True},
                "status": {
                    "containerStatuses": [{"name": "kube-scheduler", "state": {"running": {}}}],
                    "conditions": [{"type": "Ready", "status": "True"}],
                },
            }
        ]

    def get(self, resource, name, namespace=None):
        if (resource.kind, name) == ("ConfigMap", "config-7") and self.text:
            return {"metadata": {}, "data": {"config.yaml": self.text}}
        return None


def test_a_baseline_takes_image_configuration_and_flags_from_the_cluster():
    server = Cluster("--config=/etc/c.yaml", "--feature-gates=A=true", "--v=2", text=TEXT + "parallelism: 3\n")
    found = running_scheduler.read(server, {"scheduler_name": "default-scheduler", "image": None, "skopeo": "s"})
    assert found == {
        "image": server.image,
        "config_text": TEXT + "parallelism: 3\n",
        "flags": ["--feature-gates=A=true"],
        "as_scheduler": "default-scheduler",
        "source": "baseline.scheduler_name: default-scheduler (StaticPod openshift-kube-scheduler/kube-scheduler)",
        "skopeo": "s",
    }
    own = running_scheduler.read(server, {"scheduler_name": "default-scheduler", "image": "mine", "flags": []})
    assert (own["image"], own["flags"]) == ("mine", [])


def test_without_a_configuration_the_defaults_run():
    found = running_scheduler.read(Cluster(), {"scheduler_name": "default-scheduler"})
    assert (found["config_text"], found["flags"]) == (TEXT, [])


@pytest.mark.parametrize(
    ("server", "name", "why"),
    [
        (
            Cluster("--config=/etc/c.yaml", text=None),
            "default-scheduler",
            r"of StaticPod openshift-kube-scheduler/kube-scheduler is unknown: it is the file /etc/c\.yaml of its node, or cannot be read\. In the place of",
        ),
        (
            Cluster(),
            "x",
            r"^baseline\.scheduler_name: x: no scheduler of the cluster has this schedulerName\. Known are: default-scheduler\.$",
        ),
        (Cluster(refuses=("Deployment",)), "x", r"Known are: default-scheduler\. Could not be read: .*no deployments.*\.$"),
    ],
)
def test_a_scheduler_name_that_gives_no_baseline_is_an_error(server, name, why):
    with pytest.raises(InputError, match=why):
        running_scheduler.read(server, {"scheduler_name": name})
