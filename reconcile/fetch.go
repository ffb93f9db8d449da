package reconcile

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/health"
)

// FetchResult is the outcome of one read: a value or the reason why there is none. The zero value is an empty success.
type FetchResult[V any] struct {
	// Value is what was read. On an error it is the zero value of V for [Fetch], and whatever was read so far for
	// [FetchList].
	Value V
	// Error is nil when the read succeeded.
	Error error
}

// OK reports whether the read succeeded.
func (f FetchResult[V]) OK() bool { return f.Error == nil }

// HasError reports whether the read failed, NotFound included.
func (f FetchResult[V]) HasError() bool { return f.Error != nil }

// IsNotFound reports whether the API server answered that the object does not exist. An error that was categorised by
// its author ([health.Error]) is taken at its word and is no NotFound, whatever its cause.
func (f FetchResult[V]) IsNotFound() bool {
	var categorised *health.Error
	return !errors.As(f.Error, &categorised) && apierrors.IsNotFound(f.Error)
}

// Failure returns the error unless it is that the object does not exist: what is left to report where absence has a meaning of its
// own.
func (f FetchResult[V]) Failure() error {
	if f.IsNotFound() {
		return nil
	}
	return f.Error
}

// Health returns the component as inspect sees the value, or with the error when the read failed. A nil inspect finds
// every value ready.
func (f FetchResult[V]) Health(name string, inspect func(V) health.Component) health.Component {
	if f.Error != nil {
		return health.Component{Name: name, Errors: []error{f.Error}}
	}
	component := health.Component{}
	if inspect != nil {
		component = inspect(f.Value)
	}
	component.Name = name
	return component
}

// Upstream is [FetchResult.Health] for something that somebody else provides: when it does not exist, the user has to
// provide it or mend the reference (MissingUpstreamDependency), and nothing is applied meanwhile.
func (f FetchResult[V]) Upstream(name string, inspect func(V) health.Component) health.Component {
	component := f.Health(name, inspect)
	component.Dependency = health.Upstream
	if f.IsNotFound() {
		component.Errors = []error{health.NewError(health.MissingUpstreamDependency, "ReferenceNotFound",
			"Upstream dependency not found: "+f.Error.Error(), f.Error)}
	}
	return component
}

// Downstream is [FetchResult.Health] for something that the plan creates: when it does not exist yet, that is progress
// (MissingDownstreamDependency). What it finds never blocks the apply.
func (f FetchResult[V]) Downstream(name string, inspect func(V) health.Component) health.Component {
	component := f.Health(name, inspect)
	component.Dependency = health.Downstream
	component.Child = f.Error == nil || f.IsNotFound()
	if f.IsNotFound() {
		component.Errors = []error{health.NewError(health.MissingDownstreamDependency, "ResourceNotReady",
			"Downstream resource not found or being created", f.Error)}
	}
	return component
}

// Fetch reads one object into the given empty one and returns it as a result.
func Fetch[V client.Object](ctx context.Context, r Reader, key client.ObjectKey, into V) FetchResult[V] {
	if err := r.Get(ctx, key, into); err != nil {
		return FetchResult[V]{Error: err}
	}
	return FetchResult[V]{Value: into}
}

// FetchNearest reads an object that may be of the key's namespace or, under the same name, of the cluster, such as a profile and a cluster
// profile. The one of the namespace hides that of the cluster, which is read only when the former does not exist, or when the key has no
// namespace. What was not read is the zero result: at most one of the two has a value.
func FetchNearest[N, C client.Object](ctx context.Context, r Reader, key client.ObjectKey, near N, far C) (FetchResult[N], FetchResult[C]) {
	var nearest FetchResult[N]
	if key.Namespace != "" {
		if nearest = Fetch(ctx, r, key, near); !nearest.IsNotFound() {
			return nearest, FetchResult[C]{}
		}
	}
	return nearest, Fetch(ctx, r, client.ObjectKey{Name: key.Name}, far)
}

// FetchList reads a list into the given empty one and returns it as a result, the list also when the read failed.
func FetchList[L client.ObjectList](ctx context.Context, r Reader, into L, opts ...client.ListOption) FetchResult[L] {
	return FetchResult[L]{Value: into, Error: r.List(ctx, into, opts...)}
}
