# The throwaway cluster; docs/cluster.md tells how it is made.

.PHONY: cluster cluster-status cluster-clean

cluster:  ## Start the throwaway cluster, or repair it (NODES=n)
	@$(or $(PYTHON),python3) tests/cluster/cluster start

cluster-status:  ## What of the throwaway cluster runs, and whether it works
	@$(or $(PYTHON),python3) tests/cluster/cluster status

cluster-clean:  ## Remove the throwaway cluster without a trace
	@$(or $(PYTHON),python3) tests/cluster/cluster clean
