# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why pods do not come to serve, and that no secret is told with it.

The logs are those of kube-scheduler 1.34.4 with scheduler-plugins, run with what each test's name says; longer ones are cut.
"""

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import pod_failures as failures
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.klog import exit_reason
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import redacted
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

# Deterministic: a failure here is one everywhere.
SOME = settings(max_examples=150, deadline=None, derandomize=True, database=None)

REVISION = "deployment.kubernetes.io/revision"
CERT = "I1121 14:25:45.148501   19322 serving.go:386] Generated self-signed cert in-memory\n"
FLAG = 'I1121 14:07:48.013166    6984 flags.go:64] FLAG: --write-config-to=""\n'


def failed(words, file="run.go:72"):
    return f'E1121 14:07:48.014650    6984 {file}] "command failed" err={words}\n'


TOLD_TO_END = (
    'E1121 14:25:24.110099   18222 server.go:286] "handlers are not fully synchronized" err="context canceled"\n'
    "I1121 14:25:24.111078   18222 secure_serving.go:259] Stopped listening on 127.0.0.1:10259\n"
    + failed('"finished without leader elect"')
)
WATCH = (
    'E1121 14:07:50.208507    7046 reflector.go:205] "Failed to watch" err="failed to list *v1.Namespace: Get '
    '\\"https://127.0.0.1:1/api/v1/namespaces\\": connection refused" logger="UnhandledError" type="*v1.Namespace"\n'
)
WATCH_TOLD = WATCH.partition("] ")[2].strip()
PANIC = (
    'E1121 14:07:50.208507    7046 panic.go:262] "Observed a panic" panic="runtime error: invalid memory address or nil pointer dereference" '
    'panicGoValue="\\"invalid memory address or nil pointer dereference\\"" stacktrace=<\n'
    "\tgoroutine 1 [running]:\n\tk8s.io/apimachinery/pkg/util/runtime.logPanic({0x22d6f60, 0xc0005a0000})\n >\n"
    "panic: runtime error: invalid memory address or nil pointer dereference [recovered]\n"
    "\tpanic: runtime error: invalid memory address or nil pointer dereference\n"
    "[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x182ab25]\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:1 +0x1d\n"
)

JSON_FAILED = '{"ts":1795270997330.9,"caller":"cli/run.go:72","msg":"command failed","err":"unrecognized feature gate: Nope"}\n'

LOGS = {
    "an unknown field": (FLAG + failed('"strict decoding error: unknown field \\"foo\\""'), 'strict decoding error: unknown field "foo"'),
    "a plugin that it does not have": (
        CERT + failed('"initializing profiles: creating profile for scheduler name a: ScorePlugin \\"Nope\\" does not exist"'),
        'initializing profiles: creating profile for scheduler name a: ScorePlugin "Nope" does not exist',
    ),
    "a list of invalid values": (
        failed(
            '"[parallelism: Invalid value: -1: should be greater than zero, percentageOfNodesToScore: Invalid value: 500: not in range]"'
        ),
        "[parallelism: Invalid value: -1: should be greater than zero, percentageOfNodesToScore: Invalid value: 500: not in range]",
    ),
    "a key given twice": (
        failed(
            '<\n\tstrict decoding error: yaml: unmarshal errors:\n\t  line 4: key "token" already set in map, unknown field "token"\n >'
        ),
        'strict decoding error: yaml: unmarshal errors: line 4: key "token" already set in map, unknown field "token"',
    ),
    "no file": (CERT + failed('"open none.yaml: no such file or directory"'), "open none.yaml: no such file or directory"),
    "a missing kubeconfig": (CERT + failed('"stat /nope/kc: no such file or directory"'), "stat /nope/kc: no such file or directory"),
    "no cluster": (
        "W1121 14:25:50.087447   19565 client_config.go:672] error creating inClusterConfig, falling back to default config\n"
        + failed('"invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable"'),
        "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable",
    ),
    "an unknown flag": (
        "Global flags:\n\n  -h, --help    help for kube-scheduler\n\nError: unknown flag: --nope\n",
        "unknown flag: --nope",
    ),
    "an empty configuration": (failed("\"Object 'Kind' is missing in ''\""), "Object 'Kind' is missing in ' ********"),
    "an error that is no text": (failed("5"), "5"),
    "an error with an escape of Go": (failed('"bad \\x00 byte"'), "bad \\x00 byte"),
    "no error of its own": (WATCH, WATCH_TOLD),
    "being told to end after an error": (
        WATCH + TOLD_TO_END,
        WATCH_TOLD,
    ),
    "being told to end": (CERT + TOLD_TO_END, ""),
    "a panic": (CERT + PANIC, "panic: runtime error: invalid memory address or nil pointer dereference [recovered]"),
    "a panic that another one follows": ("panic: first\n\ngoroutine 1 [running]:\nfatal error: second\n" + PANIC, "panic: first"),
    "a first line that begins anywhere": ("Error: of a configuration\n" + "x" * 2048, ""),
    "a stack trace alone": ("goroutine 1 [running]:\nmain.main()\n\t/src/main.go:1 +0x1d\n", ""),
    "a fatal error of Go": (
        "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1:\n",
        "fatal error: all goroutines are asleep - deadlock!",
    ),
    "a fatal entry": (
        WATCH + "F1121 14:07:50.208507       1 leaderelection.go:1] leaderelection lost\n" + WATCH,
        "leaderelection lost",
    ),
    "the JSON format": (
        '{"ts":1795270997330.8,"caller":"flags/flags.go:64","msg":"FLAG: --v=\\"2\\"","v":1}\n' + JSON_FAILED,
        "unrecognized feature gate: Nope",
    ),
    "load-watcher's fatal error": (
        'time="2026-11-21T14:23:02Z" level=error msg="error querying Prometheus"\ntime="2026-11-21T14:23:02Z" level=fatal msg="no client"\n',
        'time="2026-11-21T14:23:02Z" level=fatal msg="no client"',
    ),
    "Kubernetes 1.22, which logs its errors bare": (
        CERT + 'couldn\'t create scheduler: initializing profiles: Score plugin "Nope" does not exist\n',
        'couldn\'t create scheduler: initializing profiles: Score plugin "Nope" does not exist',
    ),
    "a program for another machine": ("exec /bin/kube-scheduler: exec format error", "exec /bin/kube-scheduler: exec format error"),
    "nothing": ("", ""),
}


@pytest.mark.parametrize("case", LOGS)
def test_the_reason_of_an_exit_is_read_from_the_log(case):
    log, words = LOGS[case]
    assert redacted(exit_reason(log)) == words


def owned(live, owner):
    live["metadata"]["ownerReferences"] = [{"uid": owner}]
    return live


def deployment(revision="2", observed=5, conditions=()):
    return {
        "metadata": {"name": "d", "uid": "d", "generation": 5, "annotations": {REVISION: revision}},
        "status": {"observedGeneration": observed, "conditions": list(conditions)},
    }


def replica_set(uid="new", revision="2", owner="d", **status):
    return owned({"metadata": {"name": uid, "uid": uid, "annotations": {REVISION: revision}}, "status": status}, owner)


def pod(*containers, name="p", owner="new", inits=(), conditions=(), deleted=False, **status):
    live = {
        "metadata": {"name": name},
        "status": dict(status, conditions=list(conditions), containerStatuses=list(containers), initContainerStatuses=list(inits)),
    }
    if deleted:
        live["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return owned(live, owner)


def container(state, last=None, restarts=0, ready=False, name="c"):
    return {"name": name, "state": state, "lastState": last or {}, "restartCount": restarts, "ready": ready}


def waiting(reason, message=None):
    return {"waiting": {"reason": reason, "message": message}}


def ended(code=1, reason="Error", message=None):
    return {"terminated": {"exitCode": code, "reason": reason, "message": message}}


RUNS = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
UNKNOWN_FIELD = LOGS["an unknown field"]
PULL = 'failed to pull and unpack image "x/y:1": failed to resolve reference "x/y:1": x/y:1: not found'
EXEC = 'failed to create containerd task: exec: "/bin/kube-scheduler": stat /bin/kube-scheduler: no such file or directory'


def of(*pods, replica_sets=None, **rollout):
    return failures.of_rollout(deployment(**rollout), replica_sets or [replica_set()], list(pods))


CONTAINERS = {
    # what: (container, reason, words, crashes)
    "the first crash": (container(ended(message=UNKNOWN_FIELD[0])), "CrashLoopBackOff", UNKNOWN_FIELD[1], 1),
    "waiting to be started again": (
        container(waiting("CrashLoopBackOff", "back-off 40s restarting failed container"), ended(message=UNKNOWN_FIELD[0]), 2),
        "CrashLoopBackOff",
        UNKNOWN_FIELD[1],
        3,
    ),
    "started again": (container(RUNS, ended(message=UNKNOWN_FIELD[0]), 2), "CrashLoopBackOff", UNKNOWN_FIELD[1], 2),
    "a crash without words": (container(ended(3)), "CrashLoopBackOff", "it ended with exit code 3, and its log contains no reason", 1),
    "a panic without its beginning": (
        container(ended(2, message=LOGS["a stack trace alone"][0])),
        "CrashLoopBackOff",
        "it panicked (exit code 2), and the end of its log contains no reason",
        1,
    ),
    "killed by the liveness probe": (
        container(RUNS, ended(137), 1),
        "CrashLoopBackOff",
        "it was killed (exit code 137), as is one whose probe fails and that ignores SIGTERM",
        1,
    ),
    "told to end by a probe before it listens to signals": (
        container(waiting("CrashLoopBackOff"), ended(2, message=""), 2),
        "CrashLoopBackOff",
        "it received SIGTERM (exit code 2), as is one whose startup or liveness probe fails",
        3,
    ),
    "told to end by a probe": (
        container(waiting("CrashLoopBackOff"), ended(0, "Completed"), 4),
        "CrashLoopBackOff",
        "it received SIGTERM (exit code 0), as is one whose startup or liveness probe fails",
        4,
    ),
    "too little memory": (
        container(waiting("CrashLoopBackOff"), ended(137, "OOMKilled"), 1),
        "OOMKilled",
        "it was killed for using more memory than its limit; raise resources.limits.memory",
        2,
    ),
    "no such program": (container(waiting("RunContainerError", EXEC), ended(128, "StartError", EXEC), 2), "StartError", EXEC, 3),
    "no such program, at first": (container(waiting("RunContainerError", EXEC)), "RunContainerError", EXEC, 0),
    "no image": (container(waiting("ErrImagePull", PULL)), "ImagePullBackOff", PULL, 0),
    "still no image": (
        container(waiting("ImagePullBackOff", f'Back-off pulling image "x/y:1": ErrImagePull: {PULL}')),
        "ImagePullBackOff",
        PULL,
        0,
    ),
    "no image, older kubelet": (
        container(waiting("ImagePullBackOff", 'Back-off pulling image "x/y:1"')),
        "ImagePullBackOff",
        'Back-off pulling image "x/y:1"',
        0,
    ),
    "a private registry": (
        container(waiting("ErrImagePull", "failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized")),
        "ImagePullBackOff",
        "failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized",
        0,
    ),
    "no image's name": (container(waiting("InvalidImageName", 'invalid reference "::"')), "InvalidImageName", 'invalid reference "::"', 0),
    "a missing Secret": (
        container(waiting("CreateContainerConfigError", 'secret "a" not found')),
        "CreateContainerConfigError",
        'secret "a" not found',
        0,
    ),
    "no words of the kubelet": (container(waiting("CreateContainerError")), "CreateContainerError", "no more is said", 0),
}


@pytest.mark.parametrize("case", CONTAINERS)
def test_a_failed_container_is_reported_with_its_reason_and_crashes(case):
    status, reason, words, crashes = CONTAINERS[case]
    assert of(pod(status)) == failures.Failure(reason, f"pod p: container c: {words}", crashes, "p")


@pytest.mark.parametrize(
    "status",
    [
        container(waiting("ContainerCreating")),
        container(waiting("PodInitializing")),
        container(RUNS),
        container(RUNS, ready=True),
        container(RUNS, ended(1), restarts=3, ready=True),
        container({}),
        {"name": "c"},
    ],
)
def test_nothing_is_wrong_with_a_container_that_starts_or_serves(status):
    assert of(pod(status)) is None


def test_init_containers_fail_too_and_are_done_when_they_ended():
    done = container(ended(0, "Completed"), ready=True, name="i")
    assert of(pod(container(waiting("PodInitializing")), inits=[done])) is None
    found = of(pod(container(waiting("PodInitializing")), inits=[container(ended(1), name="i")]))
    assert found.message.startswith("pod p: container i: ")


def test_the_reason_stays_the_same_while_a_container_crashes_again_and_again():
    crash, log = ended(message=UNKNOWN_FIELD[0]), []
    for restarts in range(3):
        log += [of(pod(container(crash, restarts=restarts))), of(pod(container(waiting("CrashLoopBackOff"), crash, restarts)))]
        log.append(of(pod(container(RUNS, crash, restarts + 1))))
    assert {(failure.reason, failure.message) for failure in log} == {("CrashLoopBackOff", f"pod p: container c: {UNKNOWN_FIELD[1]}")}
    assert [failure.crashes for failure in log] == [1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_an_unschedulable_pod_is_a_failure():
    unplaced = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/3 nodes are available: 3 Insufficient cpu.",
    }
    assert of(pod(conditions=[unplaced])) == failures.Failure("Unschedulable", f"pod p: {unplaced['message']}", 0, "p")
    assert of(pod(conditions=[dict(unplaced, status="True")])) is None


def test_an_evicted_pod_is_a_failure():
    assert of(pod(phase="Failed", reason="Evicted", message="low on memory")) == failures.Failure("Evicted", "pod p: low on memory", 0, "p")


def test_the_worst_pod_is_reported_and_ties_are_resolved_by_name():
    once, twice = container(ended(1)), container(ended(1), restarts=1)
    assert of(pod(once, name="a"), pod(twice, name="c"), pod(twice, name="b")).pod == "b"
    assert of(pod(twice, name="b"), pod(twice, name="c"), pod(once, name="a")).pod == "b"


@pytest.mark.parametrize(
    "other", [pod(container(ended(1)), owner="old"), pod(container(ended(1)), deleted=True), pod(container(ended(1)), owner="x")]
)
def test_pods_of_another_replica_set_or_on_their_way_out_do_not_count(other):
    sets = [replica_set("old", "1"), replica_set("new", "2"), replica_set("x", "9", owner="other")]
    assert of(other, replica_sets=sets) is None
    assert of(other, pod(container(ended(1)), name="mine"), replica_sets=sets).pod == "mine"


def test_revisions_are_compared_as_numbers():
    sets = [replica_set("nine", "9"), replica_set("ten", "10")]
    assert of(pod(container(ended(1)), owner="nine"), replica_sets=sets, revision="10") is None
    assert of(pod(container(ended(1)), owner="ten"), replica_sets=sets, revision="10").crashes == 1


@pytest.mark.parametrize("rollout", [{"observed": 4}, {"observed": None}, {"revision": "3"}])
def test_an_earlier_rollouts_failure_is_none_of_the_present_one(rollout):
    assert of(pod(container(ended(1)))) is not None
    assert of(pod(container(ended(1))), **rollout) is None


def test_a_rollout_without_deployment_or_replica_set_has_no_failure():
    assert failures.of_rollout(None, [], []) is None
    assert failures.of_rollout({"metadata": {"name": "d", "uid": "d"}}, [], []) is None


def test_pods_that_cannot_be_created_are_a_failure():
    quota = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": 'pods "d-" is forbidden: exceeded quota'}
    wanted = failures.Failure("FailedCreate", quota["message"])
    assert of(conditions=[quota]) == wanted
    assert of(replica_sets=[replica_set(conditions=[quota])]) == wanted
    assert of(conditions=[dict(quota, status="False")]) is None


def test_a_long_message_is_cut():
    message = of(pod(container(waiting("ErrImagePull", "word " * 1000)))).message
    assert len(message) < 700
    assert message.endswith(" ...")


# Redaction.

SECRETS = st.one_of(
    st.text(alphabet="abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~+/=", min_size=12, max_size=60),
    st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=12, max_size=60),
    st.text(alphabet=st.characters(min_codepoint=32, exclude_categories=("C", "Z")), min_size=12, max_size=30),
)
KEYS = st.sampled_from(
    ["token", "Token", "bearerToken", "password", "passwd", "clientSecret", "apiKey", "api_key", "keyData", "KeyData", "credentials"]
)
HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def configuration(key, secret):
    args = {"metricProvider": {"address": "https://prometheus:9090", key: secret, "type": "Prometheus"}, "targetUtilization": 70}
    return {"parallelism": 16, "profiles": [{"schedulerName": "a", "pluginConfig": [{"name": "TargetLoadPacking", "args": args}]}]}


def spread(text):
    """A value with line breaks as klog writes it."""
    return "<\n" + "".join(f"\t{line}\n" for line in text.splitlines()) + " >"


def as_go(value):
    """A value as Go's %+v prints it."""
    if isinstance(value, dict):
        return "{" + " ".join(f"{key}:{as_go(entry)}" for key, entry in value.items()) + "}"
    return "[" + " ".join(map(as_go, value)) + "]" if isinstance(value, list) else str(value)


