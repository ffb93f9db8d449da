// Package conditions keeps the status conditions of one object through one reconcile pass.
//
// A [Manager] starts from the stored conditions, takes what a pass finds out ([Manager.Set], [Manager.MarkTrue], ...) and
// returns the list to store ([Manager.Conditions]), the types that this writer owns ([Manager.Managed]) and what to announce
// ([Manager.Transitions]):
//
//	m := conditions.NewManager(obj.Status.Conditions, obj.Generation, now)
//	m.MarkTrue("DatabaseReady", "Connected", "3 replicas answer")
//	m.MarkFalse("Ready", "Progressing", "waiting for the cache", conditions.AsWarning)
//	obj.Status.Conditions = m.Conditions()
//
// In a controller of package reconcile the pipeline does all of this; DecorateStatus is given the manager of the pass and needs
// Set and Mark... only. Summary and component conditions are set by package health.
//
// # When to use which
//
//	a condition of this pass             MarkTrue, MarkFalse, MarkUnknown; Set where the status is computed, such as by Status
//	the stored condition still holds     Keep
//	a condition whose subject is gone    Delete; RemoveStale for all that this writer owned and did not set
//	read what was set or stored          Get; Stored for what is stored alone
//	change how a transition shows        AsInfo, AsWarning, AsError, Silent, EventReason, EventMessage
//	a message composed of many parts     Bound
//
// To read conditions of other objects use k8s.io/apimachinery/pkg/api/meta (FindStatusCondition, IsStatusConditionTrue).
//
// # Rules
//
// After the Kubernetes API conventions and kstatus:
//
//   - lastTransitionTime moves only when the status differs from the stored one. A new reason or message leaves it alone, and so
//     does a flip that is flipped back within the pass.
//   - Every condition set in the pass carries the generation that the pass looked at as observedGeneration.
//   - Conditions of other writers are kept as they are. Conditions of this writer that were not set are removed
//     when asked for: [Manager.RemoveStale].
//   - The order is the same for the same content: Ready first, then by type.
//   - A transition is a new type, or a changed status or reason. Only transitions carry an event and a log line; nothing is
//     repeated on every pass, and a message that changes alone is stored but not announced.
//   - What the API server would refuse is repaired before it is stored: an empty or malformed reason, invalid UTF-8, a message
//     above 32768 bytes.
//
// The package imports the condition type from apimachinery and nothing else; it sends no event, writes no log and reads no clock.
// A [Manager] is for one pass and one goroutine.
package conditions
