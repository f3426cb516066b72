#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: prometheus_info
short_description: Find Prometheus and check whether a load-aware scheduler can use it
version_added: 1.0.0
description:
  - Finds the Prometheus of a cluster, gets a token for it, and sends the queries of a scheduler with plugins such as C(TargetLoadPacking).
  - Without metrics, such a scheduler starts without an error message and treats all nodes as equal. So this module returns each cause as a finding
    with its remedy. Causes are an unreachable address, a certificate that cannot be verified, a rejected token, a missing permission, and metrics
    that do not exist, are old, or use other node names than Kubernetes.
  - Changes nothing. Check mode requests a token, too; the API server stores nothing for it.
author:
  - osso.scheduler contributors (@osso-scheduler)
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - osso.scheduler.cluster
  - osso.scheduler.attributes
  - osso.scheduler.attributes.actiongroup_scheduler
  - osso.scheduler.attributes.info_module
attributes:
  action_group: {}
  check_mode: {}
  diff_mode: {}
  idempotent: {}
options:
  url:
    description:
      - URL of Prometheus, or of Thanos. If not given, the module searches O(sources).
      - User and password in the URL are sent, as a scheduler does, unless a token is used. No result shows them.
    type: str
  sources:
    description:
      - Where to search. The first source that exists is used, in this order.
      - V(route) is a Route of OpenShift that a router has admitted.
      - V(service) is a Service. Its name resolves only in pods.
      - V(prometheus) is a C(Prometheus) object of C(monitoring.coreos.com), wherever it is. The module then queries the Service that its operator
        creates for it.
    type: list
    elements: str
    choices: [route, service, prometheus]
    default: [route, service, prometheus]
  namespace:
    description: Namespace of the Route or Service. A C(Prometheus) object in it is preferred to others. If there are several, a token is only sent if
      this namespace contains exactly one of them.
    type: str
    default: openshift-monitoring
  names:
    description: Possible names of the Route or Service, in order of preference.
    type: list
    elements: str
    default: [prometheus-k8s, thanos-querier]
  token:
    description: A bearer token for Prometheus. A token with a space, a line break or another character that a header cannot contain is a finding.
    type: str
  service_account:
    description:
      - The ServiceAccount that a token is requested for. The user needs the verb C(create) for C(serviceaccounts/token).
    type: dict
    suboptions:
      name:
        description: Its name.
        type: str
        required: true
      namespace:
        description: Its namespace.
        type: str
        required: true
      audiences:
        description: Audiences of the token. If empty, the API server, which OpenShift's monitoring requires.
        type: list
        elements: str
        default: []
      expiration_seconds:
        description: Lifetime of the token in seconds. The minimum is 600. The API server can return a shorter or longer lifetime.
        type: int
        default: 3600
  token_secret:
    description: A Secret of the type C(kubernetes.io/service-account-token), whose token lives as long as it does.
    type: dict
    suboptions:
      name:
        description: Its name.
        type: str
        required: true
      namespace:
        description: Its namespace.
        type: str
        required: true
  legacy_token_secret:
    description:
      - Whether to use the token in the Secret C(prometheus-k8s-token-*) in C(openshift-monitoring).
      - OpenShift creates none since 4.16; those of older clusters survive an upgrade. The token has more permissions than reading metrics.
    type: bool
    default: false
  return_token:
    description:
      - Whether to return the token as RV(token). This is rejected unless the task has C(no_log=true), because Ansible would print the token.
    type: bool
    default: false
  prometheus_ca:
    description:
      - CA certificate for the certificate of Prometheus, as path of a file on the host that the module runs on, or as PEM text.
      - If not given, the module tries the ConfigMaps with OpenShift's CAs, then the CAs that the host trusts.
    type: str
  insecure_skip_verify:
    description:
      - Whether to query Prometheus even if its certificate cannot be verified. The finding is then a warning.
      - Without a token it remains an error, because load-watcher in a scheduler then verifies the certificate anyway.
    type: bool
    default: false
  timeout:
    description: Seconds for each step of the connection, and for each whole answer, which is at most 4 MiB.
    type: int
    default: 10
  ask:
    description: Whether to query Prometheus. If V(false), the module only searches for it.
    type: bool
    default: true
  plugins:
    description:
      - The plugins whose metrics are checked. If none of this, O(config), O(content) and O(alerts) is given, all load-aware plugins.
    type: list
    elements: str
  config:
    description: A C(KubeSchedulerConfiguration). Its plugins are checked if they are configured to query Prometheus.
    type: dict
  content:
    description: The same as YAML or JSON text.
    type: str
  alerts:
    description:
      - Names of alerts to check, such as V(KubeSchedulerDown). An alert that is pending or firing, or that has no rule in Prometheus, is a finding of
        the severity V(warning).
    type: list
    elements: str
    default: []
  max_age:
    description: Seconds after which the newest sample of a metric is too old.
    type: int
    default: 120
  fail_on:
    description: When the task fails. With V(never), only the result contains the findings.
    type: str
    choices: [error, warning, never]
    default: never
