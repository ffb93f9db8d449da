package main

import (
	"errors"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/kueue"
	v1 "github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/evalhub"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/guardrails"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

// kinds returns a scheme with the kinds of all projects.
func kinds(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, v1.AddToScheme, v1alpha1.AddToScheme, foreign.AddToScheme, kueue.AddToScheme, gatewayv1.Install} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// converge searches for faults of a service of the product in 10 sampled cases; RECONCILETEST_CASES=all runs all. The
// generation in a job, its pod and a hub is not compared, because it differs between call paths.
func converge(t *testing.T, name string, change func(client.Object), owner client.Object, given ...client.Object) {
	t.Helper()
	reconciletest.Converge(t, system(t, name, change, owner, given...))
}

// system returns a system with a service of the product and an owner.
func system(t *testing.T, name string, change func(client.Object), owner client.Object, given ...client.Object) reconciletest.System {
	t.Helper()
	scheme := kinds(t)
	given = append(given, &corev1.ConfigMap{ObjectMeta: inDefault(images.ConfigMap), Data: map[string]string{
		images.Service: "img/tas:1", images.Proxy: "img/krp:1", images.Orchestrator: "img/gorch:1", images.Nemo: "img/nemo:1",
		images.Evaluation: "img/lmes:1", images.Driver: "img/drv:1", images.EvalHub: "img/eh:1",
	}})
	declare := func() ([]*controller.Controller, error) {
		return services[name].declare(scheme, installation{
			settings: types.NamespacedName{Namespace: "default", Name: images.ConfigMap}, tenants: evalhub.Tenants{All: true},
		})
	}
	declared, err := declare()
	if err != nil {
		t.Fatal(err)
	}
	caches, err := controller.CacheOptions(scheme, declared...)
	if err != nil {
		t.Fatal(err)
	}
	return reconciletest.System{
		Setup: func(mgr ctrl.Manager) error {
			declared, err := declare()
			for _, c := range declared {
				err = errors.Join(err, c.SetupWithManager(mgr))
			}
			return err
		},
		Scheme:   scheme,
		Cache:    caches,
		CRDPaths: []string{"config/crd", "config/foreign"},
		Given:    given,
		Owners:   []client.Object{owner},
		Change:   change,
		Cases:    10,
		Normalise: func(o *unstructured.Unstructured) {
			if kind := o.GetKind(); kind != "LMEvalJob" && kind != "Pod" && kind != "EvalHub" {
				return
			}
			for _, annotation := range []string{guardrails.Domain + "last-scheduled-generation", "reconcilekit.dev/generation"} {
				unstructured.RemoveNestedField(o.Object, "metadata", "annotations", annotation)
			}
		},
	}
}

func inDefault(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}

// TestServiceConverges checks that a service and the models that it watches reach their desired state despite failing
// requests, restarts and edits.
func TestServiceConverges(t *testing.T) {
	t.Parallel()
	model := &foreign.InferenceService{ObjectMeta: inDefault("model")}
	model.Annotations = map[string]string{"serving.kserve.io/deploymentMode": "Standard"}
	model.Spec.Predictor.Model = &foreign.Model{Runtime: "runtime"} // an empty predictor would disappear with its last field
	converge(t, "TAS", func(o client.Object) { o.(*v1.TrustyAIService).Spec.Metrics.Schedule = "10s" },
		&v1.TrustyAIService{ObjectMeta: metav1.ObjectMeta{Name: "svc"}, Spec: v1.TrustyAIServiceSpec{
			Storage: v1.Storage{Format: v1.FormatPVC, Folder: "/data", Size: "1Gi"}, Metrics: v1.Metrics{Schedule: "5s"},
		}}, model)
}

// TestOrchestratorConverges checks the same for an orchestrator whose configuration lists the discovered models.
func TestOrchestratorConverges(t *testing.T) {
	t.Parallel()
	model := func(name string) client.Object {
		m := &foreign.InferenceService{ObjectMeta: inDefault(name)}
		m.Labels = map[string]string{"trustyai/guardrails": "true"}
		m.Spec.Predictor.Model = &foreign.Model{Runtime: "runtime"}
		m.Status.URL = "http://" + name + ".p.svc"
		return m
	}
	runtimes := &foreign.ServingRuntime{ObjectMeta: inDefault("runtime"), Spec: foreign.ServingRuntimeSpec{
		Containers: []foreign.RuntimeContainer{{Ports: []corev1.ContainerPort{{ContainerPort: 8033}}}},
	}}
	converge(t, "GORCH", func(o client.Object) { o.(*v1alpha1.GuardrailsOrchestrator).Spec.LogLevel = "debug" },
		&v1alpha1.GuardrailsOrchestrator{ObjectMeta: metav1.ObjectMeta{Name: "go"}, Spec: v1alpha1.GuardrailsOrchestratorSpec{
			Replicas: 1, AutoConfig: &v1alpha1.AutoConfig{InferenceServiceToGuardrail: "llm"},
		}}, model("llm"), model("detector"), runtimes)
}

// TestNemoConverges checks the same for a server with the files of users.
func TestNemoConverges(t *testing.T) {
	t.Parallel()
	converge(t, "NEMO_GUARDRAILS", func(o client.Object) { o.(*v1alpha1.NemoGuardrails).Spec.Replicas = 2 },
		&v1alpha1.NemoGuardrails{ObjectMeta: metav1.ObjectMeta{Name: "ng"}, Spec: v1alpha1.NemoGuardrailsSpec{
			Replicas: 1, NemoConfigs: []v1alpha1.NemoConfig{{Name: "c1", ConfigMaps: []string{"files"}}},
		}}, &corev1.ConfigMap{ObjectMeta: inDefault("files"), Data: map[string]string{"a": "1"}})
}

// TestEvalJobConverges checks the same for a job that stores its results in its own claim.
func TestEvalJobConverges(t *testing.T) {
	t.Parallel()
	s := system(t, "LMES", func(o client.Object) { o.(*v1alpha1.LMEvalJob).Spec.Limit = "5" },
		&v1alpha1.LMEvalJob{ObjectMeta: metav1.ObjectMeta{Name: "job"}, Spec: v1alpha1.LMEvalJobSpec{
			Model: "hf", ModelArgs: []v1alpha1.Argument{{Name: "pretrained", Value: "google/flan-t5-base"}},
			TaskList: v1alpha1.TaskList{TaskNames: []v1alpha1.TaskName{"task1"}},
			Outputs:  &v1alpha1.Outputs{PVCManaged: &v1alpha1.ManagedClaim{Size: "1Gi"}},
		}})
	s.Accepted = []reconciletest.Acceptance{
		{Check: check.State, About: "422 several times of create pods", Reason: "a job whose pod is rejected as invalid has failed"},
	}
	reconciletest.Converge(t, s)
}

// TestHubConverges checks the same for a hub with its permissions, its catalog and the server for language models.
func TestHubConverges(t *testing.T) {
	t.Parallel()
	entry := &corev1.ConfigMap{ObjectMeta: inDefault("garak"), Data: map[string]string{"garak.yaml": "id: garak"}}
	entry.Labels = map[string]string{
		guardrails.Domain + "evalhub-provider-type": "system", guardrails.Domain + "evalhub-provider-name": "garak",
	}
	converge(t, "EVALHUB", func(o client.Object) { o.(*v1.EvalHub).Spec.MCP.Enabled = new(false) },
		&v1.EvalHub{ObjectMeta: metav1.ObjectMeta{Name: "hub"}, Spec: v1.EvalHubSpec{Tenancy: v1.SingleTenancy, EvalHubBase: v1.EvalHubBase{
			Database: &v1.Database{Type: "sqlite"}, Providers: []string{"garak"}, Collections: []string{}, MCP: &v1.MCP{Enabled: new(true)},
		}}}, entry)
}

// TestTenantConverges checks the same for the namespace of a tenant, which has the permissions of the hub while a hub
// exists.
func TestTenantConverges(t *testing.T) {
	t.Parallel()
	tenant := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "tenant", Labels: map[string]string{"evalhub.trustyai.opendatahub.io/tenant": ""},
	}}
	s := system(t, "EVALHUB", func(o client.Object) { o.(*v1.EvalHub).Spec.Tenancy = v1.SingleTenancy },
		&v1.EvalHub{ObjectMeta: metav1.ObjectMeta{Name: "hub"}, Spec: v1.EvalHubSpec{Tenancy: v1.MultiTenancy, EvalHubBase: v1.EvalHubBase{
			Database: &v1.Database{Type: "sqlite"}, Providers: []string{}, Collections: []string{},
		}}}, tenant)
	s.Accepted = twoHubs()
	reconciletest.Converge(t, s)
}

// twoHubs lists the accepted differences between two hubs of one tenant.
func twoHubs() []reconciletest.Acceptance {
	return []reconciletest.Acceptance{
		{Check: check.State, About: "a second owner of another name", Reason: "the tenant finds both hubs in one ConfigMap"},
		{Check: check.State, About: "a second owner in another namespace", Reason: "the order of hubs with the same name and creation time depends on the namespace"},
	}
}
