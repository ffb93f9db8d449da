package reconcile

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/health"
)

// FetchResult is the result of one read: a value or an error. The zero value is a success without a value.
type FetchResult[V any] struct {
	// Value is the object that was read. On an error it is the zero value of V for [Fetch], and the items that were read
	// before the error for [FetchList].
	Value V
	// Error is nil when the read succeeded.
	Error error
}

// OK reports whether the read succeeded.
func (f FetchResult[V]) OK() bool { return f.Error == nil }

// HasError reports whether the read failed, NotFound included.
func (f FetchResult[V]) HasError() bool { return f.Error != nil }

// IsNotFound reports whether the object does not exist. An error with a category of its author ([health.Error]) is never a
// NotFound, whatever its cause.
func (f FetchResult[V]) IsNotFound() bool {
	var categorised *health.Error
	return !errors.As(f.Error, &categorised) && apierrors.IsNotFound(f.Error)
}

// Failure returns the error, or nil when the object does not exist. Use it where a missing object is a valid state.
func (f FetchResult[V]) Failure() error {
	if f.IsNotFound() {
		return nil
	}
	return f.Error
}

// Health returns the component that inspect computes from the value, or a component with the error when the read failed. A
// nil inspect reports every value as ready.
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

// Upstream is [FetchResult.Health] for an object that a user or another controller provides. When the object does not
// exist, the component reports MissingUpstreamDependency, and nothing is applied until the user creates the object or
// corrects the reference.
func (f FetchResult[V]) Upstream(name string, inspect func(V) health.Component) health.Component {
	component := f.Health(name, inspect)
	component.Dependency = health.Upstream
	if f.IsNotFound() {
		component.Errors = []error{health.NewError(health.MissingUpstreamDependency, "ReferenceNotFound",
			f.missing("Upstream dependency not found: "+f.Error.Error()), f.Error)}
	}
	return component
}

// Downstream is [FetchResult.Health] for an object that the plan creates. When the object does not exist yet, the component
// reports progress (MissingDownstreamDependency). The component never blocks the apply.
func (f FetchResult[V]) Downstream(name string, inspect func(V) health.Component) health.Component {
	component := f.Health(name, inspect)
	component.Dependency = health.Downstream
	component.Child = f.Error == nil || f.IsNotFound()
	if f.IsNotFound() {
		component.Errors = []error{health.NewError(health.MissingDownstreamDependency, "ResourceNotReady",
			f.missing("Downstream resource not found or being created"), f.Error)}
	}
	return component
}

// missing returns the message of a missing object: the given one, or the error if the CRD of its kind is not installed.
func (f FetchResult[V]) missing(message string) string {
	if absent := (interface {
		NotInstalled() schema.GroupVersionKind
	})(nil); errors.As(f.Error, &absent) {
		return f.Error.Error()
	}
	return message
}

// Fetch reads the object with the key into the given empty object and returns it as a result.
func Fetch[V client.Object](ctx context.Context, r Reader, key client.ObjectKey, into V) FetchResult[V] {
	if err := r.Get(ctx, key, into); err != nil {
		return FetchResult[V]{Error: err}
	}
	return FetchResult[V]{Value: into}
}

// FetchNearest reads an object that may be namespaced or, under the same name, cluster-scoped, such as a profile and a
// cluster profile. The namespaced object takes precedence: the cluster-scoped one is read only when the other does not
// exist or the key has no namespace. At most one of the results has a value.
func FetchNearest[N, C client.Object](ctx context.Context, r Reader, key client.ObjectKey, near N, far C) (FetchResult[N], FetchResult[C]) {
	var nearest FetchResult[N]
	if key.Namespace != "" {
		if nearest = Fetch(ctx, r, key, near); !nearest.IsNotFound() {
			return nearest, FetchResult[C]{}
		}
	}
	return nearest, Fetch(ctx, r, client.ObjectKey{Name: key.Name}, far)
}

// FetchList reads a list into the given empty list. The result contains the list even when the read failed.
func FetchList[L client.ObjectList](ctx context.Context, r Reader, into L, opts ...client.ListOption) FetchResult[L] {
	return FetchResult[L]{Value: into, Error: r.List(ctx, into, opts...)}
}
