# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Programs made out of Go modules, each only when its sources changed."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from .layout import CHECKOUT, RELEASES, SOURCE, Layout, Release, digest
from .prerequisites import check_go
from .progress import ClusterError, Progress, output, run_logged


@dataclass(frozen=True)
class Program:
    """`package` of the Go module in directory `module`, with build `tags`; `links` are the names it is called by.

    `module_file` names the file of that directory that says which modules it depends on.
    """

    name: str
    module: str
    package: str = "."
    links: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    module_file: str = "go.mod"

    @property
    def directory(self) -> Path:
        return SOURCE / self.module

    @property
    def ldflags(self) -> str:
        return " ".join(["-s", "-w", *(f"-X {variable}" for variable in self.variables)])


def _kubernetes(release: Release, **options: str | tuple[str, ...]) -> Program:
    major, minor = release.minor.split(".")
    variables = tuple(
        f"{package}.{variable}={value}"
        for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
        for variable, value in {"gitVersion": release.version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}.items()
    )
    links = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler", "kubectl", "kubectl-server", "kubelet")
    return Program("kubernetes", module="kubernetes", links=links, variables=variables, **options)


DEFAULT_RELEASE, *OTHER_RELEASES = RELEASES.values()

WITH_PLUGINS = _kubernetes(DEFAULT_RELEASE)

# By minor release. Only the first one's scheduler has the plugins of scheduler-plugins.
KUBERNETES_PROGRAMS = {DEFAULT_RELEASE.minor: WITH_PLUGINS} | {
    release.minor: _kubernetes(release, tags=("in_tree",), module_file=f"{release.minor}.mod") for release in OTHER_RELEASES
}

OPERATOR_FRAMEWORK = "github.com/operator-framework"
OLM_PACKAGES = (
    "operator-lifecycle-manager/cmd/olm",
    "operator-lifecycle-manager/cmd/catalog",
    "operator-lifecycle-manager/cmd/package-server",
    "operator-lifecycle-manager/cmd/copy-content",
    "operator-lifecycle-manager/util/cpb",
    "api/cmd/operator-verify",
)

PROGRAMS = {
    program.name: program
    for program in (
        WITH_PLUGINS,
        # The second scheduler on a cluster of another release.
        replace(WITH_PLUGINS, name="scheduler-plugins", links=()),
        Program("pause", module="kubernetes", package="./pause", links=("node-init",)),
        Program("coredns", module="kubernetes", package="./coredns"),
        # Shares all but 40 packages with the program above: 12 s of one core.
        Program("controller", module="kubernetes", package="sigs.k8s.io/scheduler-plugins/cmd/controller"),
        # What the plugins of the first one carry, as a program of its own.
        Program("load-watcher", module="kubernetes", package="github.com/paypal/load-watcher"),
        Program(
            "ansible-operator",
            module="../../operator/image/ansible_operator",
            package="github.com/operator-framework/ansible-operator-plugins/cmd/ansible-operator",
        ),
        Program("prometheus-operator", module="kubernetes", package="github.com/prometheus-operator/prometheus-operator/cmd/operator"),
        Program("helm", module="helm", package="helm.sh/helm/v4/cmd/helm"),
        Program("kube-rbac-proxy", module="kubernetes", package="github.com/brancz/kube-rbac-proxy/cmd/kube-rbac-proxy"),
        *(Program(Path(package).name, module="olm", package=f"{OPERATOR_FRAMEWORK}/{package}") for package in OLM_PACKAGES),
        # Signatures of images are not checked with the C library of GnuPG.
        Program("opm", module="olm", package=f"{OPERATOR_FRAMEWORK}/operator-registry/cmd/opm", tags=("containers_image_openpgp",)),
        Program("grpc_health_probe", module="olm", package="github.com/grpc-ecosystem/grpc-health-probe"),
    )
}

# Programs for the clusters of this checkout, each with a file that has the hash of what it was made of: linking alone takes a while.
KEPT = CHECKOUT / ".cache/programs"
LOCKS = CHECKOUT / ".cache/locks"

REQUIRED = ("kubernetes", "scheduler-plugins", "pause", "coredns", "controller", "load-watcher")


def check(layout: Layout, names: Iterable[str] = REQUIRED) -> None:
    """See that what is needed to build the programs is there, if any of them has to be built."""
    to_compile = [program for program in _stale(layout, names) if not _is_kept(program)]
    if to_compile:
        check_go([program.directory / program.module_file for program in to_compile])


