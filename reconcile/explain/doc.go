// Package explain models what a running operator knows about one owner: the causes of its state; the trigger, reads, decisions and writes
// of the last reconciliation; contested fields; and the time of the next reconciliation.
//
// An [Owner] converts to a [Tree], and a tree renders as text and JSON. The package does not access a cluster. The functions Explain and
// ExplainHandler of package reconcile/controller return owners.
//
// An explanation contains no field values: it names fields by path, and credentials are removed from messages.
package explain
