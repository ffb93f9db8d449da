package external

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Kind is the handle of one kind of external resources. Create it with [New]. It is safe for concurrent use, and may be declared to
// several controllers.
type Kind[S, O any] struct{ *kind }

// Declared is a [Kind] of any types, as declared to a controller.
type Declared interface {
	// Name returns the name of the kind.
	Name() string
	// Watched reports whether its system is a [Watcher].
	Watched() bool
	declared() *kind
}

// kind is a Kind without its types.
type kind struct {
	name    string
	options Options
	err     error // the name is invalid

	observe  func(ctx context.Context, key string) (any, error)
	ensure   func(ctx context.Context, key string, spec any) (any, error)
	remove   func(ctx context.Context, key string) error
	upToDate func(spec, observed any) bool
	watcher  Watcher
}

// New returns the kind with the name, such as Database. Owners store the name, so it must not change between versions. An invalid name is
// an error when the controller is set up.
func New[S, O any](name string, system System[S, O], options Options) *Kind[S, O] {
	k := &kind{name: name, options: options.orDefaults(), err: checkName(name)}
	k.watcher, _ = system.(Watcher)
	k.observe = func(ctx context.Context, key string) (any, error) {
		return system.Observe(ctx, key)
	}
	k.ensure = func(ctx context.Context, key string, spec any) (any, error) {
		typed, err := valueOf[S](spec)
		if err != nil {
			return nil, err
		}
		return system.Ensure(ctx, key, typed)
	}
	k.remove = system.Remove
	k.upToDate = func(spec, observed any) bool {
		want, err := valueOf[S](spec)
		if err != nil {
			return false
		}
		found, ok := observed.(O)
		return ok && system.UpToDate(want, found)
	}
	return &Kind[S, O]{k}
}

func (k *kind) declared() *kind { return k }

// Name returns the name of the kind.
func (k *kind) Name() string { return k.name }

// GroupVersionKind returns the kind in results and recordings, and for KeepKind of a plan. No API server serves it.
func (k *kind) GroupVersionKind() schema.GroupVersionKind { return gvkOf(k.name) }

// Watched reports whether the system of the kind is a [Watcher].
func (k *kind) Watched() bool { return k.watcher != nil }

// Observe observes the resource with the key, in FetchRemoteState. If it does not exist, IsNotFound of the result is true. When the
// system reports a change of the resource, the owner is enqueued.
func (k *Kind[S, O]) Observe(ctx context.Context, r reconcile.Reader, key string) reconcile.FetchResult[O] {
	o := newObject(k.name, key)
	if err := r.Get(ctx, client.ObjectKey{Name: key}, o); err != nil {
		return reconcile.FetchResult[O]{Error: err}
	}
	return result[O](o)
}

func result[O any](o *Object) reconcile.FetchResult[O] {
	value, err := valueOf[O](o.status)
	if err != nil {
		err = fmt.Errorf("decode %s %q: %w", o.Kind, o.Name, err)
	}
	return reconcile.FetchResult[O]{Value: value, Error: err}
}

// Ensure plans a resource that matches spec. The caller must not modify spec afterwards. Of the options, only [apply.WaitUntil] is
// supported: a waiting resource is neither ensured nor removed.
func (k *Kind[S, O]) Ensure(plan *reconcile.PlanResult, key string, spec S, opts ...apply.ChildOption) {
	o := newObject(k.name, key)
	o.spec = spec
	plan.Apply(o, opts...)
}

// Once plans a single call of the system's Ensure for the key and the owner, for an effect that cannot be observed, such as a report. The
// call happens at least once, and at most once after its marker is stored on the owner. It is repeated if it fails, or if a plan omits it
// in between. Observe, UpToDate and Remove are not called.
func (k *Kind[S, O]) Once(plan *reconcile.PlanResult, key string, spec S, opts ...apply.ChildOption) {
	o := newObject(k.name, key)
	o.spec = spec
	plan.Apply(o, append([]apply.ChildOption{apply.Once}, opts...)...)
}

// Answer returns the result of the system's Ensure in this reconciliation, in ObserveApply. known is false if there was no call, because
// the resource was up to date or could not be ensured yet.
func (k *Kind[S, O]) Answer(outcome reconcile.ApplyOutcome, key string) (answer reconcile.FetchResult[O], known bool) {
	at := slices.IndexFunc(outcome.Objects, func(r apply.ObjectResult) bool { return r.GVK == gvkOf(k.name) && r.Key.Name == key })
	if at < 0 {
		return answer, false
	}
	found := &outcome.Objects[at]
	if found.Err != nil {
		return reconcile.FetchResult[O]{Error: found.Err}, true
	}
	if found.Answer == nil {
		return answer, false
	}
	return result[O](&Object{TypeMeta: newObject(k.name, key).TypeMeta, status: found.Answer}), true
}

func lower(name string) string { return strings.ToLower(name) }
