package runonce

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Run is a child that runs once for a key. T is its type, usually a Pod or a Job.
type Run[T client.Object] struct {
	// Annotation is the annotation with the key, on the child and on the owner. Required; each run of an owner needs its own. The owner has
	// a second annotation with the suffix "-owner" and its UID, so that a key copied from another owner does not count. A key without a UID,
	// from an earlier version, counts; the engine adds the owner's UID. While the child fails, and after a failed child was deleted, the owner
	// has a third one with the suffix "-failed" and the reason.
	Annotation string
}

// Stage is the stage of a run.
type Stage string

const (
	// Unknown means that the child could not be read.
	Unknown Stage = "Unknown"
	// Absent means that no child was created for the key.
	Absent Stage = "Absent"
	// Foreign means that an object with the child's name exists that this owner does not control.
	Foreign Stage = "Foreign"
	// Leaving means that the child is being deleted.
	Leaving Stage = "Leaving"
	// Outdated means that the child has another key.
	Outdated Stage = "Outdated"
	// Present means that the child of the key exists, whatever its outcome.
	Present Stage = "Present"
	// Lost means that the child of the key existed and was deleted.
	Lost Stage = "Lost"
)

// Stage returns the stage of the run for the key. child is the result of reading the child's name.
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

// Health returns the health of the run for the key as a component, for GetComponentHealth: it is Progressing until the child ends, then
// Ready, or Failed if the child failed. A failure stays reported after the child was deleted, until the key changes. A child that was
// deleted before a failure was observed counts as Ready, because it does not run again. The arguments are those of [Run.Stage]; the
// component never blocks the apply.
func (r Run[T]) Health(name string, owner metav1.Object, child reconcile.FetchResult[T], key string) health.Component {
	component := health.Component{Name: name, Dependency: health.Downstream, Child: true}
	switch r.Stage(owner, child, key) {
	case Unknown:
		component.Errors = []error{child.Error}
	case Present:
		found := inspect.Of(child.Value)
		found.Name, found.Dependency, found.Child = component.Name, component.Dependency, true
		return found
	case Lost:
		component.Reason, component.Message = "RunDeleted", "it ran, and was deleted afterwards"
		if failure := owner.GetAnnotations()[r.Annotation+failedSuffix]; failure != "" {
			component.State, component.Reason, component.Message = health.Failed, failure, "it failed, and was deleted afterwards"
		}
	case Absent, Foreign:
		component.State, component.Reason, component.Message = health.Progressing, "RunPending", "it has not started yet"
	case Leaving, Outdated:
		component.State, component.Reason, component.Message = health.Progressing, "RunPending", "the previous run is being deleted"
	}
	return component
}

// Plan plans the run for the key and returns its stage. The key is a version, a generation, or a hash of the input. child is the result
// of reading the name of desired. Plan adds the key to the annotations of a copy of desired. If another owner's object has the name, Plan
// reports it ([apply.OwnedByAnotherError]) unless an option adopts it.
func (r Run[T]) Plan(
	plan *reconcile.PlanResult, owner metav1.Object, child reconcile.FetchResult[T], key string, desired T, options ...apply.ChildOption,
) Stage {
	stage := r.Stage(owner, child, key)
	mark, marked := r.mark(owner)
	failure := ""
	switch stage {
	case Absent, Foreign:
		plan.Apply(r.marked(desired, key), append([]apply.ChildOption{apply.Once}, options...)...)
	case Outdated:
		// The previous key may be set again, and its run may be incomplete. So remove the mark first.
		if !marked {
			plan.Delete(child.Value, apply.PropagationPolicy(metav1.DeletePropagationBackground))
			break
		}
		marked = false // the change of the owner enqueues it
		plan.Keep(desired)
	case Present:
		mark, marked, failure = key, true, failureOf(child.Value)
		plan.Keep(desired)
	case Unknown, Leaving, Lost:
		failure = owner.GetAnnotations()[r.Annotation+failedSuffix]
		plan.Keep(desired)
	}
	if marked {
		r.remember(plan, owner, mark, failure)
	}
	return stage
}

// remember plans the annotations of the owner.
func (r Run[T]) remember(plan *reconcile.PlanResult, owner metav1.Object, key, failure string) {
	annotations := map[string]string{r.Annotation: key, r.Annotation + ownerSuffix: string(owner.GetUID())}
	if failure != "" {
		annotations[r.Annotation+failedSuffix] = failure
	}
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		paths = append(paths, `metadata.annotations[`+strconv.Quote(name)+`]`)
	}
	plan.Metadata(metav1.ObjectMeta{Annotations: annotations}, apply.Force(paths...))
}

// failureOf returns the reason why the child fails, empty if it does not.
func failureOf(child client.Object) string {
	if c := inspect.Of(child); c.GetState().Failing() {
		return c.GetReason()
	}
	return ""
}

// Suffixes of the annotations with the UID of the key's owner, and with the reason of a failure.
const (
	ownerSuffix  = "-owner"
	failedSuffix = "-failed"
)

// mark returns the key in the owner's annotation, and reports whether the key belongs to this owner.
func (r Run[T]) mark(owner metav1.Object) (key string, marked bool) {
	annotations := owner.GetAnnotations()
	if uid := annotations[r.Annotation+ownerSuffix]; uid != "" && uid != string(owner.GetUID()) {
		return "", false
	}
	key, marked = annotations[r.Annotation]
	return key, marked
}

// marked returns the child with the key.
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

// isNil reports whether the interface is nil or contains a nil pointer.
func isNil(object client.Object) bool {
	value := reflect.ValueOf(object)
	return !value.IsValid() || value.Kind() == reflect.Pointer && value.IsNil()
}
