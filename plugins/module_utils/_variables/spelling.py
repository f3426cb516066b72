# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of roles and playbooks by name: a misspelt one would be ignored without a word."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.similar_names import similar

# Every variable of a playbook and of the argument specification of a role
KNOWN = frozenset(
    """
    cluster_access custom_scheduler_adopt custom_scheduler_ask_namespace custom_scheduler_force_conflicts custom_scheduler_probe
    custom_scheduler_probe_image custom_scheduler_probe_namespace custom_scheduler_wait custom_scheduler_wait_timeout custom_schedulers
    default_scheduler_adopt default_scheduler_clear_policy default_scheduler_cluster_version_operator default_scheduler_config
    default_scheduler_config_folder default_scheduler_debug_image default_scheduler_debug_log_level default_scheduler_debug_minutes
    default_scheduler_debug_start_timeout default_scheduler_default_node_selector default_scheduler_dynamic_resource_allocation
    default_scheduler_failed_revision_limit default_scheduler_flags default_scheduler_force_conflicts default_scheduler_force_redeployment_reason
    default_scheduler_health_host default_scheduler_i_understand_custom_operator_image default_scheduler_i_understand_stopped_cluster_version_operator
    default_scheduler_i_understand_unmanaged_operator default_scheduler_i_understand_unsupported_overrides default_scheduler_kubernetes_version
    default_scheduler_log_level default_scheduler_manifest default_scheduler_masters_schedulable default_scheduler_openshift_version
    default_scheduler_operator_image default_scheduler_operator_log_level default_scheduler_operator_managed default_scheduler_probe
    default_scheduler_probe_image default_scheduler_probe_namespace default_scheduler_profile default_scheduler_profiling default_scheduler_provider
    default_scheduler_restart_timeout default_scheduler_state default_scheduler_succeeded_revision_limit
    default_scheduler_unsupported_config_overrides default_scheduler_verify default_scheduler_wait default_scheduler_wait_timeout fleet_dest
    fleet_required fleet_serial gather_cache_dumps gather_debug_image gather_dest gather_log_lines gather_metrics_account gather_namespaces
    hand_over_schedulers hand_over_wait mirror_additional_images mirror_adopt mirror_auth_file mirror_ca_file mirror_catalog_folder
    mirror_catalog_image mirror_catalog_package mirror_credentials mirror_force_conflicts mirror_insecure_registries mirror_install mirror_method
    mirror_never_contact_source mirror_operator_image mirror_opm_image mirror_probe_image mirror_registry mirror_scheduler_images mirror_set_kind
    mirror_set_name mirror_skopeo mirror_vars_file monitoring_access monitoring_account_namespaces monitoring_adopt monitoring_force_conflicts
    monitoring_insecure_skip_verify monitoring_max_age monitoring_namespace monitoring_node_label monitoring_plugins monitoring_prometheus_ca
    monitoring_prometheus_names monitoring_prometheus_namespace monitoring_rate_window monitoring_recorded_metrics monitoring_required
    monitoring_rules monitoring_rules_file monitoring_rules_labels monitoring_service_account monitoring_sources monitoring_state
    monitoring_token_secret monitoring_url monitoring_wait monitoring_wait_timeout operator_adopt operator_approval operator_approve
    operator_catalog_image operator_catalog_pull_secrets operator_catalog_source operator_catalog_source_namespace operator_channel
    operator_force_conflicts operator_image operator_image_pull_policy operator_image_pull_secrets operator_method operator_monitoring_labels
    operator_namespace operator_node_selector operator_plugins operator_prometheus_namespace operator_prometheus_service_account operator_replicas
    operator_resources operator_state operator_subscription_config operator_tolerations operator_upgrade operator_variant operator_version
    operator_wait operator_wait_timeout operator_watch_namespaces preview preview_allow_extenders preview_as_scheduler preview_auth_file
    preview_baseline preview_binary preview_config preview_config_file preview_config_text preview_dest preview_feature_gates preview_flags preview_image
    preview_job_image preview_job_namespace preview_kubernetes_version preview_labels preview_limit preview_max_moved_percent preview_max_unschedulable
    preview_mode preview_namespaces preview_nodes preview_plugins preview_preset preview_preset_parameters preview_scheduler_names preview_scores
    preview_snapshot preview_template preview_timeout probe probe_image
    probe_namespace probe_scheduler_name publish_ansible_operator publish_auth_file publish_base_image publish_bundle_image publish_ca_file
    publish_channel publish_credentials publish_engine publish_insecure_registries publish_install publish_method publish_name publish_operator_image
    publish_opm publish_opm_image publish_python publish_python_version publish_registry publish_scheduler_image publish_skopeo publish_tag
    publish_warm_runner registry_login_auth_file registry_login_ca_file registry_login_credentials registry_login_images
    registry_login_insecure_registries registry_login_prefix registry_login_skopeo report_dest report_metrics_account report_namespaces
    scheduler_pool_force_conflicts scheduler_pool_namespaces scheduler_pool_state scheduler_pools secondary_scheduler_adopt
    secondary_scheduler_ask_namespace secondary_scheduler_force_conflicts secondary_scheduler_operator_variant secondary_scheduler_prometheus
    secondary_scheduler_wait secondary_scheduler_wait_timeout secondary_schedulers use_scheduler_name use_scheduler_namespaces use_scheduler_timeout
    use_scheduler_undo use_scheduler_unserved use_scheduler_workloads
    """.split()  # noqa: SIM905 (a list would have a line for each name)
)
# What no other variable begins with, and what those of others may begin with, too
OWN: tuple[str, ...] = ("custom_scheduler", "default_scheduler_", "scheduler_pool", "secondary_scheduler", "use_scheduler_")
SHARED = (
    "fleet_",
    "gather_",
    "hand_over_",
    "mirror_",
    "monitoring_",
    "operator_",
    "preview_",
    "probe_",
    "publish_",
    "registry_login_",
    "report_",
)
# Ansible's, and those of surveys (automation_platform/definition.yml)
NEITHER = ("ansible_", "pool_", "scheduler_")
CLOSE = 0.87


def warnings(extra: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """One sentence for each name that no role or playbook knows although it looks like one of this collection.

    ``extra``: names of extra variables, which are meant for this run; ``others``: those of the inventory, where more than this collection is at home.
    """
    prefixes = {**dict.fromkeys(others, OWN), **dict.fromkeys(extra, (*OWN, *SHARED))}
    told = []
    for name in sorted(prefixes.keys() - KNOWN):
        meant = "" if name.startswith(NEITHER) and not name.startswith(OWN) else _close(name)
        if meant:
            told.append(f"{name} is not a variable of osso.scheduler and is ignored; did you mean {meant}?")
        elif name.startswith(prefixes[name]):
            told.append(f"{name} is not a variable of osso.scheduler and is ignored; the documentation of roles and playbooks lists all.")
    return told


def _close(name: str) -> str:
    """The known variable that is meant, empty for none. Two letters in the wrong order make a short name very different for difflib."""
    plain = name.lower().replace("-", "_")
    return similar(plain, KNOWN, CLOSE) or next((known for known in sorted(KNOWN) if sorted(known) == sorted(plain)), "")
