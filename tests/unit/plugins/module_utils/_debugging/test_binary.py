# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""F153: the program out of an image, as skopeo copies one to a folder. With the real skopeo: test_scheduler_pprof.py."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import binary
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import Target
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import prepared

DIGEST = "registry.example.com/a/scheduler@sha256:" + "0" * 64


def started(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def skopeo(tmp_path):
    """skopeo(layers, compression) is a program that copies an image of these layers, each path -> content, and notes what it was told."""

    def make(layers, compression="gz", fails=""):
        image = tmp_path / "image"
        image.mkdir()
        digests = []
        for number, files in enumerate(layers):
            digests.append(f"{number:064x}")
            with tarfile.open(image / digests[-1], f"w:{compression}") as archive:
                for name, content in files.items():
                    member = tarfile.TarInfo(name)
                    if content is None:
                        member.type, member.linkname = tarfile.SYMTYPE, "elsewhere"
                    else:
                        member.size = len(content)
                    archive.addfile(member, io.BytesIO(content or b""))
        (image / "manifest.json").write_text(json.dumps({"layers": [{"digest": f"sha256:{one}"} for one in digests]}))
        script = tmp_path / "skopeo"
        copy = f"cp {image}/* ${{target#dir:}}" if not fails else f"echo {fails} >&2; exit 1"
        script.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/told\nfor target; do :; done\n{copy}\n')
        script.chmod(0o755)
        return binary.Source(None, True, str(script))

    return make


@pytest.mark.parametrize("compression", ["", "gz"])
@pytest.mark.parametrize(
    "name", ["bin/kube-scheduler", "usr/local/bin/kube-scheduler", "./usr/bin/kube-scheduler", "kube-scheduler", "./kube-scheduler"]
)
def test_the_program_comes_from_the_last_layer_that_contains_it(skopeo, tmp_path, name, compression):
    dest = tmp_path / "dest"
    dest.mkdir()
    layers = [{name: b"old"}, {name: b"new one", "etc/kube-scheduler": b"no", "bin/other": b"no"}, {"bin/kube-scheduler": None}]
    source = skopeo(layers, compression)
    # skopeo takes no tag beside a digest.
    assert binary.extract(DIGEST.replace("@", ":v1@"), "arm64", str(dest / "program"), source, started) == 7
    assert (dest / "program").read_bytes() == b"new one"
    assert [path.name for path in dest.iterdir()] == ["program"]
    assert (
        (tmp_path / "told")
        .read_text()
        .startswith(f"--override-os=linux --override-arch=arm64 copy --quiet --src-tls-verify=true docker://{DIGEST} dir:{dest}/.image.")
    )


def test_a_program_that_a_later_layer_deletes_is_not_used(skopeo, tmp_path):
    layers = [{"usr/bin/kube-scheduler": b"right"}, {"bin/kube-scheduler": b"deleted"}, {"bin/.wh.kube-scheduler": b""}]
    binary.extract(DIGEST, "", str(tmp_path / "program"), skopeo(layers), started)
    assert (tmp_path / "program").read_bytes() == b"right"


def test_skopeo_gets_registry_credentials_as_a_file(skopeo, tmp_path):
    source = skopeo([{"bin/kube-scheduler": b"x"}])
    binary.extract(DIGEST, "", str(tmp_path / "program"), binary.Source("/a/file", False, source.skopeo), started)
    assert "copy --quiet --src-tls-verify=false --src-authfile=/a/file docker://" in (tmp_path / "told").read_text()


@pytest.mark.parametrize(
    ("layers", "fails", "why"),
    [
        ([{"bin/other": b"x"}], "", "has no file kube-scheduler in a folder bin"),
        ([{}], "unauthorized", f"the image {DIGEST} could not be copied: unauthorized. .*binary.auth_file"),
    ],
)
def test_a_missing_program_or_a_failed_copy_is_an_error(skopeo, tmp_path, layers, fails, why):
    dest = tmp_path / "dest"
    dest.mkdir()
    with pytest.raises(ClusterError, match=why):
        binary.extract(DIGEST, "", str(dest / "program"), skopeo(layers, fails=fails), started)
    assert list(dest.iterdir()) == []


def test_a_layer_with_an_unsupported_compression_is_an_error(skopeo, tmp_path):
    source = skopeo([{"bin/kube-scheduler": b"x"}])
    (tmp_path / "image" / f"{0:064x}").write_bytes(b"\x28\xb5\x2f\xfd zstd")
    with pytest.raises(ClusterError, match="such as zstd"):
        binary.extract(DIGEST, "", str(tmp_path / "program"), source, started)


def test_a_missing_skopeo_is_reported_with_the_remedy(tmp_path):
    with pytest.raises(ClusterError, match=r"binary\.skopeo: no-such could not be started: No such file or directory\. Install skopeo"):
        binary.extract(DIGEST, "", str(tmp_path / "program"), binary.Source(None, True, "no-such"), started)


@pytest.mark.parametrize("side", ["candidate", "baseline"])
@pytest.mark.parametrize(
    ("layers", "fails", "why"),
    [
        (None, "", "SIDE.skopeo: no-such could not be started: "),
        ([{}], "unauthorized", f"SIDE: the image {DIGEST} could not be copied: unauthorized. .* SIDE.auth_file and SIDE.validate_certs "),
        ([{"bin/other": b"x"}], "", f"SIDE: the image {DIGEST} has no file kube-scheduler"),
    ],
)
def test_a_preview_names_its_own_options(skopeo, side, layers, fails, why):
    program = "no-such" if layers is None else skopeo(layers, fails=fails).skopeo
    given = {"config_text": "x", "image": DIGEST, "skopeo": program}
    with (
        pytest.raises(ClusterError, match=f"^{why.replace('SIDE', side)}.* Or set {side}.binary to the path of a kube-scheduler") as raised,
        prepared(side, given, started),
    ):
        pass
    assert "binary.auth_file" not in raised.value.message


TAGGED, OTHER = "registry.example.com/a/scheduler:1", "sha256:" + "1" * 64


@pytest.mark.parametrize(
    ("specified", "pulled", "image"),
    [
        (TAGGED, DIGEST, DIGEST),
        (TAGGED, f"docker-pullable://{DIGEST}", DIGEST),
        (TAGGED, f"elsewhere.example.com/b/same@{OTHER}", f"registry.example.com/a/scheduler@{OTHER}"),
        (DIGEST, f"elsewhere.example.com/b/same@{OTHER}", DIGEST),
        ("scheduler", f"docker.io/library/scheduler@{OTHER}", f"docker.io/library/scheduler@{OTHER}"),
        (
            "registry.example.com/a/scheduler@sha512:ab",
            f"registry.example.com/a/scheduler@{OTHER}",
            "registry.example.com/a/scheduler@sha512:ab",
        ),
        (TAGGED, OTHER, TAGGED),
        (TAGGED, None, TAGGED),
    ],
)
def test_the_digest_of_an_image_is_read_from_the_status_of_the_pod(specified, pulled, image):
    """What a pod's status says is the digest, and the name of any repository with the same content that the node has seen."""
    status = {"containerStatuses": [{"name": "other", "imageID": "x"}, {"name": "c", "imageID": pulled}]}
    containers = [{"name": "other", "image": "y"}, {"name": "c", "image": specified}]
    assert binary.image_of(Target({"spec": {"containers": containers}, "status": status}, "c", {}, None)) == image
