package world

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/benchmarks/desired"
	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

// TestWrongOf checks that an owner with all its children is right, and that each kind of fault counts once.
func TestWrongOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(owner *widget.Widget, live map[string]*unstructured.Unstructured)
		want   int
		rest   int // live objects that are in no plan
	}{
		"as planned":      {func(*widget.Widget, map[string]*unstructured.Unstructured) {}, 0, 0},
		"a missing child": {func(_ *widget.Widget, live map[string]*unstructured.Unstructured) { delete(live, "Service/w-1") }, 1, 0},
		"a child of the previous spec": {func(_ *widget.Widget, live map[string]*unstructured.Unstructured) {
			_ = unstructured.SetNestedField(live["ConfigMap/w-2"].Object, "v0", "data", "image")
		}, 1, 0},
		"a child with a missing item": {func(_ *widget.Widget, live map[string]*unstructured.Unstructured) {
			_ = unstructured.SetNestedSlice(live["Service/w-1"].Object, nil, "spec", "ports")
		}, 1, 0},
		"a child is being deleted": {func(_ *widget.Widget, live map[string]*unstructured.Unstructured) {
			live["Secret/w-4"].SetDeletionTimestamp(&metav1.Time{Time: metav1.Now().Time})
		}, 1, 0},
		"fields that the server adds": {func(_ *widget.Widget, live map[string]*unstructured.Unstructured) {
			_ = unstructured.SetNestedField(live["Service/w-1"].Object, "None", "spec", "sessionAffinity")
		}, 0, 0},
		"an orphan": {func(_ *widget.Widget, live map[string]*unstructured.Unstructured) {
			live["Secret/w-9"] = &unstructured.Unstructured{}
		}, 0, 1},
		"a status of the previous spec": {func(o *widget.Widget, _ map[string]*unstructured.Unstructured) { o.Generation = 2 }, 1, 0},
		"not ready":                     {func(o *widget.Widget, _ map[string]*unstructured.Unstructured) { o.Status.Conditions = nil }, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "w", Generation: 1}, Spec: widget.Spec{Image: "v1", Count: 5}}
			owner.Status = widget.Status{ObservedGeneration: 1, Conditions: []metav1.Condition{{Type: widget.Ready, Status: metav1.ConditionTrue}}}
			live := map[string]*unstructured.Unstructured{}
			for _, child := range desired.Children(owner) {
				content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(child)
				if err != nil {
					t.Fatal(err)
				}
				live[child.GetObjectKind().GroupVersionKind().Kind+"/"+child.GetName()] = &unstructured.Unstructured{Object: content}
			}
			c.change(owner, live)
			got, err := wrongOf(owner, live)
			if err != nil || got != c.want || len(live) != c.rest {
				t.Errorf("%d wrong, %d orphans, error %v, want %d and %d", got, len(live), err, c.want, c.rest)
			}
		})
	}
}
