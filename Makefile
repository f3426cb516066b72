# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

SHELL := /bin/bash
.DEFAULT_GOAL := help
# Only `make test` runs parts in parallel, the parts that its recipe names.
ifeq ($(MAKELEVEL),0)
.NOTPARALLEL:
endif
MAKEFLAGS += --no-print-directory

# make VARIABLE=value ... :
#   PYTHON      interpreter of .venv, 3.11 or newer (default: python3)
#   KUBECONFIG  use this cluster instead of building one; requires REGISTRY
#   CLUSTER     CLUSTER=kind: a cluster of kind (docker or podman) instead of the throwaway cluster
#   REGISTRY    the registry for images, from which that cluster pulls; `make images REGISTRY=...` and `make ee` need no cluster
#   TAG         tag of these images (default: the version); ENGINE=podman builds them with podman instead of buildah
#   NODES       nodes of the throwaway cluster
#   STAY        STAY=1: make demo-load-aware keeps running and reads loads of nodes from the keyboard
#   CLUSTERS    number of throwaway clusters that share the tests (default: 2 if all tests run, else 1)
#   TESTS       files and options for pytest, instead of the whole folder

ENV := tests/tools/env
PART := $(ENV) tests/tools/part
BY_FILE := --max-worker-restart=0 --dist=loadfile --no-loadscope-reorder
PYTEST = $(ENV) pytest $(if $(filter-out 1,$(CLUSTERS)),--numprocesses=$(CLUSTERS) $(BY_FILE))

# The throwaway clusters: .cluster, .cluster-2 and so on. With TESTS one cluster is sufficient; all tests share two.
export CLUSTER_DIR ?= $(CURDIR)/.cluster
export CLUSTERS ?= $(if $(TESTS),1,$(if $(filter test test-all test-integration test-olm,$(MAKECMDGOALS)),2,1))
CLUSTER_DIRS = $(CLUSTER_DIR) $(addprefix $(CLUSTER_DIR)-,$(shell seq 2 $(CLUSTERS)))

ifneq ($(word 2,$(CURDIR))$(word 2,$(CLUSTER_DIR)),)
$(error make splits paths at spaces: move the checkout $(CURDIR) to a path without spaces, and if CLUSTER_DIR is set, name a folder without them)
endif

# A cluster of kind is used like any other cluster of KUBECONFIG.
ifeq ($(CLUSTER),kind)
KIND := $(CURDIR)/.cluster-kind
export KUBECONFIG := $(KIND)/kubeconfig
export REGISTRY := localhost:$(or $(KIND_REGISTRY_PORT),5001)
else ifneq ($(CLUSTER),)
$(error CLUSTER=$(CLUSTER) is unknown; kind is the only value, without CLUSTER it is the throwaway cluster or that of KUBECONFIG)
endif

# OUTSIDE is set if the registry is outside of any cluster: REGISTRY on the command line of `make images`, any REGISTRY of `make ee`.
OUTSIDE := $(if $(KUBECONFIG),,$(if $(filter images,$(MAKECMDGOALS)),$(filter command,$(origin REGISTRY)),$(and $(filter ee,$(MAKECMDGOALS)),$(REGISTRY))))

##@ Start here
.PHONY: help demo demo-load-aware site test
help:  ## This list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@sed -n 's/^# \?//; /^make VARIABLE/,/^$$/p' $(firstword $(MAKEFILE_LIST)) | sed '1i\\'

demo: ready collections images  ## A cluster, the operator, a scheduler and a pod placed by it
	@$(ENV) tests/tools/demo

demo-load-aware: ready collections images  ## Prometheus, and two schedulers that place pods by the nodes' load
	@$(ENV) tests/tools/demo-load-aware $(if $(STAY),--stay)

site: ready collections  ## Run the demo's site.yml again on the running cluster
	@$(ENV) tests/tools/demo site

# Tests on clusters follow each other and often wait. The parts without a cluster run meanwhile, with a lower priority.
# The clusters need no collection and no .venv: their programs are built while these are made.
test: which-cluster forget-times  ## Everything that a change has to pass: all parts below except the long tests
	@tests/tools/part whole $(MAKE) --jobs=5 --output-sync=line SERIES=gate all-on-clusters api-and-reconcile unit-and-local lint sanity
	@tests/tools/part --table

api-and-reconcile: collections
	@$(ENV) tests/tools/long-tests age
	@CLUSTERS=1 nice -n 5 $(PART) api-and-reconcile pytest -p no:cacheprovider --quiet --numprocesses=2 $(BY_FILE) --durations=10 --durations-min=10 tests/api tests/reconcile