def ensure(layout: Layout, progress: Progress, names: Iterable[str] = REQUIRED) -> None:
    """Build those of the programs that are missing or out of date."""
    check(layout, names)
    layout.bin.mkdir(parents=True, exist_ok=True)
    layout.inputs.mkdir(exist_ok=True)
    LOCKS.mkdir(parents=True, exist_ok=True)
    for program in _stale(layout, names):
        # One after the other, also for several clusters: the second one then takes the program of the first one.
        # Not a lock on a file of the module: go locks that itself.
        with (LOCKS / program.name).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not _is_kept(program):
                _compile(layout, progress, program)
            _take(layout, program)
        for link in program.links:
            (layout.bin / link).unlink(missing_ok=True)
            (layout.bin / link).symlink_to(program.name)
        _mark(layout, program).write_text(_inputs(program))


def published(layout: Layout, module: str, dependency: str) -> Path:
    """Where the files of a Go module lie that the one in directory `module` depends on; it is downloaded unless it is there."""
    go = ["go", "-C", SOURCE / module]
    run_logged([*go, "mod", "download", dependency], layout.logs / f"download-{module}.log", f"the Go module {dependency} cannot be had")
    return Path(output(*go, "list", "-m", "-f", "{{.Dir}}", dependency).strip())


def built(layout: Layout, name: str) -> str:
    """The hash of what the program was made of."""
    return _mark(layout, _program(layout, name)).read_text()


def path(layout: Layout, name: str) -> Path:
    """Where the program is. On a cluster of the default release, scheduler-plugins is part of Kubernetes' own program."""
    return layout.bin / _program(layout, name).name


def _program(layout: Layout, name: str) -> Program:
    if name == WITH_PLUGINS.name or (name == "scheduler-plugins" and layout.release == DEFAULT_RELEASE):
        return KUBERNETES_PROGRAMS[layout.release.minor]
    if name not in PROGRAMS:
        raise ClusterError(f"there is no program {name}: choose from {', '.join(sorted(PROGRAMS))}")
    return PROGRAMS[name]


def _mark(layout: Layout, program: Program) -> Path:
    return layout.inputs / f"program-{program.name}"


def _inputs(program: Program) -> str:
    modules = Path(program.module_file)
    names = (modules.name, modules.with_suffix(".sum").name)
    sources = sorted(path for path in program.directory.rglob("*") if path.suffix == ".go" or path.name in names)
    return digest(program, *sources)


def _current(path: Path, mark: Path, program: Program) -> bool:
    return path.exists() and mark.exists() and mark.read_text() == _inputs(program)


def _stale(layout: Layout, names: Iterable[str]) -> list[Program]:
    programs = dict.fromkeys(_program(layout, name) for name in names)
    return [program for program in programs if not _current(layout.bin / program.name, _mark(layout, program), program)]


def _kept(program: Program) -> Path:
    return KEPT / f"{program.name}-{Path(program.module_file).stem}"  # Kubernetes of two releases has one name


def _kept_mark(program: Program) -> Path:
    return KEPT / f"{_kept(program).name}.inputs"


def _is_kept(program: Program) -> bool:
    return _current(_kept(program), _kept_mark(program), program)


def _take(layout: Layout, program: Program) -> None:
    target = layout.bin / program.name
    target.unlink(missing_ok=True)  # the file of a running program cannot be written to
    try:
        os.link(_kept(program), target)
    except OSError:  # another file system
        shutil.copy2(_kept(program), target)


def _compile(layout: Layout, progress: Progress, program: Program) -> None:
    target = _kept(program)
    KEPT.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f".{target.name}.new")
    env = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly"}
    modules = [f"-modfile={program.module_file}", f"-tags={','.join(program.tags)}"]
    # The linker drops debugging information: a tenth of the compiler's work is not to write it.
    flags = ["-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", *modules, "-ldflags", program.ldflags]
    log = layout.logs / f"build-{program.name}.log"
    failure = f"building {program.name} failed"
    with progress.step(f"build {program.name}") as step:
        fetched = 0
        packages: set[str] = set()
        compiled: set[str] = set()

        def on_line(line: str) -> None:
            nonlocal fetched
            if line.startswith("go: downloading"):
                fetched += 1
                step.detail = f"{fetched} modules fetched"
            elif not line.startswith("go: "):
                packages.add(line)

        def on_package(line: str) -> None:
            if line in packages:
                compiled.add(line)
                step.detail = f"{len(compiled)} of at most {len(packages)} packages compiled"

        run_logged(["go", "list", *modules, "-deps", program.package], log, failure, on_line=on_line, env=env, cwd=program.directory)
        step.detail = "compiling and linking"
        build = ["go", "build", "-v", *flags, "-o", new, program.package]
        run_logged(build, log, failure, on_line=on_package, env=env, cwd=program.directory)
    mark = _kept_mark(program)
    mark.unlink(missing_ok=True)
    new.replace(target)
    mark.write_text(_inputs(program))
