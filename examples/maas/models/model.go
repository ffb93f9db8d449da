package models

import (
	"context"
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
)

// Model is a MaaSModelRef with its route.
type Model struct {
	Key   types.NamespacedName
	Ref   reconcile.FetchResult[*maasv1alpha1.MaaSModelRef]
	Route reconcile.FetchResult[*gatewayv1.HTTPRoute]
}

// FetchModel reads a model and its route.
func FetchModel(ctx context.Context, r reconcile.Reader, key types.NamespacedName) Model {
	m := Model{Key: key, Ref: reconcile.Fetch(ctx, r, key, &maasv1alpha1.MaaSModelRef{})}
	if m.Ref.OK() && m.Ref.Value.Spec != nil {
		m.Route = FetchRoute(ctx, r, key.Namespace, m.Ref.Value.Spec.ModelRef)
	}
	return m
}

// FetchRoute reads the route of a model. Of several routes of an LLMInferenceService it always returns the first by name.
func FetchRoute(
	ctx context.Context, r reconcile.Reader, namespace string, ref maasv1alpha1.ModelReference,
) reconcile.FetchResult[*gatewayv1.HTTPRoute] {
	if ref.Kind == maasv1alpha1.BackendExternalModel {
		return reconcile.Fetch(ctx, r, Key(namespace, ref.Name), &gatewayv1.HTTPRoute{})
	}
	routes := reconcile.FetchList(ctx, r, &gatewayv1.HTTPRouteList{}, client.InNamespace(namespace), client.MatchingLabels{
		"app.kubernetes.io/name": ref.Name, Component: "llminferenceservice-router", PartOf: "llminferenceservice",
	})
	switch {
	case routes.HasError():
		return reconcile.FetchResult[*gatewayv1.HTTPRoute]{Error: routes.Error}
	case len(routes.Value.Items) == 0:
		return reconcile.FetchResult[*gatewayv1.HTTPRoute]{Error: apierrors.NewNotFound(gatewayv1.Resource("httproutes"), ref.Name)}
	}
	return reconcile.FetchResult[*gatewayv1.HTTPRoute]{Value: &routes.Value.Items[0]}
}

// Gone returns the reason why the model no longer counts, or the empty string.
func (m Model) Gone() string {
	switch {
	case m.Ref.IsNotFound():
		return fmt.Sprintf("MaaSModelRef %s not found", m.Key)
	case m.Ref.OK() && m.Ref.Value != nil && !m.Ref.Value.DeletionTimestamp.IsZero():
		return fmt.Sprintf("MaaSModelRef %s is deleting", m.Key)
	}
	return ""
}

// Served reports whether the model counts and has a route.
func (m Model) Served() bool { return m.Ref.OK() && m.Gone() == "" && m.Route.Value != nil }

// ErrUnsafe returns an error if a name could end a string in an expression.
func ErrUnsafe(names ...string) error {
	for _, name := range names {
		if strings.ContainsAny(name, `"\`) {
			return fmt.Errorf("%q is unsafe for CEL: it must not contain quotes or backslashes", name)
		}
	}
	return nil
}