def as_yaml(config):
    return HEADER + yaml.safe_dump(config, width=10**6, allow_unicode=True)


def as_flow(config):
    return HEADER + yaml.safe_dump(config, width=10**6, allow_unicode=True, default_flow_style=True)


def as_json(config):
    return json.dumps(config)


TEXTS = st.sampled_from([as_yaml, as_flow, as_json, as_go])
SHAPES = {
    # how a configuration comes into a log
    "the dump at -v=2": lambda text: f'I1121 14:07:48.1 1 configfile.go:94] "Using component config" config={spread(text)}\n' + WATCH,
    "the dump in front of an error": lambda text: (
        f'I1121 14:07:48.1 1 configfile.go:94] "Using component config" config={spread(text)}\n' + failed('"failed to create listener"')
    ),
    "the dump of 1.22": lambda text: (
        f"I1121 14:07:48.1 1 configfile.go:94] Using component config\n---Start Here---\n{text}\n---End Here---\n"
    ),
    "the dump in JSON": lambda text: json.dumps({"ts": 1.0, "msg": "Using component config", "config": text}) + "\n",
    "an error": lambda text: failed(spread(f"Object 'Kind' is missing in '{text}'")),
    "an error in one line": lambda text: failed(json.dumps(f"Object 'Kind' is missing in '{text}'")),
    "an error of 1.22": lambda text: f"Object 'Kind' is missing in '{text}'\n",
    "an error in JSON": lambda text: json.dumps({"msg": "command failed", "err": f"Object 'apiVersion' is missing in '{text}'"}) + "\n",
    "an invalid value": lambda text: failed(json.dumps(f"profiles[0].pluginConfig[0].args: Invalid value: {text}: must be smaller")),
    "an invalid value over lines": lambda text: failed(spread(f"profiles[0].pluginConfig[0].args: Invalid value: {text}: must be smaller")),
    "a plugin's error": lambda text: "E1121 14:07:48.1 1 plugin.go:1] cannot use args " + " ".join(text.split()) + "\n",
    "a plugin's panic": lambda text: f"panic: cannot use {text}\n\ngoroutine 1 [running]:\n",
    "a plugin's fatal error": lambda text: f"F1121 14:07:48.1 1 plugin.go:1] cannot use {text}\n",
    "a usage error": lambda text: f"Error: cannot use {text}\n",
}


