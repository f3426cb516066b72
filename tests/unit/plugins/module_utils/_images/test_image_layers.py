# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files out of the layers of an image, as skopeo copies it to a folder."""

from __future__ import annotations

import io
import json
import os
import tarfile

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._images.layers import files


def everything(_name):
    return True


def image(folder, *layers, compression=""):
    """A folder with these layers, the lowest first; each is a list of (name, content), where the content None means a directory."""
    digests = []
    for number, members in enumerate(layers):
        with tarfile.open(folder / f"layer{number}", f"w:{compression}") as archive:
            for name, content in members:
                member = tarfile.TarInfo(name)
                if content is None:
                    member.type = tarfile.DIRTYPE
                else:
                    member.size = len(content)
                archive.addfile(member, io.BytesIO(content or b""))
        digests.append({"digest": f"sha256:layer{number}"})
    (folder / "manifest.json").write_text(json.dumps({"layers": digests}))
    return str(folder)


@pytest.mark.parametrize("compression", ["", "gz", "bz2", "xz"])
def test_upper_layers_replace_and_remove_files_of_lower_ones(tmp_path, compression):
    folder = image(
        tmp_path,
        [("etc", None), ("./etc/a", b"1"), ("etc/b", b"1"), ("etc/bc", b"1"), ("opt/x/y", b"1"), ("var/z", b"1"), ("usr/d/e", b"1")],
        [("etc/.wh.b", b""), ("/etc/a", b"2"), ("opt/.wh..wh..opq", b""), ("opt/new", b"2"), ("usr/.wh.d", b"")],
        [("../var/later", b"3"), ("empty", b"")],
        compression=compression,
    )
    found = files(folder, everything)
    assert found == {
        "etc/bc": b"1",
        "var/z": b"1",
        "etc/a": b"2",
        "opt/new": b"2",
        "var/later": b"3",
        "empty": b"",
    }
    # What is in the topmost layer comes last.
    assert list(found) == ["etc/bc", "var/z", "etc/a", "opt/new", "var/later", "empty"]


def test_only_selected_files_are_read(tmp_path):
    folder = image(tmp_path, [("a/x.yaml", b"1"), ("a/x.txt", b"1234")])
    assert files(folder, lambda name: name.endswith(".yaml"), largest=3) == {"a/x.yaml": b"1"}


def test_a_file_may_have_the_largest_size_and_no_more(tmp_path):
    folder = image(tmp_path, [("a", b"1234")])
    assert files(folder, everything, largest=4) == {"a": b"1234"}
    with pytest.raises(ValueError, match=r"^a in the image has 4 bytes, more than 3$"):
        files(folder, everything, largest=3)


@pytest.mark.parametrize("manifest", [None, "no json", "[]", "{}", '{"manifests": []}'])
def test_a_folder_without_one_image_is_named(tmp_path, manifest):
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(ValueError, match="does not hold one image, as skopeo copies it to dir") as refusal:
        files(str(tmp_path), everything)
    assert str(refusal.value).startswith(str(tmp_path))


def test_a_layer_that_cannot_be_read_is_named(tmp_path):
    folder = image(tmp_path, [("a", b"1")])
    (tmp_path / "layer0").write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"^layer sha256:layer0 of the image cannot be read: "):
        files(folder, everything)
    (tmp_path / "layer0").unlink()
    with pytest.raises(ValueError, match=r"^layer sha256:layer0 of the image cannot be read: "):
        files(folder, everything)


@pytest.mark.parametrize("layers", [5, [{}], [5], None])
def test_a_manifest_with_odd_layers_is_an_error(tmp_path, layers):
    (tmp_path / "manifest.json").write_text(json.dumps({"layers": layers}))
    with pytest.raises(ValueError, match="does not hold one image, as skopeo copies it to dir: "):
        files(str(tmp_path), everything)


def test_a_truncated_layer_is_an_error(tmp_path):
    folder = image(tmp_path, [("a", os.urandom(100_000))], compression="gz")
    layer = tmp_path / "layer0"
    layer.write_bytes(layer.read_bytes()[:50_000])
    with pytest.raises(ValueError, match=r"^layer sha256:layer0 of the image cannot be read: "):
        files(folder, everything)
