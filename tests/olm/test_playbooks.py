# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""F008-F011, F014, F022: the playbooks mirror and build_and_publish, with a registry that wants TLS and a password."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from support import kinds, secrets
from support.debian import program
from support.private_registry import PrivateRegistry
from support.site import NAMESPACE, VARIABLES, remove

MIRROR = "osso.scheduler.mirror"
WRONG = "not-the-password-of-anybody"
# The kinds by which OpenShift redirects images: what its API server calls them, and the field with the rules.
SETS = {
    "ImageDigestMirrorSet": ("imagedigestmirrorsets.config.openshift.io", "imageDigestMirrors"),
    "ImageContentSourcePolicy": ("imagecontentsourcepolicies.operator.openshift.io", "repositoryDigestMirrors"),
}


@pytest.fixture(scope="module")
def private(own_cluster, tmp_path_factory) -> PrivateRegistry:
    """A private registry, which the cluster's nodes trust and have a login for."""
    registry = PrivateRegistry(tmp_path_factory.mktemp("private"), os.environ["REGISTRY"].partition(":")[0])
    with registry.serving(), registry.known_to_nodes(own_cluster):
        yield registry


@pytest.fixture
def new_private(own_cluster, tmp_path) -> PrivateRegistry:
    """Such a registry with nothing in it."""
    with PrivateRegistry(tmp_path / "registry", os.environ["REGISTRY"].partition(":")[0]).serving() as registry:
        yield registry


@pytest.fixture
def skopeo(tmp_path) -> str:
    """skopeo that leaves nothing on the machine: what it remembers of registries lies in a folder of the test."""
    wrapper = tmp_path / "skopeo"
    # As for a user who is not root, it keeps that in XDG_DATA_HOME then.
    environment = f"_CONTAINERS_ROOTLESS_UID=1000 XDG_DATA_HOME={tmp_path}"
    wrapper.write_text(f'#!/bin/sh\n{environment} exec {program("skopeo", "skopeo")} "$@"\n')
    wrapper.chmod(0o755)
    return str(wrapper)


@pytest.fixture
def operator_image() -> str:
    return Path(os.environ["OPERATOR_IMAGE_FILE"]).read_text().strip()


def mirroring(registry, skopeo, operator_image, **more) -> dict:
    """Variables of the playbook: everything that the demo needs, into this registry. The sources are in the cluster's own, by plain HTTP."""
    source = os.environ["REGISTRY"]
    scheduler = VARIABLES["secondary_schedulers"][0]["image"].partition("/")[2]
    return {
        "mirror_registry": f"{registry.host}/mirror",
        "mirror_operator_image": operator_image,
        "mirror_probe_image": f"{source}/pause:3.10",
        "mirror_credentials": registry.credentials,
        "mirror_ca_file": str(registry.ca_file),
        "mirror_insecure_registries": [source],
        "mirror_skopeo": skopeo,
        "secondary_schedulers": [{**VARIABLES["secondary_schedulers"][0], "image": f"{source}/{scheduler}"}],
        **more,
    }


def folders_with_logins() -> set[Path]:
    return set(Path("/tmp").glob("osso-registry-*"))


def test_check_copies_nothing(play, audit, new_private, skopeo, operator_image):
    variables = mirroring(new_private, skopeo, operator_image)
    with audit:
        run = play(MIRROR, variables=variables, check=True, diff=True)
    assert {result["item"]["target"] for result in run.task("Say what would be copied").result["results"]} == {
        f"{new_private.host}/mirror/osso/scheduler-operator:mirrored-{operator_image.partition('sha256:')[2][:12]}",
        f"{new_private.host}/mirror/scheduler-plugins/kube-scheduler:v0.34.7",
        f"{new_private.host}/mirror/pause:3.10",
    }
    assert run.task("Say what would be copied").changed
    assert new_private.repositories() == []
    assert new_private.writes() == 0
    assert audit.writes() == []


