package controller

import (
	"context"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// childHealth returns a function that reports the health of the applied children: one component for each inspected kind,
// with the worst state of its children. A child that the same reconciliation has created is progressing until the reader,
// which reads from the cache, finds it.
func childHealth(
	reader client.Reader, scheme *runtime.Scheme, kinds map[schema.GroupVersionKind]*declaration.Kind,
) func(ctx context.Context, owner client.Object, result *apply.Result) []health.Component {
	return func(ctx context.Context, owner client.Object, result *apply.Result) (components []health.Component) {
		of := map[schema.GroupVersionKind]int{}
		for i := range result.Objects {
			child := &result.Objects[i]
			switch child.Verb {
			case apply.VerbNone, apply.VerbCreate, apply.VerbUpdate:
			default:
				continue // it is being deleted
			}
			kind := kinds[child.GVK] // nil for a kind outside the cluster
			if kind == nil || !kind.Inspected() || child.UID != "" && child.UID == owner.GetUID() {
				continue
			}
			found, reports := childOf(ctx, reader, scheme, kind, child)
			if !reports {
				continue
			}
			at, known := of[child.GVK]
			switch {
			case !known:
				of[child.GVK] = len(components)
				components = append(components, found)
			case health.Worse(found.GetState(), components[at].GetState()):
				components[at] = found
			}
		}
		return components
	}
}

// childOf inspects one child. It returns false for a child without a status, and for a missing child that was not just
// created.
func childOf(
	ctx context.Context, reader client.Reader, scheme *runtime.Scheme, kind *declaration.Kind, child *apply.ObjectResult,
) (health.Component, bool) {
	component := func(c health.Component) (health.Component, bool) {
		c.Name, c.Object, c.Dependency, c.Child = child.GVK.Kind, child.Key.Name, health.Downstream, true
		return c, true
	}
	object := newChild(scheme, kind)
	switch err := reader.Get(ctx, child.Key, object); {
	case apierrors.IsNotFound(err) && child.Created():
		return component(health.Component{State: health.Progressing, Reason: "Created", Message: "it was just created"})
	case apierrors.IsNotFound(err):
		return health.Component{}, false
	case err != nil:
		return component(health.Component{Errors: []error{err}})
	case kind.Inspect != nil:
		return component(kind.Inspect(object))
	case withoutStatus(object):
		return health.Component{}, false
	}
	return component(inspect.Of(object))
}

// newChild returns an empty object of the kind: of the declared type for an Inspector, otherwise typed if the scheme has
// the kind.
func newChild(scheme *runtime.Scheme, kind *declaration.Kind) client.Object {
	if kind.Inspect != nil {
		object := reflect.New(reflect.TypeOf(kind.Object).Elem()).Interface().(client.Object) //nolint:forcetypeassert // of the declared type
		object.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind)
		return object
	}
	if typed, err := scheme.New(kind.GroupVersionKind); err == nil {
		if object, ok := typed.(client.Object); ok {
			object.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind) // a scheme may return unstructured objects
			return object
		}
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind.GroupVersionKind)
	return object
}

// withoutStatus reports whether an unstructured object has no status. Its kind may not have one.
func withoutStatus(object client.Object) bool {
	u, untyped := object.(*unstructured.Unstructured)
	if !untyped {
		return false
	}
	_, found := u.Object["status"]
	return !found
}
