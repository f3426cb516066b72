# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Annotations that ansible-operator reads, and the policy of the role operator that rejects unusable values of them.

tests/api/test_operator_methods.py has the verdicts of the API server.
"""

from __future__ import annotations

import json
from pathlib import Path

import jinja2
import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import runner_annotations
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.readiness import FAILED, condition
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import target

TEMPLATES = Path(__file__).parents[5] / "roles/operator/templates"


def rendered(served=True, watched=("*",)):
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), undefined=jinja2.StrictUndefined)
    environment.filters["to_json"] = json.dumps
    variables = {"operator_found": {"admission_policies": served}, "operator_namespace": "a", "operator_labels": {"b": "c"}}
    text = environment.get_template("operator_admission.yaml.j2").render(**variables, operator_watched=list(watched))
    return [document for document in yaml.safe_load_all(text) if document]


def test_a_cluster_without_such_policies_gets_none():
    assert rendered(served=False) == []


def test_the_policy_checks_the_annotations_in_the_watched_namespaces():
    policy, binding = rendered()
    for name, validation in zip(target.RUNNER_ANNOTATIONS, policy["spec"]["validations"], strict=True):
        assert name in validation["message"]
        assert validation["expression"].count(f"'{name}'") >= 4
    assert "matchResources" not in binding["spec"]
    _policy, binding = rendered(watched=["a", "b"])
    (expression,) = binding["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert expression == {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["a", "b"]}


@pytest.mark.parametrize("period", ["10m", "1s", "999ms1000us", "2562047h", "0", "0s", "-5m"])
def test_a_usable_period_is_no_problem(period):
    assert runner_annotations.problem(annotated(period)) == ""
    assert runner_annotations.problem({"metadata": {}}) == ""


@pytest.mark.parametrize("period", ["1ms", "0.5s", "1ns", "999ms999us"])
def test_a_period_below_a_second_would_keep_the_operator_busy(period):
    problem = runner_annotations.problem(annotated(period))
    assert f'"{period}" is less than 1s, so the operator reconciles the resource without a pause: remove it' in problem


@pytest.mark.parametrize("period", ["2562048h", "2562047h60m", "9" * 400 + "h"])
def test_a_period_beyond_the_range_of_durations_is_named_with_the_limit(period):
    assert "is no duration up to 2562047h" in runner_annotations.problem(annotated(period))


@pytest.mark.parametrize("verbosity", ["999999999999999", "8", "-1", "", "03", "1\n"])
def test_a_verbosity_that_ends_the_operator_is_a_problem(verbosity):
    problem = runner_annotations.problem(annotated(verbosity, target.VERBOSITY_ANNOTATION))
    assert f"{target.VERBOSITY_ANNOTATION}: " in problem
    assert "with a large number the operator ends at each reconcile: remove it, or set a number such as 3" in problem


@pytest.mark.parametrize("number", ["0", "-1", "1", "2", "101", "1000", "garbage", ""])
def test_a_number_of_artifacts_that_fails_or_fills_the_disk_is_a_problem(number):
    problem = runner_annotations.problem(annotated(number, target.ARTIFACTS_ANNOTATION))
    assert f'{target.ARTIFACTS_ANNOTATION}: "{number}" is no number from 3 to 100' in problem


@pytest.mark.parametrize(
    ("name", "values"), [(target.VERBOSITY_ANNOTATION, ("0", "7")), (target.ARTIFACTS_ANNOTATION, ("3", "9", "10", "99", "100"))]
)
def test_usable_numbers_are_no_problem(name, values):
    assert [runner_annotations.problem(annotated(value, name)) for value in values] == [""] * len(values)


def test_each_unusable_annotation_is_named():
    resource = {"metadata": {"annotations": dict.fromkeys(target.RUNNER_ANNOTATIONS, "garbage")}}
    assert runner_annotations.problem(resource).count("its annotation ") == 3


@pytest.mark.parametrize(
    ("name", "value", "stops"),
    [
        (target.PERIOD_ANNOTATION, "garbage", True),
        (target.ARTIFACTS_ANNOTATION, "2", True),
        (target.ARTIFACTS_ANNOTATION, "0", False),
        (target.ARTIFACTS_ANNOTATION, "101", False),
        (target.VERBOSITY_ANNOTATION, "8", False),
    ],
)
def test_only_annotations_that_stop_reconciles_end_a_wait(name, value, stops):
    """Others were accepted before there was a policy, and ansible-operator ignores or bears them."""
    waiting = {**annotated(value, name), "status": {"conditions": [{"type": "Available", "status": "False"}]}}
    assert (condition(waiting, "Available").state == FAILED) is stops


def annotated(value, name=target.PERIOD_ANNOTATION):
    return {"metadata": {"annotations": {name: value}}}
