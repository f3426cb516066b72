# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kube-scheduler's command line, as far as it decides about a configuration file.

It is read as github.com/spf13/pflag reads it; the flags for leader election override the file, the others either are about
something else or are ignored when there is a file (cmd/kube-scheduler/app/options).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from . import gates, strconv
from .addresses import is_ip
from .report import DECODE, Report
from .similar_names import did_you_mean, similar
from .tables.flags import ELECTION_DEFAULTS, FLAGS, LEADER_ELECTION, OVERRIDE_SINCE, PROVIDERS
from .target import Target
from .value_syntax import Duration

_SHORTHANDS = {"v": "v", "h": "help"}
_WITHOUT_VALUE = {"bool": "true", "version": "true"}
"""Types of flags that can stand without a value -> the value that they have then."""


class CommandLine(NamedTuple):
    """values: flag -> its values in their order. problems: (message, hint) for what kube-scheduler does not take."""

    values: Mapping[str, tuple[str, ...]]
    problems: tuple[tuple[str, str], ...]


def apply(config: dict[str, Any], version: str, target: Target, report: Report) -> None:
    """Let the flags override ``config``, in place, and report flags that this kube-scheduler does not take."""
    line = parse(target)
    for message, hint in line.problems:
        report.error(DECODE, "flag", (), message, hint)
    if target.minor < OVERRIDE_SINCE:
        return
    election = config.setdefault("leaderElection", {})
    for name, flag in overriding(target).items():
        kind, value = FLAGS[flag][0], line.values[flag][-1]
        if not _problem(kind, value):
            election[name] = _typed(kind, value)


def of_operator(workload: str, namespace: str) -> list[str]:
    """The flags of a SecondaryScheduler's leader election; ``workload`` is the name of the Deployment, and of the Lease."""
    return [
        "--leader-elect=true",
        "--leader-elect-lease-duration=137s",
        "--leader-elect-renew-deadline=107s",
        "--leader-elect-retry-period=1s",
        "--leader-elect-resource-lock=leases",
        f"--leader-elect-resource-name={workload}",
        f"--leader-elect-resource-namespace={namespace}",
    ]


def overriding(target: Target) -> Mapping[str, str]:
    """Field of leaderElection -> the flag on the command line that overrides it."""
    if not target.flags or target.minor < OVERRIDE_SINCE:
        return {}
    values = parse(target).values
    return {field: flag for flag, field in LEADER_ELECTION.items() if flag in values}


def parse(target: Target) -> CommandLine:
    """The command line of the target."""
    return _parse(target.minor, target.flags)


def feature_gates(target: Target) -> Mapping[str, bool]:
    """Every feature gate of this kube-scheduler with its value. What its command line says wrongly is left out."""
    return _feature_gates(target.minor, target.flags)


@lru_cache(maxsize=64)
def _feature_gates(minor: int, arguments: tuple[str, ...]) -> Mapping[str, bool]:
    flags = _parse(minor, arguments).values
    emulated, _problems = gates.emulated_minor(minor, flags.get("emulated-version", ()))
    chosen, problems = gates.parse(flags.get("feature-gates", ()), minor)
    if problems or gates.errors(minor, emulated, chosen):
        chosen = {}
    return gates.values(minor, emulated, chosen)


@lru_cache(maxsize=64)
def _parse(minor: int, arguments: tuple[str, ...]) -> CommandLine:
    values: dict[str, list[str]] = {}
    problems: list[tuple[str, str]] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            problems += (_stray(value) for value in rest if value)
            break
        if argument.startswith("--"):
            # Kubernetes takes "_" for "-" in the names of flags.
            name, equals, value = argument[2:].partition("=")
            name = name.replace("_", "-")
        elif len(argument) > 1 and argument.startswith("-"):
            name, value = _SHORTHANDS.get(argument[1], argument[1]), argument[2:]
            equals, value = value, value[1:] if value.startswith("=") else value
        else:
            if argument:
                problems.append(_stray(argument))
            continue
        kind, first, last = FLAGS.get(name, ("", 0, 0))
        if not first <= minor <= last:
            problems.append(_unknown(name, minor, first))
            continue
        if not equals:
            if kind in _WITHOUT_VALUE:
                value = _WITHOUT_VALUE[kind]
            elif rest:
                value = rest.pop(0)
            else:
                problems.append((f"flag needs an argument: --{name}", f"write --{name}=VALUE"))
                continue
        values.setdefault(name, []).append(value)
        problem = _problem(kind, value)
        if problem:
            problems.append((f'invalid argument "{value}" for "--{name}" flag: {problem}', f"--{name} takes a {_KINDS[kind]}"))
    problems += _semantic_problems(minor, values)
    return CommandLine({name: tuple(found) for name, found in values.items()}, tuple(problems))


def _stray(argument: str) -> tuple[str, str]:
    hint = "a flag and its value are one argument: --leader-elect=false" if argument in ("true", "false") else "remove it"
    return f'kube-scheduler does not take any arguments, got "{argument}"', hint


