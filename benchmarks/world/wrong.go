package world

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/benchmarks/desired"
	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

// Wrong compares the world with the plan of each owner: it counts the children that are missing or differ from the plan, those in no
// plan, and the owners whose Ready condition is not of their current spec.
func (w *World) Wrong(ctx context.Context) (int, error) {
	live := map[string]*unstructured.Unstructured{}
	for _, kind := range desired.Kinds() {
		gvk, err := w.client.GroupVersionKindFor(kind)
		if err != nil {
			return 0, err
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		if err := w.client.List(ctx, list, client.InNamespace(w.Namespace), client.HasLabels{desired.OwnerLabel}); err != nil {
			return 0, err
		}
		for i := range list.Items {
			live[gvk.Kind+"/"+list.Items[i].GetName()] = &list.Items[i]
		}
	}
	var owners widget.WidgetList
	if err := w.client.List(ctx, &owners, client.InNamespace(w.Namespace)); err != nil {
		return 0, err
	}
	wrong := w.Owners - len(owners.Items)
	for i := range owners.Items {
		n, err := wrongOf(&owners.Items[i], live)
		if err != nil {
			return 0, err
		}
		wrong += n
	}
	return wrong + len(live), nil
}

// wrongOf counts the differences of one owner, and removes its children from the live ones.
func wrongOf(owner *widget.Widget, live map[string]*unstructured.Unstructured) (wrong int, err error) {
	ready := meta.FindStatusCondition(owner.Status.Conditions, widget.Ready)
	if ready == nil || ready.Status != "True" || owner.Status.ObservedGeneration != owner.Generation {
		wrong++
	}
	for _, child := range desired.Children(owner) {
		plan, err := runtime.DefaultUnstructuredConverter.ToUnstructured(child)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", child.GetName(), err)
		}
		delete(plan, "status")
		key := child.GetObjectKind().GroupVersionKind().Kind + "/" + child.GetName()
		if found := live[key]; found == nil || !found.GetDeletionTimestamp().IsZero() || !has(found.Object, plan) {
			wrong++
		}
		delete(live, key)
	}
	return wrong, nil
}

// has reports whether live contains everything in plan; additions of the API server are ignored.
func has(live, plan any) bool {
	switch want := plan.(type) {
	case nil:
		return true
	case map[string]any:
		have, isMap := live.(map[string]any)
		for name, value := range want {
			if value != nil && (!isMap || !has(have[name], value)) && !reflect.DeepEqual(value, map[string]any{}) {
				return false
			}
		}
		return true
	case []any:
		have, isList := live.([]any)
		if !isList || len(have) != len(want) {
			return false
		}
		for i := range want {
			if !has(have[i], want[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(live, plan)
}
