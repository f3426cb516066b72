# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""F022: which image goes where, what nodes are told of it, logging in to registries, and what their refusals mean."""

from __future__ import annotations

import json
from base64 import b64decode

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._images import mirroring, registry_errors
from ansible_collections.osso.scheduler.plugins.module_utils._images.credentials import auth_file
from ansible_collections.osso.scheduler.plugins.module_utils._images.reference import parse, parse_registry, problem

ONE, TWO = ("sha256:" + digit * 64 for digit in "12")
SCHEDULER = "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7"
OPERATOR = f"quay.io/osso/scheduler-operator@{ONE}"
REGISTRY = "registry.example.com:5000/mirror"


@pytest.mark.parametrize(
    ("text", "pull"),
    [
        ("nginx", "docker.io/library/nginx:latest"),
        ("team/nginx:1", "docker.io/team/nginx:1"),
        ("localhost/nginx", "localhost/nginx:latest"),
        ("registry.example.com:5000/a/b__c/d-e.f:V_1.0-x", "registry.example.com:5000/a/b__c/d-e.f:V_1.0-x"),
        (f"quay.io/a:1.0@{ONE}", f"quay.io/a@{ONE}"),
        ("[::1]:5000/a:1", "[::1]:5000/a:1"),
    ],
)
def test_image_references_are_completed_for_the_pull(text, pull):
    assert parse(text).pull == pull


@pytest.mark.parametrize(
    "text", ["", "Nginx", "a b", "quay.io/a@sha256:12", "quay.io/a@", "quay.io/", "quay.io/a:", "quay.io/a:b:c", "https://quay.io/a"]
)
def test_an_invalid_image_reference_is_named(text):
    with pytest.raises(ValueError, match="is no image reference") as refusal:
        parse(text)
    assert repr(text) in str(refusal.value)


@pytest.mark.parametrize("text", ["https://quay.io", "", "quay.io/A", "quay.io/a:1", f"quay.io/a@{ONE}", "a b"])
def test_an_invalid_registry_is_an_error(text):
    with pytest.raises(ValueError, match="is no registry"):
        parse_registry(text)


def test_paths_stay_below_that_of_the_registry():
    plan = mirroring.plan([SCHEDULER, OPERATOR, SCHEDULER], REGISTRY)
    assert [entry["target"] for entry in plan] == [
        f"{REGISTRY}/scheduler-plugins/kube-scheduler:v0.34.7",
        f"{REGISTRY}/osso/scheduler-operator:mirrored-111111111111",
    ]
    assert plan[1] == {
        "image": OPERATOR,
        "images": [OPERATOR],
        "source": OPERATOR,
        "source_host": "quay.io",
        "source_repository": "quay.io/osso/scheduler-operator",
        "repository": f"{REGISTRY}/osso/scheduler-operator",
        "target": f"{REGISTRY}/osso/scheduler-operator:mirrored-111111111111",
        "target_host": "registry.example.com:5000",
        "digest": ONE,
    }


def test_two_versions_of_one_repository_share_it():
    plan = mirroring.plan([f"quay.io/a@{ONE}", f"quay.io/a@{TWO}", "quay.io/a:1"], "r.example.com/")
    assert {entry["repository"] for entry in plan} == {"r.example.com/a"}
    assert len({entry["target"] for entry in plan}) == 3
    rules = mirroring.mirror_set(plan, "ImageDigestMirrorSet", "n")["spec"]["imageDigestMirrors"]
    assert rules == [{"source": "quay.io/a", "mirrors": ["r.example.com/a"]}]


def test_two_repositories_never_become_one():
    with pytest.raises(ValueError, match=r"would both become r\.example\.com/a") as refusal:
        mirroring.plan(["quay.io/a:1", "ghcr.io/a:2"], "r.example.com")
    remedy = str(refusal.value).partition("{image: ")[2].rstrip("}").split(", to: ")
    plan = mirroring.plan(["quay.io/a:1", dict(zip(("image", "to"), remedy, strict=True))], "r.example.com")
    assert [entry["target"] for entry in plan] == ["r.example.com/a:1", "r.example.com/ghcr-io/a:2"]


@pytest.mark.parametrize("entry", [7, {"image": 7}, {"to": "x"}, {"image": "a", "too": "x"}, None])
def test_an_invalid_entry_of_the_images_to_mirror_is_an_error(entry):
    with pytest.raises(ValueError, match="is no image to mirror"):
        mirroring.plan([entry], REGISTRY)


