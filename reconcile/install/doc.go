// Package install generates the manifests that install an operator from its page: a kustomization in config/ and a Helm
// chart in chart/. They follow from the declarations of the controllers.
//
// Both contain the CRDs with their conversion; the service account with the permissions of the page; roles for users of the
// kinds; a Deployment with two replicas on different nodes, probes, resources and a restricted security context; a
// disruption budget; a network policy; and the Service of the metrics, which are served over TLS to authorized accounts. If
// the page has webhooks or conversions, they also contain their Service, their configurations and the Secret with the
// certificate, which the operator or, with [Config.CertManager], cert-manager issues. The kustomization contains the
// namespace with the labels of Pod Security (level restricted). config/monitoring is a separate kustomization, which needs
// the Prometheus Operator: a ServiceMonitor, alerts and a dashboard.
//
// The names in a chart derive from the name of the release, so a cluster may have several releases. A JSON schema rejects
// unknown values.
//
// The Services are <name>-metrics and <name>-webhooks. A Service of the page with a port named metrics or webhooks replaces
// the name of the generated one.
//
// A test of the operator writes the files and compares them:
//
//	page, err := website().Page()
//	...
//	files, err := install.Files(page, install.Config{CRDs: os.DirFS("config/crd")})
//	...
//	lint.Generated(t, files)
//
// To add objects or changes to an installation, write a kustomization with config/ as a resource.
package install
