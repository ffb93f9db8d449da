// Package tracked provides the reads and writes of a controller's passes. Passes read only declared kinds, from the cache, and every
// read is recorded for the owner of the pass. A plan is checked against the declarations before the engine applies it.
//
// [Reads] reads from the cache in every representation. [Reader] is its view for one pass. [Applier] wraps the engine; [Client] is the
// client of the engine. [PendingWrites] defers a pass while the cache does not show the writes of the pass before. External reads use
// the same tracker: a change of an external resource enqueues the owners that observed it.
package tracked
