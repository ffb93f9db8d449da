package tracked

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// Applier restricts the engine to declared kinds, omits children of optional kinds that are missing, and records the objects whose
// events are mapped to the owner in no other way.
type Applier struct {
	pipeline.Applier
	reads *Reads
	clock clock.PassiveClock
}

// NewApplier returns an applier that checks plans before it passes them to next.
func NewApplier(next pipeline.Applier, reads *Reads, c clock.PassiveClock) *Applier {
	return &Applier{Applier: next, reads: reads, clock: c}
}

// Apply checks the plan against the declarations before it passes the plan to the engine. It refuses the entire plan if a kind is
// undeclared: without that child the plan would be incomplete, and the engine would prune the live object.
func (a *Applier) Apply(ctx context.Context, owner client.Object, plan apply.Plan) apply.Result {
	children, err := a.children(owner, plan)
	if err != nil {
		return apply.Result{OwnerErr: err}
	}
	key := client.ObjectKeyFromObject(owner)
	tracked := a.reads.Tracker.Begin(key, tracking.ScopeWrite)
	defer tracked.End()
	plan.Children = a.installed(ctx, owner, tracked, plan.Children, children)
	plan.Unknown = a.reads.unknown(key, plan.Unknown)
	plan.Deletes = slices.DeleteFunc(slices.Clone(plan.Deletes), func(d apply.Deletion) bool {
		k, _, err := a.reads.Find(d.Object)
		return err == nil && k != nil && k.Absent.Load()
	})
	a.noteDeletes(owner, tracked, plan.Deletes)
	result := a.Applier.Apply(ctx, owner, plan)
	for _, c := range children {
		if c.kind.Absent.Load() && c.kind.Undiscovered.Load() == nil && !slices.Contains(result.NotInstalled, c.kind.GroupVersionKind) {
			result.NotInstalled = append(result.NotInstalled, c.kind.GroupVersionKind)
		}
	}
	result.Objects = append(result.Objects, undiscovered(children)...)
	for _, object := range result.Objects {
		// An object of that name may belong to another controller and have no reference to the owner.
		if k := a.reads.ByKind[object.GVK]; k != nil && object.Err != nil {
			tracked.Name(k.Index, k.Name(object.Key))
		}
	}
	a.reads.Pending.wrote(key, a.clock.Now(), a.reads.written(result, children))
	a.reads.Unstable.Applied(key, &result, a.clock.Now())
	return result
}

// undiscovered returns a result for each child that was left out because it is not known whether its kind is installed.
func undiscovered(children []child) []apply.ObjectResult {
	var out []apply.ObjectResult
	for _, c := range children {
		if err := c.kind.Undiscovered.Load(); err != nil && c.kind.Absent.Load() {
			out = append(out, apply.ObjectResult{Outcome: apply.OutcomeBlocked, Decision: apply.Decision{
				GVK: c.kind.GroupVersionKind, Key: c.key, Verb: apply.VerbNone, Reason: apply.ReasonReadFailed, Err: err,
			}})
		}
	}
	return out
}

// noteDeletes records planned deletions of objects whose metadata alone is cached, so that the cache keeps them in full for the next pass.
func (a *Applier) noteDeletes(owner client.Object, tracked *tracking.Session, deletes []apply.Deletion) {
	for _, d := range deletes {
		k, _, err := a.reads.Find(d.Object)
		if err != nil || k == nil {
			continue
		}
		key := client.ObjectKeyFromObject(d.Object)
		if key.Namespace == "" {
			key.Namespace = owner.GetNamespace()
		}
		if key = k.Name(key); k.Link.MetadataOnly(key) {
			tracked.Name(k.Index, key)
		}
	}
}

// installed returns the planned children whose kinds are installed. It records children without a reference to the owner.
func (a *Applier) installed(
	ctx context.Context, owner client.Object, tracked *tracking.Session, planned []apply.Child, children []child,
) []apply.Child {
	var kept []apply.Child // nil until a child is omitted
	for i, c := range children {
		absent := c.kind.Absent.Load()
		if absent || !a.referenced(owner, c) || c.kind.Link.MetadataOnly(c.key) {
			// The installation of an absent kind also enqueues the owner; an object of another kind is kept in full from now on.
			tracked.Name(c.kind.Index, c.key)
		}
		switch {
		case absent:
			log.FromContext(ctx).V(1).Info("child left out: its kind is not installed",
				"kind", declaration.Print(c.kind.GroupVersionKind), "child", c.key)
			if kept == nil {
				kept = append(make([]apply.Child, 0, len(planned)), planned[:i]...)
			}
		case kept != nil:
			kept = append(kept, planned[i])
		}
	}
	if kept == nil {
		return planned
	}
	return kept
}

// child is a planned child with its declared kind.
type child struct {
	*apply.Child
	kind   *declaration.Kind
	key    types.NamespacedName
	labels map[string]string
}

