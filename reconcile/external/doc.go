// Package external reconciles resources outside the cluster with the guarantees that children have: a row in a database, a model in a
// server, a report to another system.
//
// A [System] accesses the resources of one kind: it observes a resource by its key, ensures it, removes it, and compares. [New] returns a
// [Kind] for it; declare the kind with the method External of the builder in reconcile/controller. Then
//
//   - FetchRemoteState calls Observe of the kind with its reader. As for any other read, an error is health, and a reported change of the
//     resource ([Watcher]) enqueues the owner;
//   - PlanResources plans a resource with Ensure, and an effect that must happen once with Once;
//   - the engine calls the system, after it applied the children and before it writes the status. Answer returns the result for the
//     status.
//
// # Promises
//
//   - No needless calls: a resource that was observed and is up to date is not called again.
//   - Recorded before the first call: the owner has the finalizer and an annotation with the keys before a resource is created. A lost
//     response leaks nothing.
//   - Removed when it leaves the plan, also after a restart and an upgrade, and with its owner. A failed read, a plan that may be
//     incomplete or a kind that the plan keeps (KeepKind) removes nothing, and --cascade=orphan is respected.
//   - A key has one owner. A second owner that plans it gets a conflict, and neither creates nor removes the resource.
//   - An annotation that a user edited is not trusted. The engine removes only keys that it has written itself, as managedFields show, of
//     declared kinds, and that Permit of the [Options] allows to the owner.
//   - An unavailable system gets fewer calls: each call has a deadline, calls are rate limited, and after several consecutive failures
//     the circuit of the system opens for a time. A planned RequeueAfter does not replace the backoff. When the system is available
//     again, the waiting owners are reconciled. A reconciliation whose calls were not sent waits until they may be, with the reason of
//     the last response, and is not logged; each call that was sent has a line in the log.
//
// [Edits] treats an edit of another controller's object in the cluster as such a resource, for edits that field ownership cannot express.
//
// A one-shot effect has a marker on the owner: it happens at least once, and at most once after the marker is stored.
//
// # Limitations
//
// Groups of owners have no object for the annotation, so they cannot plan external resources. Recorded resources of a kind that is no
// longer declared remain: keep the declaration while owners may have resources of the kind. Only leader election prevents two processes
// from acting concurrently.
package external
