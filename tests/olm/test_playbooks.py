# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""F008-F011, F014, F022: the playbooks mirror and build_and_publish, with a registry that wants TLS and a password."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import ClassVar

import pytest
import yaml
from support import kinds, private_registry, secrets
from support.debian import program
from support.private_registry import PrivateRegistry
from support.site import NAMESPACE, VARIABLES, remove

# Minutes each: images are built, pushed and copied with every case.
pytestmark = pytest.mark.long

MIRROR = "osso.scheduler.mirror"
BUILD = "osso.scheduler.build_and_publish"
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
    return private_registry.skopeo(tmp_path)


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
    return {*Path("/tmp").glob("osso-registry-*"), *Path(os.environ["ANSIBLE_HOME"]).glob("tmp/ansible-local-*/osso-registry-*")}


def test_check_mode_reports_the_images_and_copies_none(play, audit, new_private, skopeo, operator_image):
    variables = mirroring(new_private, skopeo, operator_image)
    with audit:
        run = play(MIRROR, variables=variables, check=True, diff=True)
    assert {result["item"]["target"] for result in run.task("Report the images to copy").result["results"]} == {
        f"{new_private.host}/mirror/osso/scheduler-operator:mirrored-{operator_image.partition('sha256:')[2][:12]}",
        f"{new_private.host}/mirror/scheduler-plugins/kube-scheduler:v0.34.7",
        f"{new_private.host}/mirror/pause:3.10",
    }
    assert run.task("Report the images to copy").changed
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
        assert "no mirror sets" in run.task("Report the copied images").result["msg"]
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
        assert pod["spec"]["containers"][0]["image"].startswith(f"{private.host}/mirror/scheduler-plugins/kube-scheduler:v")
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
def test_mirror_sets_redirect_images_without_new_references(play, audit, kubectl, private, skopeo, operator_image, kind):
    """Each of the two kinds, by its real definition. The operator is named by its copy, because its pod starts before nodes know of the mirror."""
    resource, field = SETS[kind]
    source = os.environ["REGISTRY"]
    variables = mirroring(private, skopeo, operator_image, mirror_install=False)
    copy = f"{private.host}/mirror/osso/scheduler-operator@{operator_image.partition('@')[2]}"
    with kinds.served(kubectl, resource):
        check = play(MIRROR, variables=variables, check=True, diff=True)
        assert "Redirect nodes to the copies" in [name.rpartition(" : ")[2] for name in check.changed]
        assert kubectl.json("get", resource)["items"] == []

        run = play(MIRROR, variables=variables)
        assert f"{kind} osso-scheduler has nodes pull" in run.task("Report the copied images").result["msg"]
        assert run.task("Set the references of the copies").result["ansible_facts"]["mirror_variables"]["operator_image"] == copy
        (made,) = kubectl.json("get", resource)["items"]
        assert {rule["source"]: rule["mirrors"] for rule in made["spec"][field]} == {
            f"{source}/{path}": [f"{private.host}/mirror/{path}"]
            for path in ("osso/scheduler-operator", "pause", "scheduler-plugins/kube-scheduler")
        }

        with audit:
            again = play(MIRROR, variables=variables)
        assert again.changed == []
        assert audit.writes(agent="ansible") == []


def test_the_newer_kind_of_mirror_set_is_used_where_both_are_served(play, kubectl, private, skopeo, operator_image):
    resources = [resource for resource, _field in SETS.values()]
    variables = mirroring(private, skopeo, operator_image, mirror_install=False)
    with kinds.served(kubectl, *resources):
        play(MIRROR, variables=variables)
        assert [len(kubectl.json("get", resource)["items"]) for resource in resources] == [1, 0]
        rewritten = play(MIRROR, variables={**variables, "mirror_set_kind": "none"})
        assert "no mirror sets" in rewritten.task("Report the copied images").result["msg"]
    # kubernetes.core remembers that there were some.
    gone = play(MIRROR, variables=variables, check=True)
    assert "no mirror sets" in gone.task("Report the copied images").result["msg"]


def refused(run) -> str:
    """The one failure's message."""
    (failure,) = run.failures
    return failure.result["msg"]


def test_mirror_reports_a_wrong_password_once_without_printing_it(play, private, skopeo, operator_image):
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