def test_an_image_that_is_in_the_registry_already_is_rejected():
    with pytest.raises(ValueError, match="already: name the image that it is a copy of"):
        mirroring.plan([f"{REGISTRY}/a:1"], REGISTRY)
    # Elsewhere in the same registry is a source like any other.
    assert mirroring.plan(["registry.example.com:5000/a:1"], REGISTRY)[0]["repository"] == f"{REGISTRY}/a"


def test_both_kinds_of_mirror_sets_have_the_same_rules():
    plan = mirroring.plan([SCHEDULER, OPERATOR], REGISTRY)
    rules = [
        {"source": "quay.io/osso/scheduler-operator", "mirrors": [f"{REGISTRY}/osso/scheduler-operator"]},
        {"source": "registry.k8s.io/scheduler-plugins/kube-scheduler", "mirrors": [f"{REGISTRY}/scheduler-plugins/kube-scheduler"]},
    ]
    assert mirroring.mirror_set(plan, "ImageDigestMirrorSet", "n") == {
        "apiVersion": "config.openshift.io/v1",
        "kind": "ImageDigestMirrorSet",
        "metadata": {"name": "n"},
        "spec": {"imageDigestMirrors": rules},
    }
    assert mirroring.mirror_set(plan, "ImageContentSourcePolicy", "n") == {
        "apiVersion": "operator.openshift.io/v1alpha1",
        "kind": "ImageContentSourcePolicy",
        "metadata": {"name": "n"},
        "spec": {"repositoryDigestMirrors": rules},
    }


def test_only_image_digest_mirror_sets_can_keep_nodes_from_the_source():
    plan = mirroring.plan([OPERATOR], REGISTRY)
    (rule,) = mirroring.mirror_set(plan, "ImageDigestMirrorSet", "n", True)["spec"]["imageDigestMirrors"]
    assert rule["mirrorSourcePolicy"] == "NeverContactSource"
    with pytest.raises(ValueError, match="mirror_never_contact_source"):
        mirroring.mirror_set(plan, "ImageContentSourcePolicy", "n", True)


@pytest.mark.parametrize(
    ("kind", "spec", "never", "conflict"),
    [
        ("ImageDigestMirrorSet", {"imageDigestMirrors": [{"source": "quay.io/osso/scheduler-operator"}]}, True, True),
        (
            "ImageTagMirrorSet",
            {"imageTagMirrors": [{"source": "quay.io/osso/scheduler-operator", "mirrorSourcePolicy": "NeverContactSource"}]},
            False,
            True,
        ),
        ("ImageContentSourcePolicy", {"repositoryDigestMirrors": [{"source": "quay.io/osso/scheduler-operator"}]}, True, True),
        ("ImageContentSourcePolicy", {"repositoryDigestMirrors": [{"source": "quay.io/osso/scheduler-operator"}]}, False, False),
        ("ImageDigestMirrorSet", {"imageDigestMirrors": [{"source": "quay.io/osso"}]}, True, False),
        ("ImageDigestMirrorSet", None, True, False),
    ],
)
def test_two_policies_for_one_source_are_rejected(kind, spec, never, conflict):
    """OpenShift then configures no mirror at all."""
    plan = mirroring.plan([OPERATOR], REGISTRY)
    other = {"kind": kind, "metadata": {"name": "other"}, "spec": spec}
    own = {**other, "kind": "ImageDigestMirrorSet", "metadata": {"name": "n"}}
    assert mirroring.mirror_set(plan, "ImageDigestMirrorSet", "n", never, [own])
    if conflict:
        with pytest.raises(ValueError, match=f"^{kind} other has the source quay.io/osso/scheduler-operator with the policy "):
            mirroring.mirror_set(plan, "ImageDigestMirrorSet", "n", never, [own, other])
    else:
        assert mirroring.mirror_set(plan, "ImageDigestMirrorSet", "n", never, [other])


def test_a_place_is_that_of_all_images_of_a_repository():
    plan = mirroring.plan(["quay.io/a/x:1", "ghcr.io/a/x:1", {"image": "ghcr.io/a/x:2", "to": "ghcr-io/a/x"}], "r.example.com")
    assert [entry["target"] for entry in plan] == ["r.example.com/a/x:1", "r.example.com/ghcr-io/a/x:1", "r.example.com/ghcr-io/a/x:2"]


