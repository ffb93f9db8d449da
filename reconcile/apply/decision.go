package apply

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/enum"
)

// Verb is what a pass does with one object: none, create, update, delete (as the
// plan asks for), prune (no longer planned), release (give a contribution back)
// or record (write the inventory to the owner).
type Verb string

// Reason is why a pass does what it does with one object, one word in camel
// case as in conditions and events: UpToDate, Missing, PlanChanged, Drift,
// Differs (what was applied before is not known), FormerManager, OwnershipLost,
// Exists, StaleCache, Terminating, OptedOut, NotOwned, Contested, Backoff,
// Invalid, ReadFailed, Planned, NotPlanned, NoMatch, Waiting or Inventory.
type Reason string

// Decision is what a pass does with one object, and why. [engine.Engine.Apply]
// carries decisions out, [engine.Engine.Diff] returns them.
type Decision struct {
	// GVK is the kind of the object.
	GVK schema.GroupVersionKind
	// Key is its namespace and name.
	Key types.NamespacedName
	// UID is the object that is meant, empty if none is known.
	UID types.UID
	// Verb is what is done.
	Verb Verb
	// Reason is why.
	Reason Reason
	// Fields are the fields that an update changes, and for [engine.Engine.Diff]
	// those that a create sets. Values of Secrets are masked.
	Fields []FieldChange
	// RequeueAfter is when to look again, for what the decision waits for.
	// Zero is never.
	RequeueAfter time.Duration
	// WaitsUntil is the condition that the plan holds the object back for, see
	// [WaitUntil]. Empty is none.
	WaitsUntil string
	// Err is why the object cannot be as planned, nil if nothing speaks
	// against it.
	Err error
}

// FieldChange is one field that a pass changes.
type FieldChange struct {
	// Path is the field, ".spec.replicas".
	Path string
	// From and To are the values as JSON, empty for a missing one. With
	// both empty, or both the same, the value stays and only its owner
	// changes.
	From, To string
}

// String is one line: "~ .spec.replicas: 1 -> 3".
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

// Decisions is all that a pass does for one owner.
type Decisions struct {
	// Owner is the write of the owner's metadata, nil if there is none.
	Owner *Decision
	// Objects has one entry for each deletion, child and pruned object, in
	// the order in which [Result.Objects] has them.
	Objects []Decision
	// PruneBlocked reports that children that are no longer planned are kept,
	// and why.
	PruneBlocked *PruneBlockedError
}

// String renders what is done as text, one object after another, and nothing
// for objects that are right already:
//
//   - ConfigMap shop/settings: create (Missing)
//   - .data.color: "green"
//     ~ Deployment shop/web: update (PlanChanged)
//     ~ .spec.replicas: 1 -> 3
//   - Secret shop/old: prune (NotPlanned)
//
// A line with an exclamation mark is something that fails, one with an asterisk something that waits.
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
	if d.Verb == enum.VerbNone {
		return ""
	}
	mark := "-"
	switch d.Verb {
	case enum.VerbCreate:
		mark = "+"
	case enum.VerbUpdate, enum.VerbRecord:
		mark = "~"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s (%s)\n", mark, name, d.Verb, d.Reason)
	for _, f := range d.Fields {
		fmt.Fprintf(&b, "  %s\n", f)
	}
	return b.String()
}
