// Package external implements package reconcile/external: the kinds of external resources, and the [Engine] that observes, ensures and
// removes the resources of one controller's owners, between the plan and the apply engine.
package external
