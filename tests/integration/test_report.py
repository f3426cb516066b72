# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""playbooks/report.yml on a real cluster (F124, F125)."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from markupsafe import escape
from support.plain_scheduler import errors_of, plain_scheduler
from support.scheduler import eventually


def test_the_page_shows_available_schedulers_and_pending_pods(play, kubectl, namespace, tmp_path, audit):
    container = {"name": "c", "image": "registry.k8s.io/pause:3.10"}
    lonely = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "lonely", "namespace": namespace}}
    kubectl.apply({**lonely, "spec": {"schedulerName": "nobody", "containers": [container]}})
    with plain_scheduler(kubectl) as second:
        # It is ready before it leads.
        eventually(lambda: (kubectl.get("lease", "second", second) or {"spec": {}})["spec"].get("holderIdentity"))
        earlier = eventually(lambda: errors_of(kubectl, second))
        with audit:
            run = play("osso.scheduler.report", variables={"report_dest": str(tmp_path / "new"), "report_namespaces": [second]})
        assert audit.writes() == []
        path = tmp_path / "new/schedulers-localhost.html"
        assert str(path) in run.task("Report the path").result["msg"]
        text = path.read_text()
        last = errors_of(kubectl, second)[len(earlier) - 1 :]
    assert re.search(rf"<h3>{second}, {second}-packing</h3>\s*<p><span class=\"well\">available", text)
    reason = "no scheduler with the name nobody was found in the namespaces that were searched, and none has reported on the pod"
    assert re.search(rf"<td>nobody</td><td>{namespace}/lonely</td><td class=\"number\">[^<]+</td><td>{reason}</td>", text)
    assert "<h3>default-scheduler</h3>" in text
    assert f"<summary>Plugins of {second}-packing</summary>" in text
    assert "NodeResourcesFit (1)" in text
    assert re.search(r"<dt>instance</dt><dd>second-\S+ on \S+: <span class=\"well\">ready</span>.*<span>0 restarts</span>", text)
    # Errors that were logged later, such as of events in a namespace that was deleted, replace the first one on the page.
    assert "extension-apiserver-authentication" in earlier[0]
    shown = re.findall(r"<dt>last error</dt><dd><code>(.*?)</code>", text)
    assert any(line.startswith(str(escape(one[:80]))) for line in shown for one in last), (shown, last)
    look(path, tmp_path)


def look(path, folder):
    """Load the page in a real browser, if there is one."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not browser:
        pytest.skip("the page was written as it should be; loading it in a browser needs chromium")
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        f"--user-data-dir={folder}/browser",
        "--dump-dom",
        path.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert "Pods without a responsible scheduler" in done.stdout
