# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The file that scheduler_gather writes, and which options it refuses."""

from __future__ import annotations

import io
import json
import tarfile
from datetime import UTC, datetime

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._gathering.bundle import Bundle
from ansible_collections.osso.scheduler.plugins.module_utils._gathering.collect import Options
from ansible_collections.osso.scheduler.plugins.module_utils._gathering.masking import Masking

MADE = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)


def unpacked(content: bytes) -> dict[str, str]:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        assert all(member.isfile() and member.mode == 0o600 for member in archive.getmembers())
        return {member.name: archive.extractfile(member).read().decode() for member in archive.getmembers()}


def test_a_credential_that_is_found_last_is_masked_in_earlier_files():
    bundle = Bundle(Masking())
    bundle.add("first.log", "a log", "GET /log", "it said pl4nted-one\n")
    bundle.miss("Pods", "GET /pods", "no | pl4nted-one\nfor <you>")
    bundle.notes.append("pl4nted-one stays")
    bundle.objects("things.json", "things", "GET /things", [{"kind": "A", "apiVersion": "v1", "metadata": {}, "password": "pl4nted-one"}])
    files = unpacked(bundle.packed("b", "https://api", MADE))
    assert list(files) == ["b/index.md", "b/index.json", "b/first.log", "b/things.json"]
    assert not [name for name, text in files.items() if "pl4nted" in text]
    index = json.loads(files["b/index.json"])
    assert (index["made"], index["cluster"], index["notes"]) == ("2026-11-22T12:00:00Z", "https://api", ["******** stays"])
    assert [(entry["file"], entry["objects"], entry["bytes"]) for entry in index["files"]] == [
        ("first.log", None, len("it said ********\n")),
        ("things.json", 1, len(files["b/things.json"])),
    ]
    assert "| Pods | GET /pods | no \\| ******** for &lt;you> |" in files["b/index.md"]
    assert "| first.log | a log | GET /log |  | 17 |" in files["b/index.md"]


def test_a_name_that_leads_out_of_the_folder_is_not_used():
    bundle = Bundle(Masking())
    for name in ("namespaces/n/logs/../../x/c.log", "/etc/x", "a//b", "./x"):
        bundle.add(name, "the log", "GET /x", "text")
    assert (bundle.files, len(bundle.missing), bundle.missing[0]["what"]) == ([], 4, "the log")


def test_masking_keeps_json_its_keys_and_its_numbers():
    """This includes keys that are names of credentials elsewhere."""
    masking = Masking()
    masking.remember("enabled")
    masking.remember("3600")
    bundle = Bundle(masking)
    obj = {"kind": "A", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {"enabled": {"seconds": 3600, "said": "a\n\tsha256~abc"}}}
    bundle.objects("things.json", "things", "GET /things", [obj])
    (found,) = json.loads(unpacked(bundle.packed("b", "https://api", MADE))["b/things.json"])["items"]
    assert found["spec"] == {"enabled": {"seconds": 3600, "said": "a\n\t********"}}


def options(**given):
    return Options(
        **{
            "namespaces": [],
            "log_lines": 10,
            "metrics_account": None,
            "cache_dumps": False,
            "debug_image": None,
            "path": "b.tar.gz",
            **given,
        }
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"path": "/tmp/bundle.zip"}, "path: /tmp/bundle.zip does not end in NAME.tar.gz"),
        ({"path": "/tmp/.tar.gz"}, "does not end in NAME.tar.gz"),
        ({"path": "/no/such/folder/b.tar.gz"}, "path: /no/such/folder is no directory"),
        ({"log_lines": -1}, "log_lines is -1"),
        ({"cache_dumps": True}, "cache_dumps needs debug_image"),
    ],
)
def test_invalid_options_are_rejected(given, said):
    with pytest.raises(InputError) as caught:
        options(**given)
    assert said in caught.value.message


def test_usable_options_are_accepted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert options().path == "b.tar.gz"
    assert options(path=f"{tmp_path}/b.tar.gz", log_lines=0, cache_dumps=True, debug_image="x").cache_dumps


def test_a_directory_is_no_bundle(tmp_path):
    folder = tmp_path / "b.tar.gz"
    folder.mkdir()
    with pytest.raises(InputError) as caught:
        options(path=str(folder))
    assert caught.value.message == f"path: {folder} is a directory. Give the file to write."
