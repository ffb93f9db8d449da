package apply

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ChildOption changes a planned child: a [Mode] such as [Shared], [History], an [Adoption],
// the [FieldRules] of [Seed], [CreateOnly], [Force], [Ignore] and [Absent],
// [Recreate], [Announce], [WaitUntil] and [After].
type ChildOption interface {
	// ApplyToChild changes the child.
	ApplyToChild(c *Child)
}

// DeletionOption changes a planned deletion: [MatchResourceVersion],
// [MatchLabels], [Uncontrolled], [ControlledByAnother], [PropagationPolicy], [Announce], [WaitUntil] and [After].
type DeletionOption interface {
	// ApplyToDeletion changes the deletion.
	ApplyToDeletion(d *Deletion)
}

var (
	_ ChildOption    = FieldRules(nil)
	_ ChildOption    = Adoption(0)
	_ ChildOption    = Mode(0)
	_ ChildOption    = recreate{}
	_ ChildOption    = history{}
	_ ChildOption    = Announcement{}
	_ DeletionOption = Announcement{}
	_ DeletionOption = matchResourceVersion{}
	_ DeletionOption = uncontrolled{}
	_ DeletionOption = controlledByAnother("")
	_ DeletionOption = MatchLabels(nil)
)

// FieldPolicy is how the engine treats one field.
type FieldPolicy int

// The field policies. Each has an option that sets it, such as [Seed].
const (
	// FieldOwn keeps the field at the planned value. The engine reverts manual edits. If another field manager applies a different value,
	// the engine reports a [ContestedError] and leaves the field alone. The default.
	FieldOwn FieldPolicy = iota
	// FieldSeed sets the field when the object has none and follows the plan until another field manager sets the field. From then on the
	// field belongs to that manager. The engine sets it again when no manager owns it.
	FieldSeed
	// FieldForce takes the field from any other field manager, unless that manager takes it back repeatedly.
	FieldForce
	// FieldIgnore never sends the field.
	FieldIgnore
	// FieldCreateOnly sends the field when the object has none. Afterwards the engine neither compares nor changes the field, even if
	// another field manager owns it or the plan changes.
	FieldCreateOnly
	// FieldAbsent removes the field from the object, whichever field manager set it.
	FieldAbsent
)

// FieldRule is the policy for one field and everything below it.
type FieldRule struct {
	// Path names the field. Names are separated by dots; a leading dot is allowed. A name with characters other than letters, digits, dash
	// and underscore is written in brackets and quotes. An item of a keyed list is selected by its keys in brackets:
	//
	//	spec.replicas
	//	metadata.annotations["example.com/class"]
	//	spec.template.spec.containers[name=main].image
	//	spec.ports[port=80,protocol=TCP].nodePort
	//
	// A path that cannot be parsed makes the plan invalid. The error names the path and the position.
	Path string
	// Policy is how the engine treats the field.
	Policy FieldPolicy
}

// FieldRules is a list of rules. It is a [ChildOption].
type FieldRules []FieldRule

// ApplyToChild adds the rules to the child.
func (r FieldRules) ApplyToChild(c *Child) { c.Fields = append(c.Fields, r...) }

// Seed sets the fields until another field manager changes them, for example Seed("spec.replicas") for a workload with an autoscaler. If
// the path names a map, this holds for each entry separately. To ignore later changes of the plan too, use [CreateOnly].
func Seed(paths ...string) FieldRules { return rules(FieldSeed, paths) }

// Force takes the fields from any other field manager.
func Force(paths ...string) FieldRules { return rules(FieldForce, paths) }

// CreateOnly sends the fields when the object has none and leaves them alone afterwards, even if the plan changes. Use it for values that
// are generated once, such as a password, and for immutable fields, such as CreateOnly("spec") for a Pod, a Job or a PersistentVolumeClaim
// whose metadata alone is kept as planned. An existing value at the path stays, whichever field manager set it; a removed value is set
// again. The cache need not show the fields. In the metadata of a child only single labels and annotations can be sent once. The engine
// always maintains the labels and references that mark the object as a child.
func CreateOnly(paths ...string) FieldRules { return rules(FieldCreateOnly, paths) }

// Ignore never sends the fields, even if the object sets them. Values that an earlier plan set stay without an owner.
func Ignore(paths ...string) FieldRules { return rules(FieldIgnore, paths) }

// Absent plans that the object does not have the fields, whichever field manager sets them. Use it to remove labels, ports or annotations
// that others add, for example Absent(`metadata.annotations["example.com/class"]`, "spec.ports[port=8080]").
//
// The engine does not send a value that the planned object has at these paths. A field that returns after five removals within a minute is
// reported in a [ContestedError] and left alone. Keys that match several items of a list select all of them. In a [Plan.Contribute] it
// removes fields of an object that another controller owns. The engine does not restore removed values when the rule leaves the plan.
// Fields that the API server or a webhook fills in cannot be absent. The rule has no effect on [Once]. Labels and annotations that the
// engine needs, other metadata and the status are errors.
func Absent(paths ...string) FieldRules { return rules(FieldAbsent, paths) }

func rules(p FieldPolicy, paths []string) FieldRules {
	out := make(FieldRules, 0, len(paths))
	for _, path := range paths {
		out = append(out, FieldRule{Path: path, Policy: p})
	}
	return out
}

// Adoption selects the existing objects that the engine may take over. The zero value takes over none. It is a [ChildOption].
type Adoption int

const (
	// AdoptUncontrolled takes over objects without a controller, unless their part-of label names another owner.
	AdoptUncontrolled Adoption = iota + 1
	// AdoptControlled takes over any object. If another owner controls the object, the engine removes that controller reference first.
	AdoptControlled
)

