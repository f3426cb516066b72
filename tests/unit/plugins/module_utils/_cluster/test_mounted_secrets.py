# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of the Secrets that the pods of a Deployment mount."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.mounted_secrets import SECRETS, with_secrets
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.pod_templates import mounted

ENDED = "2026-11-27T12:00:00Z"


def deployment(secrets=None, pods=None, mounted=("a", "b"), ended=ENDED):
    annotated = [{"annotations": {SECRETS: value}} if value else {} for value in (secrets, pods)]
    volumes = [{"name": name, "secret": {"secretName": name}} for name in mounted]
    status = {"conditions": [{"type": "Progressing", "status": "True", "lastUpdateTime": ended}]} if ended else {}
    return {"metadata": annotated[0], "spec": {"template": {"metadata": annotated[1], "spec": {"volumes": volumes}}}, "status": status}


def found(created=ENDED, **uids):
    return {name: {"metadata": {"uid": uid, "creationTimestamp": created}} for name, uid in uids.items()}


def test_the_names_are_those_of_mounted_secrets():
    volumes = [{"name": "b", "secret": {"secretName": "b"}}, {"name": "a", "secret": {"secretName": "a"}}, {"name": "t", "emptyDir": {}}]
    assert mounted({"spec": {"template": {"spec": {"volumes": volumes}}}}, "Secret") == ["a", "b"]
    assert mounted(deployment(mounted=()), "Secret") == []


def test_a_new_deployment_and_one_without_a_record_are_only_recorded():
    for live in (None, deployment(), deployment("other=1"), deployment(ended=None)):
        assert with_secrets(deployment(), live, found(b="2", a="1")) == deployment("a=1,b=2")
    assert with_secrets(deployment(), deployment("a=1"), {}) == deployment()


def test_without_a_record_a_secret_younger_than_the_rollout_replaces_the_pods():
    young = found("2026-11-27T12:00:01Z", a="1", b="2")
    assert with_secrets(deployment(), deployment(), young) == deployment("a=1,b=2", "a=1,b=2")
    assert with_secrets(deployment(), deployment("a=1,b=2"), young) == deployment("a=1,b=2")
    assert with_secrets(deployment(), deployment(ended=None), young) == deployment("a=1,b=2")


def test_another_uid_replaces_the_pods_once():
    live = deployment("a=1,b=2")
    assert with_secrets(deployment(), live, found(a="1", b="2")) == live
    replaced = with_secrets(deployment(), live, found(a="1", b="3"))
    assert replaced == deployment("a=1,b=3", "a=1,b=3")
    assert with_secrets(deployment(), replaced, found(a="1", b="3")) == replaced


def test_the_next_configuration_needs_no_second_replacement():
    live = deployment("a=1", "a=1", mounted=["a"])
    assert with_secrets(deployment(mounted=["b"]), live, found("2026-11-27T12:00:01Z", b="2")) == deployment("b=2", mounted=["b"])
