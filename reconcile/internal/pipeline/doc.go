// Package pipeline runs the passes of a controller: it calls the phases of a [reconcile.Reconciler] in their order, has the plan
// applied, keeps the status, announces what was stored and decides when the next pass comes. What it reads and writes with are
// interfaces, so that the builder and a preview give it different ones.
package pipeline
