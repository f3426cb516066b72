// Where the CustomResourceDefinitions of OpenShift's kinds come from: support/go_modules.py downloads these modules; nothing is built.
module osso.example/crds

go 1.24.0

require (
	github.com/openshift/api v0.0.0-20251015095338-264e80a2b6e7
	github.com/prometheus-operator/prometheus-operator v0.85.0
)
