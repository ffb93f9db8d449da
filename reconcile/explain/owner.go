package explain

import "time"

// Owner is what is known about one owner. Times are zero and texts empty where nothing is known.
type Owner struct {
	// Controller is the name of the controller.
	Controller string `json:"controller"`
	// Kind is the kind of the owner, as in apps/v1/Deployment.
	Kind string `json:"kind"`
	// Name is its name, with the namespace before a slash where it has one.
	Name string `json:"name"`
	// Found reports whether the owner is in the cache.
	Found bool `json:"found"`
	// Paused reports whether the owner is paused by its annotation: no pass is made.
	Paused bool `json:"paused,omitempty"`
	// Selection is what selects the owners of the controller, empty when it reconciles all objects of the kind. An object that it does not select may be
	// missing in the cache.
	Selection string `json:"selection,omitempty"`
	// NotSelected reports that the owner is in the cache and the controller does not select it: it is not reconciled.
	NotSelected bool `json:"notSelected,omitempty"`
	// Deleting reports whether the owner is being deleted.
	Deleting bool `json:"deleting,omitempty"`
	// Ready reports whether the stored condition Ready is True; where the owners have none, whether the last pass found no cause.
	Ready bool `json:"ready"`
	// Conditions are those of the stored status.
	Conditions []Condition `json:"conditions,omitempty"`
	// Causes are why the owner is not as it should be, the first cause first. What only follows from another one is not there.
	Causes []Cause `json:"causes,omitempty"`
	// Last is the last pass, nil as long as there was none since the process started.
	Last *Pass `json:"last,omitempty"`
	// Wrote is the last pass that wrote something, nil when that is Last or none is known.
	Wrote *Pass `json:"wrote,omitempty"`
	// Reads are what the last pass read: their events trigger the next one.
	Reads []Read `json:"reads,omitempty"`
	// MoreReads is how many reads were left out of Reads.
	MoreReads int `json:"moreReads,omitempty"`
	// Next is the next pass that is planned; nil when only an event triggers one.
	Next *Next `json:"next,omitempty"`
}

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

// State is how the owner is, in one word, the first that fits: NotFound (it is not in the cache), NotSelected (the controller does not reconcile it), Paused (by its annotation, so that no
// pass is made), Deleting, NotSeen (the process has made no pass for it yet), Ready (its condition Ready is True) or NotReady.
func (o Owner) State() string {
	switch {
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

// Cause is one thing that is wrong.
type Cause struct {
	// Subject is what it concerns: an object, as in "ConfigMap shop/settings", or a component. Empty is the owner itself.
	Subject string `json:"subject,omitempty"`
	// Category and Reason are those of package health.
	Category string `json:"category,omitempty"`
	Reason   string `json:"reason,omitempty"`
	// Message is what was said: by the API server, a webhook, an inspector or the author's code.
	Message string `json:"message"`
	// Diagnostics are what the author's code knows besides, line by line: what a selection has rejected, who has a path already.
	Diagnostics []string `json:"diagnostics,omitempty"`
	// Contested are fields that other managers own.
	Contested []Contested `json:"contested,omitempty"`
	// Retry is when it is looked at again at the latest; zero when nothing is planned.
	Retry time.Time `json:"retry,omitzero"`
}

// Contested is a field that another manager owns.
type Contested struct {
	// Path is the field, ".spec.replicas".
	Path string `json:"path"`
	// Manager is its field manager.
	Manager string `json:"manager"`
}

// Pass is one reconciliation.
type Pass struct {
	// At is when it ended.
	At time.Time `json:"at"`
	// Trigger is what made it start: an event with its object and the field manager behind it, or a timer.
	Trigger string `json:"trigger"`
	// Blocked is why nothing was applied; empty when something was.
	Blocked string `json:"blocked,omitempty"`
	// Decisions are what was decided for each object, in the order of the pass.
	Decisions []Decision `json:"decisions,omitempty"`
	// MoreDecisions is how many were left out of Decisions.
	MoreDecisions int `json:"moreDecisions,omitempty"`
	// PruneBlocked is why children that are no longer planned were kept; empty when none were.
	PruneBlocked string `json:"pruneBlocked,omitempty"`
	// StatusWritten reports whether the status was written.
	StatusWritten bool `json:"statusWritten,omitempty"`
}

// Decision is what a pass decided for one object, and what became of it.
type Decision struct {
	// Object is the object, as in "ConfigMap shop/settings".
	Object string `json:"object"`
	// Verb, Reason and Outcome are those of package apply.
	Verb    string `json:"verb"`
	Reason  string `json:"reason"`
	Outcome string `json:"outcome,omitempty"`
	// Fields are the paths of the fields that a write changed, at most 20.
	Fields []string `json:"fields,omitempty"`
	// WaitsUntil is the condition that the plan holds the object back for.
	WaitsUntil string `json:"waitsUntil,omitempty"`
	// Error is why the object is not as planned.
	Error string `json:"error,omitempty"`
}

// Read is one read of the last pass.
type Read struct {
	// Kind is what was read, as in /v1/Secret.
	Kind string `json:"kind"`
	// What is the name of the object, or the namespace and selector of the list.
	What string `json:"what"`
}

// Next is a pass that is planned.
type Next struct {
	// At is when, at the earliest; zero when it is not known.
	At time.Time `json:"at,omitzero"`
	// Why is what it waits for.
	Why string `json:"why"`
}
