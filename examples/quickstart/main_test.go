package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/install"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/values"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
)

var env = &environment.Environment{
	CRDPaths: []string{"config/crd"}, Audit: true,
	AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"},
}

func TestMain(m *testing.M) {
	scheme, err := website().Scheme()
	if err != nil {
		panic(err)
	}
	env.Scheme = scheme
	ctrl.SetLogger(logr.Discard())
	os.Exit(env.Main(m))
}

// TestGenerated compares the page, the permissions and the installation with the declaration of the controller.
func TestGenerated(t *testing.T) {
	page, err := website().Page()
	if err != nil {
		t.Fatal(err)
	}
	files, err := install.Files(page, install.Config{CRDs: os.DirFS("config/crd")})
	if err != nil {
		t.Fatal(err)
	}
	lint.Generated(t, files)
}

// TestDescribe checks that the page can be printed without a cluster and without environment variables.
func TestDescribe(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "quickstart")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	operator := exec.CommandContext(t.Context(), binary, "--describe")
	operator.Env = []string{}
	printed, err := operator.Output()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("docs/dataflow.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(page), string(printed)); diff != "" {
		t.Errorf("the printed page differs from docs/dataflow.md (-file +printed):\n%s", diff)
	}
}

// TestWebsite checks that a Website gets its three children and is Ready when its Deployment is available.
func TestWebsite(t *testing.T) {
	namespace, ctx, c := env.Namespace(t), t.Context(), env.Client()
	rights := env.Rights(t, rules(t))
	start(t, rights.Config())

	site := &v1.Website{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "hello"}, Spec: v1.WebsiteSpec{Text: "hello"}}
	if err := c.Create(ctx, site); err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKeyFromObject(site)
	deployment := &appsv1.Deployment{}
	for _, child := range []client.Object{&corev1.ConfigMap{}, &corev1.Service{}, deployment} {
		eventually(t, func() bool { return c.Get(ctx, key, child) == nil && metav1.IsControlledBy(child, site) })
	}
	ready := func() bool {
		return c.Get(ctx, key, site) == nil && meta.IsStatusConditionTrue(site.Status.Conditions, "Ready") &&
			meta.IsStatusConditionTrue(site.Status.Conditions, "DeploymentReady")
	}
	eventually(t, func() bool {
		return c.Get(ctx, key, site) == nil && meta.IsStatusConditionFalse(site.Status.Conditions, "DeploymentReady")
	})
	if ready() {
		t.Error("want the website not ready before its Deployment is")
	}
	deployment.Status = appsv1.DeploymentStatus{ // as the controllers of a cluster would write it
		ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
	}
	if err := c.Status().Update(ctx, deployment); err != nil {
		t.Fatal(err)
	}
	eventually(t, ready)
}

// TestConverges checks that Converge finds no fault: with failing requests, restarts and edits, a Website reaches its
// desired state, and deleting it removes all its children.
func TestConverges(t *testing.T) {
	replicas := int32(2)
	reconciletest.Converge(t, reconciletest.System{
		Setup:    func(mgr ctrl.Manager) error { return website().Controllers[0].SetupWithManager(mgr) },
		Scheme:   env.Scheme,
		Cache:    caches(t),
		CRDPaths: []string{"config/crd"},
		Owners:   []client.Object{&v1.Website{ObjectMeta: metav1.ObjectMeta{Name: "hello"}, Spec: v1.WebsiteSpec{Text: "hello"}}},
		Change:   func(o client.Object) { o.(*v1.Website).Spec = v1.WebsiteSpec{Text: "good bye", Replicas: &replicas} },
		StandIns: []reconciletest.StandIn{reconciletest.DeploymentsAvailable},
	})
}

// caches returns the cache options of the operator.
func caches(t *testing.T) cache.Options {
	t.Helper()
	options, err := controller.CacheOptions(env.Scheme, website().Controllers...)
	if err != nil {
		t.Fatal(err)
	}
	return options
}

// TestAnySpec checks that each spec the CRD accepts is reconciled without a rejected request.
func TestAnySpec(t *testing.T) {
	for _, site := range values.Of[*v1.Website](t, env.Scheme, []string{"config/crd"}, 6) {
		reconciletest.Converge(t, reconciletest.System{
			Setup:    func(mgr ctrl.Manager) error { return website().Controllers[0].SetupWithManager(mgr) },
			Scheme:   env.Scheme,
			CRDPaths: []string{"config/crd"},
			Owners:   []client.Object{site},
			StandIns: []reconciletest.StandIn{reconciletest.DeploymentsAvailable},
			Cases:    1,
		})
	}
}

// start runs the operator until the test ends or stop is called.
func start(t *testing.T, config *rest.Config, args ...string) (stop func()) {
	t.Helper()
	again, o := true, website()
	o.Config = config
	o.Manager = func(options *ctrl.Options) { options.Controller.SkipNameValidation = &again } // several operators run in this process, one after the other
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx, append(args, "-health-probe-bind-address=0"), io.Discard, io.Discard) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the operator returned %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("timed out")
		}
	}
}