def test_the_right_password_appears_in_no_output_or_file(play, private, skopeo, operator_image):
    before = folders_with_logins()
    variables = mirroring(private, skopeo, operator_image, mirror_install=False)
    run = play(MIRROR, variables=variables, args=["-vvv"], diff=True)
    assert secrets.holding(private.password, {"output": run.output(), "planted": f"-{private.password}-"}) == ["planted"]
    assert folders_with_logins() == before


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"mirror_registry": "https://registry.example.com"}, "is no registry"),
        ({"mirror_ca_file": ""}, "name the CA certificate in mirror_ca_file"),
        ({"mirror_credentials": {}}, "correct mirror_credentials"),
        ({"mirror_credentials": {"r.example.com": {"user": WRONG}}}, "has to have username and password"),
        ({"mirror_auth_file": "/no/such/file"}, "exclude each other"),
        ({"mirror_insecure_registries": []}, "add it to mirror_insecure_registries"),
        ({"mirror_skopeo": "no-such-skopeo"}, "name it in mirror_skopeo"),
        ({"mirror_set_kind": "ImageDigestMirrorSet"}, "does not serve ImageDigestMirrorSet"),
        ({"mirror_catalog_image": "quay.io/osso/catalog:1"}, "Leave mirror_catalog_image empty"),
    ],
)
def test_errors_of_mirror_name_the_remedy(play, private, skopeo, operator_image, changed, told):
    before = folders_with_logins()
    run = play(MIRROR, variables=mirroring(private, skopeo, operator_image, **changed), args=["-vvv"], check=True, succeed=False)
    assert told in refused(run)
    assert secrets.holding(WRONG, {"output": run.output()}) == []
    assert folders_with_logins() == before


def test_extra_variables_that_take_precedence_are_rejected(play, audit, private, skopeo, operator_image):
    with audit:
        run = play(MIRROR, variables={**mirroring(private, skopeo, operator_image), "operator_image": operator_image}, succeed=False)
    assert "Name the operator's image in mirror_operator_image" in refused(run)
    assert audit.writes(agent="ansible") == []


def test_an_image_that_does_not_exist_is_reported(play, private, skopeo, operator_image):
    missing = f"{os.environ['REGISTRY']}/no/such/image:1"
    run = play(MIRROR, variables=mirroring(private, skopeo, operator_image, mirror_additional_images=[missing]), succeed=False)
    assert refused(run).startswith(f"{missing}: the image does not exist: correct its name or tag")


def test_an_existing_login_file_is_used_and_stays_unchanged(play, private, skopeo, operator_image, tmp_path):
    """As `podman login` writes it; the file stays as it is."""
    file = tmp_path / "auth.json"
    login = f'{{"auths": {{"{private.host}": {{"auth": "{private.authorization.removeprefix("Basic ")}"}}}}}}'
    file.write_text(login)
    variables = mirroring(private, skopeo, operator_image, mirror_credentials={}, mirror_auth_file=str(file), mirror_install=False)
    play(MIRROR, variables=variables)
    assert file.read_text() == login


def publishing(olm, registry, skopeo, **more) -> dict:
    """Variables of the other playbook: into this registry; what a catalog is made from is in the cluster's own, by plain HTTP."""
    return {
        "publish_registry": f"{registry.host}/team",
        "publish_credentials": registry.credentials,
        "publish_ca_file": str(registry.ca_file),
        "publish_insecure_registries": [olm.registry],
        "publish_opm_image": olm.opm_image,
        "publish_opm": str(olm.opm),
        "publish_scheduler_image": f"{olm.registry}/scheduler-plugins/kube-scheduler:v0.34.7",
        "publish_skopeo": skopeo,
        **more,
    }


@pytest.fixture
def podman() -> dict[str, str]:
    """An environment in which podman is found."""
    folders = [str(program(name, name).parent) for name in ("podman", "conmon")]
    return {"PATH": ":".join([*folders, os.environ["PATH"]])}


def published(run) -> dict:
    return run.task("Set the references of the images").result["ansible_facts"]["publish_images"]


def rendered(olm, registry, catalog) -> list[dict]:
    """The blobs of a catalog in the private registry, as opm reads them."""
    login = {"DOCKER_CONFIG": str(registry.docker_config()), "SSL_CERT_FILE": str(registry.ca_file)}
    command = [olm.opm, "render", catalog, "--output=json"]
    printed = subprocess.run(command, env={**os.environ, **login}, capture_output=True, text=True, check=True).stdout
    return json.loads("[" + printed.replace("}\n{", "},\n{") + "]")


def installed_image(kubectl) -> str:
    return kubectl.get("deployment", "osso-scheduler-operator", NAMESPACE)["spec"]["template"]["spec"]["containers"][0]["image"]


@pytest.fixture(scope="module")
def clean(kubectl):
    """No operator before, none afterwards."""
    remove()
    yield
    remove()


