# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The throwaway clusters; docs/cluster.md describes them.

# Includes clusters of an earlier, higher number of CLUSTERS.
all_clusters = $(sort $(CLUSTER_DIRS) $(wildcard $(CLUSTER_DIR)-[2-9]))

.PHONY: cluster cluster-status cluster-clean

cluster:  ## Start the throwaway cluster, or repair it (NODES=n, CLUSTERS=n, KUBERNETES=1.34 or 1.37)
	@$(if $(KIND),tests/cluster/kind up $(KIND),for directory in $(CLUSTER_DIRS); do CLUSTER_DIR=$$directory PYTHON=$(PYTHON) tests/cluster/cluster start || exit; done)

cluster-status:  ## Status of the throwaway clusters; fails if something does not work
	@for directory in $(all_clusters); do CLUSTER_DIR=$$directory PYTHON=$(PYTHON) tests/cluster/cluster status || failed=1; done; exit $$failed

cluster-clean:  ## Remove the throwaway clusters completely
	@$(if $(KIND),tests/cluster/kind down $(KIND),for directory in $(all_clusters); do CLUSTER_DIR=$$directory PYTHON=$(PYTHON) tests/cluster/cluster clean || failed=1; done; exit $$failed)
