package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// TestChildHealth checks which children are reported, and how several children of a kind are aggregated.
func TestChildHealth(t *testing.T) {
	t.Parallel()
	deployment := func(name string, available corev1.ConditionStatus) *appsv1.Deployment {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: available, Message: "no pod runs"}}
		if available == corev1.ConditionTrue {
			d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas, d.Status.ReadyReplicas = 1, 1, 1, 1
		}
		return d
	}
	deployments, configMaps := appsv1.SchemeGroupVersion.WithKind("Deployment"), corev1.SchemeGroupVersion.WithKind("ConfigMap")
	custom := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Shop"}
	untyped := func(gvk schema.GroupVersionKind, status map[string]any) client.Object {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		u.SetGroupVersionKind(gvk)
		u.SetNamespace("shop")
		u.SetName("a")
		if status != nil {
			u.Object["status"] = status
		}
		return u
	}
	result := func(gvk schema.GroupVersionKind, name string, verb apply.Verb, outcome apply.Outcome) apply.ObjectResult {
		return apply.ObjectResult{
			Decision: apply.Decision{GVK: gvk, Key: client.ObjectKey{Namespace: "shop", Name: name}, Verb: verb}, Outcome: outcome,
		}
	}
	services, secrets := corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithKind("Secret")
	phased := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Till"}
	byPhase := func(till *unstructured.Unstructured) health.Component {
		phase, _, _ := unstructured.NestedString(till.Object, "status", "phase")
		if phase == "Open" {
			return health.Component{State: health.Ready, Reason: phase}
		}
		return health.Component{State: health.Failed, Reason: phase, Message: "the till is " + phase}
	}
	filled := func(s *corev1.Secret) health.Component {
		if len(s.Data) > 0 {
			return health.Component{State: health.Ready, Reason: "Filled"}
		}
		return health.Component{State: health.Pending, Reason: "Empty", Message: "it is empty"}
	}
	kinds, err := New("shop", planner[*corev1.ConfigMap](nil)).
		Owns(&appsv1.Deployment{}).
		Owns(untyped(custom, nil)).
		Owns(untyped(phased, nil), Inspector(byPhase)).
		Writes(&corev1.Secret{}, NeverDeletes, Inspector(filled)).
		Writes(&corev1.Service{}).
		Build().resolved(clientscheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		objects []client.Object
		results []apply.ObjectResult
		want    []string
	}{
		"a kind that is not inspected": {
			[]client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}},
			[]apply.ObjectResult{result(configMaps, "a", apply.VerbNone, apply.OutcomeUnchanged)},
			nil,
		},
		"one that is ready": {
			[]client.Object{deployment("a", corev1.ConditionTrue)},
			[]apply.ObjectResult{result(deployments, "a", apply.VerbNone, apply.OutcomeUnchanged)},
			[]string{"Deployment Ready Deployment is available"},
		},
		"the worst of two": {
			[]client.Object{deployment("a", corev1.ConditionTrue), deployment("b", corev1.ConditionFalse)},
			[]apply.ObjectResult{
				result(deployments, "a", apply.VerbNone, apply.OutcomeUnchanged), result(deployments, "b", apply.VerbUpdate, apply.OutcomeUpdated),
			},
			[]string{"Deployment Progressing b: 0 of 1 replicas are updated"},
		},
		"one that the cache does not show yet": {
			nil,
			[]apply.ObjectResult{result(deployments, "a", apply.VerbCreate, apply.OutcomeCreated)},
			[]string{"Deployment Progressing a: it was just created"},
		},
		"one that need not exist": {
			nil, []apply.ObjectResult{result(deployments, "a", apply.VerbNone, apply.OutcomeUnchanged)}, nil,
		},
		"an untyped object without a status": {
			[]client.Object{untyped(custom, nil)}, []apply.ObjectResult{result(custom, "a", apply.VerbNone, apply.OutcomeUnchanged)}, nil,
		},
		"an untyped object with a status": {
			[]client.Object{untyped(custom, map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False", "message": "not yet"}}})},
			[]apply.ObjectResult{result(custom, "a", apply.VerbNone, apply.OutcomeUnchanged)},
			[]string{"Shop Progressing a: not yet"},
		},
		"one that several owners write": {
			[]client.Object{&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}},
			[]apply.ObjectResult{result(services, "a", apply.VerbNone, apply.OutcomeUnchanged)},
			nil,
		},
		"one that several owners write, with an inspector": {
			[]client.Object{&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}},
			[]apply.ObjectResult{result(secrets, "a", apply.VerbNone, apply.OutcomeUnchanged)},
			[]string{"Secret Pending a: it is empty"},
		},
		"a kind with an inspector": {
			[]client.Object{untyped(phased, map[string]any{"phase": "Locked"})},
			[]apply.ObjectResult{result(phased, "a", apply.VerbNone, apply.OutcomeUnchanged)},
			[]string{"Till Failed a: the till is Locked"},
		},
		"a kind with an inspector, which is ready": {
			[]client.Object{untyped(phased, map[string]any{"phase": "Open"})},
			[]apply.ObjectResult{result(phased, "a", apply.VerbNone, apply.OutcomeUnchanged)},
			[]string{"Till Ready "},
		},
		"the owner, of which metadata is planned": {
			[]client.Object{deployment("a", corev1.ConditionFalse)},
			[]apply.ObjectResult{{
				Decision: apply.Decision{GVK: deployments, Key: client.ObjectKey{Namespace: "shop", Name: "a"}, Verb: apply.VerbNone, UID: "owner"},
				Outcome:  apply.OutcomeUnchanged,
			}},
			nil,
		},
		"one that was pruned": {
			[]client.Object{deployment("a", corev1.ConditionFalse)},
			[]apply.ObjectResult{result(deployments, "a", apply.VerbPrune, apply.OutcomePruned)},
			nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The fake adds unknown kinds to its scheme, so it needs its own scheme.
			scheme := runtime.NewScheme()
			if err := clientscheme.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(test.objects...).Build()
			var got []string
			report := childHealth(reader, scheme, kinds.ByKind)
			for _, c := range report(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: "owner"}}, &apply.Result{Objects: test.results}) {
				got = append(got, c.Name+" "+string(c.GetState())+" "+c.GetMessage())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("components (-want +got):\n%s", diff)
			}
		})
	}
}