def test_everything_comes_from_the_private_registry(play, audit, kubectl, private, skopeo, operator_image, tmp_path):
    """The cluster has no mirror sets: references are rewritten. Operator, scheduler and the pod that proves it are of the copies."""
    written = tmp_path / "mirrored.yml"
    variables = mirroring(private, skopeo, operator_image, mirror_vars_file=str(written))
    remove()
    try:
        run = play(MIRROR, variables=variables, diff=True)
        assert "no mirror sets" in run.task("Say what was done").result["msg"]
        digest = operator_image.partition("@")[2]
        assert private.digest("mirror/osso/scheduler-operator", digest) == digest
        copy = f"{private.host}/mirror/osso/scheduler-operator@{digest}"
        deployment = kubectl.get("deployment", "osso-scheduler-operator", NAMESPACE)
        assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == copy

        assert written.stat().st_mode & 0o777 == 0o600
        told = yaml.safe_load(written.read_text())
        assert told["operator_image"] == copy
        play("osso.scheduler.site", args=[f"--extra-vars=@{written}"], variables={"probe": "never"})
        play("osso.scheduler.probe", args=[f"--extra-vars=@{written}"])
        (pod,) = kubectl.list("pod", NAMESPACE, "app=secondary-scheduler")
        assert pod["spec"]["containers"][0]["image"].startswith(f"{private.host}/mirror/scheduler-plugins/kube-scheduler@sha256:")
        for repository in ("osso/scheduler-operator", "scheduler-plugins/kube-scheduler", "pause"):
            assert private.pulls_of_nodes(f"mirror/{repository}"), repository

        before = private.writes()
        with audit:
            again = play(MIRROR, variables=variables)
        assert again.changed == []
        assert private.writes() == before
        assert audit.writes(agent="ansible") == []
    finally:
        remove()


@pytest.mark.parametrize("kind", SETS)
def test_openshift_redirects_images_by_itself(play, audit, kubectl, private, skopeo, operator_image, kind):
    """Each of the two kinds, by its real definition; the operator keeps its name, by digest."""
    resource, field = SETS[kind]
    source = os.environ["REGISTRY"]
    variables = mirroring(private, skopeo, operator_image, mirror_install=False)
    with kinds.served(kubectl, resource):
        check = play(MIRROR, variables=variables, check=True, diff=True)
        assert "Have nodes pull the copies" in [name.rpartition(" : ")[2] for name in check.changed]
        assert kubectl.json("get", resource)["items"] == []

        run = play(MIRROR, variables=variables)
        assert f"{kind} osso-scheduler has nodes pull" in run.task("Say what was done").result["msg"]
        assert (
            run.task("Name the copies as the cluster pulls them").result["ansible_facts"]["mirror_variables"]["operator_image"]
            == operator_image
        )
        (made,) = kubectl.json("get", resource)["items"]
        assert {rule["source"]: rule["mirrors"] for rule in made["spec"][field]} == {
            f"{source}/{path}": [f"{private.host}/mirror/{path}"]
            for path in ("osso/scheduler-operator", "pause", "scheduler-plugins/kube-scheduler")
        }

        with audit:
            again = play(MIRROR, variables=variables)
        assert again.changed == []
        assert audit.writes(agent="ansible") == []


def test_the_newer_kind_is_taken_where_both_are_served(play, kubectl, private, skopeo, operator_image):
    resources = [resource for resource, _field in SETS.values()]
    variables = mirroring(private, skopeo, operator_image, mirror_install=False)
    with kinds.served(kubectl, *resources):
        play(MIRROR, variables=variables)
        assert [len(kubectl.json("get", resource)["items"]) for resource in resources] == [1, 0]
        rewritten = play(MIRROR, variables={**variables, "mirror_set_kind": "none"})
        assert "no mirror sets" in rewritten.task("Say what was done").result["msg"]


