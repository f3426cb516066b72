# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options that don't fit are refused with field, value and remedy, before anything is asked."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import cache_dump, profiles
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.temporary_rbac import Access
from ansible_collections.osso.scheduler.plugins.modules import scheduler_cache_dump, scheduler_pprof

POD = {"namespace": "n", "name": "p", "container": None}


def options(module, made_by, **given):
    defaults = {name: about.get("default") for name, about in module.OPTIONS.items()}
    return made_by(**{**defaults, "scheduler_name": "second", **given})


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"scheduler_name": None}, "scheduler_name: give the schedulerName"),
        ({"timeout": 0}, "timeout is 0"),
        ({"pid": 5}, "pid is about a process of the host .* method: host"),
        ({"log_path": "/x"}, "log_path is about a process"),
        ({"method": "host", "log_path": "/x", "pod": POD}, "exclude each other"),
        ({"process": ""}, "process is empty"),
    ],
)
def test_invalid_options_of_a_cache_dump_are_rejected(given, why):
    with pytest.raises(InputError, match=why):
        options(scheduler_cache_dump, cache_dump.Options, **given)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"scheduler_name": None}, "scheduler_name: give the schedulerName"),
        ({"profiles": []}, "profiles is empty"),
        ({"seconds": 601}, "seconds is 601: give 1 to 600"),
        ({"serving_name": "x"}, "give that, too"),
        ({"certificate_sha256": "abc"}, "64 hexadecimal digits"),
        ({"dest": "/nowhere"}, "dest: /nowhere is no directory"),
    ],
)
def test_invalid_options_of_profiles_are_rejected(given, why, tmp_path):
    with pytest.raises(InputError, match=why):
        options(scheduler_pprof, profiles.Options, **{"dest": str(tmp_path), **given})


def test_the_kinds_of_profiles_are_those_of_the_option():
    assert list(profiles.KINDS) == scheduler_pprof.OPTIONS["profiles"]["choices"]


def test_the_right_to_read_profiles_is_no_more_than_that():
    account, role, binding = Access(None, "n", "token").manifests()
    assert role["rules"] == [{"nonResourceURLs": ["/debug/pprof/*"], "verbs": ["get"]}]
    assert [(one["kind"], one["name"], one["namespace"]) for one in binding["subjects"]] == [
        ("ServiceAccount", account["metadata"]["name"], "n")
    ]
    role, binding = Access(None, "n", "anonymous").manifests()
    assert [(one["kind"], one["name"]) for one in binding["subjects"]] == [("User", "system:anonymous")]
