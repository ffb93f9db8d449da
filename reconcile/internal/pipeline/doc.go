// Package pipeline runs the passes of a controller. It calls the phases of a [reconcile.Reconciler] in their order, applies the plan,
// writes the status, announces stored changes and schedules the next pass. It reads and writes through interfaces, which the builder
// and a preview implement differently.
package pipeline
