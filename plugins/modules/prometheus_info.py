#!/usr/bin/python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: prometheus_info
short_description: Find Prometheus and tell whether a load-aware scheduler can go by it
version_added: 1.0.0
description:
  - Finds the Prometheus of a cluster, gets a token for it, and asks what a scheduler with plugins such as C(TargetLoadPacking) would ask.
  - Such a scheduler starts without a word when it gets no metrics, and then places pods as if all nodes were alike. So each cause is a
    finding here, with what to do about it. They are an address that leads nowhere, a certificate that cannot be verified, a token that is refused,
    a missing permission, metrics that do not exist, are old, or name nodes otherwise than Kubernetes does.
  - Changes nothing. A token is requested in check mode, too, for which the API server stores nothing.
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
      - URL of Prometheus, or of Thanos. If not given, it is looked for in O(sources).
      - A user and a password in it are sent, as a scheduler sends them, unless there is a token. No result shows them.
    type: str
  sources:
    description:
      - Where to look. The first that is there counts, in this order.
      - V(route) is a Route of OpenShift that a router has admitted.
      - V(service) is a Service. Its name resolves only in pods.
      - V(prometheus) is a C(Prometheus) object of C(monitoring.coreos.com), wherever it is. What is asked then is the Service that its operator
        makes for it.
    type: list
    elements: str
    choices: [route, service, prometheus]
    default: [route, service, prometheus]
  namespace:
    description: Namespace of the Route or Service. A C(Prometheus) object there comes before others.
    type: str
    default: openshift-monitoring
  names:
    description: Names that the Route or Service may have, the best first.
    type: list
    elements: str
    default: [prometheus-k8s, thanos-querier]
  token:
    description: A bearer token for Prometheus. One with a space, a line break or another character that no header can hold is a finding.
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
        description: Whom the token is for. If empty, for the API server, which is what OpenShift's monitoring wants.
        type: list
        elements: str
        default: []
      expiration_seconds:
        description: How long it is to live. The API server gives 600 at least and may give less or more than is asked for.
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
      - Whether the token is taken from the Secret C(prometheus-k8s-token-*) in C(openshift-monitoring).
      - OpenShift makes none since 4.16; those of older clusters survive an upgrade. The token may do more than read metrics.
    type: bool
    default: false
  return_token:
    description:
      - Whether the token is returned as RV(token). It is refused unless the task has C(no_log=true), because Ansible would print it.
    type: bool
    default: false
  prometheus_ca:
    description:
      - The certificate authority that signs the certificate of Prometheus, as path of a file on the host that the module runs on, or as PEM text.
      - If not given, what that host trusts is tried, then the ConfigMaps in which OpenShift keeps its authorities.
    type: str
  insecure_skip_verify:
    description:
      - Whether Prometheus is asked although its certificate cannot be verified. A finding then is a warning.
      - Without a token it remains an error, since load-watcher in a scheduler then verifies the certificate all the same.
    type: bool
    default: false
  timeout:
    description: Seconds for each step of the connection, and for each whole answer, which is at most 4 MiB.
    type: int
    default: 10
  ask:
    description: Whether Prometheus is asked, or only looked for.
    type: bool
    default: true
  plugins:
    description:
      - The plugins whose metrics are looked for. If none of this, O(config), O(content) and O(alerts) is given, all that go by the nodes' load.
    type: list
    elements: str
  config:
    description: A C(KubeSchedulerConfiguration), whose plugins count if they are told to ask Prometheus.
    type: dict
  content:
    description: The same as YAML or JSON text.
    type: str
  alerts:
    description:
      - Names of alerts that are looked up, such as V(KubeSchedulerDown). One that is pending or fires, or that no rule of Prometheus has, is a finding
        of the severity V(warning).
    type: list
    elements: str
    default: []
  max_age:
    description: Seconds after which the newest sample of a metric is too old.
    type: int
    default: 120
  fail_on:
    description: When the task fails. With V(never) it is the result that says what is wrong.
    type: str
    choices: [error, warning, never]
    default: never
notes:
  - What reaches Prometheus is judged from where the module runs. A scheduler runs in a pod, with another network, other authorities and another proxy.
  - The proxy of the environment variables E(HTTPS_PROXY), E(HTTP_PROXY) and E(NO_PROXY) is used, as by a scheduler.
  - It needs the permission to get the Route or Service, to list nodes, and for OpenShift's authorities to get ConfigMaps in
    C(openshift-config-managed) and C(openshift-monitoring). What is not allowed is a finding.
seealso:
  - module: osso.scheduler.kube_scheduler_config
"""

EXAMPLES = r"""
- name: See whether schedulers could go by the load of the nodes
  osso.scheduler.prometheus_info:
  register: monitoring

- name: Show what stands in the way
  ansible.builtin.debug:
    msg: "{{ monitoring.findings | map(attribute='message') }}"

- name: Look with a token that lives for ten minutes, for what one plugin needs
  osso.scheduler.prometheus_info:
    service_account:
      namespace: openshift-secondary-scheduler-operator
      name: osso-scheduler-operator
      expiration_seconds: 600
    plugins: [TargetLoadPacking]