notes:
  - The module tests the connection from the host that it runs on. A scheduler runs in a pod, where network, CAs and proxy can be different.
  - The module uses the proxy of the environment variables E(HTTPS_PROXY), E(HTTP_PROXY) and E(NO_PROXY), as a scheduler does.
  - Requires the permissions to get the Route or Service, to list nodes, and for OpenShift's CAs to get ConfigMaps in C(openshift-config-managed) and
    C(openshift-monitoring). A missing permission is a finding.
seealso:
  - module: osso.scheduler.kube_scheduler_config
"""

EXAMPLES = r"""
- name: Check whether schedulers can use the load of the nodes
  osso.scheduler.prometheus_info:
  register: monitoring

- name: Show the findings
  ansible.builtin.debug:
    msg: "{{ monitoring.findings | map(attribute='message') }}"

- name: Check the metrics of one plugin, with a token that is valid for ten minutes
  osso.scheduler.prometheus_info:
    service_account:
      namespace: openshift-secondary-scheduler-operator
      name: osso-scheduler-operator
      expiration_seconds: 600
    plugins: [TargetLoadPacking]

- name: Check the metrics that a configuration requires
  osso.scheduler.prometheus_info:
    url: http://127.0.0.1:9090
    timeout: 2
    content: |
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: KubeSchedulerConfiguration
      profiles:
        - schedulerName: load-aware
          plugins:
            score:
              enabled:
                - name: LoadVariationRiskBalancing
          pluginConfig:
            - name: LoadVariationRiskBalancing
              args:
                metricProvider:
                  type: Prometheus
                  address: http://127.0.0.1:9090

- name: Check OpenShift's alerts for its default scheduler
  osso.scheduler.prometheus_info:
    service_account:
      namespace: openshift-secondary-scheduler-operator
      name: osso-scheduler-operator
    alerts: [KubeSchedulerDown, SchedulerLegacyPolicySet]

- name: Get URL and token, without printing the token
  osso.scheduler.prometheus_info:
    service_account:
      namespace: openshift-secondary-scheduler-operator
      name: osso-scheduler-operator
    ask: false
    return_token: true
  register: monitoring
  no_log: true
"""

RETURN = r"""
found:
  description: Whether a Prometheus was found, or O(url) was given.
  returned: always
  type: bool
  sample: true
url:
  description: Its URL, null if none was found.
  returned: always
  type: str
  sample: https://prometheus-k8s-openshift-monitoring.apps.example.com
source:
  description: Source of the URL, null if none was found.
  returned: always
  type: dict
  contains:
    kind:
      description: V(url) if it was given, else V(Route), V(Service) or V(Prometheus).
      type: str
      sample: Route
    namespace:
      description: Namespace of the object, empty if there is none.
      type: str
      sample: openshift-monitoring
    name:
      description: Name of the object, empty if there is none.
      type: str
      sample: prometheus-k8s
reachable:
  description: Whether it answers at all. Null if it was not queried.
  returned: always
  type: bool
  sample: true
tls_verified:
  description: Whether its certificate was verified. Null if it was not queried, or has none because the URL is not https.
  returned: always
  type: bool
  sample: true
ca:
  description: The CA certificates (PEM) that verified it. Null if the host of the module trusts the CA anyway.
  returned: always
  type: str
  sample: |
    -----BEGIN CERTIFICATE-----
    MII...
ca_from:
  description: Source of the CA certificates.
  returned: always
  type: str
  sample: ConfigMap openshift-config-managed/default-ingress-cert
authorized:
  description: Whether the token may read metrics. Null if Prometheus was not queried.
  returned: always
  type: bool
  sample: true
token_from:
  description: Source of the token, null without one.
  returned: always
  type: str
  sample: TokenRequest for ServiceAccount openshift-secondary-scheduler-operator/metrics-reader
token_expires:
  description: When the token expires, null if it never expires or its expiration is unknown.
  returned: always
  type: str
  sample: "2026-11-20T18:00:00Z"
token:
  description: The token, null if there is none.
  returned: success and O(return_token=true)
  type: str
  sample: eyJhbGciOi...
plugins:
  description: The plugins whose metrics were checked.
  returned: always
  type: list
  elements: str
  sample: [TargetLoadPacking]
needed:
  description: The names of the metrics that the plugins need.
  returned: always
  type: list
  elements: str
  sample: ["instance:node_cpu:ratio"]
