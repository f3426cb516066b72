# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The names that the user of a command line or a playbook has given to the options of scheduler_preview, for messages. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SAME = (
    *("config", "config_text", "config_file", "preset", "preset_parameters", "image", "binary", "plugins", "as_scheduler", "auth_file"),
    *("allow_extenders", "flags", "feature_gates"),
)
_SHARED = {
    "job": "preview_job_namespace",
    "job.namespace": "preview_job_namespace",
    "job.image": "preview_job_image",
    **{name: f"preview_{name}" for name in ("mode", "timeout", "max_unschedulable", "max_moved_percent")},
}
COMMAND_LINE: Mapping[str, str] = {
    "candidate.config_file": "--config",
    "candidate.binary": "--binary",
    "candidate.flags": "--flag",
    "baseline.config_file": "--baseline-config",
    "baseline.binary": "--baseline-binary",
    "baseline.flags": "--baseline-flag",
    **{f"{side}.{name}": f"--{name.replace('_', '-')}" for side in ("candidate", "baseline") for name in ("release", "plugins")},
    "candidate.as_scheduler": "--as-scheduler",
    "candidate.allow_extenders": "--allow-extenders",
    "baseline.allow_extenders": "--allow-extenders",
    "namespaces": "--namespace",
    "nodes": "--node",
    **{name: f"--{name.replace('_', '-')}" for name in ("snapshot", "mode", "timeout", "max_unschedulable", "max_moved_percent")},
    **{name: f"--{name}" for name in ("template", "limit")},
}
PLAYBOOKS: Mapping[str, Mapping[str, str]] = {
    "preview": {
        **{f"candidate.{name}": f"preview_{name}" for name in _SAME},
        "candidate.skopeo": "preview_image",
        "candidate.release": "preview_kubernetes_version",
        **{f"baseline.{name}": f"preview_baseline.{name}" for name in (*_SAME, "release", "secondary_scheduler", "scheduler_name")},
        **{
            name: f"preview_{name}"
            for name in ("snapshot", "namespaces", "labels", "scheduler_names", "nodes", "template", "limit", "scores")
        },
        **_SHARED,
    },
    # Their schedulers are those of secondary_schedulers.
    "configure": {
        **{f"candidate.{name}": f"preview_{name}" for name in ("binary", "auth_file", "allow_extenders")},
        **{f"baseline.{name}": f"preview_{name}" for name in ("binary", "auth_file", "allow_extenders")},
        "candidate.config_text": "secondary_schedulers[].config",
        **dict.fromkeys(("candidate.skopeo", "baseline.skopeo"), "secondary_schedulers[].image"),
        "candidate.release": "secondary_schedulers[].kubernetes_version",
        **{f"candidate.{name}": f"secondary_schedulers[].{name}" for name in ("image", "plugins", "flags")},
        **_SHARED,
    },
}
"""By playbook; ``configure`` is also for ``site``."""


def renamed(message: str, names: Mapping[str, str]) -> str:
    """The message with the names of the user. An option without a dot can be any word, and is renamed only where messages name options."""

    def one_of(those: list[str]) -> str:
        return "|".join(map(re.escape, sorted(those, key=len, reverse=True))) or "(?!)"

    dotted = one_of([name for name in names if "." in name])
    others = one_of([name for name in names if "." not in name])
    places = r"^|[ ](?:set|raise|remove)[ ]|argument '|value of "
    pattern = re.compile(rf"(?<![\w./-])(?P<dotted>{dotted})(?!\w)|(?P<place>{places})(?P<other>{others})(?!\w|\.\w)")
    return pattern.sub(lambda found: names[found["dotted"]] if found["dotted"] else f"{found['place']}{names[found['other']]}", message)
