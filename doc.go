// Package reconcilekit is a library of building blocks for Kubernetes reconcilers.
//
// The packages stand on floors; a package imports only packages of floors below it:
//
//	reconcile/reconciletest  test kit for consumers
//	reconcile/operator       the process: flags, manager, health, leader election, webhooks
//	reconcile/install        the manifests of an installation, from the page
//	reconcile/controller     builder: wires a reconciler into a manager
//	reconcile                the pipeline, its phases and its outcome
//	reconcile/apply/engine   server-side apply engine
//	reconcile/apply          plans, decisions and results
//	routing, templates       Gateway API routes; candidate selection
//	health                   inspectors, and what components add up to: conditions, one state
//	health/verdict           components, states and error categories: the words of health
//	conditions, naming,      leaves: import nothing of this module
//	layers
//
// An operator that wants the whole loop starts at [reconcilekit/reconcile/controller]; every other package is also useful alone.
//
// [reconcilekit/reconcile/controller]: https://pkg.go.dev/github.com/reconcilekit/reconcilekit/reconcile/controller
package reconcilekit
