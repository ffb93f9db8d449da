// Package conditions manages the status conditions of one object during one reconciliation.
//
// A [Manager] starts from the stored conditions and records new ones with [Manager.Set], [Manager.MarkTrue] and so on. It returns the
// list to store ([Manager.Conditions]), the types that this writer owns ([Manager.Managed]) and the changes to announce
// ([Manager.Transitions]):
//
//	m := conditions.NewManager(obj.Status.Conditions, obj.Generation, now)
//	m.MarkTrue("DatabaseReady", "Connected", "3 replicas answer")
//	m.MarkFalse("Ready", "Progressing", "waiting for the cache", conditions.AsWarning)
//	obj.Status.Conditions = m.Conditions()
//
// Controllers of package reconcile create the manager themselves. DecorateStatus receives it and needs only Set and the Mark functions.
// Package health sets the summary and the component conditions.
//
// # When to use which
//
//	a condition of this reconciliation   MarkTrue, MarkFalse, MarkUnknown; Set where the status is computed, such as by Status
//	the stored condition still holds     Keep
//	a condition whose subject is gone    Delete; RemoveStale for all types that this writer owned and did not set
//	read a condition                     Get; Stored for the stored condition
//	change how a transition shows        AsInfo, AsWarning, AsError, Silent, EventReason, EventMessage
//	a message composed of many parts     Bound
//
// To read conditions of other objects use k8s.io/apimachinery/pkg/api/meta (FindStatusCondition, IsStatusConditionTrue).
//
// # Rules
//
// The package follows the Kubernetes API conventions and kstatus:
//
//   - lastTransitionTime moves only when the status differs from the stored one. A new reason or message does not move it, nor does a
//     status that returns to its stored value within the reconciliation.
//   - Every condition set in the reconciliation carries the reconciled generation as observedGeneration.
//   - Conditions of other writers are kept as they are. [Manager.RemoveStale] removes conditions of this writer that were not set.
//   - The order is the same for the same content: Ready first, then by type.
//   - A transition is a new type, or a changed status or reason. Only transitions carry an event and a log line. A change of the message
//     alone is stored but not announced.
//   - Values that the API server would reject are repaired: an empty or malformed reason, invalid UTF-8, a message above 32768 bytes.
//
// The package sends no event, writes no log and reads no clock. A [Manager] serves one reconciliation and is not safe for concurrent use.
package conditions