// ApplyToChild sets the adoption policy of the child.
func (a Adoption) ApplyToChild(c *Child) { c.Adoption = a }

// ApplyToChild sets the mode of the child: plan.Apply(object, apply.Shared).
func (m Mode) ApplyToChild(c *Child) { c.Mode = m }

// Announcement is an event about the owner. The engine sends it after it has written the child or carried out the deletion. It is an
// option of [Plan.Apply] and [Plan.Delete], see [Announce].
type Announcement struct {
	// Reason is the reason of the event, in camel case. If empty, no event is sent.
	Reason string
	// Message is the human-readable text. It is truncated to the maximum length of an event.
	Message string
	// Warning sets the type of the event to Warning. Default Normal.
	Warning bool
}

// Announce plans an event of type Normal about the owner for the write of a child or a deletion:
//
//	plan.Apply(job, apply.Once, apply.Announce("JobCreated", "Created job "+job.Name))
//
// The event is sent when the reconciliation has created, changed or deleted the object. It is not sent when the object was already as
// planned or when the write failed. It is lost if the process ends between the write and the event.
func Announce(reason, message string) Announcement {
	return Announcement{Reason: reason, Message: message}
}

// ApplyToChild sets the announcement of the child.
func (a Announcement) ApplyToChild(c *Child) { c.Announcement = a }

// ApplyToDeletion sets the announcement of the deletion.
func (a Announcement) ApplyToDeletion(d *Deletion) { d.Announcement = a }

type history struct{}

func (history) ApplyToChild(c *Child) { c.Mode, c.History = Once, true }

// History creates the child if it does not exist, as [Once] does, and never changes or prunes it. Later plans may leave the child out. Use it
// for a history, such as the Jobs of a schedule, and for data that is generated once. The child is deleted with [Plan.Delete] or with the
// owner:
//
//	plan.Apply(job, apply.History())
//
// The child has an owner reference and no part-of label, and the engine records nothing on the owner. So garbage collection must reach the
// child: it is in the namespace of the owner, or the owner is cluster-scoped. Otherwise the plan is invalid; see [Retained] for objects that
// outlive their owner. A child that another mode has created becomes one of the history when a plan names it with this option.
func History() ChildOption { return history{} }

type recreate struct{ propagation metav1.DeletionPropagation }

func (r recreate) ApplyToChild(c *Child) { c.Recreate, c.RecreatePropagation = true, r.propagation }

// Recreate allows the engine to delete and recreate the child when the API server refuses a change because a field is immutable. The
// engine creates the object in a later reconciliation. It deletes the existing object only if the API server would accept the new one and
// the two differ in a refused field.
//
// Some objects are kept until an annotation allows the recreation, see [RecreateBlockedError]: objects of [Options.GuardedKinds] other
// than a Job or a Pod, a StatefulSet whose claims would be deleted, and objects with a field that is sent once. Repeated recreations for
// one plan are delayed.
//
// The optional policy applies to the dependents of the deleted object; the last policy counts. By default dependents are orphaned if the
// object selects them and its selector stays the same. Otherwise [Options.Propagation] applies.
func Recreate(policy ...PropagationPolicy) ChildOption {
	var r recreate
	for _, f := range policy {
		r.propagation = metav1.DeletionPropagation(f)
	}
	return r
}

// PropagationPolicy is how the dependents of a deleted object are deleted: in the background, in the foreground, or not at all (orphan).
// Default [Options.Propagation].
type PropagationPolicy metav1.DeletionPropagation

// ApplyToDeletion sets the policy of the deletion.
func (f PropagationPolicy) ApplyToDeletion(d *Deletion) {
	d.Propagation = metav1.DeletionPropagation(f)
}

type uncontrolled struct{}

func (uncontrolled) ApplyToDeletion(d *Deletion) { d.Uncontrolled = true }

// Uncontrolled deletes the object with that name even if this owner did not create it. Use it for objects that the operator created before
// it used the engine and did not label. An object that another owner controls is not deleted, see [ControlledByAnother].
func Uncontrolled() DeletionOption { return uncontrolled{} }

type controlledByAnother types.UID

func (u controlledByAnother) ApplyToDeletion(d *Deletion) {
	uid := types.UID(u)
	d.ControlledByAnother = &uid
}

// ControlledByAnother deletes the object with the UID even if another owner controls it. Without this option such an object is never
// deleted, because its controller would usually create it again, or lose data. Read the object, and name the UID that was read:
//
//	plan.Delete(pod, apply.ControlledByAnother(pod.UID))
//
// An object of that name with another UID is kept without an error. An empty UID is an error of the plan.
func ControlledByAnother(uid types.UID) DeletionOption { return controlledByAnother(uid) }

type matchResourceVersion struct{}

func (matchResourceVersion) ApplyToDeletion(d *Deletion) { d.MatchResourceVersion = true }

// MatchResourceVersion deletes the object only if its resourceVersion is the one that was read.
func MatchResourceVersion() DeletionOption { return matchResourceVersion{} }

// MatchLabels deletes the object only if it has these labels. Use it for objects that the operator created before it used the engine and
// marked with labels of its own. An object without the labels is kept without an error.
type MatchLabels map[string]string

// ApplyToDeletion adds the labels to the required labels of the deletion.
func (m MatchLabels) ApplyToDeletion(d *Deletion) {
	if d.Labels == nil {
		d.Labels = map[string]string{}
	}
	maps.Copy(d.Labels, m)
}
