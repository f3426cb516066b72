# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sphinx's settings for the documentation as a site; tests/tools/docs says what it is built from."""

import os
import re

from docutils import nodes

project = "osso.scheduler"
version = release = os.environ["OSSO_VERSION"]
copyright = "osso.scheduler contributors"
html_title = f"osso.scheduler {version}"
html_theme = "sphinx_ansible_theme"
html_theme_options = {"display_version": False, "vcs_pageview_mode": "blob"}
html_copy_source = False
html_show_sourcelink = False

extensions = ["myst_parser", "sphinx_antsibull_ext"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
# What GitHub gives headings, so that a link works there and here.
myst_heading_anchors = 4

# The reference points into Ansible's own documentation. No inventory is fetched for that: the addresses follow from the names.
ANSIBLE = "https://docs.ansible.com/ansible/latest/"
PLACES = {
    "action_plugins": "plugins/action.html#action-plugins",
    "ansible_configuration_settings": "reference_appendices/config.html#ansible-configuration-settings",
    "common_return_values": "reference_appendices/common_return_values.html#common-return-values",
}
PLUGIN = re.compile(r"ansible_collections\.(?!osso\.)(\w+)\.(\w+)\.(\w+)$")


def in_ansibles_documentation(app, env, node, contnode):
    """A link for a label that Ansible's documentation has, None for others: those are mistakes, and Sphinx says so."""
    label = node["reftarget"]
    if plugin := PLUGIN.match(label):
        place = "collections/{}/{}/{}.html".format(*plugin.groups())
    elif not (place := PLACES.get(label)):
        return None
    return nodes.reference("", "", contnode, internal=False, refuri=ANSIBLE + place)


def setup(app):
    app.connect("missing-reference", in_ansibles_documentation)
