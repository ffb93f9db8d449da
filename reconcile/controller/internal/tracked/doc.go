// Package tracked has the reads and writes of a controller's passes: declared kinds alone are read, from the cache, and every read is
// remembered for the owner whose pass makes it; a plan is checked against the declarations before the engine gets it.
//
// [Reads] is the cache in every representation. [Reader] is it in one pass. [Applier] stands before the engine, [Client] below it.
// [PendingWrites] defers a pass while the cache does not show what the pass before has written.
// External reads go through the same tracker: a change of an external resource enqueues the owners that observed it.
package tracked
