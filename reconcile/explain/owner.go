package explain

import "time"

// Owner is the explanation of one owner. Unknown times are zero and unknown texts empty.
type Owner struct {
	// Controller is the name of the controller.
	Controller string `json:"controller"`
	// Kind is the kind of the owner, as in apps/v1/Deployment.
	Kind string `json:"kind"`
	// Name is the name of the owner, prefixed with "namespace/" if it is namespaced.
	Name string `json:"name"`
	// Found reports whether the owner is in the cache.
	Found bool `json:"found"`
	// Paused reports whether the owner's annotation pauses its reconciliation.
	Paused bool `json:"paused,omitempty"`
	// Selection selects the owners of the controller; empty if it reconciles all objects of the kind. An object outside the selection may
	// be missing in the cache.
	Selection string `json:"selection,omitempty"`
	// NotSelected reports that the owner is in the cache but outside the selection, so it is not reconciled.
	NotSelected bool `json:"notSelected,omitempty"`
	// Process is the reason why this process does not reconcile the owner, one of [ProcessStandby], [ProcessOtherShard] and
	// [ProcessNotSynced]; empty if it does. Another process may have a different explanation.
	Process string `json:"process,omitempty"`
	// Waits explains Process, or says what the next reconciliation waits for: its turn in the queue, or the end of a running one.
	Waits string `json:"waits,omitempty"`
	// NotInstalled are the optional kinds of the controller whose CRD is not installed, as in apps/v1/Deployment. Children of these kinds
	// are not created.
	NotInstalled []string `json:"notInstalled,omitempty"`
	// Deleting reports whether the owner is being deleted.
	Deleting bool `json:"deleting,omitempty"`
	// Ready reports whether the stored condition Ready is True. If owners have no such condition, it reports whether
	// the last reconciliation found no cause.
	Ready bool `json:"ready"`
	// Conditions of the stored status.
	Conditions []Condition `json:"conditions,omitempty"`
	// Causes explain why the owner is not ready, the root cause first. Consequences of other causes are omitted.
	Causes []Cause `json:"causes,omitempty"`
	// Last is the last reconciliation; nil if there was none since the process started.
	Last *Pass `json:"last,omitempty"`
	// Wrote is the last reconciliation that wrote something; nil if that is Last or none is known.
	Wrote *Pass `json:"wrote,omitempty"`
	// Reads are the reads of the last reconciliation; events about them trigger the next one.
	Reads []Read `json:"reads,omitempty"`
	// MoreReads is the number of reads omitted from Reads.
	MoreReads int `json:"moreReads,omitempty"`
	// Next is the next scheduled reconciliation; nil if only an event triggers one.
	Next *Next `json:"next,omitempty"`
}

// The values of Process in [Owner], which are also states.
const (
	// ProcessStandby is a process that is not the leader. It knows the conditions of owners, but reconciles none.
	ProcessStandby = "Standby"
	// ProcessOtherShard is a process that reconciles another shard. It may not know the owner.
	ProcessOtherShard = "OtherShard"
	// ProcessNotSynced is a process whose caches are not synced. It knows nothing of the owner yet.
	ProcessNotSynced = "NotSynced"
)

// The states of an owner.
const (
	stateNotFound    = "NotFound"
	stateNotSelected = "NotSelected"
	statePaused      = "Paused"
	stateDeleting    = "Deleting"
	stateNotSeen     = "NotSeen"
	stateNotReady    = "NotReady"
	stateReady       = "Ready"
)

// State returns the state of the owner in one word, the first that applies: Standby, OtherShard or NotSynced (Process of the owner),
// NotFound (not in the cache), NotSelected (the controller does not reconcile it), Paused (by its annotation), Deleting, NotSeen (not
// reconciled since the process started), Ready (its condition Ready is True) or NotReady.
func (o Owner) State() string {
	switch {
	case o.Process != "":
		return o.Process
	case !o.Found:
		return stateNotFound
	case o.NotSelected:
		return stateNotSelected
	case o.Paused:
		return statePaused
	case o.Deleting:
		return stateDeleting
	case o.Last == nil:
		return stateNotSeen
	case o.Ready:
		return stateReady
	}
	return stateNotReady
}

// Condition is a stored condition.
type Condition struct {
	// Type, Status, Reason and Message are those of the condition.
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	// Since is when the status changed.
	Since time.Time `json:"since,omitzero"`
}

// Cause is one problem.
type Cause struct {
	// Subject is the affected object, as in "ConfigMap shop/settings", or component. Empty is the owner itself.
	Subject string `json:"subject,omitempty"`
	// Category and Reason are those of package health.
	Category string `json:"category,omitempty"`
	Reason   string `json:"reason,omitempty"`
	// Message is the message of the API server, a webhook, an inspector or the reconciler.
	Message string `json:"message"`
	// Diagnostics are further lines from the reconciler, such as the rejected candidates of a selection or the owner of a path.
	Diagnostics []string `json:"diagnostics,omitempty"`
	// Contested are fields that other managers own.
	Contested []Contested `json:"contested,omitempty"`
	// Retry is the latest time of the next attempt; zero if none is scheduled.
	Retry time.Time `json:"retry,omitzero"`
}

// Contested is a field that another manager owns.
type Contested struct {
	// Path of the field, ".spec.replicas".
	Path string `json:"path"`
	// Manager is the field manager.
	Manager string `json:"manager"`
}

// Pass is one reconciliation.
type Pass struct {
	// At is the time at which it ended.
	At time.Time `json:"at"`
	// Trigger describes the trigger: an event with its object and field manager, or a timer.
	Trigger string `json:"trigger"`
	// Blocked is the reason why nothing was applied; empty if something was.
	Blocked string `json:"blocked,omitempty"`
	// Decisions are the decisions about each object, in order.
	Decisions []Decision `json:"decisions,omitempty"`
	// MoreDecisions is the number of decisions omitted from Decisions.
	MoreDecisions int `json:"moreDecisions,omitempty"`
	// PruneBlocked is the reason why children that left the plan were kept; empty if none were.
	PruneBlocked string `json:"pruneBlocked,omitempty"`
	// StatusWritten reports whether the status was written.
	StatusWritten bool `json:"statusWritten,omitempty"`
}

// Decision is the decision about one object, and its outcome.
type Decision struct {
	// Object is the object, as in "ConfigMap shop/settings".
	Object string `json:"object"`
	// Verb, Reason and Outcome are those of package apply.
	Verb    string `json:"verb"`
	Reason  string `json:"reason"`
	Outcome string `json:"outcome,omitempty"`
	// Fields are the paths of the fields that a write changed, at most 20.
	Fields []string `json:"fields,omitempty"`
	// WaitsUntil is the planned condition that the object waits for.
	WaitsUntil string `json:"waitsUntil,omitempty"`
	// Error is the reason why the object differs from the plan.
	Error string `json:"error,omitempty"`
}

// Read is one read of the last reconciliation.
type Read struct {
	// Kind is the kind of the object, as in /v1/Secret.
	Kind string `json:"kind"`
	// What is the name of the object, or the namespace and selector of the list.
	What string `json:"what"`
}

// Next is a scheduled reconciliation.
type Next struct {
	// At is the earliest time; zero if it is not known.
	At time.Time `json:"at,omitzero"`
	// Why is the reason for the reconciliation.
	Why string `json:"why"`
}
