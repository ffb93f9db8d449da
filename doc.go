// Package reconcilekit is a library of building blocks for Kubernetes reconcilers.
//
// A package imports only packages of the layers below it:
//
//	reconcile/reconciletest     test kit: Converge, environments, requests, permissions, lint, matchers
//	reconcile/operator          the operator process: flags, manager, leader election, webhooks
//	reconcile/install           the kustomization and Helm chart of an operator
//	reconcile/controller        the builder: connects a reconciler to a manager
//	reconcile/external,         optional building blocks; see the list of folders
//	reconcile/settings, ...
//	reconcile                   the author's API: phases, reads, plans and outcomes
//	reconcile/apply/engine      the server-side apply engine
//	reconcile/apply             plans, decisions and results
//	routing, templates,         HTTPRoutes; selection of a candidate; rendered YAML
//	manifests
//	health, health/inspect      component health, states, error categories; inspectors of Kubernetes kinds
//	conditions, naming, layers  leaves: conditions, DNS-safe names, settings from several layers
//
// An operator that needs the entire loop starts at [reconcilekit/reconcile/controller]. Each of the other packages is useful alone.
//
// [reconcilekit/reconcile/controller]: https://pkg.go.dev/github.com/reconcilekit/reconcilekit/reconcile/controller
package reconcilekit
