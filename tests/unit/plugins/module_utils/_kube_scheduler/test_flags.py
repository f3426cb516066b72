# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kube-scheduler's command line: what it overrides, which feature gates it sets, and what is wrong with it."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import gates, strconv
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.flags import feature_gates, overriding, parse
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.gates import GATES
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.releases import NEWEST, OLDEST
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import Target

HEAD = "apiVersion: kubescheduler.config.k8s.io/{}\nkind: KubeSchedulerConfiguration\n"
SHORT_LEASE = "leaderElection: {leaseDuration: 5s, renewDeadline: 10s}\n"


def judge(minor, *flags, text=""):
    return check(HEAD.format(Target(minor).served[-1]) + text, f"1.{minor}", flags=flags)


def problems(minor, *flags):
    return [message for message, _hint in parse(Target(minor, flags=flags)).problems]


@pytest.mark.parametrize("minor", range(21, 38))
def test_flags_for_leader_election_override_the_file(minor):
    assert not judge(minor, text=SHORT_LEASE).valid
    # 1.21 ignores them beside a file
    assert judge(minor, "--leader-elect=false", text=SHORT_LEASE).valid == (minor >= 22)
    assert judge(minor, "--leader-elect-lease-duration=20s", text=SHORT_LEASE).valid == (minor >= 22)


@pytest.mark.parametrize("minor", range(21, 38))
def test_flags_are_checked_where_they_override(minor):
    result = judge(minor, "--leader-elect-lease-duration=5s")
    assert not result.valid
    (error,) = result.errors
    assert "--leader-elect-lease-duration" in error.format()


def test_an_override_decides_whether_the_process_starts():
    result = judge(34, "--leader-elect-retry-period=9s")
    assert (result.valid, result.starts) == (True, False)
    assert judge(34, "--leader-elect-retry-period=9s", "--leader-elect=false").starts


def test_the_completed_configuration_has_what_flags_override():
    election = judge(34, "--leader-elect-lease-duration=137s", "--leader-elect-resource-name", "mine").config["leaderElection"]
    assert election["leaseDuration"] == "2m17s"
    assert election["resourceName"] == "mine"


def test_overridden_fields_are_listed_with_their_flags():
    target = Target(34, flags=("--leader_elect", "--leader-elect-resource-lock=leases", "-v=2"))
    assert overriding(target) == {"leaderElect": "leader-elect", "resourceLock": "leader-elect-resource-lock"}
    assert overriding(Target(21, flags=("--leader-elect",))) == {}


@pytest.mark.parametrize(
    "flags",
    [
        ("--leader-elect",),
        ("--leader-elect=T",),
        ("--leader-elect-lease-duration", "20s"),
        ("--leader_elect=false",),
        ("-v", "2"),
        ("-v=2",),
        ("-v2",),
        ("",),
        ("--",),
        ("--kube-api-burst=0x10",),
        ("--kube-api-qps=1e3",),
        ("--kubeconfig=/etc/kubernetes/scheduler.conf", "--authentication-kubeconfig=/x", "--bind-address=127.0.0.1"),
    ],
)
def test_valid_flags_have_no_problems(flags):
    assert problems(34, *flags) == []


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--leader-election=true",), "unknown flag: --leader-election"),
        (("-x",), "unknown flag: -x"),
        (("--leader-elect", "false"), "does not take any arguments"),
        (("--", "x"), "does not take any arguments"),
        (("--leader-elect=no",), 'invalid argument "no" for "--leader-elect" flag'),
        (("--leader-elect-lease-duration=15",), "missing unit in duration"),
        (("--leader-elect-lease-duration",), "flag needs an argument"),
        (("--kube-api-burst=99999999999",), "value out of range"),
        (("--kube-api-qps=x",), "strconv.ParseFloat"),
        (("--bind-address=localhost",), "failed to parse IP"),
    ],
)
def test_each_invalid_flag_is_an_error(flags, message):
    (found,) = problems(34, *flags)
    assert message in found
    result = judge(34, *flags)
    assert not result.valid
    assert [(finding.stage, finding.path) for finding in result.errors] == [("decode", "")]


def test_a_misspelt_flag_gets_a_suggestion():
    (error,) = judge(34, "--leader-elect-lease-durations=15s").errors
    assert "did you mean --leader-elect-lease-duration?" in error.hint


@pytest.mark.parametrize(
    ("flag", "first", "last"),
    [
        ("--port=0", 21, 23),
        ("--address=0.0.0.0", 21, 22),
        ("--lock-object-name=x", 21, 27),
        ("--logtostderr", 21, 25),
        ("--pod-max-in-unschedulable-pods-duration=5m", 24, 37),
        ("--emulated-version=", 31, 37),
        ("--scheduler-name=x", 21, 21),
    ],
)
def test_a_flag_is_valid_only_in_the_releases_that_have_it(flag, first, last):
    assert [minor for minor in range(21, 38) if not problems(minor, flag)] == list(range(first, last + 1))


def test_the_insecure_port_must_be_zero_since_1_23():
    assert problems(22, "--port=10251") == []
    assert problems(22, "--port=70000") == ["--port 70000 must be between 0 and 65535, inclusive"]
    assert problems(23, "--port=10251") == ["port: invalid port value 10251: only zero is allowed"]


# --- feature gates ---


@pytest.mark.parametrize(
    ("gate", "on"),
    [
        ("PodSchedulingReadiness", range(27, 38)),
        ("DynamicResourceAllocation", range(34, 38)),
        ("DRASchedulerFilterTimeout", range(34, 38)),
        ("DRADeviceBindingConditions", range(36, 38)),
        ("NodeDeclaredFeatures", range(36, 38)),
        ("GangScheduling", ()),
        ("VolumeCapacityPriority", ()),
        ("StorageCapacityScoring", (37,)),
    ],
)
def test_default_feature_gates_depend_on_the_release(gate, on):
    assert [minor for minor in range(21, 38) if feature_gates(Target(minor)).get(gate)] == list(on)


