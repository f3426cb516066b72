# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Findings in the forms that continuous integration reads. Pure: no I/O.

Sources: workflow commands of GitHub Actions; SARIF 2.1.0 (OASIS), section 3.27; the JUnit XML that Jenkins and GitLab read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from .result import ERROR, Finding

TOOL = "kube-scheduler-config"
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# Codes that a terminal or a log would execute
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
# What XML 1.0 does not allow
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Checked(NamedTuple):
    """file: its name. label: object and key within it, empty for a file that is a configuration. findings: with places in the file."""

    file: str
    label: str
    findings: Sequence[Finding]

    def text(self, finding: Finding) -> str:
        """Object, key, field, message and remedy in one line."""
        return _shown(": ".join(part for part in (self.label, finding.format(position=False)) if part).replace("\n", " "))

    def line(self, finding: Finding) -> str:
        """``file:line:column: severity: field: message (hint)``, the form that editors know from compilers."""
        return f"{_shown(self.file)}:{finding.line or 1}:{finding.column or 1}: {finding.severity}: {self.text(finding)}"


def text(checked: Sequence[Checked]) -> str:
    return "".join(f"{one.line(finding)}\n" for one in checked for finding in one.findings)


def github(checked: Sequence[Checked]) -> str:
    """Annotations of a pull request."""
    return "".join(
        f"::{finding.severity} file={_property(one.file)},line={finding.line or 1},col={finding.column or 1},title={_property(finding.code)}"
        f"::{_message(one.text(finding))}\n"
        for one in checked
        for finding in one.findings
    )


def sarif(checked: Sequence[Checked]) -> str:
    """For code scanning."""
    codes = sorted({finding.code for one in checked for finding in one.findings})
    driver = {"name": TOOL, "rules": [{"id": code} for code in codes]}
    results = [
        {
            "ruleId": finding.code,
            "level": finding.severity,
            "message": {"text": one.text(finding)},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": _uri(one.file)},
                        "region": {"startLine": finding.line or 1, "startColumn": finding.column or 1},
                    }
                }
            ],
        }
        for one in checked
        for finding in one.findings
    ]
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}, indent=2) + "\n"


def junit(checked: Sequence[Checked]) -> str:
    """A test case for each configuration, which fails for errors; warnings are its output."""
    cases = []
    failed = 0
    for one in checked:
        errors = [finding for finding in one.findings if finding.severity == ERROR]
        warnings = [finding for finding in one.findings if finding.severity != ERROR]
        failed += bool(errors)
        inner = ""
        if errors:
            lines = "\n".join(one.line(finding) for finding in errors)
            inner += f"<failure message={_attribute(one.text(errors[0]))} type={_attribute(errors[0].code)}>{_xml(lines)}</failure>"
        if warnings:
            inner += f"<system-out>{_xml(chr(10).join(one.line(finding) for finding in warnings))}</system-out>"
        cases.append(f"  <testcase classname={_attribute(one.file)} name={_attribute(one.label or one.file)}>{inner}</testcase>\n")
    counts = f'tests="{len(checked)}" failures="{failed}"'
    suite = f'<testsuite name="{TOOL}" {counts}>\n{"".join(cases)}</testsuite>\n'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {counts}>\n{suite}</testsuites>\n'


FORMATS = {"text": text, "github": github, "sarif": sarif, "junit": junit}


def _uri(file: str) -> str:
    """SARIF requires a URI reference, relative to the checkout."""
    return ("file://" if file.startswith("/") else "") + quote(file.encode("utf-8", "surrogateescape"), safe="/")


def _shown(value: str) -> str:
    return _CONTROL.sub("\ufffd", value)


def _message(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _message(value).replace(":", "%3A").replace(",", "%2C")


def _xml(value: str) -> str:
    return escape(_NO_XML.sub("\ufffd", value))


def _attribute(value: str) -> str:
    return quoteattr(_NO_XML.sub("\ufffd", value))
