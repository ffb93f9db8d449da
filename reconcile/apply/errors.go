package apply

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// DeletedByOthersError reports that another controller or a user deletes an object each time it is created. The engine recreates it at
// increasing intervals.
type DeletedByOthersError struct {
	// Kind, Namespace and Name identify the object.
	Kind, Namespace, Name string
	// Times is the number of deletions.
	Times int
	// Expires reports that the object is a Job with spec.ttlSecondsAfterFinished, so that the cluster deletes it when it is done.
	Expires bool
}

// Error returns a message that names the object, and the remedy for a Job that expires.
func (e *DeletedByOthersError) Error() string {
	if e.Expires {
		return fmt.Sprintf("%s was deleted %d times soon after it was made, as by its spec.ttlSecondsAfterFinished, and runs again each time, less and "+
			"less often; the operator can run it once with the package runonce, or leave the field out",
			applyset.ObjectName(e.Kind, e.Namespace, e.Name), e.Times)
	}
	return fmt.Sprintf("%s was deleted %d times soon after it was made; it is made again, less and less often",
		applyset.ObjectName(e.Kind, e.Namespace, e.Name), e.Times)
}

// OwnedByAnotherError reports that an object with the planned name exists and does not belong to this owner. Nothing was changed.
type OwnedByAnotherError struct {
	// Kind, Namespace and Name identify the object.
	Kind, Namespace, Name string
	// Controller is the controller of the object, nil if it has none.
	Controller *metav1.OwnerReference
	// Deletion reports that the plan deletes the object.
	Deletion bool
	// Annotation and Token are the key and value of an annotation on the owner that permits it to adopt exactly the objects that look like
	// its children from a backup. They are empty for other objects.
	Annotation, Token string
}

// Error returns a message that names the object and its controller.
func (e *OwnedByAnotherError) Error() string {
	what := applyset.ObjectName(e.Kind, e.Namespace, e.Name)
	switch {
	case e.Deletion && e.Controller == nil:
		return what + " was not made by this owner and is not deleted; the operator can allow that with the UID of the object or with apply.Uncontrolled"
	case e.Deletion:
		return fmt.Sprintf("%s is controlled by %s %s and is not deleted; the operator can allow that with apply.ControlledByAnother",
			what, e.Controller.Kind, e.Controller.Name)
	case e.Token != "":
		return fmt.Sprintf("%s exists already, and nothing proves that this owner made it, as after a restore from a backup; annotate the owner with "+
			"%s=%s to adopt it and the other children from the backup, or delete it", what, e.Annotation, e.Token)
	case e.Controller == nil:
		return what + " exists already and was not made by this owner; delete it, or allow its adoption"
	}
	return fmt.Sprintf("%s is controlled by %s %s", what, e.Controller.Kind, e.Controller.Name)
}

// ContestedField is a field that another field manager owns with another value.
type ContestedField struct {
	// Path is the field in the notation of the API server, ".spec.replicas".
	Path string
	// Manager is the other field manager. It is "NAME in another process" if another process writes under the controller's own name.
	Manager string
}

// ContestedError reports that other field managers own planned fields of an object. These fields are left alone until the plan or the
// other manager's fields change.
type ContestedError struct {
	// Kind, Namespace and Name identify the object.
	Kind, Namespace, Name string
	// Fields are the contested fields, sorted.
	Fields []ContestedField
}

// Error returns a message that names the object, and each path with its field manager.
func (e *ContestedError) Error() string {
	var b strings.Builder
	b.WriteString(applyset.ObjectName(e.Kind, e.Namespace, e.Name))
	b.WriteString(" has fields of other managers: ")
	for i, f := range e.Fields {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s of %q", f.Path, f.Manager)
	}
	return b.String()
}

// HeldError reports that finalizers keep an object that is being deleted.
type HeldError struct {
	// Finalizers are the finalizers in the order of the object.
	Finalizers []string
}

// Error returns a message that names the finalizers and a remedy.
func (e *HeldError) Error() string {
	named := e.Finalizers[:min(len(e.Finalizers), maxNamedObjects)]
	text := strings.Join(named, ", ")
	if len(named) < len(e.Finalizers) {
		text += ", ..."
	}
	return "kept by the finalizers " + text + "; the controllers that set them must remove them: see that these run, or remove the finalizers by hand " +
		"if they no longer exist"
}

// RecreateBlockedError reports that the API server refuses the planned change and that recreating the object would lose data.
type RecreateBlockedError struct {
	// Loses describes the loss.
	Loses string
	// Annotation and Token are the key and value of an annotation on the owner. It allows one recreation of this object.
	Annotation, Token string
	// OnChild reports that the annotation belongs on the child, because a [Group] is not an object.
	OnChild bool
	// Cause is the refusal of the change.
	Cause error
}

