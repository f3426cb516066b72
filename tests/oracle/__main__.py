# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""tests/oracle/oracle: the oracle's command line."""

from __future__ import annotations

import argparse
import json
import os
import sys

from . import pins, programs, proof


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="oracle", description="The real kube-scheduler of every release says what it thinks of configurations."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build", help="build the programs that are missing or out of date, of all minors or of some")
    command.add_argument("minor", nargs="*", help="1.34, for example")
    commands.add_parser("list", help="which programs there are, of which versions, and whether they are built")
    command = commands.add_parser(
        "run", help="judge the documents of standard input, one JSON object per line; --isolate, --real and --timeout=20s go to the program"
    )
    command.add_argument("minor")
    command.add_argument("--plugins", choices=[programs.IN_TREE, programs.SCHEDULER_PLUGINS], default=programs.IN_TREE)
    command = commands.add_parser("prove", help="judge the documents of standard input in all ways, and by the unchanged command")
    command.add_argument("minor")
    command.add_argument("--plugins", choices=[programs.IN_TREE, programs.SCHEDULER_PLUGINS], default=programs.IN_TREE)
    command = commands.add_parser("pin", help="write the module files of a release")
    command.add_argument("kubernetes", help="v1.34.4, for example, or 1.34 for its newest patch release")
    command.add_argument("scheduler_plugins", nargs="?", help="v0.34.7, for example")
    arguments, options = parser.parse_known_args()
    if options and arguments.command != "run":
        parser.error(f"unknown: {' '.join(options)}")
    try:
        return _run(arguments, options)
    except programs.OracleError as error:
        print(f"oracle: {error}", file=sys.stderr)
        return 1


def _run(arguments: argparse.Namespace, options: list[str]) -> int:
    if arguments.command == "build":
        failed = programs.build(arguments.minor, lambda line: print(line, flush=True))
        return 1 if failed else 0
    if arguments.command == "list":
        for program in programs.all_programs():
            kubernetes, plugins = program.versions()
            version = f"{kubernetes} + {plugins}" if program.plugins == programs.SCHEDULER_PLUGINS else kubernetes
            state = "built" if program.current() else "out of date" if program.built() else "not built"
            print(f"{program.minor:5} {program.plugins:18} {version:20} {state}")
    elif arguments.command == "run":
        programs.all_programs([arguments.minor])
        program = programs.Program(arguments.minor, arguments.plugins)
        if not program.built():
            raise programs.OracleError(f"{program.minor} {program.plugins} is not built: oracle build {program.minor}")
        os.execv(program.path, [str(program.path), *options])
    elif arguments.command == "prove":
        documents = [json.loads(line) for line in sys.stdin]
        found = list(proof.differences(arguments.minor, arguments.plugins, documents))
        for difference in found:
            print(difference)
        serious = [difference for difference in found if not difference.message_only]
        print(f"{len(documents)} documents, {len(serious)} differences, {len(found) - len(serious)} more in the message alone")
        return 1 if serious else 0
    elif arguments.command == "pin":
        version = arguments.kubernetes if arguments.kubernetes.startswith("v") else pins.newest(arguments.kubernetes)
        print(pins.write(version, arguments.scheduler_plugins))
    return 0


if __name__ == "__main__":
    sys.exit(main())
