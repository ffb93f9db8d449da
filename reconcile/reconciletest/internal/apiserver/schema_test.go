package apiserver_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/apiserver"
)

// bounded returns the CRD of widgets with limits for the count and an enum of states.
func bounded(t *testing.T, most float64) *apiserver.Blueprint {
	t.Helper()
	crd := widget.CRD()
	fields := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
	count := fields["spec"].Properties["count"]
	count.Maximum = &most
	fields["spec"].Properties["count"] = count
	state := fields["status"].Properties["state"]
	state.Enum = []apiextensionsv1.JSON{{Raw: []byte(`"Ready"`)}}
	fields["status"].Properties["state"] = state
	blueprint, err := apiserver.NewBlueprint(runtime.NewScheme(), []*apiextensionsv1.CustomResourceDefinition{crd})
	if err != nil {
		t.Fatal(err)
	}
	return blueprint
}

func widgetOf(count int64) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"count": count}}}
	u.SetGroupVersionKind(widget.GroupVersion.WithKind("Widget"))
	u.SetNamespace("default")
	u.SetName("web")
	return u
}

func wantsInvalid(t *testing.T, what string, err error) {
	t.Helper()
	if !apierrors.IsInvalid(err) {
		t.Errorf("%s: want an Invalid error, got %v", what, err)
	}
}

// TestSchemaRefuses checks that each kind of write is validated with the schema.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	server := apiserver.New(runtime.NewScheme(), bounded(t, 5), clock.RealClock{}, nil)
	ctx, c, by := t.Context(), server.Client, client.FieldOwner("test")
	wantsInvalid(t, "create", c.Create(ctx, widgetOf(6)))
	wantsInvalid(t, "an apply that creates", c.Apply(ctx, client.ApplyConfigurationFromUnstructured(widgetOf(6)), by))

	stored := widgetOf(5)
	if err := c.Create(ctx, stored); err != nil {
		t.Fatal(err)
	}
	wrong := stored.DeepCopy()
	wrong.Object["spec"] = map[string]any{"count": int64(6)}
	wantsInvalid(t, "update", c.Update(ctx, wrong.DeepCopy()))
	wantsInvalid(t, "dry run", c.Update(ctx, wrong.DeepCopy(), client.DryRunAll))
	wantsInvalid(t, "merge", c.Patch(ctx, stored.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"count":6}}`))))
	wantsInvalid(t, "apply", c.Apply(ctx, client.ApplyConfigurationFromUnstructured(widgetOf(6)), by, client.ForceOwnership))

	state := stored.DeepCopy()
	state.Object["status"] = map[string]any{"state": "Unheard"}
	wantsInvalid(t, "status", c.Status().Update(ctx, state))
	state = stored.DeepCopy()
	state.Object["status"] = map[string]any{"state": "Ready"}
	if err := c.Status().Update(ctx, state); err != nil {
		t.Error(err)
	}
}

// TestSchemaGetsStricter checks that an object that became invalid can be kept and deleted, with or without finalizers.
func TestSchemaGetsStricter(t *testing.T) {
	t.Parallel()
	server := apiserver.New(runtime.NewScheme(), bounded(t, 5), clock.RealClock{}, nil)
	ctx, c := t.Context(), server.Client
	stored := widgetOf(5)
	stored.SetFinalizers([]string{"test/hold"})
	if err := c.Create(ctx, stored); err != nil {
		t.Fatal(err)
	}
	server.Redefine(bounded(t, 3))
	other := widgetOf(5)
	other.SetName("other")
	wantsInvalid(t, "create", c.Create(ctx, other))
	stored.SetLabels(map[string]string{"a": "b"})
	if err := c.Update(ctx, stored); err != nil {
		t.Errorf("label: %v", err)
	}
	stored.Object["spec"] = map[string]any{"count": int64(4)}
	wantsInvalid(t, "update", c.Update(ctx, stored.DeepCopy()))
	if err := c.Delete(ctx, stored); err != nil {
		t.Errorf("delete: %v", err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(stored), stored); err != nil {
		t.Fatal(err)
	}
	stored.SetFinalizers(nil)
	if err := c.Update(ctx, stored); err != nil {
		t.Errorf("remove the finalizer: %v", err)
	}
}

func TestInvalidSchema(t *testing.T) {
	t.Parallel()
	crd := widget.CRD()
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Type = ""
	if _, err := apiserver.NewBlueprint(runtime.NewScheme(), []*apiextensionsv1.CustomResourceDefinition{crd}); err == nil {
		t.Error("want an error")
	}
}