def as_kubelet_takes_it(log, more=0):
    """The end of a log as a termination message: 80 lines, 2048 bytes."""
    lines = log.splitlines(keepends=True)[-80:]
    return "".join(lines).encode()[-2048 + more :].decode(errors="replace")


def pieces(secret):
    return {secret[start : start + 8] for start in range(len(secret) - 7)}


@SOME
@given(st.sampled_from(sorted(SHAPES)), TEXTS, KEYS, SECRETS, st.integers(0, 2000), st.integers(0, 2047))
@example("an error", as_yaml, "token", "eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOlsiaHR0cHMi.c2lnbmF0dXJl", 0, 0)
@example("a plugin's panic", as_go, "Token", "sha256~abcdefghijklmnopqrst", 0, 0)
def test_no_token_of_a_configuration_is_shown(shape, text, key, secret, before, cut):
    log = CERT + "I1121 14:07:48.1 1 x.go:1] " + "x" * before + "\n" + SHAPES[shape](text(configuration(key, secret)))
    fixed = SHAPES[shape](text(configuration(key, ""))) + of(pod(container(ended()))).message + of(pod(container(RUNS, ended(), 1))).message
    assume(not any(piece in fixed for piece in pieces(secret)))
    for message in (log, as_kubelet_takes_it(log), as_kubelet_takes_it(log, cut)):
        for status in (container(ended(message=message)), container(RUNS, ended(message=message), 1)):
            told = of(pod(status)).message
            assert not [piece for piece in pieces(secret) if piece in told]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_secrets_of_that_test_are_in_its_logs(shape):
    """Otherwise that test could not fail."""
    assert "secret-of-the-test" in as_kubelet_takes_it(SHAPES[shape](as_yaml(configuration("token", "secret-of-the-test"))))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Get metrics with Authorization: Bearer abc.def", "Get metrics with Authorization: ********"),
        ("request with bearer abcdefgh failed", "request with bearer ********"),
        ("header Basic dXNlcjpwYXNz refused", "header ********"),
        ("prometheus said no to sha256~abcdef", "prometheus said no to ********"),
        ("bad value eyJhbGciOiJSUzI1NiJ9.x.y here", "bad value ********"),
        ("cannot parse -----BEGIN PRIVATE KEY----- x", "cannot parse ********"),
        ("Post https://user:pass@host/api: refused", "Post https********"),
        ("Post https://user:pa ss@host/api: refused", "Post https********"),
        ('parse "https://user:pass@host:x": invalid port', 'parse "https********'),
        ("token\n: abc", "token : ********"),
        ('unknown field "token", unknown field "b"', 'unknown field "token", unknown field "b"'),
        ("cannot unmarshal number into Go struct field A.metricProvider.token of type string", None),
        ('Get "https://10.0.0.1:443/api?limit=500": dial tcp 10.0.0.1:443: connect: connection refused', None),
        ("image x@sha256:0123456789abcdef is gone", None),
        ("yaml: unknown anchor 'abc' referenced", "yaml: unknown anchor ' ********"),
        ("yaml: cannot decode !!str `abc` as a !!int", "yaml: cannot decode !!str ` ********"),
    ],
)
def test_only_credentials_in_a_message_are_masked(text, told):
    assert redacted(text) == (text if told is None else told)