# A process of its own: a worker that also ran tests of the API tier would have an API server all the time.
unit-and-local: collections
	@CLUSTERS=1 nice -n 5 $(PART) unit-and-local pytest -p no:cacheprovider --quiet --durations=10 --durations-min=10 tests/local tests/unit

# OLM stays in the cluster of its tests, so they are the last ones there.
all-on-clusters: ready collections images olm
	+@$(PYTEST) --durations=25 --durations-min=10 --parts=.cache/times tests/integration tests/conformance/operator tests/olm

##@ Development
.PHONY: env collections requirements dist format bundle aap ee reference docs walkthroughs release clean distclean
env:  ## The Python environment .venv
	@tests/tools/environment

collections: env  ## kubernetes.core and this collection in .cache/collections
	@$(ENV) tests/tools/collections

requirements:  ## Update the pinned versions in requirements/*.txt from requirements/*.in
	@tests/tools/requirements

dist: env  ## The collection as a tarball in .cache/dist
	@$(ENV) ansible-galaxy collection build --force --output-path .cache/dist

format: env  ## Format the Python code
	@$(ENV) ruff check --quiet --fix-only . && $(ENV) ruff format .

bundle: collections  ## Generate operator/bundle and operator/catalog
	@PYTHONPATH=.cache/collections $(ENV) operator/olm/generate write

aap: collections  ## Generate the files for Automation Platform: extensions/patterns and playbooks/aap/vars.yml
	@PYTHONPATH=.cache/collections $(ENV) automation_platform/generate write

ee: collections  ## Build the execution environment for Automation Platform; with REGISTRY also push it
	@$(ENV) automation_platform/execution_environment/build

reference: collections  ## Generate docs/schema and the tables of docs/kube-scheduler-configuration.md, docs/olm.md, docs/plugins.md and docs/presets.md
	@PYTHONPATH=.cache/collections $(ENV) tests/tools/reference-page write

docs: collections  ## The documentation as a site in .cache/docs/html; part of make test-long and make test-all
	@$(ENV) tests/tools/docs

walkthroughs: ready collections images  ## Execute docs/walkthroughs on the cluster, and write the output into the pages
	@WALKTHROUGHS=write $(ENV) pytest -m "" tests/integration/test_walkthroughs.py $(TESTS)

release: collections  ## All steps of a release except publishing (docs/releases.md); VERSION=1.2.3, OPERATOR_IMAGE=image by digest, SIGNING_KEY=gpg key
	@$(if $(VERSION),,$(error VERSION is missing, for example: make release VERSION=1.0.0))$(ENV) tests/tools/release $(VERSION)

