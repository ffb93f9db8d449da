package apply

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ChildOption changes a planned child: a [Mode] such as [Shared], an [Adoption],
// the [FieldRules] of [Seed], [CreateOnly], [Force], [Ignore] and [Absent],
// [Recreate], [Announce] and [WaitUntil].
type ChildOption interface {
	// ApplyToChild changes the child.
	ApplyToChild(c *Child)
}

// DeletionOption changes a planned deletion: [MatchResourceVersion],
// [MatchLabels], [Uncontrolled], [PropagationPolicy], [Announce] and [WaitUntil].
type DeletionOption interface {
	// ApplyToDeletion changes the deletion.
	ApplyToDeletion(d *Deletion)
}

var (
	_ ChildOption    = FieldRules(nil)
	_ ChildOption    = Adoption(0)
	_ ChildOption    = Mode(0)
	_ ChildOption    = recreate{}
	_ ChildOption    = Announcement{}
	_ DeletionOption = Announcement{}
	_ DeletionOption = matchResourceVersion{}
	_ DeletionOption = uncontrolled{}
	_ DeletionOption = MatchLabels(nil)
)

// FieldPolicy says what the engine does with one field.
type FieldPolicy int

// The field policies; each has an option that sets it, such as [Seed].
const (
	// FieldOwn keeps the field at the planned value. An edit by hand is
	// repaired; a field that another declarative manager owns with another
	// value is reported as [ContestedError] and left alone. The default.
	FieldOwn FieldPolicy = iota
	// FieldSeed sets the field when the object has none, follows the plan
	// while no other manager has set it, and yields to whichever manager
	// changes it. The engine sets it again when no manager owns it.
	FieldSeed
	// FieldForce takes the field from any other manager, unless that manager
	// takes it back repeatedly.
	FieldForce
	// FieldIgnore never sends the field.
	FieldIgnore
	// FieldCreateOnly sends the field when the object has none, and neither
	// compares nor changes it afterwards, whoever owns it and whatever the
	// plan says later.
	FieldCreateOnly
	// FieldAbsent removes the field from the object, whoever set it.
	FieldAbsent
)

// FieldRule is the policy for one field and everything below it.
type FieldRule struct {
	// Path names the field: names separated by dots, of which a leading one is allowed; a name with other characters than letters,
	// digits, dash and underscore in brackets and quotes; an item of a list with keys by its keys in brackets:
	//
	//	spec.replicas
	//	metadata.annotations["example.com/class"]
	//	spec.template.spec.containers[name=main].image
	//	spec.ports[port=80,protocol=TCP].nodePort
	//
	// A path that cannot be read makes the plan invalid, with an error that names the path and the place in it.
	Path string
	// Policy is what to do about it.
	Policy FieldPolicy
}

// FieldRules is a list of rules that is a [ChildOption].
type FieldRules []FieldRule

// ApplyToChild adds the rules to the child.
func (r FieldRules) ApplyToChild(c *Child) { c.Fields = append(c.Fields, r...) }

// Seed sets the fields and yields them to whoever changes them later, for
// example Seed("spec.replicas") for a workload with an autoscaler. Below a
// path that names a map, each field is yielded by itself. For what must not
// change either when the plan does there is [CreateOnly].
func Seed(paths ...string) FieldRules { return rules(FieldSeed, paths) }

// Force takes the fields from any other manager.
func Force(paths ...string) FieldRules { return rules(FieldForce, paths) }

// CreateOnly sends the fields when the object has none and leaves them alone
// from then on: a plan that says something else later changes nothing. It is
// for what is made once, such as a generated password, and for what cannot
// change, such as CreateOnly("spec") for a Pod, a Job or a claim of which only
// the metadata is kept as planned. What the object has at the path stays,
// whoever set it; a path whose value is gone is filled again. The cache need
// not show the fields. Of the metadata of a child single labels and annotations
// can be sent once: what makes it a child is always kept.
func CreateOnly(paths ...string) FieldRules { return rules(FieldCreateOnly, paths) }

// Ignore keeps the fields out of what is sent, even if the object sets them.
// Values that an earlier plan set stay, and no manager owns them.
func Ignore(paths ...string) FieldRules { return rules(FieldIgnore, paths) }

// Absent plans that the object does not have the fields, whoever has set them:
// a label, a port or an annotation of others that must not be there, for
// example Absent(`metadata.annotations["example.com/class"]`, "spec.ports[port=8080]").
// What the object itself sets there is not sent. A field that comes back after
// five removals in a minute is reported in a [ContestedError] and left. Keys
// that select several items of a list mean all of them. In a [Plan.Contribute]
// it removes fields of somebody else's object. Nothing is put back when the
// rule is no longer planned, as nobody remembers what was there. What the API
// server or a webhook fills in by itself cannot be absent. It has no effect on
// [Once]. Labels and annotations that the engine needs, other
// metadata and the status are errors.
func Absent(paths ...string) FieldRules { return rules(FieldAbsent, paths) }