- name: Look for what a configuration needs
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

- name: See whether OpenShift complains about its default scheduler
  osso.scheduler.prometheus_info:
    service_account:
      namespace: openshift-secondary-scheduler-operator
      name: osso-scheduler-operator
    alerts: [KubeSchedulerDown, SchedulerLegacyPolicySet]

- name: Get URL and token, without a word about the token
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
  description: Whether there is a Prometheus, or O(url) was given.
  returned: always
  type: bool
  sample: true
url:
  description: Its URL, null if none was found.
  returned: always
  type: str
  sample: https://prometheus-k8s-openshift-monitoring.apps.example.com
source:
  description: Where the URL is from, null if none was found.
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
  description: Whether it answers at all. Null if it was not asked.
  returned: always
  type: bool
  sample: true
tls_verified:
  description: Whether its certificate was verified. Null if it was not asked, or has none because the URL is not https.
  returned: always
  type: bool
  sample: true
ca:
  description: The certificates (PEM) of the authority that verified it. Null if it is one that the host of the module trusts anyway.
  returned: always
  type: str
  sample: |
    -----BEGIN CERTIFICATE-----
    MII...
ca_from:
  description: Where that authority is from.
  returned: always
  type: str
  sample: ConfigMap openshift-config-managed/default-ingress-cert
authorized:
  description: Whether the token may read metrics. Null if it was not asked.
  returned: always
  type: bool
  sample: true
token_from:
  description: Where the token is from, null without one.
  returned: always
  type: str
  sample: TokenRequest for ServiceAccount openshift-secondary-scheduler-operator/metrics-reader
token_expires:
  description: When the token expires, null if it never does or does not say.
  returned: always
  type: str
  sample: "2026-11-20T18:00:00Z"
token:
  description: The token, null if there is none.
  returned: success and O(return_token=true)
  type: str
  sample: eyJhbGciOi...
plugins:
  description: The plugins whose metrics were looked for.
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
  description: What there is of these metrics. Empty if Prometheus could not be asked.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Its name.
      type: str
      sample: instance:node_cpu:ratio
    exists:
      description: Whether there is any series of it.
      type: bool
      sample: true
    nodes:
      description: The nodes of the cluster, each with its C(name), with its C(value) (the average of the last 15 minutes, from 0 to 1) and with
        C(age_seconds), the time since the newest sample. Both are null for a node without series, and where they are no finite number.
      type: list
      elements: dict
      sample: [{name: node-1, value: 0.37, age_seconds: 12}]
    other_instances:
      description: Values of the label C(instance) that are no node.
      type: list
      elements: str
      sample: []
    recorded_by_others:
      description: Whether another recording rule than that of P(osso.scheduler.monitoring#role) makes it at present.
      type: bool
      sample: false
alerts:
  description: What there is of O(alerts). Empty if Prometheus could not be asked.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Its name.
      type: str
      sample: KubeSchedulerDown
    state:
      description: V(inactive), V(pending) or V(firing). Null if there is no rule of that name.
      type: str
      sample: firing
    active:
      description: What it is pending or fires for, each with C(state), with C(since), with C(labels) and with C(message), a text of its annotations.
      type: list
      elements: dict
      sample: [{state: firing, since: "2026-11-20T18:00:00.1Z", labels: {severity: critical}, message: KubeScheduler has disappeared from Prometheus.}]
usable:
  description: Whether there is no finding of the severity V(error). Null if it was not asked.
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
      description: V(error) where load-aware scheduling does not work, V(warning) where it does.
      type: str
      sample: error
    code:
      description:
        - What kind of finding it is.
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
      description: What to do about it.
      type: str
      sample: see whether node-exporter runs there and Prometheus scrapes it
    metric:
      description: The metric that it is about, empty if none.
      type: str
      sample: instance:node_cpu:ratio
    nodes:
      description: The nodes that it is about.
      type: list
      elements: str
      sample: [node-3]
"""

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.module import argument_spec, cluster_module
from ansible_collections.osso.scheduler.plugins.module_utils.monitoring.discovery import SOURCES
from ansible_collections.osso.scheduler.plugins.module_utils.monitoring.preflight import TOKEN_SOURCES, Options, examine


def run(module):
    try:
        options = Options(**{name: module.params[name] for name in Options._fields})
        if options.return_token and not module.no_log:
            raise InputError("return_token: Ansible would print the token; set no_log: true on the task.")
        result = examine(options, lambda: Client.connect(module.params, module.warn), hide=module.no_log_values.add)
        # The task itself prints nothing where it is to be returned.
        module.no_log_values.discard(result.get("token"))
        return result
    except ImportError as error:
        raise ClusterError(f"{error}: install PyYAML, or set ansible_python_interpreter to a Python that has it.") from None


def main():
    named = dict(name=dict(type="str", required=True), namespace=dict(type="str", required=True))
    cluster_module(
        run,
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
