# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files of other projects out of their Go modules: pinned, verified, and never copied into this repository."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest


def folder(pins: Path, module: str) -> Path:
    """Where the files of the Go module `module` lie, in the version that `pins`/go.mod names; `pins`/go.sum says what they must be.

    Downloads it unless it is in Go's cache. Skips the test where there is no Go.
    """
    if not shutil.which("go"):
        pytest.skip(f"needs Go, to get files out of {module}")
    version = re.search(rf"^\s*(?:require )?{re.escape(module)} (\S+)", (pins / "go.mod").read_text(), re.MULTILINE)[1]
    command = ["go", "mod", "download", "-json", f"{module}@{version}"]
    done = subprocess.run(command, cwd=pins, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr or done.stdout
    return Path(json.loads(done.stdout)["Dir"])
