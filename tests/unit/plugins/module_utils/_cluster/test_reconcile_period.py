# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The policy of the role operator that rejects an unusable period; tests/api/test_operator_methods.py has the API server's verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import jinja2
import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import reconcile_period

TEMPLATES = Path(__file__).parents[5] / "roles/operator/templates"


def rendered(served=True, watched=("*",)):
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), undefined=jinja2.StrictUndefined)
    environment.filters["to_json"] = json.dumps
    variables = {"operator_found": {"admission_policies": served}, "operator_namespace": "a", "operator_labels": {"b": "c"}}
    text = environment.get_template("operator_admission.yaml.j2").render(**variables, operator_watched=list(watched))
    return [document for document in yaml.safe_load_all(text) if document]


def test_a_cluster_without_such_policies_gets_none():
    assert rendered(served=False) == []


def test_the_policy_checks_the_annotation_in_the_watched_namespaces():
    policy, binding = rendered()
    assert reconcile_period.ANNOTATION in policy["spec"]["validations"][0]["message"]
    assert "matchResources" not in binding["spec"]
    _policy, binding = rendered(watched=["a", "b"])
    (expression,) = binding["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert expression == {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["a", "b"]}


@pytest.mark.parametrize("period", ["10m", "1s", "999ms1000us", "2562047h", "0", "0s", "-5m"])
def test_a_usable_period_is_no_problem(period):
    assert reconcile_period.problem(annotated(period)) == ""
    assert reconcile_period.problem({"metadata": {}}) == ""


@pytest.mark.parametrize("period", ["1ms", "0.5s", "1ns", "999ms999us"])
def test_a_period_below_a_second_would_keep_the_operator_busy(period):
    problem = reconcile_period.problem(annotated(period))
    assert f'"{period}" is less than 1s, so the operator reconciles the resource without a pause: remove it' in problem


@pytest.mark.parametrize("period", ["2562048h", "2562047h60m", "9" * 400 + "h"])
def test_a_period_beyond_the_range_of_durations_is_named_with_the_limit(period):
    assert "is no duration up to 2562047h" in reconcile_period.problem(annotated(period))


def annotated(period):
    return {"metadata": {"annotations": {reconcile_period.ANNOTATION: period}}}