@pytest.mark.usefixtures("clean")
class TestBuildAndPublish:
    """In this order: each test goes on from what the one before it published."""

    images: ClassVar[dict] = {}

    def test_check_mode_reports_the_images_and_builds_none(self, play, audit, olm, private, skopeo):
        before = private.repositories()
        with audit:
            run = play(BUILD, variables=publishing(olm, private, skopeo), check=True, diff=True)
        assert len(run.task("Report the images to build").result["results"]) == 3
        assert run.task("Report the images to build").changed
        assert private.repositories() == before
        assert audit.writes(agent="ansible") == []

    def test_the_built_operator_runs_from_the_private_registry(self, play, kubectl, olm, private, skopeo):
        """Operator, bundle, catalog, CatalogSource, Subscription: all that runs is out of the private registry."""
        run = play(BUILD, variables=publishing(olm, private, skopeo), args=["-vvv"], diff=True)
        self.images.update(published(run))
        for name, image in self.images.items():
            repository, _at, digest = image.partition("@")
            assert private.digest(repository.partition("/")[2], digest) == digest, name
        assert olm.phase("osso-scheduler-operator.v1.0.0", NAMESPACE)[0] == "Succeeded"
        assert installed_image(kubectl) == self.images["operator"]
        for name in ("", "-bundle", "-catalog"):
            assert private.pulls_of_nodes(f"team/osso/scheduler-operator{name}"), name
        assert secrets.holding(private.password, {"output": run.output(), "planted": f"-{private.password}-"}) == ["planted"]

    def test_a_second_run_of_build_and_publish_changes_nothing(self, play, audit, olm, private, skopeo):
        with audit:
            run = play(BUILD, variables=publishing(olm, private, skopeo))
        assert run.changed == []
        assert published(run) == self.images
        assert audit.writes(agent="ansible") == []

    def test_bundle_and_catalog_are_built_for_an_existing_operator_image(self, play, olm, private, skopeo, podman, operator_image):
        """Bundle and catalog are made for it, by podman."""
        more = {
            "publish_operator_image": operator_image,
            "publish_name": "made/by-podman",
            "publish_install": False,
            "publish_engine": "podman",
        }
        run = play(BUILD, variables=publishing(olm, private, skopeo, **more), env=podman, args=["-vvv"])
        images = published(run)
        assert images["operator"] == operator_image
        assert [name for name in private.repositories() if "podman" in name] == [
            "team/made/by-podman-bundle",
            "team/made/by-podman-catalog",
        ]
        (bundle,) = [blob for blob in rendered(olm, private, images["catalog"]) if blob["schema"] == "olm.bundle"]
        assert bundle["image"] == images["bundle"]
        assert operator_image in [image["image"] for image in bundle["relatedImages"]]
        assert secrets.holding(private.password, {"output": run.output(), "planted": f"-{private.password}-"}) == ["planted"]

    def test_a_catalog_is_built_for_an_existing_bundle(self, play, audit, kubectl, olm, private, skopeo):
        """Only a catalog is made; it holds that bundle, by digest, in the channel that is wanted, and the operator comes from there."""
        remove()
        bundle = self.images["bundle"].partition("@")[0] + ":1.0.0"
        variables = publishing(olm, private, skopeo, publish_bundle_image=bundle, publish_channel="trial", publish_name="trial")
        run = play(BUILD, variables=variables)
        images = published(run)
        assert images["bundle"] == self.images["bundle"]
        assert images["operator"] == ""
        assert [name for name in private.repositories() if "trial" in name] == ["team/trial-catalog"]
        blobs = {blob["schema"]: blob for blob in rendered(olm, private, images["catalog"])}
        assert blobs["olm.channel"]["name"] == blobs["olm.package"]["defaultChannel"] == "trial"
        assert blobs["olm.bundle"]["image"] == self.images["bundle"]
        (subscription,) = kubectl.list("subscription", NAMESPACE)
        assert subscription["spec"]["channel"] == "trial"
        assert olm.phase("osso-scheduler-operator.v1.0.0", NAMESPACE)[0] == "Succeeded"
        assert installed_image(kubectl) == self.images["operator"]
        assert private.pulls_of_nodes("team/trial-catalog")
        with audit:
            again = play(BUILD, variables=variables)
        assert again.changed == []
        assert audit.writes(agent="ansible") == []

    def test_a_catalog_is_mirrored_with_all_that_it_needs(self, play, kubectl, olm, private, skopeo, operator_image):
        """As OpenShift's API servers have it: the catalog is named by its copy, what it refers to is redirected."""
        more = {
            "mirror_catalog_image": self.images["catalog"],
            "mirror_install": False,
            "secondary_schedulers": [],
            "mirror_probe_image": "",
        }
        variables = mirroring(private, skopeo, operator_image, **more)
        resource, field = SETS["ImageDigestMirrorSet"]
        with kinds.served(kubectl, resource):
            run = play(MIRROR, variables=variables)
            (made,) = kubectl.json("get", resource)["items"]
        assert run.task("Set the references of the copies").result["ansible_facts"]["mirror_variables"] == {
            "operator_method": "olm",
            "operator_catalog_image": self.images["catalog"].replace("/team/", "/mirror/team/"),
        }
        sources = [image.partition("@")[0] for image in self.images.values()]
        assert {rule["source"] for rule in made["spec"][field]} == {*sources, f"{olm.registry}/scheduler-plugins/kube-scheduler"}
        for image in self.images.values():
            path, _at, digest = image.partition("/")[2].partition("@")
            assert private.digest(f"mirror/{path}", digest) == digest

    def test_olm_without_mirror_sets_gets_a_catalog_of_copies(self, play, kubectl, olm, private, skopeo, operator_image):
        variables = mirroring(private, skopeo, operator_image, mirror_method="olm", mirror_opm_image=olm.opm_image)
        variables["mirror_insecure_registries"] = [olm.registry]
        # To OLM the same version is the same operator, which nobody should take for the copy.
        assert "Remove the operator first" in refused(play(MIRROR, variables=variables, succeed=False))
        remove()
        run = play(MIRROR, variables=variables)
        assert "no mirror sets" in run.task("Report the copied images").result["msg"]
        copy = f"{private.host}/mirror/osso/scheduler-operator@{operator_image.partition('@')[2]}"
        assert installed_image(kubectl) == copy

    def test_build_and_publish_reports_a_wrong_password_once_without_printing_it(self, play, olm, private, skopeo):
        before = folders_with_logins()
        credentials = {private.host: {"username": private.user, "password": WRONG}}
        run = play(BUILD, variables=publishing(olm, private, skopeo, publish_credentials=credentials), args=["-vvv"], succeed=False)
        assert refused(run).startswith(f"{private.host}: the registry rejects the credentials")
        assert "correct publish_credentials" in refused(run)
        assert secrets.holding(WRONG, {"output": run.output()}) == []
        assert folders_with_logins() == before

    @pytest.mark.parametrize(
        ("changed", "told"),
        [
            ({"publish_registry": ""}, "publish_registry is not given"),
            ({"publish_engine": "no-such-engine"}, "no-such-engine cannot be run"),
            ({"publish_operator_image": "quay.io/a:1"}, "name it by digest"),
        ],
    )
    def test_errors_of_build_and_publish_name_the_remedy(self, play, olm, private, skopeo, changed, told):
        run = play(BUILD, variables=publishing(olm, private, skopeo, **changed), succeed=False)
        assert told in refused(run)


