package apply

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// Verb is what a reconciliation does with one object.
type Verb string

// The verbs.
const (
	// VerbNone sends nothing.
	VerbNone Verb = "none"
	// VerbCreate creates the object.
	VerbCreate Verb = "create"
	// VerbUpdate applies the plan to the existing object.
	VerbUpdate Verb = "update"
	// VerbDelete deletes the object because the plan asks for it.
	VerbDelete Verb = "delete"
	// VerbPrune deletes a child that has left the plan.
	VerbPrune Verb = "prune"
	// VerbRelease gives up the fields of a contribution.
	VerbRelease Verb = "release"
	// VerbRecord writes the inventory and the finalizer to the owner's metadata.
	VerbRecord Verb = "record"
)

// Reason is why a [Decision] was made, in camel case as in conditions and events.
type Reason string

// The reasons of decisions.
const (
	// ReasonUpToDate: the object is as planned.
	ReasonUpToDate Reason = "UpToDate"
	// ReasonMissing: the object does not exist.
	ReasonMissing Reason = "Missing"
	// ReasonPlanChanged: the plan differs from the last applied one.
	ReasonPlanChanged Reason = "PlanChanged"
	// ReasonDrift: another writer has changed owned fields since the last apply.
	ReasonDrift Reason = "Drift"
	// ReasonDiffers: the object differs from the plan, and this process does not know the last applied plan.
	ReasonDiffers Reason = "Differs"
	// ReasonFormerManager: one of [Options.FormerManagers] owns fields.
	ReasonFormerManager Reason = "FormerManager"
	// ReasonOwnershipLost: the engine's entry is missing from managedFields.
	ReasonOwnershipLost Reason = "OwnershipLost"
	// ReasonExists: the object exists, and the plan requires no more.
	ReasonExists Reason = "Exists"
	// ReasonStaleCache: the cache does not show the last write yet.
	ReasonStaleCache Reason = "StaleCache"
	// ReasonTerminating: the object is being deleted.
	ReasonTerminating Reason = "Terminating"
	// ReasonNamespaceTerminating: the object cannot be created because its namespace is being deleted.
	ReasonNamespaceTerminating Reason = "NamespaceTerminating"
	// ReasonOptedOut: the object has [Options.OptOutAnnotation].
	ReasonOptedOut Reason = "OptedOut"
	// ReasonNotOwned: the object does not belong to this owner.
	ReasonNotOwned Reason = "NotOwned"
	// ReasonContested: other field managers own planned fields.
	ReasonContested Reason = "Contested"
	// ReasonBackoff: the same request failed before, and nothing relevant has changed since.
	ReasonBackoff Reason = "Backoff"
	// ReasonInvalid: the plan is not valid.
	ReasonInvalid Reason = "Invalid"
	// ReasonReadFailed: the object could not be read.
	ReasonReadFailed Reason = "ReadFailed"
	// ReasonPlanned: the plan asks for the deletion.
	ReasonPlanned Reason = "Planned"
	// ReasonNotPlanned: the plan no longer names the object.
	ReasonNotPlanned Reason = "NotPlanned"
	// ReasonValuesStay: a contribution is no longer planned, and the object would be
	// invalid without its values; only the ownership was given up.
	ReasonValuesStay Reason = "ValuesStay"
	// ReasonNoMatch: the object is not the one that the plan identifies.
	ReasonNoMatch Reason = "NoMatch"
	// ReasonWaiting: the object waits for the condition of [WaitUntil], or for the objects of [After].
	ReasonWaiting Reason = "Waiting"
	// ReasonUnobserved: the child was changed, and its status still describes an earlier generation.
	ReasonUnobserved Reason = "ChangeNotObserved"
	// ReasonInventory: the owner's metadata must record other kinds, namespaces or contributions, or another finalizer.
	ReasonInventory Reason = "Inventory"
)

