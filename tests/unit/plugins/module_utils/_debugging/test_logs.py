# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was logged since a moment."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.logs import ContainerLog, FileLog
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import Target


class Node:
    """Answers as a kubelet does: whole seconds, nanoseconds without their last zeros."""

    def __init__(self, *lines):
        self.lines = list(lines)

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def text(self, path, query):
        assert (path, query["container"]) == ("/api/v1/namespaces/n/pods/p/log", "c")
        lines = self.lines[-1:] if "tailLines" in query else self.lines
        return "".join(f"{line}\n" for line in lines if line[:19] >= query.get("sinceTime", "")[:19])


def container_log(node):
    return ContainerLog(node, Target({"metadata": {"namespace": "n", "name": "p"}, "spec": {"containers": []}}, "c", {}, None))


def test_only_lines_after_the_last_one_of_a_containers_log_are_read():
    node = Node("2026-11-22T05:00:00.9Z a", "2026-11-22T05:00:01.25Z b", "2026-11-22T05:00:01.3Z c")
    log = container_log(node)
    assert log.since() == ""
    node.lines += ["2026-11-22T05:00:01.300000001Z \td", "2026-11-22T05:00:02Z  >", "2026-11-22T05:00:02.1Z "]
    assert log.since() == "\td\n >\n\n"


def test_the_first_line_after_an_empty_log_is_returned():
    node = Node()
    log = container_log(node)
    node.lines = ["2026-11-22T05:00:01+01:00 first"]
    assert log.since() == "first\n"


def test_only_text_after_the_first_size_of_a_file_is_read(tmp_path):
    path = tmp_path / "log"
    path.write_text("before\n")
    log = FileLog(str(path))
    assert log.since() == ""
    with path.open("a") as file:
        file.write("after\n")
    assert log.since() == "after\n"


@pytest.mark.parametrize("rotate", ["renamed", "emptied"])
def test_a_rotated_file_is_read_from_its_start(tmp_path, rotate):
    path = tmp_path / "log"
    path.write_text("before, which is long\n")
    log = FileLog(str(path))
    if rotate == "renamed":
        path.rename(tmp_path / "log.1")
    path.write_text("new\n")
    assert log.since() == "new\n"


def test_a_missing_log_file_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"log_path: .*missing cannot be read: No such file"):
        FileLog(str(tmp_path / "missing"))


def test_a_log_file_that_is_deleted_meanwhile_is_an_error(tmp_path):
    path = tmp_path / "log"
    path.write_text("before\n")
    log = FileLog(str(path))
    path.unlink()
    with pytest.raises(InputError, match=rf"^log_path: {path} cannot be read: No such file or directory\.$"):
        log.since()
