// Package external is what stands behind package reconcile/external: the kinds of things outside of the cluster, and the [Engine] that
// observes, ensures and removes what the owners of one controller have of them, between the plan and the apply engine.
package external