def test_two_places_for_one_repository_are_an_error():
    several = [{"image": "a.io/k:1", "to": "x"}, {"image": "a.io/k:2", "to": "y"}]
    with pytest.raises(ValueError, match=r"^a\.io/k:2: to is y, but x for another image of a\.io/k"):
        mirroring.plan(several, REGISTRY)


def test_two_digests_with_one_tag_have_two_targets():
    plan = mirroring.plan([f"quay.io/a:v1@{ONE}", f"quay.io/a:v1@{TWO}"], "r.example.com")
    assert len({entry["target"] for entry in plan}) == 2


def test_an_image_has_a_copy_under_all_its_names():
    plan = mirroring.plan(["nginx", "docker.io/nginx:latest", "index.docker.io/library/nginx"], REGISTRY)
    answer = {"rc": 0, "stdout": f"x@{ONE}"}
    copies = mirroring.compare(plan, [answer], [answer])["copies"]
    assert (len(plan), set(copies), len(set(copies.values()))) == (
        1,
        {"nginx", "docker.io/nginx:latest", "index.docker.io/library/nginx"},
        1,
    )


def test_schedulers_get_the_copies_whatever_form_the_reference_has():
    answers = [{"rc": 0, "stdout": f"r.example.com/a@{digest}"} for digest in (ONE, TWO)]
    copies = mirroring.compare(mirroring.plan(["nginx", SCHEDULER], REGISTRY), answers, answers, "mirror_")["copies"]
    assert copies == {"nginx": f"{REGISTRY}/library/nginx@{ONE}", SCHEDULER: f"{REGISTRY}/scheduler-plugins/kube-scheduler@{TWO}"}
    schedulers = [
        {"name": "a", "image": SCHEDULER, "config": {}},
        {"image": "docker.io/library/nginx:latest"},
        {"image": "other:1"},
        {"state": "absent"},
    ]
    assert mirroring.rewritten(schedulers, copies) == [
        # The tag shows the release of the kube-scheduler.
        {"name": "a", "image": f"{REGISTRY}/scheduler-plugins/kube-scheduler:v0.34.7@{TWO}", "config": {}},
        {"image": f"{REGISTRY}/library/nginx:latest@{ONE}"},
        {"image": "other:1"},
        {"state": "absent"},
    ]


CATALOG = [
    {"schema": "olm.package", "name": "ours"},
    {"schema": "olm.bundle", "package": "ours", "image": "q/b:1", "relatedImages": [{"name": "op", "image": "q/o:1"}, {"image": "q/b:1"}]},
    {"schema": "olm.bundle", "package": "ours", "image": "q/b:2", "relatedImages": [{"name": "op", "image": "q/o:1"}]},
    {"schema": "olm.bundle", "package": "other", "image": "q/x:2"},
    None,
]


def test_a_catalog_names_its_bundles_and_their_images():
    assert mirroring.catalog_images(CATALOG, "ours") == ["q/b:1", "q/o:1", "q/b:2"]
    assert "q/x:2" in mirroring.catalog_images(CATALOG)
    with pytest.raises(ValueError, match="no bundle of the package mine; it has other, ours"):
        mirroring.catalog_images(CATALOG, "mine")


def test_the_auth_file_contains_the_encoded_credentials_of_each_registry():
    text = auth_file({"r.example.com:5000/": {"username": "u", "password": "p:w"}}, "v")
    assert b64decode(json.loads(text)["auths"]["r.example.com:5000"]["auth"]) == b"u:p:w"
    assert json.loads(auth_file({}, "v")) == {"auths": {}}


@pytest.mark.parametrize(
    "credentials",
    [
        "secret",
        ["secret"],
        {"r": "secret"},
        {"r": {"username": "u", "password": ["secret"]}},
        {"r": {"username": "u", "password": "secret", "more": 1}},
        {"r": {"username": "", "password": "secret"}},
        {"r": {"username": "a:b", "password": "secret"}},
        {"https://r": {"username": "u", "password": "secret"}},
    ],
)
def test_errors_about_credentials_name_the_variable_and_never_a_value(credentials):
    with pytest.raises(ValueError, match=r"^mirror_credentials") as refusal:
        auth_file(credentials, "mirror_credentials")
    assert "secret" not in str(refusal.value)