def test_credentials_in_messages_of_the_kubelet_are_masked():
    message = of(pod(container(waiting("ErrImagePull", 'Get "https://user:pass@registry/v2/": EOF')))).message
    assert message == 'pod p: container c: Get "https********'


PIECES = st.sampled_from(
    [
        "E1121 14:07:48.014650    6984 run.go:72] ",
        '"command failed" err=',
        "I1121 1",
        "panic: ",
        "Error: ",
        "fatal error: ",
        "Object '",
        "<\n",
        "\t",
        " >\n",
    ]
    + [
        "{",
        "}",
        '{"err":',
        '"err":[1],',
        '"msg":"command failed",',
        "5",
        "null",
        '"',
        "\\",
        "\n",
        " ",
        "token",
        ":",
        "=",
        "://",
        "@",
        "x",
        "\u2028",
        "\r",
        "\0",
    ]
)


@SOME
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=12).map("".join)))
def test_the_message_of_any_log_is_one_line(log):
    told = of(pod(container(ended(message=log)))).message
    assert told == " ".join(told.split())


def texts_of(events):
    """What is read from an API server with these events."""
    return failures.event_texts(lambda selector: [event for event in events if "reason=" + event["reason"] == selector])


def test_the_last_failed_probe_is_reported_without_credentials():
    """of a pod with no worse failure; the last event counts, and shows no credential"""

    def event(at, message):
        return {"reason": "Unhealthy", "lastTimestamp": f"2026-01-01T00:00:0{at}Z", "involvedObject": {"uid": "u"}, "message": message}

    events = [event(2, "Readiness probe failed: HTTP probe failed with statuscode: 500"), event(1, "Startup probe failed: token: planted")]
    live = pod(container(RUNS))
    live["metadata"]["uid"] = "u"
    found = failures.of_rollout(deployment(), [replica_set()], [live], texts_of(events))
    assert (found.reason, found.crashes) == ("Unhealthy", 0)
    assert "Readiness probe failed: HTTP probe failed with statuscode: 500" in found.message
    assert "planted" not in str(texts_of(events[1:]))
    assert failures.of_rollout(deployment(), [replica_set()], [live]) is None


def test_a_volume_that_cannot_be_mounted_is_named():
    live = pod(container({"waiting": {"reason": "ContainerCreating"}}))
    live["metadata"]["uid"] = "u"
    message = 'MountVolume.SetUp failed for volume "extra" : configmap "extra" not found'
    events = [{"reason": "FailedMount", "involvedObject": {"uid": "u"}, "message": message}]
    found = failures.of_rollout(deployment(), [replica_set()], [live], texts_of(events))
    assert (found.reason, found.message.endswith(message)) == ("FailedMount", True)