def _unknown(name: str, minor: int, since: int) -> tuple[str, str]:
    if since:
        last = FLAGS[name][2]
        hint = f"Kubernetes has it from 1.{since} on" if since > minor else f"Kubernetes had it until 1.{last}; remove it"
    else:
        meant = similar(name, (flag for flag, (_kind, first, last) in FLAGS.items() if first <= minor <= last))
        hint = f"did you mean --{meant}?" if meant else "remove it"
    dashes = "--" if len(name) > 1 else "-"
    return f"unknown flag: {dashes}{name}", hint


def _semantic_problems(minor: int, values: Mapping[str, list[str]]) -> list[tuple[str, str]]:
    """What is wrong although every value can be read."""
    found = []
    emulated, problems = gates.emulated_minor(minor, values.get("emulated-version", ()))
    for problem in problems:
        found.append((f"--emulated-version: {problem}", f"write --emulated-version=1.{minor}, or remove it"))
    chosen, problems = gates.parse(values.get("feature-gates", ()), minor)
    for problem in problems or gates.errors(minor, emulated, chosen):
        found.append((f"--feature-gates: {problem}", _gate_hint(problem, minor)))
    found += _insecure_port_problems(minor, values)
    if minor < OVERRIDE_SINCE:
        found += _unused_election_problems(values)
    provider = values.get("algorithm-provider", [""])[-1]
    if provider and provider not in PROVIDERS:
        found.append((f'algorithm provider "{provider}" is not registered', f"one of {', '.join(PROVIDERS)}; or remove the flag"))
    weight = values.get("hard-pod-affinity-symmetric-weight", ["1"])[-1]
    if not _problem("int32", weight) and not 0 <= strconv.parse_int(weight, 0) <= 100:
        found.append((f"hardPodAffinitySymmetricWeight: {weight} not in valid range [0, 100]", "remove the flag: a file overrides it"))
    if values.get("use-legacy-policy-config", ["false"])[-1] != "false" and not values.get("policy-config-file", [""])[-1]:
        found.append(("policyConfigFile: required when --use-legacy-policy-config is true", "remove --use-legacy-policy-config"))
    return found


def _insecure_port_problems(minor: int, values: Mapping[str, list[str]]) -> list[tuple[str, str]]:
    found = []
    port = values.get("port", ["0"])[-1]
    if not _problem("int", port):
        number = strconv.parse_int(port, 0)
        if minor >= 23 and number != 0:
            found.append((f"port: invalid port value {number}: only zero is allowed", "remove --port"))
        elif not 0 <= number <= 65535:
            found.append((f"--port {number} must be between 0 and 65535, inclusive", "0 turns the insecure port off"))
    address = values.get("address", [""])[-1]
    if address and not is_ip(address):
        found.append((f"--address {address} is an invalid IP address", "write for example --address=0.0.0.0"))
    return found


def _unused_election_problems(values: Mapping[str, list[str]]) -> list[tuple[str, str]]:
    """Flags for leader election that a file overrides are checked all the same, in place of its values."""
    found: list[tuple[str, str]] = []
    election: dict[str, Any] = {"leader-elect": True, **ELECTION_DEFAULTS}
    for flag in LEADER_ELECTION:
        value = values.get(flag, [""])[-1]
        if flag in values and not _problem(FLAGS[flag][0], value):
            election[flag] = _typed(FLAGS[flag][0], value)
    if not election["leader-elect"]:
        return found
    lease, deadline = (Duration(election[f"leader-elect-{name}"]) for name in ("lease-duration", "renew-deadline"))
    for flag in ELECTION_DEFAULTS:
        if FLAGS[flag][0] == "duration" and election[flag] <= 0:
            found.append((f"--{flag}: {election[flag]} must be greater than zero", "for example 15s"))
        elif election[flag] == "":
            found.append((f"--{flag} is required", "leave the flag out for the default"))
    if lease < deadline:
        message = f"--leader-elect-lease-duration: {lease}: LeaseDuration must be greater than RenewDeadline, which is {deadline}"
        found.append((message, f"give more than {deadline}"))
    return found


def _gate_hint(problem: str, minor: int) -> str:
    if not problem.startswith("unrecognized"):
        return "remove it" if "locked" in problem else "write --feature-gates=Name=true"
    name = problem.rpartition(" ")[2]
    return did_you_mean(name, gates.known(minor), f"Kubernetes 1.{minor} does not have it; remove it")


_KINDS = {
    "bool": "true or false",
    "version": "true, false or raw",
    "duration": "duration such as 15s",
    "int": "whole number",
    "int32": "whole number",
    "level": "whole number that is not negative",
    "float": "number",
    "ip": "IP address",
    "string": "text",
}


def _problem(kind: str, value: str) -> str:
    """Why a value cannot be read; empty if it can."""
    try:
        _typed(kind, value)
    except ValueError as error:
        return str(error)
    return ""


def _typed(kind: str, value: str) -> Any:
    return _PARSERS[kind](value) if kind in _PARSERS else value


def _address(value: str) -> str:
    if not is_ip(value):
        raise ValueError(f'failed to parse IP: "{value}"')
    return value


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "bool": strconv.parse_bool,
    "duration": Duration.parse,
    "int": lambda value: strconv.parse_int(value, 0),
    "int32": lambda value: strconv.parse_int(value, 0, 32),
    "level": lambda value: strconv.parse_uint(value, 10, 31),
    "float": strconv.parse_float,
    "ip": _address,
}
