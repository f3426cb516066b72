# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What plugins need besides the scheduler: kinds, rights, the controller of kubernetes-sigs/scheduler-plugins.

Rights are what the code asks the API server for, which is less than the project's own manifests grant. What every
scheduler may do (``system:kube-scheduler``, ``system:volume-scheduler``) is not repeated. Sources: pkg/<plugin> (clients,
informers, ``EventsToRegister``, ``metric.Type``), pkg/controllers and cmd/controller of v0.26.7 to v0.34.7, and for Trimaran
pkg/watcher/internal/metricsprovider/k8s.go of paypal/load-watcher.
"""

from __future__ import annotations

from typing import NamedTuple

FIRST = 26
"""Up to v0.24 the kinds have other groups or versions, and in v0.25 Coscheduling writes to PodGroups: the rules below are too few. Plugins without kinds
need the same in all releases."""

ROLE_PREFIX = "osso-scheduler:plugin:"
"""The ClusterRole of a plugin is this and its name."""


class Kind(NamedTuple):
    """A kind that a plugin reads. provider: who defines it, "" where the operator's installation does. built_in: how the API server comes to
    serve a kind of Kubernetes itself, "" for one with a CustomResourceDefinition.
    """

    api_version: str
    kind: str
    plural: str
    provider: str = ""
    built_in: str = ""

    @property
    def definition(self) -> str:
        """Name of its CustomResourceDefinition."""
        return f"{self.plural}.{self.api_version.partition('/')[0]}"


class Rule(NamedTuple):
    """A rule of a ClusterRole, its lists as words. names: the only objects that it is about."""

    group: str
    resources: str
    verbs: str
    names: str = ""

    def manifest(self) -> dict[str, list[str]]:
        """The rule as the API writes it."""
        rule = {"apiGroups": [self.group], "resources": self.resources.split(), "verbs": self.verbs.split()}
        return dict(rule, resourceNames=self.names.split()) if self.names else rule


class Need(NamedTuple):
    """Requirements of a plugin. controller: whether the project's controller maintains its objects. besides: requirements that this collection cannot
    install.

    metrics: the metrics that a load-aware plugin reads for each node, as series with the node's name in the label ``instance``. since: the first
    minor of Kubernetes whose plugin has these requirements.
    """

    kinds: tuple[Kind, ...] = ()
    rules: tuple[Rule, ...] = ()
    controller: bool = False
    besides: str = ""
    metrics: tuple[str, ...] = ()
    since: int = 0


class Controller(NamedTuple):
    """The project's controller. It watches all of its kinds, whichever plugin runs, and does not start where one is missing.

    repository, image: the last components of the scheduler's image and of the controller's image, which have the same tags. lease_namespace:
    the namespace of its leader election, one for the whole cluster, so that controllers of several schedulers do not run at the same time.
    """

    repository: str
    image: str
    kinds: tuple[Kind, ...]
    role: str
    rules: tuple[Rule, ...]
    lease_namespace: str
    lease_role: str
    lease_rules: tuple[Rule, ...]


_READ = "get list watch"
_SCHEDULING = "scheduling.x-k8s.io"

POD_GROUP = Kind("scheduling.x-k8s.io/v1alpha1", "PodGroup", "podgroups")
ELASTIC_QUOTA = Kind("scheduling.x-k8s.io/v1alpha1", "ElasticQuota", "elasticquotas")
NODE_RESOURCE_TOPOLOGY = Kind("topology.node.k8s.io/v1alpha2", "NodeResourceTopology", "noderesourcetopologies")
APP_GROUP = Kind("appgroup.diktyo.x-k8s.io/v1alpha1", "AppGroup", "appgroups")
NETWORK_TOPOLOGY = Kind("networktopology.diktyo.x-k8s.io/v1alpha1", "NetworkTopology", "networktopologies")
SECCOMP_PROFILE = Kind(
    "security-profiles-operator.x-k8s.io/v1beta1", "SeccompProfile", "seccompprofiles", provider="the Security Profiles Operator"
)

GANG = Kind(
    "scheduling.k8s.io/v1beta1",
    "PodGroup",
    "podgroups",
    built_in="start the API server of Kubernetes 1.37 or newer with --feature-gates=GenericWorkload=true and "
    "--runtime-config=scheduling.k8s.io/v1beta1=true; without them it drops spec.schedulingGroup of pods, and "
    "a scheduler with that feature gate places no pod",
)

GANG_VERSIONS = {35: "v1alpha1", 36: "v1alpha2", 37: "v1beta1"}
"""The version of scheduling.k8s.io that the plugin GangScheduling reads, since that minor (pkg/scheduler/framework/plugins/gangscheduling)."""

METRICS_API = "metrics.k8s.io"
_TRIMARAN = Need(
    rules=(Rule(METRICS_API, "nodes", "get list"),),
    besides="the nodes' load: metrics-server (metricProvider KubernetesMetricsServer), Prometheus, or a load-watcher service",
    metrics=("instance:node_cpu:ratio", "instance:node_memory_utilisation:ratio"),
)
_TRIMARAN_CPU = _TRIMARAN._replace(metrics=("instance:node_cpu:ratio",))

NEEDS = {
    # plugins of tables/scheduler_plugins.py that are not here need nothing
    "CapacityScheduling": Need((ELASTIC_QUOTA,), (Rule(_SCHEDULING, "elasticquotas", _READ),), controller=True),
    "Coscheduling": Need((POD_GROUP,), (Rule(_SCHEDULING, "podgroups", _READ),), controller=True),
    "LoadVariationRiskBalancing": _TRIMARAN,
    "LowRiskOverCommitment": _TRIMARAN,
    "NetworkOverhead": Need(
        (APP_GROUP, NETWORK_TOPOLOGY),
        (
            Rule("appgroup.diktyo.x-k8s.io", "appgroups", _READ),
            Rule("networktopology.diktyo.x-k8s.io", "networktopologies", _READ),
        ),
        besides="costs in NetworkTopology objects, written by hand or by the network topology controller of diktyo-io",
    ),
    "NodeResourceTopologyMatch": Need(
        (NODE_RESOURCE_TOPOLOGY,),
        (Rule("topology.node.k8s.io", "noderesourcetopologies", _READ),),
        besides="an agent on each node that writes its NodeResourceTopology: nfd-topology-updater or resource-topology-exporter",
    ),
    "Peaks": _TRIMARAN_CPU,
    "PreemptionToleration": Need(rules=(Rule("scheduling.k8s.io", "priorityclasses", _READ),)),
    "SySched": Need(
        (SECCOMP_PROFILE,),
        (Rule("security-profiles-operator.x-k8s.io", "seccompprofiles", _READ),),
        besides="a SeccompProfile for each pod",
    ),
    "TargetLoadPacking": _TRIMARAN_CPU,
    "TopologicalSort": Need(
        (APP_GROUP,),
        (Rule("appgroup.diktyo.x-k8s.io", "appgroups", _READ),),
        besides="the appgroup controller of diktyo-io, which writes the order into the status of each AppGroup",
    ),
}

DEVICE_GROUP = "resource.k8s.io"
DEVICE_VERSIONS = {26: "v1alpha1", 27: "v1alpha2", 31: "v1alpha3", 32: "v1beta1", 34: "v1"}
"""Minor -> the version of ResourceClaims that kube-scheduler reads from there on (pkg/scheduler/framework/plugins/dynamicresources)."""

DEVICE_RULES = (
    Rule(DEVICE_GROUP, "resourceclaims deviceclasses resourceslices", _READ),
    Rule(DEVICE_GROUP, "resourceclaims/status", "patch update"),
)
"""What system:kube-scheduler permits where dynamic resource allocation is on (plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go)."""

IN_TREE_NEEDS = {
    # plugins of Kubernetes; on an API server with the feature gate, system:kube-scheduler has the permissions
    "GangScheduling": Need((GANG,), besides="the feature gate GenericWorkload in the scheduler and in the API server", since=37),
}

CONTROLLER = Controller(
    repository="scheduler-plugins/kube-scheduler",
    image="controller",
    kinds=(POD_GROUP, ELASTIC_QUOTA),
    role="osso-scheduler:controller",
    rules=(
        Rule("", "pods", _READ),
        Rule("", "events", "create patch"),
        Rule(_SCHEDULING, "podgroups", f"{_READ} patch"),
        Rule(_SCHEDULING, "elasticquotas", _READ),
        Rule(_SCHEDULING, "podgroups/status elasticquotas/status", "patch"),
    ),
    lease_namespace="kube-system",
    lease_role="osso-scheduler:controller:leader-election",
    lease_rules=(
        Rule("coordination.k8s.io", "leases", "create"),
        Rule("coordination.k8s.io", "leases", "get update", names="sched-plugins-controllers"),
    ),
)
