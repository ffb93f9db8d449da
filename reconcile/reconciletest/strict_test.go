package reconciletest_test

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
)

// definitions returns the CRDs of an app. The enum of its state has two values.
func definitions(t trait) []*apiextensionsv1.CustomResourceDefinition {
	crd := widget.CRD()
	if t == "status value outside the enum" || t == "status value of the enum" {
		status := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
		state := status.Properties["state"]
		state.Enum = []apiextensionsv1.JSON{{Raw: []byte(`"Ready"`)}, {Raw: []byte(`"Waiting"`)}}
		status.Properties["state"] = state
	}
	return []*apiextensionsv1.CustomResourceDefinition{crd, strictCRD()}
}

// stated sets the state of the owner from its condition. While the owner is not ready, it uses the given state.
func stated(waiting string) work {
	return func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
		state := waiting
		if apimeta.IsStatusConditionTrue(w.Status.Conditions, "Ready") && w.Status.ObservedGeneration == w.Generation {
			state = "Ready"
		}
		if w.Status.State == state || w.Status.ObservedGeneration == 0 {
			return ctrl.Result{}, nil
		}
		w.Status.State = state
		return ctrl.Result{}, alive(w, a.Status().Update(ctx, w))
	}
}

func aNewValve() *unstructured.Unstructured {
	valve := &unstructured.Unstructured{}
	valve.SetAPIVersion("test.reconcilekit.dev/v1")
	valve.SetKind("Valve")
	return valve
}

// valved creates a Valve, whose schema is strict.
func valved(spec func(w *widget.Widget) map[string]any) work {
	return func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
		valve := aNewValve()
		valve.SetNamespace(w.Namespace)
		valve.SetName(w.Name)
		return ctrl.Result{}, alive(w, a.store(ctx, w, valve, func() {
			wanted := spec(w)
			wanted["most"] = int64(10)
			valve.Object["spec"] = wanted
		}))
	}
}

// strict lists the traits about schemas of CRDs.
func strict() map[trait]work {
	return map[trait]work{
		"status value outside the enum": stated("Updating"),
		"status value of the enum":      stated("Waiting"),
		"Valve with another immutable size": valved(func(w *widget.Widget) map[string]any {
			return map[string]any{"size": map[bool]string{true: "small", false: "large"}[w.Spec.Count < 3]}
		}),
		"Valve with a duplicate list key": valved(func(w *widget.Widget) map[string]any {
			ends := []any{map[string]any{"name": "in", "side": "left"}}
			if w.Spec.Count == 3 {
				ends = append(ends, ends[0])
			}
			return map[string]any{"size": "small", "ends": ends}
		}),
		"Valve with a constant size": valved(func(w *widget.Widget) map[string]any {
			return map[string]any{"size": "small", "least": int64(w.Spec.Count)}
		}),
	}
}