metrics:
  description: The state of these metrics. Empty if Prometheus could not be queried.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Its name.
      type: str
      sample: instance:node_cpu:ratio
    exists:
      description: Whether any series of it exists.
      type: bool
      sample: true
    nodes:
      description: The nodes of the cluster, each with its C(name), with its C(value) (the average of the last 15 minutes, from 0 to 1) and with
        C(age_seconds), the time since the newest sample. Both are null for a node without series, and if they are no finite number.
      type: list
      elements: dict
      sample: [{name: node-1, value: 0.37, age_seconds: 12}]
    other_instances:
      description: Values of the label C(instance) that are not the name of a node.
      type: list
      elements: str
      sample: []
    recorded_by_others:
      description: Whether a recording rule other than the one of P(osso.scheduler.monitoring#role) records it at present.
      type: bool
      sample: false
alerts:
  description: The state of O(alerts). Empty if Prometheus could not be queried.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Its name.
      type: str
      sample: KubeSchedulerDown
    state:
      description: V(inactive), V(pending) or V(firing). Null if no rule has that name.
      type: str
      sample: firing
    active:
      description: Its pending and firing instances, each with C(state), C(since), C(labels) and C(message), a text of its annotations.
      type: list
      elements: dict
      sample: [{state: firing, since: "2026-11-20T18:00:00.1Z", labels: {severity: critical}, message: KubeScheduler has disappeared from Prometheus.}]
usable:
  description: Whether no finding has the severity V(error). Null if Prometheus was not queried.
  returned: always
  type: bool
  sample: true
findings:
  description: What is wrong.
  returned: always
  type: list
  elements: dict
  contains:
    severity:
      description: V(error) if load-aware scheduling does not work, V(warning) if it does.
      type: str
      sample: error
    code:
      description:
        - The kind of finding.
        - >-
          Of the search V(not-found), V(route-not-admitted), V(ambiguous), V(not-allowed). Of the token V(no-service-account),
          V(token-request-refused), V(no-token-secret), V(token-missing), V(token-malformed), V(token-expired), V(token-refused), V(token-over-http),
          V(forbidden).
          Of the connection V(bad-url), V(unresolved), V(unreachable), V(no-answer), V(certificate-not-verified), V(not-prometheus), V(unavailable),
          V(query-refused). Of metrics V(metric-missing), V(metric-missing-for-nodes), V(labels-do-not-match), V(metric-stale),
          V(metric-duplicate), V(metric-invalid), V(metric-out-of-range). Of the configuration V(second-watcher), V(nothing-asks).
          Of alerts V(alert-firing), V(alert-pending), V(alert-unknown).
      type: str
      sample: metric-missing-for-nodes
    message:
      description: What is wrong.
      type: str
      sample: Prometheus has no instance:node_cpu:ratio for node-3, which therefore get the lowest score
    hint:
      description: The remedy.
      type: str
      sample: see whether node-exporter runs there and Prometheus scrapes it
    metric:
      description: The affected metric, empty if none.
      type: str
      sample: instance:node_cpu:ratio
    nodes:
      description: The affected nodes.
      type: list
      elements: str
      sample: [node-3]
"""

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.discovery import SOURCES
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.preflight import TOKEN_SOURCES, Options, inspect_prometheus
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.prometheus import credentials_in


def run(module):
    options = Options(**{name: module.params[name] for name in Options._fields})
    # Before anything can fail, since the invocation shows the url
    module.no_log_values.update(credentials_in(options.url or ""))
    if options.return_token and not module.no_log:
        raise InputError("return_token: Ansible would print the token; set no_log: true on the task.")
    result = inspect_prometheus(options, lambda: Client.connect(module.params, module.warn), hide=module.no_log_values.add)
    # The task itself prints nothing where it is to be returned.
    module.no_log_values.discard(result.get("token"))
    return result


def main():
    named = dict(name=dict(type="str", required=True), namespace=dict(type="str", required=True))
    cluster_module(
        run,
        hidden=("config", "content"),
        argument_spec=argument_spec(
            url=dict(type="str"),
            sources=dict(type="list", elements="str", choices=list(SOURCES), default=list(SOURCES)),
            namespace=dict(type="str", default="openshift-monitoring"),
            names=dict(type="list", elements="str", default=["prometheus-k8s", "thanos-querier"]),
            token=dict(type="str", no_log=True),
            service_account=dict(
                type="dict",
                options=dict(
                    named,
                    audiences=dict(type="list", elements="str", default=[]),
                    expiration_seconds=dict(type="int", default=3600),
                ),
            ),
            token_secret=dict(type="dict", options=named, no_log=False),
            legacy_token_secret=dict(type="bool", default=False, no_log=False),
            return_token=dict(type="bool", default=False, no_log=False),
            prometheus_ca=dict(type="str"),
            insecure_skip_verify=dict(type="bool", default=False),
            timeout=dict(type="int", default=10),
            ask=dict(type="bool", default=True),
            plugins=dict(type="list", elements="str"),
            config=dict(type="dict"),
            content=dict(type="str"),
            alerts=dict(type="list", elements="str", default=[]),
            max_age=dict(type="int", default=120),
            fail_on=dict(type="str", choices=["error", "warning", "never"], default="never"),
        ),
        mutually_exclusive=[TOKEN_SOURCES, ("plugins", "config", "content")],
        supports_check_mode=True,
    )


if __name__ == "__main__":
    main()