// Error returns a message that describes the loss and how to allow it.
func (e *RecreateBlockedError) Error() string {
	where := "the owner"
	if e.OnChild {
		where = "the object"
	}
	return fmt.Sprintf("it is not recreated because %s; annotate %s with %s=%s to allow it: %s", e.Loses, where, e.Annotation, e.Token, e.Cause)
}

// Unwrap returns the refusal of the change.
func (e *RecreateBlockedError) Unwrap() error { return e.Cause }

// PruneBlockedError reports why children that left the plan were kept.
type PruneBlockedError struct {
	// Reason is [ReasonPruneFailed] or one of the constants next to it. [ReasonTerminating] means that a deleted owner waits until Objects
	// are gone; Cause then names their finalizers.
	Reason Reason
	// Objects names the kept objects that are known, sorted.
	Objects []string
	// Annotation and Token are the key and value of an annotation on the owner that allows exactly this prune, once. They are set for
	// [ReasonTooMany], [ReasonHoldsData] and [ReasonUnproven]. A [Group] is not an object, so that one of Objects carries the annotation.
	Annotation, Token string
	// OnChild reports that the annotation belongs on one of Objects.
	OnChild bool
	// Cause is the underlying error, nil if there is none.
	Cause error
	// Further are the objects that were kept for less severe reasons.
	Further []*PruneBlockedError
}

const maxNamedObjects = 5 // in a message; conditions are bounded

// Error returns a message with the reason, the kept objects and the cause.
func (e *PruneBlockedError) Error() string {
	var b strings.Builder
	b.WriteString("prune blocked: ")
	e.write(&b)
	for _, further := range e.Further[:min(len(e.Further), maxNamedObjects)] {
		b.WriteString("; ")
		further.write(&b)
	}
	if len(e.Further) > maxNamedObjects {
		fmt.Fprintf(&b, "; and %d more", len(e.Further)-maxNamedObjects)
	}
	return b.String()
}

// what returns what is kept, and why.
func (e *PruneBlockedError) what() string {
	switch e.Reason {
	case ReasonPlanIncomplete:
		return "the plan may be incomplete"
	case ReasonPruneFailed:
		if len(e.Objects) == 0 {
			return "it was not completed" // the objects are unknown, or the owner was not updated
		}
		return "children that are no longer planned could not be deleted"
	case ReasonTooMany:
		return "too many children would be deleted although nothing changed"
	case ReasonHoldsData:
		return "children that hold data or work would be deleted although nothing changed"
	case ReasonNewer:
		return "children that another process has created would be deleted by an older plan"
	case ReasonReferenced:
		return "children that are no longer planned are still used"
	case ReasonReplacementFailed:
		return "children that are no longer planned stay until their replacement is there"
	case ReasonUnknown:
		return "it is not known what is wanted"
	case ReasonTerminating:
		return "the deletion waits for objects that are being deleted"
	case ReasonUnproven:
		return "objects have the label of the owner's children, and nothing proves that the owner made them, as after a restore from a backup"
	case ReasonHeldByFinalizers:
		return "children that are no longer planned are being deleted and kept by finalizers"
	default:
		return string(e.Reason)
	}
}

func (e *PruneBlockedError) write(b *strings.Builder) {
	b.WriteString(e.what())
	if len(e.Objects) > 0 {
		named := e.Objects[:min(len(e.Objects), maxNamedObjects)]
		what := "kept"
		if e.Reason == ReasonTerminating {
			what = "left"
		}
		fmt.Fprintf(b, ": %d %s (%s", len(e.Objects), what, strings.Join(named, ", "))
		if len(named) < len(e.Objects) {
			b.WriteString(", ...")
		}
		b.WriteString(")")
	}
	if e.Token != "" {
		where := "the owner"
		if e.OnChild {
			where = "one of them"
		}
		fmt.Fprintf(b, "; annotate %s with %s=%s to %s", where, e.Annotation, e.Token, e.permits())
	}
	if e.Cause != nil {
		b.WriteString(": ")
		b.WriteString(e.Cause.Error())
	}
}

// permits returns what the annotation permits.
func (e *PruneBlockedError) permits() string {
	if e.Reason == ReasonUnproven {
		return "adopt them, which deletes those that are not planned, or remove their label " + applyset.PartOfLabel + " to keep them"
	}
	return "allow it"
}

// Unwrap returns the causes.
func (e *PruneBlockedError) Unwrap() []error {
	var out []error
	if e.Cause != nil {
		out = append(out, e.Cause)
	}
	for _, further := range e.Further {
		out = append(out, further)
	}
	return out
}