func rules(p FieldPolicy, paths []string) FieldRules {
	out := make(FieldRules, 0, len(paths))
	for _, path := range paths {
		out = append(out, FieldRule{Path: path, Policy: p})
	}
	return out
}

// Adoption reports which existing objects may be taken over. Zero is none that
// this owner did not make. It is a [ChildOption].
type Adoption int

const (
	// AdoptUncontrolled takes over objects that have no controller, unless
	// their part-of label names another owner.
	AdoptUncontrolled Adoption = iota + 1
	// AdoptControlled takes over any object, also one that another owner
	// controls: its controller reference is removed first.
	AdoptControlled
)

// ApplyToChild sets the policy of the child.
func (a Adoption) ApplyToChild(c *Child) { c.Adoption = a }

// ApplyToChild sets the mode of the child: plan.Apply(object, apply.Shared).
func (m Mode) ApplyToChild(c *Child) { c.Mode = m }

// Announcement is an event about the owner, which is sent once the child or the
// deletion that it is planned with was written. It is an option of [Plan.Apply]
// and [Plan.Delete], see [Announce].
type Announcement struct {
	// Reason is the reason of the event, in camel case. Empty announces nothing.
	Reason string
	// Message is for people. It is cut to the length of an event.
	Message string
	// Warning makes the type of the event Warning. Default Normal.
	Warning bool
}

// Announce plans an event of the type Normal about the owner for the write of a
// child or a deletion:
//
//	plan.Apply(job, apply.Once, apply.Announce("JobCreated", "Created job "+job.Name))
//
// It is sent when the reconciliation has created, changed or deleted the object,
// and neither when nothing was to be written nor when the write has failed. An
// event is lost if the process ends between the write and the event.
func Announce(reason, message string) Announcement {
	return Announcement{Reason: reason, Message: message}
}

// ApplyToChild sets the announcement of the child.
func (a Announcement) ApplyToChild(c *Child) { c.Announcement = a }

// ApplyToDeletion sets the announcement of the deletion.
func (a Announcement) ApplyToDeletion(d *Deletion) { d.Announcement = a }

type recreate struct{ propagation metav1.DeletionPropagation }

func (r recreate) ApplyToChild(c *Child) { c.Recreate, c.RecreatePropagation = true, r.propagation }

// Recreate allows the engine to delete the child and to create it again in a later
// reconciliation when the API server refuses a change because a field is
// immutable. The engine deletes only if the API server would accept the new
// object and that object differs from the existing one in a refused field. An
// object of [Options.GuardedKinds] other than a Job or a Pod, a StatefulSet whose claims would
// be deleted, and an object with a field that is sent once are kept until an annotation allows the
// recreation, see [RecreateBlockedError]. Repeated recreations for one plan are delayed.
//
// The optional policy is what happens to the dependents of the deleted object.
// The default is to leave them if the object selects them and its selector
// stays the same, and [Options.Propagation] otherwise. Only the last policy counts.
func Recreate(policy ...PropagationPolicy) ChildOption {
	var r recreate
	for _, f := range policy {
		r.propagation = metav1.DeletionPropagation(f)
	}
	return r
}

// PropagationPolicy is how the dependents of a deleted object go: in the
// background, in the foreground, or not at all (orphan). Default
// [Options.Propagation].
type PropagationPolicy metav1.DeletionPropagation

// ApplyToDeletion sets the policy of the deletion.
func (f PropagationPolicy) ApplyToDeletion(d *Deletion) {
	d.Propagation = metav1.DeletionPropagation(f)
}

type uncontrolled struct{}

func (uncontrolled) ApplyToDeletion(d *Deletion) { d.Uncontrolled = true }

// Uncontrolled deletes the object of that name also if this owner did not make
// it, for what an operator has made before the engine did and has not marked.
// An object of another controller stays.
func Uncontrolled() DeletionOption { return uncontrolled{} }

type matchResourceVersion struct{}

func (matchResourceVersion) ApplyToDeletion(d *Deletion) { d.MatchResourceVersion = true }

// MatchResourceVersion deletes the object only in the version that was read.
func MatchResourceVersion() DeletionOption { return matchResourceVersion{} }

// MatchLabels deletes the object only if it has these labels, for what an
// operator has made before the engine did and marked in its own way. An object
// without them stays, and is no error.
type MatchLabels map[string]string

// ApplyToDeletion adds the labels to those that the deletion asks for.
func (m MatchLabels) ApplyToDeletion(d *Deletion) {
	if d.Labels == nil {
		d.Labels = map[string]string{}
	}
	maps.Copy(d.Labels, m)
}
