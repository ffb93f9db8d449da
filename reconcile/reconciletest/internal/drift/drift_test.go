package drift_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/checker"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/drift"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

// valves is a kind with an enum field, a field with a pattern, and a field with a single valid value.
const valves = `
metadata: {name: valves.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Valve, listKind: ValveList, plural: valves, singular: valve}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: string, enum: [large, small]}
              label: {type: string, pattern: "^[a-z]+$"}
              unit: {type: string, pattern: "^bar$"}
              serial: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable}]}
`

// valve returns an object of the kind with one field set.
func valve(field, value string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Valve", "spec": map[string]any{field: value}}}
	u.SetNamespace("default")
	u.SetName("main")
	return u
}

// operator is a controller of ConfigMaps that creates a Secret for each.
type operator struct {
	content  func(ctx context.Context, c client.Client) (map[string]string, error)
	mapped   client.Object // a kind whose events enqueue the owner
	owns     bool
	recreate bool // creates missing objects, but does not repair existing ones
	force    bool // takes over objects of another controller
}

func (o operator) setup(mgr manager.Manager) error {
	b := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{})
	if o.owns {
		b = b.Owns(&corev1.Secret{})
	}
	if o.mapped != nil {
		b = b.Watches(o.mapped, toShop)
	}
	return b.Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, o.reconcile(ctx, mgr.GetClient(), request.NamespacedName)
	}))
}

func (o operator) reconcile(ctx context.Context, c client.Client, key client.ObjectKey) error {
	var owner corev1.ConfigMap
	if err := c.Get(ctx, key, &owner); err != nil || owner.DeletionTimestamp != nil {
		return client.IgnoreNotFound(err)
	}
	content := map[string]string{"color": "red"}
	if o.content != nil {
		var err error
		if content, err = o.content(ctx, c); err != nil {
			return err
		}
	}
	child := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: "of-" + owner.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, c, child, func() error {
		if o.recreate && child.ResourceVersion != "" {
			return nil
		}
		child.Data = map[string][]byte{}
		for key, value := range content {
			child.Data[key] = []byte(value)
		}
		if o.force {
			child.OwnerReferences = nil
		}
		return controllerutil.SetControllerReference(&owner, child, c.Scheme())
	})
	return err
}

// sizeOf reads a field of the valve.
func sizeOf(field string) func(ctx context.Context, c client.Client) (map[string]string, error) {
	return func(ctx context.Context, c client.Client) (map[string]string, error) {
		u := valve(field, "")
		if err := c.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		value, _, err := unstructured.NestedString(u.Object, "spec", field)
		return map[string]string{field: value}, err
	}
}

// disturb runs the interference of the named case in steady state, and returns the findings.
func disturb(t *testing.T, o operator, given []client.Object, name string) *checker.Checker {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal([]byte(valves), &crd); err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	system, err := description.Prepare(description.System{
		Setup: o.setup, Scheme: scheme, CRDs: []*apiextensionsv1.CustomResourceDefinition{&crd},
		Owners: []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}}, Given: given,
	})
	if err != nil {
		t.Fatal(err)
	}
	steps := []description.Step{description.StepA}
	atRest := run.Execute(t.Context(), system, run.Spec{Steps: steps}, "")
	if atRest.Err != nil {
		t.Fatal(atRest.Err)
	}
	defer atRest.Last.End()
	checker := checker.New(system)
	checker.Probe, checker.Baselines = atRest.Cluster, []*baseline.Baseline{baseline.Of(steps, atRest)}
	cases := drift.Cases(checker)
	i := slices.IndexFunc(cases, func(c baseline.Case) bool { return c.Name == "A: steady state: "+name })
	if i < 0 {
		t.Fatalf("no case %q", name)
	}
	cases[i].Act(t.Context(), atRest)
	return checker
}

// found returns the findings and notes of the checker, one per line.
func found(j *checker.Checker) (out []string) {
	for _, f := range j.Findings() {
		out = append(out, strings.ReplaceAll(f.String(), f.Case+": ", ""))
	}
	return append(out, j.Notes()...)
}

// toShop enqueues the owner.
var toShop = handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: "default", Name: "shop"}}}
})