FATAL = 'time="t" level=fatal msg="%s"'
GET = FATAL % 'pinging container registry r: Get \\"https://r/v2/\\": %s'

# As skopeo 1.9 says it, against docker-registry 2.8; and what of the answer shows that it was understood.
SAID = {
    FATAL
    % 'Error parsing image name \\"docker://r/a:1\\": reading manifest 1 in r/a: unauthorized: authentication required': "mirror_credentials",
    FATAL % "reading manifest 1 in r/a: manifest unknown: manifest unknown": "correct its name or tag",
    GET % "x509: certificate signed by unknown authority": "mirror_ca_file",
    GET % "x509: certificate is valid for a, not b": "not for that name",
    GET % "dial tcp 127.0.0.1:1: connect: connection refused": "does not answer",
    GET % "dial tcp: lookup nowhere.invalid on 10.0.0.1:53: no such host": "does not resolve",
    GET % "http: server gave HTTP response to HTTPS client": "mirror_insecure_registries",
    "writing blob: denied: requested access to the resource is denied": "permission",
}


@pytest.mark.parametrize("output", SAID)
def test_errors_of_registries_come_with_a_remedy(output):
    said = registry_errors.explain("Getting image source signatures\n" + output + "\n", "r/a:1", "mirror_")
    assert said.startswith(("r/a:1: ", "r: "))
    assert SAID[output] in said
    assert "level=" not in said
    assert "\n" not in said


def test_an_image_that_is_unknown_or_denied_may_be_missing():
    assert [registry_errors.may_be_missing(output) for output in SAID] == [
        "manifest unknown" in output or "denied" in output for output in SAID
    ]
    # What quay says of a repository that nobody has made yet.
    assert registry_errors.may_be_missing(
        "reading manifest 1 in quay.io/a: unauthorized: access to the requested resource is not authorized"
    )
    assert not registry_errors.may_be_missing("")
    assert registry_errors.explain("", "r/a:1", "mirror_") == "r/a:1: no error message"


FOUND = {"rc": 0, "stdout": f"r.example.com/a@{ONE}\n"}
UNKNOWN = {"rc": 1, "stderr": FATAL % "reading manifest 1 in r/a: manifest unknown: manifest unknown"}
REFUSED = {"rc": 1, "stderr": FATAL % "reading manifest 1 in r/a: unauthorized: authentication required"}


@pytest.mark.parametrize(("target", "copied"), [(FOUND, False), ({"rc": 0, "stdout": f"r.example.com/b@{TWO}"}, True), (UNKNOWN, True)])
def test_a_missing_or_different_image_is_copied(target, copied):
    plan = mirroring.plan([SCHEDULER], REGISTRY)
    found = mirroring.compare(plan, [FOUND], [target], "mirror_")
    assert found["problems"] == []
    assert [entry["digest"] for entry in found["missing"]] == [ONE] * copied
    assert found["copies"] == {SCHEDULER: f"{REGISTRY}/scheduler-plugins/kube-scheduler@{ONE}"}


def test_an_image_that_cannot_be_inspected_is_a_problem():
    plan = mirroring.plan([SCHEDULER, OPERATOR], REGISTRY)
    found = mirroring.compare(plan, [FOUND, UNKNOWN], [REFUSED, UNKNOWN], "mirror_")
    assert [problem.partition(": ")[0] for problem in found["problems"]] == ["registry.example.com:5000", OPERATOR]
    # What is so for the whole registry is said once.
    assert mirroring.compare(plan, [FOUND, FOUND], [REFUSED, REFUSED], "mirror_")["problems"] == found["problems"][:1]
    assert "mirror_credentials" in found["problems"][0]


CATALOG_IMAGE = "quay.io/osso/catalog:1"
COPIES = {SCHEDULER: "m/s@" + TWO, CATALOG_IMAGE: "m/c@" + ONE}


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        ({"operator": SCHEDULER}, {"operator_method": "manifests", "operator_image": f"m/s@{TWO}"}),
        (
            {"operator": SCHEDULER, "probe": CATALOG_IMAGE},
            {"operator_method": "manifests", "operator_image": f"m/s@{TWO}", "probe_image": f"m/c@{ONE}"},
        ),
        ({"operator": "not copied", "catalog": CATALOG_IMAGE}, {"operator_method": "olm", "operator_catalog_image": f"m/c@{ONE}"}),
    ],
)
def test_images_are_named_so_that_the_cluster_pulls_the_copies(named, wanted):
    assert mirroring.variables(COPIES, **named) == wanted


