# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The flags of kube-scheduler's command line.

Source: ``kube-scheduler --help`` of each minor's newest patch, and cmd/kube-scheduler/app/options for which of them override a
configuration file. ``log-json-*`` come with the JSON log format, which the command registers.
"""

from __future__ import annotations

FLAGS = {
    # flag: (type, first minor, last minor)
    "add-dir-header": ("bool", 21, 25),
    "address": ("string", 21, 22),
    "algorithm-provider": ("string", 21, 21),
    "allow-metric-labels": ("string", 21, 99),
    "allow-metric-labels-manifest": ("string", 29, 99),
    "alsologtostderr": ("bool", 21, 25),
    "authentication-kubeconfig": ("string", 21, 99),
    "authentication-skip-lookup": ("bool", 21, 99),
    "authentication-token-webhook-cache-ttl": ("duration", 21, 99),
    "authentication-tolerate-lookup-failure": ("bool", 21, 99),
    "authorization-always-allow-paths": ("string", 21, 99),
    "authorization-kubeconfig": ("string", 21, 99),
    "authorization-webhook-cache-authorized-ttl": ("duration", 21, 99),
    "authorization-webhook-cache-unauthorized-ttl": ("duration", 21, 99),
    "bind-address": ("ip", 21, 99),
    "cert-dir": ("string", 21, 99),
    "client-ca-file": ("string", 21, 99),
    "config": ("string", 21, 99),
    "contention-profiling": ("bool", 21, 99),
    "disable-http2-serving": ("bool", 31, 99),
    "disabled-metrics": ("string", 21, 99),
    "emulated-version": ("string", 31, 99),
    "experimental-logging-sanitization": ("bool", 21, 23),
    "feature-gates": ("string", 21, 99),
    "hard-pod-affinity-symmetric-weight": ("int32", 21, 21),
    "help": ("bool", 21, 99),
    "http2-max-streams-per-connection": ("int", 21, 99),
    "kube-api-burst": ("int32", 21, 99),
    "kube-api-content-type": ("string", 21, 99),
    "kube-api-qps": ("float", 21, 99),
    "kubeconfig": ("string", 21, 99),
    "leader-elect": ("bool", 21, 99),
    "leader-elect-lease-duration": ("duration", 21, 99),
    "leader-elect-renew-deadline": ("duration", 21, 99),
    "leader-elect-resource-lock": ("string", 21, 99),
    "leader-elect-resource-name": ("string", 21, 99),
    "leader-elect-resource-namespace": ("string", 21, 99),
    "leader-elect-retry-period": ("duration", 21, 99),
    "lock-object-name": ("string", 21, 27),
    "lock-object-namespace": ("string", 21, 27),
    "log-backtrace-at": ("string", 21, 25),
    "log-dir": ("string", 21, 25),
    "log-file": ("string", 21, 25),
    "log-file-max-size": ("int", 21, 25),
    "log-flush-frequency": ("duration", 21, 99),
    "log-json-info-buffer-size": ("string", 23, 99),
    "log-json-split-stream": ("bool", 23, 99),
    "log-text-info-buffer-size": ("string", 30, 99),
    "log-text-split-stream": ("bool", 30, 99),
    "logging-format": ("string", 21, 99),
    "logtostderr": ("bool", 21, 25),
    "master": ("string", 21, 99),
    "min-compatibility-version": ("string", 35, 99),
    "one-output": ("bool", 21, 25),
    "permit-address-sharing": ("bool", 21, 99),
    "permit-port-sharing": ("bool", 21, 99),
    "pod-max-in-unschedulable-pods-duration": ("duration", 24, 99),
    "policy-config-file": ("string", 21, 22),
    "policy-configmap": ("string", 21, 22),
    "policy-configmap-namespace": ("string", 21, 22),
    "port": ("int", 21, 23),
    "profiling": ("bool", 21, 99),
    "requestheader-allowed-names": ("string", 21, 99),
    "requestheader-client-ca-file": ("string", 21, 99),
    "requestheader-extra-headers-prefix": ("string", 21, 99),
    "requestheader-group-headers": ("string", 21, 99),
    "requestheader-uid-headers": ("string", 32, 99),
    "requestheader-username-headers": ("string", 21, 99),
    "scheduler-name": ("string", 21, 21),
    "secure-port": ("int", 21, 99),
    "show-hidden-metrics-for-version": ("string", 21, 99),
    "skip-headers": ("bool", 21, 25),
    "skip-log-headers": ("bool", 21, 25),
    "stderrthreshold": ("string", 21, 25),
    "tls-cert-file": ("string", 21, 99),
    "tls-cipher-suites": ("string", 21, 99),
    "tls-curve-preferences": ("string", 36, 99),
    "tls-min-version": ("string", 21, 99),
    "tls-private-key-file": ("string", 21, 99),
    "tls-sni-cert-key": ("string", 21, 99),
    "use-legacy-policy-config": ("bool", 21, 22),
    "v": ("level", 21, 99),
    "version": ("version", 21, 99),
    "vmodule": ("string", 21, 99),
    "write-config-to": ("string", 21, 99),
}

LEADER_ELECTION = {
    # flag: field of leaderElection that it overrides
    "leader-elect": "leaderElect",
    "leader-elect-lease-duration": "leaseDuration",
    "leader-elect-renew-deadline": "renewDeadline",
    "leader-elect-retry-period": "retryPeriod",
    "leader-elect-resource-lock": "resourceLock",
    "leader-elect-resource-name": "resourceName",
    "leader-elect-resource-namespace": "resourceNamespace",
}

OVERRIDE_SINCE = 22
"""First minor whose flags for leader election override the file (1.22 from some patch on; its newest does)."""

ELECTION_DEFAULTS = {
    # flag: its default; durations in nanoseconds
    "leader-elect-lease-duration": 15 * 10**9,
    "leader-elect-renew-deadline": 10 * 10**9,
    "leader-elect-retry-period": 2 * 10**9,
    "leader-elect-resource-lock": "leases",
    "leader-elect-resource-name": "kube-scheduler",
    "leader-elect-resource-namespace": "kube-system",
}

PROVIDERS = ("DefaultProvider", "ClusterAutoscalerProvider")
"""What --algorithm-provider takes (1.21)."""

IGNORED_BESIDE_CONFIG = {
    # flag that kube-scheduler ignores beside --config: the field of the configuration
    "contention-profiling": "enableContentionProfiling",
    "kube-api-burst": "clientConnection.burst",
    "kube-api-content-type": "clientConnection.contentType",
    "kube-api-qps": "clientConnection.qps",
    "kubeconfig": "clientConnection.kubeconfig",
    "profiling": "enableProfiling",
}
