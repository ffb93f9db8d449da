package runonce

import (
	"maps"
	"reflect"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Run is a child that runs once for a key. T is its type, a Pod or a Job in most cases.
type Run[T client.Object] struct {
	// Annotation is where the key is kept, on the child and on the owner. Required; each run of an owner has one of its own. The owner has a second
	// one with the suffix "-owner" and its UID: a key that was copied from another owner does not count. A key without a UID, from an earlier
	// version, counts and gets the UID of the owner that has it.
	Annotation string
}

// Stage is where a run is.
type Stage string

const (
	// Unknown is a run whose child could not be read.
	Unknown Stage = "Unknown"
	// Absent is a run that was not made for the key.
	Absent Stage = "Absent"
	// Foreign is an object with the name of the child that another one controls, or nobody.
	Foreign Stage = "Foreign"
	// Leaving is a child that is being deleted.
	Leaving Stage = "Leaving"
	// Outdated is a child that was made for another key.
	Outdated Stage = "Outdated"
	// Present is the child of the key, whatever has come of it.
	Present Stage = "Present"
	// Lost is a child of the key that was there and is not any more.
	Lost Stage = "Lost"
)

// Stage returns where the run for the key is. Child is what was read under its name, or that there is none.
func (r Run[T]) Stage(owner metav1.Object, child reconcile.FetchResult[T], key string) Stage {
	mark, marked := r.mark(owner)
	switch {
	case child.Failure() != nil:
		return Unknown
	case child.HasError() || isNil(child.Value):
		if marked && mark == key {
			return Lost
		}
		return Absent
	case !metav1.IsControlledBy(child.Value, owner):
		return Foreign
	case child.Value.GetDeletionTimestamp() != nil:
		return Leaving
	case child.Value.GetAnnotations()[r.Annotation] != key:
		return Outdated
	}
	return Present
}

// Plan plans the run for the key and returns where it is. The key is a version, a generation, or a hash of what the run is made from. Child is
// what was read under the name of desired; desired is planned with the key in its annotations, and is not changed itself. An object of others
// under that name is reported ([apply.OwnedByAnotherError]) unless an option adopts it.
func (r Run[T]) Plan(
	plan *reconcile.PlanResult, owner metav1.Object, child reconcile.FetchResult[T], key string, desired T, options ...apply.ChildOption,
) Stage {
	stage := r.Stage(owner, child, key)
	mark, marked := r.mark(owner)
	switch stage {
	case Absent, Foreign:
		plan.Apply(r.marked(desired, key), append([]apply.ChildOption{apply.Once}, options...)...)
	case Outdated:
		// The key before may come back, and its run is perhaps cut short. So the mark goes first.
		if !marked {
			plan.Delete(child.Value, apply.PropagationPolicy(metav1.DeletePropagationBackground))
			break
		}
		marked = false // which wakes the owner
		plan.Keep(desired)
	case Present:
		mark, marked = key, true
		plan.Keep(desired)
	case Unknown, Leaving, Lost:
		plan.Keep(desired)
	}
	if marked {
		of := r.Annotation + ownerSuffix
		plan.Metadata(metav1.ObjectMeta{Annotations: map[string]string{r.Annotation: mark, of: string(owner.GetUID())}},
			apply.Force(`metadata.annotations[`+strconv.Quote(r.Annotation)+`]`, `metadata.annotations[`+strconv.Quote(of)+`]`))
	}
	return stage
}

// ownerSuffix ends the name of the annotation with the UID of the owner whose key it is.
const ownerSuffix = "-owner"

// mark returns the key that the owner has, and whether it is its own.
func (r Run[T]) mark(owner metav1.Object) (key string, marked bool) {
	annotations := owner.GetAnnotations()
	if uid := annotations[r.Annotation+ownerSuffix]; uid != "" && uid != string(owner.GetUID()) {
		return "", false
	}
	key, marked = annotations[r.Annotation]
	return key, marked
}

// marked is the child with the key.
func (r Run[T]) marked(desired T, key string) client.Object {
	child, _ := desired.DeepCopyObject().(client.Object)
	annotations := maps.Clone(child.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[r.Annotation] = key
	child.SetAnnotations(annotations)
	return child
}

// isNil reports whether there is no object: a nil interface, or a nil pointer in one.
func isNil(object client.Object) bool {
	value := reflect.ValueOf(object)
	return !value.IsValid() || value.Kind() == reflect.Pointer && value.IsNil()
}