def test_an_image_that_is_missing_before_a_push_is_no_problem():
    said = {"a": FOUND, "b": UNKNOWN, "c": REFUSED, "d": REFUSED}
    answers = [{"item": f"r.example.com/team/{name}:1", **answer} for name, answer in said.items()]
    (problem,) = registry_errors.problems(answers, "publish_")
    assert problem.startswith("r.example.com: ")
    assert "publish_credentials" in problem


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("nginx", ("docker.io", "library/nginx", "latest", "")),
        ("team/nginx", ("docker.io", "team/nginx", "latest", "")),
        ("quay.io/a:1", ("quay.io", "a", "1", "")),
        (f"quay.io/a@{ONE}", ("quay.io", "a", "", ONE)),
        (f"quay.io/a:1@{ONE}", ("quay.io", "a", "1", ONE)),
        ("host:5000/a", ("host:5000", "a", "latest", "")),
        ("localhost/a", ("localhost", "a", "latest", "")),
    ],
)
def test_a_reference_is_split_into_registry_repository_tag_and_digest(text, parts):
    assert parse(text) == parts
    assert problem(text) == ""


def test_the_problem_of_a_reference_is_its_message():
    assert problem("quay.io/a@sha256:12") == (
        "'quay.io/a@sha256:12' is no image reference: @ must be followed by sha256: and 64 hexadecimal digits"
    )
    assert problem("quay.io/A").startswith("'quay.io/A' is no image reference, such as registry.example.com/team/name:1.0 or ")


@pytest.mark.parametrize(
    ("text", "parts"),
    [("quay.io", ("quay.io", "")), ("quay.io/", ("quay.io", "")), ("r:5000/a/b/", ("r:5000", "a/b")), ("localhost", ("localhost", ""))],
)
def test_a_registry_is_split_into_host_and_path(text, parts):
    assert parse_registry(text) == parts


def test_an_image_can_have_its_own_repository_in_the_registry():
    (entry,) = mirroring.plan([{"image": SCHEDULER, "to": "/team/scheduler/"}], "r.example.com")
    assert entry == {
        "image": SCHEDULER,
        "images": [SCHEDULER],
        "source": SCHEDULER,
        "source_host": "registry.k8s.io",
        "source_repository": "registry.k8s.io/scheduler-plugins/kube-scheduler",
        "repository": "r.example.com/team/scheduler",
        "target": "r.example.com/team/scheduler:v0.34.7",
        "target_host": "r.example.com",
        "digest": "",
    }
    (entry,) = mirroring.plan([{"image": SCHEDULER, "to": None}], "r.example.com")
    assert entry["repository"] == "r.example.com/scheduler-plugins/kube-scheduler"
    with pytest.raises(ValueError, match="is no image reference"):
        mirroring.plan([{"image": SCHEDULER, "to": "Team"}], "r.example.com")


def test_the_remedy_for_two_repositories_is_a_place_with_the_host():
    with pytest.raises(ValueError, match="would both become") as refusal:
        mirroring.plan(["quay.io/a:1", "GHCR.io:443/a:2"], "r.example.com")
    assert str(refusal.value) == (
        "quay.io/a and GHCR.io:443/a would both become r.example.com/a; give one of them another place: {image: GHCR.io:443/a:2, to: ghcr-io/a}"
    )


def test_a_registry_whose_name_only_shares_a_prefix_is_a_source():
    assert mirroring.plan(["r.example.com/mirrored/a:1"], "r.example.com/mirror")[0]["target"] == "r.example.com/mirror/mirrored/a:1"


def test_images_that_are_missing_come_with_their_digest():
    plan = mirroring.plan([SCHEDULER, OPERATOR], REGISTRY)
    found = mirroring.compare(plan, [FOUND, FOUND], [UNKNOWN, FOUND])
    assert found == {
        "problems": [],
        "missing": [{**plan[0], "digest": ONE}],
        "copies": {entry["image"]: f"{entry['repository']}@{ONE}" for entry in plan},
    }


