# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What olm_operator says before it comes to OLM's objects: an API server that serves none, and options that cannot be meant.

The cluster of the other tests has OLM as soon as one of them needs it, so this API server is one that only says what it does not serve.
"""

from __future__ import annotations

import pytest
from support.api_server import ApiServer
from support.direct_module import run_directly
from support.examples import PLUGINS, examples

NOT_SERVED = (404, b"404 page not found\n")


@pytest.mark.parametrize("state", ["present", "absent"])
@pytest.mark.parametrize("check", [True, False], ids=["check", "run"])
def test_a_cluster_without_olm_is_reported_with_one_read_request(state, check):
    with ApiServer.running() as server:
        server.answers = [NOT_SERVED]
        run = run_directly(
            "olm_operator",
            check=check,
            succeed=False,
            package="demo",
            namespace="n",
            source="cat",
            state=state,
            host=server.url,
            api_key="no-word-of-the-message",
        )
        assert [request.method for request in server.seen] == ["GET"]
    assert run.message.startswith("OLM is not installed in this cluster: the API server does not serve operators.coreos.com/v1alpha1 Sub")
    assert "install the operator from its manifests" in run.message
    assert run.result["csv"] == dict.fromkeys(["name", "version", "phase", "reason", "message"])
    assert run.result["objects"] == []


@pytest.mark.parametrize("task", examples(PLUGINS / "modules/olm_operator.py"), ids=lambda task: task["name"])
def test_the_options_of_each_example_are_valid(task):
    """Only the missing OLM ends it."""
    with ApiServer.running() as server:
        server.answers = [NOT_SERVED]
        check = task.get("check_mode", False)
        given = task["osso.scheduler.olm_operator"]
        run = run_directly("olm_operator", check=check, succeed=False, host=server.url, api_key="token", **given)
        assert len(server.seen) == 1
    assert run.message.startswith("OLM is not installed in this cluster")
    assert run.warnings == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"package": "De mo"}, "package is 'De mo'; give a name"),
        ({"namespace": ""}, "namespace is ''; give a name"),
        ({"upgrade": "version"}, "upgrade is version but version is missing"),
        ({"version": "1.0.0"}, "version is 1.0.0 but upgrade is channel; set upgrade: version"),
        ({"approve": "1.0.0"}, "approve is 1.0.0 but approval is Automatic; set approval: Manual"),
        ({"source": None, "catalog": {"image": "i"}}, "catalog is given but source is missing"),
        ({"watch_namespaces": ["a", ""]}, "for all namespaces give an empty list"),
        ({"wait_timeout": -1}, "wait_timeout is -1"),
        ({"retry_seconds": -1}, "retry_seconds is -1"),
    ],
)
def test_contradictory_options_are_rejected_before_any_request(options, says):
    given = {"package": "demo", "namespace": "n", "source": "cat", **options}
    assert says in run_directly("olm_operator", succeed=False, host="http://127.0.0.1:9", **given).message