// children finds the declared kind of each child. It joins one error for each undeclared kind.
func (a *Applier) children(owner client.Object, plan apply.Plan) ([]child, error) {
	var errs []error
	children := make([]child, 0, len(plan.Children))
	for i := range plan.Children {
		planned := &plan.Children[i]
		if isNil(planned.Object) {
			errs = append(errs, nilPlanned("child", i, planned.Object))
			continue
		}
		gvk, key, labels, err := a.identify(planned)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		k, err := a.writable(gvk, purposesOf(planned))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if key.Namespace == "" {
			key.Namespace = owner.GetNamespace()
		}
		children = append(children, child{Child: planned, kind: k, key: k.Name(key), labels: labels})
	}
	for i, d := range plan.Deletes {
		if d.Object == nil || isNil(d.Object) {
			errs = append(errs, nilPlanned("deletion", i, d.Object))
			continue
		}
		_, gvk, err := a.reads.Find(d.Object)
		if err == nil {
			_, err = a.writable(gvk, forDeleted)
		}
		errs = append(errs, err)
	}
	return children, errors.Join(errs...)
}

// The purposes for which the kind of a child may be declared, the one with the fewest permissions first. They are variables because every
// pass uses them for each child.
//
//nolint:gochecknoglobals // constants
var (
	forOwned       = []declaration.Purpose{declaration.PurposeOwns}
	forDeleted     = []declaration.Purpose{declaration.PurposeWrites, declaration.PurposeOwns}
	forShared      = []declaration.Purpose{declaration.PurposeShares, declaration.PurposeWrites, declaration.PurposeOwns}
	forContributed = []declaration.Purpose{declaration.PurposeContributes, declaration.PurposeShares, declaration.PurposeWrites, declaration.PurposeOwns}
)

func purposesOf(planned *apply.Child) []declaration.Purpose {
	switch planned.Mode {
	case apply.Shared: // the last part deletes the object
		return forDeleted
	case apply.Retained:
		if planned.Recreate { // requires deletion
			return forDeleted
		}
		return forShared
	case apply.Contribute:
		return forContributed
	case apply.Own, apply.Once:
	}
	return forOwned
}

// writable returns the kind if it was declared for one of the purposes.
func (a *Applier) writable(gvk schema.GroupVersionKind, allowed []declaration.Purpose) (*declaration.Kind, error) {
	k := a.reads.ByKind[gvk]
	if k == nil || !k.Has(allowed...) {
		return nil, &declaration.UndeclaredError{
			Controller: a.reads.Controller, GVK: gvk, Declaration: allowed[0].Call(a.reads.Example(gvk)),
		}
	}
	return k, nil
}

// configuration has the methods of generated apply configurations.
type configuration interface {
	GetAPIVersion() *string
	GetKind() *string
	GetNamespace() *string
	GetName() *string
}

func (a *Applier) identify(planned *apply.Child) (
	gvk schema.GroupVersionKind, key types.NamespacedName, labels map[string]string, err error,
) {
	object := planned.Object
	if object == nil {
		if c, ok := planned.Configuration.(configuration); ok {
			gvk = schema.FromAPIVersionAndKind(value(c.GetAPIVersion()), value(c.GetKind()))
			return gvk, types.NamespacedName{Namespace: value(c.GetNamespace()), Name: value(c.GetName())}, nil, nil
		}
		var ok bool
		if object, ok = planned.Configuration.(client.Object); !ok {
			return gvk, key, nil, declaration.NewMistake(declaration.ReasonInvalidPlan, fmt.Errorf("child %T: neither an object nor an apply configuration",
				planned.Configuration))
		}
	}
	_, gvk, err = a.reads.Find(object)
	return gvk, client.ObjectKeyFromObject(object), object.GetLabels(), err
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// referenced reports whether the child has a controller reference to the owner, which maps its events to the owner.
func (a *Applier) referenced(owner client.Object, c child) bool {
	if _, group := owner.(groupkey.Group); group {
		return false
	}
	switch c.Mode {
	case apply.Own, apply.Once:
		return owner.GetNamespace() == "" || c.key.Namespace == owner.GetNamespace()
	case apply.Shared, apply.Retained, apply.Contribute:
	}
	return false
}

// isNil reports whether an object is a nil pointer in an interface.
func isNil(object client.Object) bool {
	v := reflect.ValueOf(object)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// nilPlanned returns the error of a nil object in a plan. It has only the number of the call, counted from 1, to identify the object.
func nilPlanned(what string, at int, object client.Object) error {
	return declaration.NewMistake(declaration.ReasonInvalidPlan, fmt.Errorf("%s %d of the plan is a nil %T: leave out of the plan what is not wanted",
		what, at+1, object))
}

// written returns the writes of a result that the cache will show: those of declared kinds that match the kind's selector.
func (c *Reads) written(result apply.Result, children []child) []write {
	var writes []write
	for _, object := range result.Objects {
		k := c.ByKind[object.GVK]
		if k == nil || !object.Wrote() || object.UID == "" {
			continue
		}
		w := write{kind: k, key: k.Name(object.Key), uid: object.UID}
		if object.Outcome != apply.OutcomeDeleted && object.Outcome != apply.OutcomePruned {
			w.version = object.ResourceVersion
			if w.version == "" || !cachesChild(k, w.key, children) {
				continue
			}
		}
		writes = append(writes, w)
	}
	return writes
}