def test_an_image_whose_source_fails_is_neither_missing_nor_copied():
    plan = mirroring.plan([SCHEDULER], REGISTRY)
    found = mirroring.compare(plan, [{**UNKNOWN, "stdout": f"a@{ONE}"}], [FOUND])
    assert found == {"problems": [f"{SCHEDULER}: {EXPLAINED}"], "missing": [], "copies": {}}
    # A copy that the registry does not show is copied all the same.
    found = mirroring.compare(plan, [FOUND], [{"rc": 1}])
    assert found["problems"] == [f"{plan[0]['target']}: no error message"]
    assert [one["digest"] for one in found["missing"]] == [ONE]
    assert found["copies"] == {SCHEDULER: f"{plan[0]['repository']}@{ONE}"}
    # What the registry refuses is a problem with the variables of the playbook.
    (problem,) = mirroring.compare(plan, [REFUSED], [FOUND])["problems"]
    assert "correct mirror_credentials (or mirror_auth_file) for it" in problem


EXPLAINED = (
    "the image does not exist: correct its name or tag. Original message: reading manifest 1 in r/a: manifest unknown: manifest unknown"
)


def test_an_image_without_a_source_is_no_object_of_a_catalog():
    bundle = {"schema": "olm.bundle", "package": "p", "image": "", "relatedImages": [{"name": "n"}, {"image": "q/a:1"}]}
    assert mirroring.catalog_images([bundle, {"schema": "olm.bundle", "package": "p"}]) == ["q/a:1"]
    with pytest.raises(ValueError, match="the catalog has no bundle of the package p; it has no package at all"):
        mirroring.catalog_images([{"schema": "olm.package"}], "p")


def test_no_image_of_the_collection_is_named_where_none_was_mirrored():
    assert mirroring.variables({}) == {}
    assert mirroring.variables({"p": "m/p@x"}, probe="p") == {"probe_image": "m/p@x"}


@pytest.mark.parametrize(
    ("output", "about", "explained"),
    [
        (UNKNOWN["stderr"], "r.example.com/a:1", EXPLAINED),
        (
            "dial tcp: i/o timeout",
            "r.example.com",
            (
                "the registry does not answer: see that it runs and can be reached from here, and whether a proxy is needed (HTTPS_PROXY). Original "
                "message: dial tcp: i/o timeout"
            ),
        ),
        (
            "write /x: No space left on device",
            "r.example.com/a:1",
            "there is no space left. Original message: write /x: No space left on device",
        ),
        ("open /x: permission denied\n\n", "r.example.com/a:1", "open /x: permission denied"),
        ('time="t" level=error msg="a \\"b\\""', "r.example.com/a:1", 'a "b"'),
        ('time="t" level=info msg="a"', "r.example.com/a:1", 'time="t" level=info msg="a"'),
    ],
)
def test_an_error_of_a_registry_is_one_sentence(output, about, explained):
    assert registry_errors.about(output, "r.example.com/a:1") == about
    assert registry_errors.explain(output, "r.example.com/a:1", "v_") == f"{about}: {explained}"


def test_answers_without_an_error_are_no_problem():
    answers = [
        {"item": "r.example.com/a:1", "rc": 0, "stderr": "connection refused"},
        {"item": "r.example.com/b:1", "rc": 1},
        {"item": "r.example.com/c:1", "rc": 1, "stderr": "manifest unknown"},
    ]
    assert registry_errors.problems(answers, "v_") == ["r.example.com/b:1: no error message"]


def test_an_auth_file_has_one_entry_for_each_registry():
    text = auth_file({"a.example.com": {"username": "u", "password": "p"}, "b.example.com/team/": {"username": "v", "password": "q"}})
    assert json.loads(text) == {"auths": {"a.example.com": {"auth": "dTpw"}, "b.example.com/team": {"auth": "djpx"}}}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (None, "credentials has to be a mapping from registry to username and password"),
        ({"a b": {}}, "credentials: 'a b' is no registry"),
        ({"r": {"username": "u"}}, "credentials['r'] has to have username and password, both of them texts, and nothing else"),
        ({"r": {"username": "u", "password": ""}}, "credentials['r'] has to have username and password"),
        ({"r": {"username": 1, "password": "p"}}, "credentials['r'] has to have username and password"),
        ({"r": {"username": "u:v", "password": "p"}}, "credentials['r'].username must not contain a colon"),
    ],
)
def test_credentials_that_cannot_be_used_are_named(given, says):
    with pytest.raises(ValueError, match=r"^credentials") as refusal:
        auth_file(given)
    assert str(refusal.value).startswith(says)