clean:  ## Remove files that tests and tools have written; .venv and downloads stay
	@rm -rf .ansible .cache/ansible .cache/dist .cache/docs .cache/release .cache/pytest .cache/ruff .cache/sanity/*/tree tests/output
	@find . -path './.cluster*' -prune -o -path ./.venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean  ## Remove everything that is not in git, the clusters included; CLUSTER=kind removes those of kind, too
	@$(if $(KIND),tests/cluster/kind down $(KIND))
	@for directory in $(wildcard $(CURDIR)/.cluster*); do CLUSTER_DIR=$$directory PYTHON=$(PYTHON) tests/cluster/cluster clean || exit; done
	@rm -rf .venv .cache

##@ The parts of make test
.PHONY: lint sanity unit ansible-test-units images molecule test-api test-reconcile test-integration test-olm api-and-reconcile unit-and-local all-on-clusters forget-times which-cluster ready olm
lint: collections  ## ruff, yamllint, ansible-lint, shellcheck, changelog and documentation checks
	@nice -n 10 $(PART) lint tests/tools/lint

sanity: collections  ## ansible-test sanity on several ansible-core series (SERIES=2.18: on one) and all Pythons found
	@nice -n 10 $(PART) sanity tests/tools/ansible-test sanity $(SERIES)

ansible-test-units: collections  ## The unit tests by ansible-test, in a tree of collections and without the rest of Ansible
	@$(ENV) tests/tools/ansible-test units

unit: collections  ## Unit tests, and tests of tools, generated files and plays on this machine
	@$(ENV) pytest $(or $(TESTS),tests/unit tests/local)

images: $(if $(OUTSIDE),,ready) collections  ## Build and push the operator's image; with your own REGISTRY also bundle and catalog
	@for directory in $(CLUSTER_DIRS); do CLUSTER_DIR=$$directory $(PART) images operator/image/build || exit; done
	@$(if $(OUTSIDE)$(YOURS),PYTHONPATH=.cache/collections $(PART) images-olm operator/olm/build)

molecule: ready collections images  ## Molecule scenarios on the cluster
	@$(PART) molecule molecule test --all

test-api: collections  ## API tier: tests with a separate etcd and kube-apiserver, without nodes
	@CLUSTERS=1 $(ENV) pytest $(if $(TESTS),,--numprocesses=2 $(BY_FILE)) $(or $(TESTS),tests/api)

test-reconcile: collections  ## Reconcile tier: the operator's reconcile in the tests' process; the tests report the status of pods
	@CLUSTERS=1 $(ENV) pytest $(or $(TESTS),tests/reconcile)

test-integration: ready collections images  ## Integration tests and the conformance tests of the operator, on the cluster
	@$(PYTEST) $(or $(TESTS),tests/integration tests/conformance/operator)

test-olm: ready collections images olm  ## Tests with a real Operator Lifecycle Manager, which stays in the cluster
	@$(PYTEST) $(or $(TESTS),tests/olm)

forget-times:
	@rm -f .cache/times

# Select the cluster, and print it, before any work starts.
ifeq ($(filter-out $(CLUSTER_DIR)/kubeconfig,$(KUBECONFIG)),)
# CLUSTER_DIR determines these.
unexport KUBECONFIG $(if $(OUTSIDE),,REGISTRY)

which-cluster:

ready: which-cluster
	@$(PART) cluster $(MAKE) cluster

# Builds the programs of OLM; the tests install OLM.
olm: ready
	@$(PART) olm tests/cluster/cluster build --addon=olm
else
CLUSTERS := 1
YOURS := yes

which-cluster:
	$(if $(REGISTRY),,$(error KUBECONFIG is set: REGISTRY is needed too, a registry that this cluster pulls from, for example REGISTRY=registry.example.com/team))
	@echo "Cluster of KUBECONFIG=$(KUBECONFIG), images in $(REGISTRY)"

ready: which-cluster
	$(if $(KIND),@$(PART) cluster tests/cluster/kind up $(KIND))

olm:
endif

##@ Not part of make test
.PHONY: test-all test-releases test-long sanity-all coverage mutants new-release bench oracle oracle-record
test-all: env  ## Every tier of tests; parts that passed with the same files do not run again
	@$(ENV) tests/tools/test-all

test-long: ready collections images oracle sanity-all docs  ## The second tier; writes the results to docs/long-tests.md
	@$(ENV) tests/tools/long-tests run

sanity-all: collections
	@$(PART) sanity-all tests/tools/ansible-test sanity all

# A folder of the second tier
test-long-%: ready collections images
	@$(ENV) tests/tools/long-tests run tests/$*

# Only these compare with the real kube-schedulers, which take half an hour to build
test-long-api test-long-integration test-long-unit: oracle

# Not in a third cluster: Linux's usual limit of inotify instances is sufficient for two.
test-releases: export KUBERNETES = 1.37
test-releases: export CLUSTERS = 1
test-releases: export CLUSTER_DIR = $(CURDIR)/.cluster-2
test-releases: env  ## Cluster and OLM tests and walk-throughs on Kubernetes 1.37, in a new .cluster-2
	@$(MAKE) cluster-clean
	@$(MAKE) test-integration && $(MAKE) test-integration TESTS="-m long tests/integration/test_walkthroughs.py" && $(MAKE) test-olm; \
	result=$$?; $(MAKE) cluster-clean && exit $$result

coverage: collections  ## Unit, API and reconcile tests with branch coverage; lists the files with low coverage
	@$(ENV) tests/tools/mutants cover

mutants: collections  ## After make coverage: break the code in NUMBER=200 places, and check that a test fails for each
	@$(ENV) tests/tools/mutants run --number=$(or $(NUMBER),200) --seed=$(or $(SEED),1) $(if $(CORE),--core)

new-release: collections  ## Write a Kubernetes release to the engine's tables, derived from its kube-scheduler (docs/new-release.md); MINOR=1.37
	@$(ENV) tests/tools/new-release $(or $(MINOR),$(error MINOR is missing, for example: make new-release MINOR=1.37))

bench: ready collections images  ## Benchmarks; writes the results to docs/benchmarks.md
	@$(ENV) pytest --quiet $(or $(TESTS),tests/benchmarks)

oracle: env  ## Build the real kube-schedulers that validate configurations (tests/oracle/README.md)
	@$(ENV) tests/oracle/oracle build

oracle-record: oracle  ## Record their answers again for the conformance tests (tests/conformance/kube_scheduler)
	@PYTHONPATH=tests $(ENV) python -m oracle.record --again

##@ The throwaway cluster
-include tests/cluster/cluster.mk
