package apply

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// DeletedByOthersError reports that an object was deleted by somebody else as
// often as it was made. It is made again, less and less often.
type DeletedByOthersError struct {
	// Kind, Namespace and Name are those of the object.
	Kind, Namespace, Name string
	// Times is how often it was deleted.
	Times int
}

// Error names the object.
func (e *DeletedByOthersError) Error() string {
	return fmt.Sprintf("%s was deleted %d times soon after it was made; it is made again, less and less often",
		applyset.ObjectName(e.Kind, e.Namespace, e.Name), e.Times)
}

// OwnedByAnotherError reports that an object with the planned name exists and is
// not this owner's. Nothing was changed.
type OwnedByAnotherError struct {
	// Kind, Namespace and Name are those of the object.
	Kind, Namespace, Name string
	// Controller is the controller of the object, nil if it has none.
	Controller *metav1.OwnerReference
}

// Error names the object and its controller.
func (e *OwnedByAnotherError) Error() string {
	what := applyset.ObjectName(e.Kind, e.Namespace, e.Name)
	if e.Controller == nil {
		return what + " exists already and was not made by this owner; delete it, or allow its adoption"
	}
	return fmt.Sprintf("%s is controlled by %s %s", what, e.Controller.Kind, e.Controller.Name)
}

// ContestedField is a field that another manager owns with another value.
type ContestedField struct {
	// Path is the field as the server writes it, ".spec.replicas".
	Path string
	// Manager is the other field manager; "NAME in another process" for the
	// controller's own, where another process writes under its name.
	Manager string
}

// ContestedError reports that fields of an object belong to other managers. The
// object was not changed, and is left alone until the plan or the other
// manager's fields change.
type ContestedError struct {
	// Kind, Namespace and Name are those of the object.
	Kind, Namespace, Name string
	// Fields are the contested fields, sorted.
	Fields []ContestedField
}

// Error names the object, and each path with its manager.
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

// HeldError reports that an object is being deleted and that finalizers keep it.
type HeldError struct {
	// Finalizers are those of the object, in its order.
	Finalizers []string
}

// Error names the finalizers and what to do about them.
func (e *HeldError) Error() string {
	named := e.Finalizers[:min(len(e.Finalizers), maxNamedObjects)]
	text := strings.Join(named, ", ")
	if len(named) < len(e.Finalizers) {
		text += ", ..."
	}
	return "kept by the finalizers " + text + "; the controllers that set them must remove them: see that these run, or remove the finalizers by hand " +
		"if they no longer exist"
}

// RecreateBlockedError reports that an object cannot be changed as planned and
// is not recreated, because something would be lost with it.
type RecreateBlockedError struct {
	// Loses is what would be lost.
	Loses string
	// Annotation and Token are the key and value of an annotation on the owner that
	// allows the recreation of this object, once.
	Annotation, Token string
	// OnChild reports that the annotation belongs on the object: a [Group] has no object of its own.
	OnChild bool
	// Cause is the refusal of the change.
	Cause error
}

// Error says what would be lost and how to allow it.
func (e *RecreateBlockedError) Error() string {
	where := "the owner"
	if e.OnChild {
		where = "the object"
	}
	return fmt.Sprintf("it is not recreated because %s; annotate %s with %s=%s to allow it: %s", e.Loses, where, e.Annotation, e.Token, e.Cause)
}

// Unwrap returns the refusal of the change.
func (e *RecreateBlockedError) Unwrap() error { return e.Cause }

// PruneBlockedError reports why children that are no longer planned were kept.
type PruneBlockedError struct {
	// Reason is [ReasonPruneFailed] or one of the constants next to it, or [ReasonTerminating]: a deleted owner waits until
	// Objects are gone, and Cause names their finalizers.
	Reason Reason
	// Objects name what was kept, sorted, as far as it is known.
	Objects []string
	// Annotation and Token, set for [ReasonTooMany] and [ReasonHoldsData], are
	// the key and value of an annotation on the owner that allows exactly this
	// prune, once. For a [Group], which has no object, one of Objects carries
	// the annotation.
	Annotation, Token string
	// OnChild reports that the annotation belongs on one of Objects.
	OnChild bool
	// Cause is the error behind it, if there is one.
	Cause error
	// Further is what was kept for other reasons; Reason is the gravest.
	Further []*PruneBlockedError
}

const maxNamedObjects = 5 // in a message; conditions are bounded

// Error returns the reason, what was kept, and the cause.
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

func (e *PruneBlockedError) write(b *strings.Builder) {
	switch e.Reason {
	case ReasonPlanIncomplete:
		b.WriteString("the plan may be incomplete")
	case ReasonPruneFailed:
		b.WriteString("children that are no longer planned could not be deleted")
	case ReasonTooMany:
		b.WriteString("too many children would be deleted although nothing changed")
	case ReasonHoldsData:
		b.WriteString("children that hold data or work would be deleted although nothing changed")
	case ReasonNewer:
		b.WriteString("children that another process has created would be deleted by an older plan")
	case ReasonReferenced:
		b.WriteString("children that are no longer planned are still used")
	case ReasonReplacementFailed:
		b.WriteString("children that are no longer planned stay until their replacement is there")
	case ReasonUnknown:
		b.WriteString("it is not known what is wanted")
	case ReasonTerminating:
		b.WriteString("the deletion waits for objects that are being deleted")
	case ReasonHeldByFinalizers:
		b.WriteString("children that are no longer planned are being deleted and kept by finalizers")
	default:
		b.WriteString(string(e.Reason))
	}
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
		fmt.Fprintf(b, "; annotate %s with %s=%s to allow it", where, e.Annotation, e.Token)
	}
	if e.Cause != nil {
		b.WriteString(": ")
		b.WriteString(e.Cause.Error())
	}
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
