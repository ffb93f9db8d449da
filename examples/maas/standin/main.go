// Command standin simulates the Gateway and Kuadrant in the demo: it marks routes as accepted by the Gateways that exist, and
// policies as enforced.
//
// Never run it in a cluster with the real controllers.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/internal/standin"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

func main() { standin.Main(models.AddToScheme, approveAll) }

// approveAll marks the routes as accepted, and the policies as enforced.
func approveAll(ctx context.Context, c client.Client) error {
	return errors.Join(
		approve(ctx, c, gatewayv1.SchemeGroupVersion.WithKind("HTTPRoute")),
		approve(ctx, c, models.AuthPolicy), approve(ctx, c, models.TokenRateLimitPolicy))
}

// approve marks all objects of a kind as accepted, and policies as enforced. It ignores kinds that are not installed.
func approve(ctx context.Context, c client.Client, gvk schema.GroupVersionKind) error {
	list := models.List(gvk)
	if err := c.List(ctx, list); err != nil {
		if meta.IsNoMatchError(err) {
			return nil
		}
		return err
	}
	var errs []error
	for i := range list.Items {
		object := &list.Items[i]
		before := object.DeepCopy()
		var err error
		if gvk.Kind == "HTTPRoute" {
			err = acceptRoute(ctx, c, object)
		} else {
			err = setConditions(object.Object, object, "Accepted", "Enforced")
		}
		if err == nil && !equality.Semantic.DeepEqual(before, object) {
			err = client.IgnoreNotFound(c.Status().Patch(ctx, object, client.MergeFrom(before)))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// acceptRoute marks a route as accepted by each of its parents that exists.
func acceptRoute(ctx context.Context, c client.Client, route *unstructured.Unstructured) error {
	parents, _, err := unstructured.NestedSlice(route.Object, "spec", "parentRefs")
	if err != nil {
		return err
	}
	known, _, err := unstructured.NestedSlice(route.Object, "status", "parents")
	if err != nil {
		return err
	}
	statuses := make([]any, 0, len(parents))
	for _, parent := range parents {
		exists, err := gatewayExists(ctx, c, route.GetNamespace(), parent)
		if err != nil {
			return err
		}
		if !exists {
			continue
		}
		status := map[string]any{}
		if i := len(statuses); i < len(known) {
			status["status"] = known[i]
		}
		if err := setConditions(status, route, "Accepted", "ResolvedRefs"); err != nil {
			return err
		}
		entry, ok := status["status"].(map[string]any)
		if !ok {
			return fmt.Errorf("status of parent %v of route %s is not an object", parent, route.GetName())
		}
		entry["parentRef"], entry["controllerName"] = parent, "standin.example.com/gateway"
		statuses = append(statuses, entry)
	}
	return unstructured.SetNestedSlice(route.Object, statuses, "status", "parents")
}

// gatewayExists reports whether the Gateway of a parent reference exists.
func gatewayExists(ctx context.Context, c client.Client, namespace string, parent any) (bool, error) {
	fields, ok := parent.(map[string]any)
	if !ok {
		return false, fmt.Errorf("parent %v of a route is not an object", parent)
	}
	name, _, _ := unstructured.NestedString(fields, "name")
	if other, found, _ := unstructured.NestedString(fields, "namespace"); found {
		namespace = other
	}
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &gatewayv1.Gateway{})
	return err == nil, client.IgnoreNotFound(err)
}

// setConditions sets the named conditions to True in content's status.
func setConditions(content map[string]any, of *unstructured.Unstructured, types ...string) error {
	list := models.Conditions(&unstructured.Unstructured{Object: content})
	for _, name := range types {
		meta.SetStatusCondition(&list, metav1.Condition{
			Type: name, Status: metav1.ConditionTrue, Reason: name, ObservedGeneration: of.GetGeneration(),
		})
	}
	entries := make([]any, 0, len(list))
	for _, c := range list {
		entries = append(entries, map[string]any{
			"type": c.Type, "status": string(c.Status), "reason": c.Reason, "message": c.Message,
			"observedGeneration": c.ObservedGeneration, "lastTransitionTime": c.LastTransitionTime.UTC().Format(time.RFC3339),
		})
	}
	return unstructured.SetNestedSlice(content, entries, "status", "conditions")
}
