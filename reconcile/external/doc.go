// Package external makes things outside of the cluster be as an owner's plan says, with the promises that children have: a row in a
// database, a model in a server, a report to another system.
//
// A [System] reaches the things of one kind: it observes one by its key, ensures it, removes it, and compares. [New] makes a [Kind]
// of it, which the builder of reconcile/controller is told of (External). Then
//
//   - FetchRemoteState observes with the method Observe of the kind, through the reader of the pass like any other read: an error is health, and the
//     read wakes the owner when the system reports that the thing has changed ([Watcher]);
//   - PlanResources names what must exist with Ensure, and what must be sent once with Once;
//   - the engine alone acts, after the children and before the status, which learns from Answer what came of it.
//
// # Promises
//
//   - Silent when right: what was observed and is up to date is not called again.
//   - Remembered before the first call: the keys are in an annotation of the owner, together with the finalizer, before anything
//     outside is made. An answer that is lost loses nothing.
//   - Removed when no longer planned, also after a restart and an upgrade, and with its owner. A read that failed, a plan that may be
//     incomplete or a kind that the plan keeps (KeepKind) removes nothing, and --cascade=orphan is respected.
//   - A key has one owner. A second owner that plans it gets a conflict, and neither makes nor removes it.
//   - What a user writes into the annotation is a hint: only keys that the engine has written itself, as managedFields prove, of
//     declared kinds, that Permit of the [Options] allows to the owner, are ever removed.
//   - A system that is away is asked less and less: each call has a deadline, calls have a rate, and after some failures in a row the
//     circuit of the system opens for a time. A planned RequeueAfter never stands in for the backoff of a system that is away; when it is
//     back, the owners that wait for it are reconciled. A pass whose calls were not sent waits until they may be, with the reason of the last
//     answer, and is not logged: there is a line in the log for each call that was sent.
//
// An edit of an object in the cluster that is somebody else's and that no ownership of fields can express is such a thing, too: see [Edits].
//
// A one-shot effect has a marker on the owner: it happens at least once, and at most once after the marker is stored.
//
// # What it does not do
//
// Groups of owners have no object that could remember anything, so they can plan nothing outside. What an owner recorded of a kind that
// is declared no more stays: keep the declaration as long as owners may have something of it. Two processes at a time are kept apart by
// leader election alone.
package external
