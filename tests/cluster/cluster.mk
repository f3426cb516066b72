# The throwaway cluster; docs/cluster.md tells how it is made.

.PHONY: cluster cluster-status cluster-clean

cluster:  ## Start the throwaway cluster, or repair it (NODES=n)
	@PYTHON=$(PYTHON) tests/cluster/cluster start

cluster-status:  ## What of the throwaway cluster runs, and whether it works
	@PYTHON=$(PYTHON) tests/cluster/cluster status

cluster-clean:  ## Remove the throwaway cluster without a trace
	@PYTHON=$(PYTHON) tests/cluster/cluster clean
