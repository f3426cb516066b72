# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: image_catalog
short_description: The blobs of a file-based catalog in an image
version_added: 1.0.0
author: osso.scheduler contributors (@osso)
description:
  - Reads the folder that C(skopeo copy docker://IMAGE dir:FOLDER) wrote. Requires neither opm nor a container engine.
options:
  _terms:
    description: Folders.
    type: list
    elements: path
    required: true
  below:
    description: Path of the catalog in the image.
    type: str
    default: configs
"""

EXAMPLES = r"""
- name: Show which packages a catalog has
  ansible.builtin.debug:
    msg: "{{ query('osso.scheduler.image_catalog', '/tmp/catalog') | selectattr('schema', 'eq', 'olm.package') | map(attribute='name') }}"
"""

RETURN = r"""
_list:
  description: All blobs of all files, in the files' order by name.
  type: list
  elements: dict
"""

import json

import yaml
from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase
from ansible_collections.osso.scheduler.plugins.module_utils._images.layers import files


def _json_stream(text):
    """One document after the other, as opm writes them."""
    decoder, documents, position = json.JSONDecoder(), [], 0
    while text[position:].strip():
        position += len(text[position:]) - len(text[position:].lstrip())
        document, position = decoder.raw_decode(text, position)
        documents.append(document)
    return documents


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        self.set_options(var_options=variables, direct=kwargs)
        blobs = []
        for folder in terms:
            for name, content in sorted(self._catalog(folder).items()):
                try:
                    found = _json_stream(content.decode()) if name.endswith(".json") else yaml.safe_load_all(content)
                    blobs += [blob for blob in found if isinstance(blob, dict)]
                # PyYAML raises whatever it meets in a value that is not of the type its tag names.
                except (ValueError, LookupError, AttributeError, RecursionError, yaml.YAMLError) as error:
                    raise AnsibleLookupError(f"{name} in the catalog's image is neither YAML nor JSON: {error}") from None
        return blobs

    def _catalog(self, folder):
        below = self.get_option("below")
        prefix = below.strip("/") + "/"
        try:
            catalog = files(folder, lambda path: path.startswith(prefix) and path.endswith((".yaml", ".yml", ".json")))
        except ValueError as error:
            raise AnsibleLookupError(str(error)) from None
        if not catalog:
            raise AnsibleLookupError(f"The image has no file-based catalog: nothing in /{below} is YAML or JSON.")
        return catalog