def test_flags_switch_feature_gates_on_and_off():
    def on(*flags, minor=36):
        return feature_gates(Target(minor, flags=flags))

    assert on("--feature-gates=GenericWorkload=true", "--feature-gates=GangScheduling=true")["GangScheduling"]
    assert not on("--feature-gates=DRASchedulerFilterTimeout=false")["DRASchedulerFilterTimeout"]
    assert on("--feature-gates=AllAlpha=true")["GangScheduling"]
    assert not on("--feature-gates=AllAlpha=true,GangScheduling=false")["GangScheduling"]
    assert not on("--feature-gates=AllBeta=false", minor=33)["DRAResourceClaimDeviceStatus"]
    assert on("--feature-gates=kube:StorageCapacityScoring=true")["StorageCapacityScoring"]


@pytest.mark.parametrize(
    ("minor", "flags", "message"),
    [
        (34, ("--feature-gates=Nothing=true",), "unrecognized feature gate: Nothing"),
        (34, ("--feature-gates=VolumeCapacityPriority=true",), "unrecognized feature gate: VolumeCapacityPriority"),
        (34, ("--feature-gates=StorageCapacityScoring",), "missing bool value for StorageCapacityScoring"),
        (34, ("--feature-gates=StorageCapacityScoring=yes",), "invalid value of StorageCapacityScoring=yes"),
        (35, ("--feature-gates=DynamicResourceAllocation=false",), "feature is locked to true"),
        (36, ("--feature-gates=GangScheduling=true",), "depends on features that are disabled: [GenericWorkload]"),
        (37, ("--feature-gates=GangScheduling=true",), "unrecognized feature gate: GangScheduling"),
        (37, ("--feature-gates=PodGroupPreemptionPolicy=true",), "depends on features that are disabled: [GenericWorkload]"),
        (37, ("--emulated-version=1.33",), "emulation version 1.33 is not between [1.34, 1.37]"),
        (34, ("--feature-gates=other:NodeSwap=true",), "component not registered: other"),
        (34, ("--feature-gates=kube:NodeSwap=true,NodeSwap=true",), "do not mix use"),
        (34, ("--emulated-version=1.33", "--feature-gates=DRASchedulerFilterTimeout=true"), "feature is PreAlpha"),
        (34, ("--emulated-version=1.30",), "emulation version 1.30 is not between [1.31, 1.34]"),
        (34, ("--emulated-version=1.35",), "emulation version 1.35 is not between [1.31, 1.34]"),
        (31, ("--emulated-version=1.30",), "emulation version 1.30 is not between [1.31, 1.31]"),
        (34, ("--emulated-version=1.33.1",), "illegal version string"),
        (34, (f"--emulated-version=1.{5000 * '9'}",), "illegal version string"),
    ],
)
def test_each_invalid_feature_gate_is_an_error(minor, flags, message):
    (found,) = problems(minor, *flags)
    assert message in found


def test_an_emulated_version_decides_which_gates_are_on():
    assert feature_gates(Target(34))["DynamicResourceAllocation"]
    assert not feature_gates(Target(34, flags=("--emulated-version=1.33",)))["DynamicResourceAllocation"]


def test_the_table_of_gates_is_well_formed():
    for name, history in GATES.items():
        changes = [change.split(":") for change in history.split()]
        minors = [int(since) for since, _stage in changes]
        assert minors == sorted(set(minors)), name
        for _since, stage in changes:
            assert stage.rstrip("+!") in ("alpha", "beta", "ga", "deprecated", "gone"), name
    for minor in range(OLDEST, NEWEST + 1):
        needed = gates.dependencies(minor)
        assert set(needed).union(*needed.values()) <= set(gates.known(minor))


@pytest.mark.parametrize("minor", range(21, 38))
def test_no_release_starts_with_feature_gates_that_it_rejects(minor):
    assert gates.errors(minor, minor, {}) == []


# --- numbers ---


@pytest.mark.parametrize(
    ("text", "number"),
    [("10", 10), ("-0x1f", -31), ("0b11", 3), ("0o17", 15), ("017", 15), ("1_000", 1000), ("+7", 7), ("0", 0), ("0_7", 7)],
)
def test_integers_are_read_with_a_prefix_of_their_base(text, number):
    assert strconv.parse_int(text, 0) == number


@pytest.mark.parametrize("text", ["", "-", "x", "1x", "08", "0x", "_1", "1_", "1__0", " 1", "1 ", "--1", "\u0661"])
def test_a_text_that_is_no_integer_is_rejected(text):
    with pytest.raises(ValueError, match="invalid syntax"):
        strconv.parse_int(text, 0)


@pytest.mark.parametrize("text", ["0x10", "1_0", "1.0", "+", "\u0661"])
def test_integers_in_base_10_must_have_no_prefix(text):
    with pytest.raises(ValueError, match="invalid syntax"):
        strconv.parse_int(text)


def test_integers_out_of_range_are_rejected():
    assert strconv.parse_int("2147483647", 0, 32) == 2**31 - 1
    with pytest.raises(ValueError, match="out of range"):
        strconv.parse_int("2147483648", 0, 32)
    with pytest.raises(ValueError, match="out of range"):
        strconv.parse_uint("2147483648", 10, 31)
    with pytest.raises(ValueError, match="invalid syntax"):
        strconv.parse_uint("-1")
