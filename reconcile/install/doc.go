// Package install generates the manifests that install an operator from its page, so that what is shipped follows from what the
// controllers declare: a kustomization in config/ and a Helm chart in chart/.
//
// Both have the CRDs with their conversion, the service account with the permissions of the page, roles for users of the kinds, a
// Deployment of two replicas that are spread over nodes, with probes, resources and a restricted security context, a disruption budget, a
// network policy, the service of the metrics, which are served over TLS to accounts that may read them, and, where the page has
// webhooks or conversions, their service, their configurations and the Secret in which the operator keeps their certificate; with
// [Config.CertManager] that certificate is cert-manager's. The kustomization has the namespace with the labels of Pod Security (level
// restricted). config/monitoring, which needs the Prometheus Operator, is a kustomization of its own: a ServiceMonitor, alerts and a
// dashboard.
//
// The names in a chart follow from that of the release, so that several releases fit into a cluster, and a JSON schema rejects values that
// the chart does not have.
//
// The Services are <name>-metrics and <name>-webhooks. A Service of the page with a port named metrics or webhooks gives its name to
// the one that is generated.
//
// A test of the operator both writes the files and holds to them:
//
//	page, err := website().Page()
//	...
//	files, err := install.Files(page, install.Config{CRDs: os.DirFS("config/crd")})
//	...
//	lint.Generated(t, files)
//
// What an installation needs beyond them belongs into a kustomization of its own that has config/ as a resource.
package install
