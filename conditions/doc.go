// Package conditions keeps the status conditions of one object through one reconcile pass.
//
// A [Manager] starts from the stored conditions, takes what a pass finds out ([Manager.Set], [Manager.MarkTrue], ...) and
// gives back the list to store ([Manager.Conditions]), the types that this writer owns ([Manager.Managed]) and what is worth
// telling ([Manager.Transitions]):
//
//	m := conditions.NewManager(obj.Status.Conditions, obj.Generation, now)
//	m.MarkTrue("DatabaseReady", "Connected", "3 replicas answer")
//	m.MarkFalse("Ready", "Progressing", "waiting for the cache", conditions.AsInfo)
//	obj.Status.Conditions = m.Conditions()
//
// Rules, after the Kubernetes API conventions and kstatus:
//
//   - lastTransitionTime moves only when the status differs from the stored one. A new reason or message leaves it alone, and so
//     does a flip that is flipped back within the pass.
//   - Every condition set in the pass carries the generation that the pass looked at as observedGeneration.
//   - Conditions of other writers are kept as they are. Conditions of this writer that were not set are removed
//     when asked for: [Manager.RemoveStale].
//   - The order is the same for the same content: Ready first, then by type.
//   - A transition is a new type, or a changed status or reason. Only transitions carry an event and a log line; nothing is
//     repeated on every pass, and a message that changes alone is stored but not told.
//   - What the API server would refuse is repaired before it is stored: an empty or malformed reason, invalid UTF-8, a message
//     above 32768 bytes.
//
// [Summarize] folds several conditions of one object into one, [Aggregate] one condition of many objects; both bound the message
// to [MaxMessage] bytes and do not depend on the order of their input. [AllTrue], [AnyTrue], [AnyFalse] and [IsTrue] ask.
//
// The package imports the condition type from apimachinery and nothing else; it sends no event, writes no log and reads no clock.
// A [Manager] is for one pass and one goroutine.
package conditions