@pytest.mark.parametrize("engine", ["buildah", "podman"])
def test_the_installed_collection_builds_and_installs_the_operator_by_manifests(
    play, audit, kubectl, olm, private, skopeo, operator_image, tmp_path, root, request, engine
):
    """The tarball has all that it takes: the operator's image is built of what is installed, and runs, by manifests."""
    remove()
    environment = request.getfixturevalue("podman") if engine == "podman" else {}
    environment |= {"ANSIBLE_COLLECTIONS_PATH": str(tmp_path), "XDG_CACHE_HOME": str(root / ".cache/installed")}
    for command in (
        ["build", "--output-path", tmp_path],
        ["install", "--no-deps", "--collections-path", tmp_path, tmp_path / "osso-scheduler-1.0.0.tar.gz"],
    ):
        subprocess.run(
            ["ansible-galaxy", "collection", *command], cwd=root, env={**os.environ, **environment}, capture_output=True, check=True
        )
    (tmp_path / "ansible_collections/kubernetes").symlink_to(root / ".cache/collections/ansible_collections/kubernetes")
    built = [root / ".cache/operator-image/ansible-operator", Path(os.environ["CLUSTER_DIR"]) / "bin/ansible-operator"]
    more = {
        "publish_method": "manifests",
        "publish_name": f"quick/{engine}",
        "publish_engine": engine,
        # Has Python, too, and spares the test the making of another one; and a user that is not root, as such images may.
        "publish_base_image": operator_image,
        "publish_ansible_operator": str(next(path for path in built if path.exists())),
        "publish_warm_runner": str(root / ".cache/operator-image/warm-runner"),
    }
    try:
        run = play(BUILD, variables=publishing(olm, private, skopeo, **more), env=environment, args=["-vvv"])
        command = run.task("Build and push the operator's image").result["cmd"]
        assert command[1].startswith(f"{tmp_path}/ansible_collections/osso/scheduler/")
        assert f"--engine={engine}" in command
        assert installed_image(kubectl) == published(run)["operator"]
        assert published(run)["operator"].startswith(f"{private.host}/team/quick/{engine}@sha256:")
        assert private.pulls_of_nodes(f"team/quick/{engine}")
        assert secrets.holding(private.password, {"output": run.output(), "planted": f"-{private.password}-"}) == ["planted"]
        with audit:
            again = play(BUILD, variables=publishing(olm, private, skopeo, **more), env=environment)
        assert again.changed == []
        assert audit.writes(agent="ansible") == []
    finally:
        remove()