def refused(run) -> str:
    """The one failure's message."""
    (failure,) = run.failures
    return failure.result["msg"]


def test_a_wrong_password_is_one_message_and_is_nowhere(play, private, skopeo, operator_image):
    before = folders_with_logins()
    credentials = {private.host: {"username": private.user, "password": WRONG}}
    variables = mirroring(private, skopeo, operator_image, mirror_credentials=credentials)
    run = play(MIRROR, variables=variables, args=["-vvv"], diff=True, succeed=False)
    message = refused(run)
    assert message.startswith(f"{private.host}: ")
    assert "correct mirror_credentials" in message
    assert message.count("\n") == 0
    assert secrets.holding(WRONG, {"output": run.output(), "planted": f"-{WRONG}-"}) == ["planted"]
    assert folders_with_logins() == before


def test_the_right_password_is_nowhere_either(play, private, skopeo, operator_image):
    before = folders_with_logins()
    variables = mirroring(private, skopeo, operator_image, mirror_install=False)
    run = play(MIRROR, variables=variables, args=["-vvv"], diff=True)
    assert secrets.holding(private.password, {"output": run.output(), "planted": f"-{private.password}-"}) == ["planted"]
    assert folders_with_logins() == before


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"mirror_registry": ""}, "mirror_registry is not given"),
        ({"mirror_registry": "https://registry.example.com"}, "is no registry"),
        ({"mirror_ca_file": ""}, "name the authority's certificate in mirror_ca_file"),
        ({"mirror_ca_file": "/no/such/file"}, "There is no file /no/such/file: correct mirror_ca_file"),
        ({"mirror_credentials": {}}, "correct mirror_credentials"),
        ({"mirror_credentials": {"r.example.com": {"user": WRONG}}}, "has to have username and password"),
        ({"mirror_auth_file": "/no/such/file"}, "exclude each other"),
        ({"mirror_insecure_registries": []}, "add it to mirror_insecure_registries"),
        ({"mirror_skopeo": "no-such-skopeo"}, "name it in mirror_skopeo"),
        ({"mirror_additional_images": ["Not An Image"]}, "is no image reference"),
        ({"mirror_set_kind": "ImageDigestMirrorSet"}, "does not serve ImageDigestMirrorSet"),
        ({"mirror_catalog_image": "quay.io/osso/catalog:1"}, "Leave mirror_catalog_image empty"),
        ({"operator_image": "quay.io/osso/scheduler-operator:1"}, "Name the operator's image in mirror_operator_image"),
    ],
)
def test_refusals_say_what_to_do(play, audit, private, skopeo, operator_image, changed, told):
    before = folders_with_logins()
    with audit:
        run = play(MIRROR, variables=mirroring(private, skopeo, operator_image, **changed), args=["-vvv"], succeed=False)
    assert told in refused(run)
    assert audit.writes(agent="ansible") == []
    assert secrets.holding(WRONG, {"output": run.output()}) == []
    assert folders_with_logins() == before


def test_an_image_that_is_not_there(play, private, skopeo, operator_image):
    missing = f"{os.environ['REGISTRY']}/no/such/image:1"
    run = play(MIRROR, variables=mirroring(private, skopeo, operator_image, mirror_additional_images=[missing]), succeed=False)
    assert refused(run).startswith(f"{missing}: there is no such image: correct its name or tag")


def test_a_login_that_exists_already(play, private, skopeo, operator_image, tmp_path):
    """As `podman login` writes it; the file stays as it is."""
    file = tmp_path / "auth.json"
    login = f'{{"auths": {{"{private.host}": {{"auth": "{private.authorization.removeprefix("Basic ")}"}}}}}}'
    file.write_text(login)
    variables = mirroring(private, skopeo, operator_image, mirror_credentials={}, mirror_auth_file=str(file), mirror_install=False)
    play(MIRROR, variables=variables)
    assert file.read_text() == login
