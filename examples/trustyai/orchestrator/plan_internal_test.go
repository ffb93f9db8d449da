package orchestrator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

// TestPort checks that the port of a model is that of its Service, or else of its URL, or else of its runtime.
func TestPort(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		service int32
		url     string
		runtime int32
		want    string
	}{
		"all three":           {8033, "http://m.ns:8080", 9000, "8033"},
		"no Service":          {0, "http://m.ns:8080", 9000, "8080"},
		"the runtime's alone": {0, "http://m.ns", 9000, "9000"},
		"none":                {0, "http://m.ns", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &foreign.InferenceService{ObjectMeta: metav1.ObjectMeta{Name: "m"}}
			m.Spec.Predictor.Model = &foreign.Model{Runtime: "r"}
			var f Fetched
			if c.service > 0 {
				service := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: c.service}}}}
				f.services = map[string]reconcile.FetchResult[*corev1.Service]{"m": {Value: service}}
			}
			runtime := foreign.ServingRuntime{ObjectMeta: metav1.ObjectMeta{Name: "r"}}
			if c.runtime > 0 {
				runtime.Spec.Containers = []foreign.RuntimeContainer{{}, {Ports: []corev1.ContainerPort{{ContainerPort: c.runtime}}}}
			}
			f.runtimes.Value = &foreign.ServingRuntimeList{Items: []foreign.ServingRuntime{runtime}}
			if d, waits := f.detected(m, c.url); d.Port != c.want || (waits == "") != (c.want != "") {
				t.Errorf("port %q, waits for %q; want port %q", d.Port, waits, c.want)
			}
		})
	}
}

// TestWaitsForSecrets checks that the Deployment is not created before all Secrets that it mounts exist.
func TestWaitsForSecrets(t *testing.T) {
	t.Parallel()
	o := &v1alpha1.GuardrailsOrchestrator{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "o"}}
	o.Spec.OrchestratorConfig, o.Spec.TLSSecrets = new("config"), []string{"there", "late"}
	var f Fetched
	f.config.Value = &corev1.ConfigMap{Data: map[string]string{"config.yaml": "x"}}
	late := reconcile.FetchResult[*corev1.Secret]{Error: apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "late")}
	f.secrets = map[string]reconcile.FetchResult[*corev1.Secret]{"there": {Value: &corev1.Secret{}}, "late": late}
	if got := (Reconciler{}).ComposeState(t.Context(), rcontext{Object: o}, f); !strings.Contains(got.waits, "Secret late of spec.tlsSecrets") {
		t.Errorf("waits for %q, want the Secret", got.waits)
	}
	f.secrets["late"] = f.secrets["there"]
	if got := (Reconciler{}).ComposeState(t.Context(), rcontext{Object: o}, f); got.waits != "" {
		t.Errorf("waits for %q, want nothing", got.waits)
	}
}

// TestUnpublished checks that a Route counts as published when a router has admitted it.
func TestUnpublished(t *testing.T) {
	t.Parallel()
	obs := Observation{owner: &v1alpha1.GuardrailsOrchestrator{ObjectMeta: metav1.ObjectMeta{Name: "o"}}}
	admitted := &foreign.Route{Status: foreign.RouteStatus{Ingress: []foreign.RouteIngress{{
		Conditions: []foreign.RouteCondition{{Type: "Admitted", Status: corev1.ConditionTrue}},
	}}}}
	for _, c := range []struct {
		routes map[string]*foreign.Route
		want   []string
	}{
		{nil, []string{"route o is not admitted", "route o-health is not admitted"}},
		{map[string]*foreign.Route{"o": admitted, "o-health": {}}, []string{"route o-health is not admitted"}},
		{map[string]*foreign.Route{"o": admitted, "o-health": admitted}, nil},
	} {
		obs.fetched.routes = map[string]reconcile.FetchResult[*foreign.Route]{}
		for name, route := range c.routes {
			obs.fetched.routes[name] = reconcile.FetchResult[*foreign.Route]{Value: route}
		}
		if diff := cmp.Diff(c.want, obs.unpublished()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// TestPlansBeforeTheConfiguration checks that only the Deployment waits for the ConfigMap with the configuration.
func TestPlansBeforeTheConfiguration(t *testing.T) {
	t.Parallel()
	o := &v1alpha1.GuardrailsOrchestrator{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "o"}}
	o.Spec.OrchestratorConfig = new("config")
	var f Fetched
	f.settings.Value = &corev1.ConfigMap{Data: map[string]string{
		images.Orchestrator: "orchestrator:1", images.Gateway: "gateway:1", images.Detectors: "detectors:1", images.Proxy: "proxy:1",
	}}
	for _, there := range []bool{false, true} {
		if there {
			f.config.Value = &corev1.ConfigMap{Data: map[string]string{"config.yaml": "x"}}
		}
		obs := (Reconciler{}).ComposeState(t.Context(), rcontext{Object: o}, f)
		plan, err := (Reconciler{}).PlanResources(t.Context(), rcontext{Object: o}, obs)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for i := range plan.Children {
			got[fmt.Sprintf("%T %s", plan.Children[i].Object, plan.Children[i].Object.GetName())] = !plan.Children[i].Existing
		}
		want := map[string]bool{
			"*v1.ServiceAccount o-serviceaccount": true, "*v1.ClusterRoleBinding o-ns-auth-delegator": true, "*v1.ConfigMap o-ca-bundle": true,
			"*v1.Service o-service": true, "*foreign.Route o": true, "*foreign.Route o-health": true, "*v1.Deployment o": there,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("configuration exists: %t; applied (-want +got):\n%s", there, diff)
		}
	}
}