// The reasons of a [PruneBlockedError], the most severe first.
const (
	// ReasonPlanIncomplete: the plan may be incomplete, see [Plan].
	ReasonPlanIncomplete Reason = "PlanIncomplete"
	// ReasonPruneFailed: a list or a delete failed.
	ReasonPruneFailed Reason = "Failed"
	// ReasonTooMany: the prune would delete more than [Options.PruneShare] of the children, although neither spec nor inputs changed.
	ReasonTooMany Reason = "TooMany"
	// ReasonHoldsData: the objects are of [Options.GuardedKinds] and left the plan although neither spec nor inputs changed.
	ReasonHoldsData Reason = "HoldsData"
	// ReasonNewer: another process with another plan created the objects after this plan was made.
	ReasonNewer Reason = "Newer"
	// ReasonReferenced: a planned child still refers to the objects.
	ReasonReferenced Reason = "Referenced"
	// ReasonReplacementFailed: a child that may replace the objects could not be created.
	ReasonReplacementFailed Reason = "ReplacementFailed"
	// ReasonUnknown: the desired or the existing objects are unknown: the kind is not served or not declared, or the inventory cannot be
	// parsed.
	ReasonUnknown Reason = "Unknown"
	// ReasonUnproven: the objects carry the label of the owner's children, and the proof that the owner made them is lost, as after a
	// restore from a backup.
	ReasonUnproven Reason = "Unproven"
	// ReasonHeldByFinalizers: the objects were deleted, but finalizers keep them.
	ReasonHeldByFinalizers Reason = "HeldByFinalizers"
)

// Decision is what a pass does with one object, and why. [engine.Engine.Apply] carries decisions out; [engine.Engine.Diff] returns them.
type Decision struct {
	// GVK is the kind of the object.
	GVK schema.GroupVersionKind
	// Key is the namespace and name of the object.
	Key types.NamespacedName
	// UID identifies the object, empty if unknown.
	UID types.UID
	// Verb is the action.
	Verb Verb
	// Reason explains the verb.
	Reason Reason
	// Fields are the fields that an update changes. For [engine.Engine.Diff] they include the fields that a create sets. Values of Secrets
	// are masked.
	Fields []FieldChange
	// RequeueAfter is the time until the next pass that the decision needs. Zero asks for none.
	RequeueAfter time.Duration
	// WaitsUntil is the condition that the object waits for, see [WaitUntil] and [After]. Default none.
	WaitsUntil string
	// Finalizers are the finalizers of an object that is being deleted, see [ReasonTerminating].
	Finalizers []string
	// Err is the error that prevents the planned state, nil for none.
	Err error
}

// FieldChange is one field that a pass changes.
type FieldChange struct {
	// Path is the path of the field, ".spec.replicas".
	Path string
	// From and To are the values as JSON, empty for a missing value. If both are equal, only the owner of the field changes.
	From, To string
}

// String renders the change on one line: "~ .spec.replicas: 1 -> 3".
func (f FieldChange) String() string {
	switch {
	case f.From == f.To:
		return "= " + f.Path + ": owned from now on"
	case f.From == "":
		return "+ " + f.Path + ": " + f.To
	case f.To == "":
		return "- " + f.Path + ": " + f.From
	}
	return "~ " + f.Path + ": " + f.From + " -> " + f.To
}

// Decisions are the decisions of one pass over one owner.
type Decisions struct {
	// Owner is the write of the owner's metadata, nil if there is none.
	Owner *Decision
	// Objects has one entry for each deletion, child and pruned object, in the order of [Result.Objects].
	Objects []Decision
	// PruneBlocked reports why children that left the plan are kept, nil if none are.
	PruneBlocked *PruneBlockedError
}

// String renders the decisions as text, one object after another. Objects that are as planned are omitted:
//
//	~ Deployment shop/web: update (PlanChanged)
//	  ~ .spec.replicas: 1 -> 3
//	+ ConfigMap shop/settings: create (Missing)
//	  + .data.color: "green"
//	- Secret shop/old: prune (NotPlanned)
//
// An exclamation mark starts the line of a failure, an asterisk that of an object that waits.
func (d Decisions) String() string {
	var b strings.Builder
	if d.Owner != nil {
		b.WriteString(d.Owner.String())
	}
	for i := range d.Objects {
		b.WriteString(d.Objects[i].String())
	}
	if d.PruneBlocked != nil {
		fmt.Fprintf(&b, "! prune: %s\n", d.PruneBlocked)
	}
	return b.String()
}

// String renders the decision as [Decisions.String] does.
func (d Decision) String() string {
	name := applyset.ObjectName(d.GVK.Kind, d.Key.Namespace, d.Key.Name)
	if d.Err != nil {
		return fmt.Sprintf("! %s: %s\n", name, d.Err)
	}
	if d.WaitsUntil != "" {
		return fmt.Sprintf("* %s: waits until %s\n", name, d.WaitsUntil)
	}
	if d.Verb == VerbNone {
		return ""
	}
	var mark string
	switch d.Verb {
	case VerbCreate:
		mark = "+"
	case VerbUpdate, VerbRecord:
		mark = "~"
	default:
		mark = "-"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s (%s)\n", mark, name, d.Verb, d.Reason)
	for _, f := range d.Fields {
		fmt.Fprintf(&b, "  %s\n", f)
	}
	return b.String()
}
