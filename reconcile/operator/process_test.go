package operator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/operator"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
)

// env is the API server of the tests. It serves a namespaced and a cluster-scoped kind of widgets.
var env = &environment.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{widget.CRD(), clusterWidget()}}

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	env.Scheme = runtime.NewScheme()
	if err := errors.Join(clientscheme.AddToScheme(env.Scheme), widget.AddToScheme(env.Scheme)); err != nil {
		panic(err)
	}
	os.Exit(env.Main(m))
}

func clusterWidget() *apiextensionsv1.CustomResourceDefinition {
	crd := widget.CRD()
	crd.Name = "globals." + widget.GroupVersion.Group
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "Global", ListKind: "GlobalList", Plural: "globals", Singular: "global"}
	crd.Spec.Scope = apiextensionsv1.ClusterScoped
	return crd
}

// global is a cluster-scoped widget.
type global struct{ widget.Widget }

func (g *global) DeepCopyObject() runtime.Object {
	return &global{*g.Widget.DeepCopyObject().(*widget.Widget)}
}

func addGlobal(scheme *runtime.Scheme) error {
	scheme.AddKnownTypeWithName(widget.GroupVersion.WithKind("Global"), &global{})
	scheme.AddKnownTypeWithName(widget.GroupVersion.WithKind("GlobalList"), &widget.WidgetList{})
	return nil
}

// noted plans a ConfigMap for each widget with the name of its instance and the names of the Secrets that it listed.
type noted[T reconcile.Owner] struct{ instance string }

func (noted[T]) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[T]) reconcile.FetchResult[*corev1.SecretList] {
	return reconcile.FetchList(ctx, r, &corev1.SecretList{}, client.InNamespace(rc.Object.GetNamespace()))
}

func (n noted[T]) PlanResources(
	_ context.Context, rc reconcile.ReconcileContext[T], secrets reconcile.FetchResult[*corev1.SecretList],
) (plan reconcile.PlanResult, _ error) {
	if !secrets.OK() {
		return plan, secrets.Failure()
	}
	names := make([]string, 0, len(secrets.Value.Items))
	for _, secret := range secrets.Value.Items {
		names = append(names, secret.Name)
	}
	plan.Apply(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: rc.Object.GetName()},
		Data:       map[string]string{"by": n.instance, "secrets": strings.Join(names, ",")},
	}, apply.Once)
	return plan, nil
}

// widgets returns an operator of widgets that connects to the API server of the tests.
func widgets(instance string) operator.Operator {
	again := true // allows several instances in one process
	return operator.Operator{
		Name:        "widgets",
		LeaseName:   "widgets.example.com",
		AddToScheme: []func(*runtime.Scheme) error{widget.AddToScheme},
		Config:      env.Config(),
		Manager:     func(m *manager.Options) { m.Controller.SkipNameValidation = &again },
		Controllers: []*controller.Controller{
			controller.New("widget", noted[*widget.Widget]{instance}).Owns(&corev1.ConfigMap{}).
				Reads(&corev1.Secret{}, controller.Filter(client.MatchingLabels{"shown": "true"})).
				Options(controller.Options{SkipNameValidation: true}).Build(),
		},
	}
}

// start runs the operator until the test ends or stop is called.
func start(t *testing.T, o operator.Operator, args ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	var logs bytes.Buffer
	go func() { done <- o.Run(ctx, args, io.Discard, &logs) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the operator ended with %v\n%s", err, logs.String())
		}
	})
	t.Cleanup(stop)
	return stop
}

func eventually(t *testing.T, what string, done func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for ; !done(); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("%s: not within a minute", what)
		}
	}
	return time.Since(began)
}

// free returns an address of this machine with an unused port.
func free(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

func answers(t *testing.T, url string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(raw)
}

func create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := env.Client().Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

func newWidget(namespace, name string) *widget.Widget {
	return &widget.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// made returns the ConfigMap of a widget, or nil if it does not exist.
func made(t *testing.T, owner *widget.Widget) *corev1.ConfigMap {
	t.Helper()
	child := &corev1.ConfigMap{}
	if err := env.Client().Get(t.Context(), client.ObjectKeyFromObject(owner), child); err != nil {
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		return nil
	}
	return child
}

// TestRun checks that the process serves health, readiness and metrics, runs its controllers, and uses the declared filter.
func TestRun(t *testing.T) {
	namespace, probes, metrics := env.Namespace(t), free(t), free(t)
	secret := func(name string, labels map[string]string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}}
	}
	create(t, secret("shown", map[string]string{"shown": "true"}), secret("hidden", nil))
	o := widgets("one")
	o.Setup = func(mgr manager.Manager) error {
		return mgr.AddReadyzCheck("product", func(*http.Request) error { return nil })
	}
	start(t, o, "-health-probe-bind-address", probes, "-metrics-bind-address="+metrics)
	for _, path := range []string{"/healthz", "/readyz", "/readyz/widget", "/readyz/product"} {
		eventually(t, path, func() bool { status, _ := answers(t, "http://"+probes+path); return status == http.StatusOK })
	}
	if status, body := answers(t, "http://"+metrics+"/metrics"); status != http.StatusOK || !strings.Contains(body, `controller="widget"`) {
		t.Errorf("metrics: %d\n%.300s", status, body)
	}
	site := newWidget(namespace, "site")
	create(t, site)
	eventually(t, "the child", func() bool { return made(t, site) != nil })
	if got := made(t, site).Data["secrets"]; got != "shown" {
		t.Errorf("the cache has the Secrets %q, want those of the filter", got)
	}
	err := widgets("two").Run(t.Context(), []string{"-health-probe-bind-address=" + probes}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "flag -health-probe-bind-address") || !strings.Contains(err.Error(), "an address that is free") {
		t.Errorf("an address that is taken: %v", err)
	}
	err = widgets("two").Run(t.Context(), []string{"-health-probe-bind-address=0", "-metrics-bind-address=" + metrics}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "flag -metrics-bind-address") {
		t.Errorf("an address that is taken: %v", err)
	}
}

// TestHandOver checks that a stopped leader releases its lease, and that the standby takes over long before the lease expires.
func TestHandOver(t *testing.T) {
	namespace, ctx := env.Namespace(t), t.Context()
	args := []string{"-leader-elect", "-leader-election-namespace=" + namespace, "-namespaces=" + namespace, "-health-probe-bind-address"}
	stop := start(t, widgets("first"), append(args, "0")...)
	first := newWidget(namespace, "first")
	create(t, first)
	eventually(t, "the first instance works", func() bool { return made(t, first) != nil })

	probes := free(t)
	start(t, widgets("second"), append(args, probes)...)
	eventually(t, "the standby is ready", func() bool { status, _ := answers(t, "http://"+probes+"/readyz"); return status == http.StatusOK })
	second := newWidget(namespace, "second")
	create(t, second)
	eventually(t, "the first instance still leads", func() bool { return made(t, second) != nil })
	if by := made(t, second).Data["by"]; by != "first" {
		t.Fatalf("the standby works as well: by %q", by)
	}
	lease := &coordinationv1.Lease{}
	if err := env.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: "widgets.example.com"}, lease); err != nil {
		t.Fatal(err)
	}
	duration := time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second

	stop()
	third := newWidget(namespace, "third")
	create(t, third)
	took := eventually(t, "the standby works", func() bool { return made(t, third) != nil })
	if by := made(t, third).Data["by"]; by != "second" || took > duration*2/3 {
		t.Errorf("%q took over after %s, want the second instance well within the lease of %s", by, took, duration)
	}
}

// TestNamespaces checks that with -namespaces, owners in other namespaces are not reconciled.
func TestNamespaces(t *testing.T) {
	mine, also, other := env.Namespace(t), env.Namespace(t), env.Namespace(t)
	foreign := newWidget(other, "foreign")
	create(t, foreign)
	before := foreign.ResourceVersion
	start(t, widgets("scoped"), "-health-probe-bind-address=0", "-namespaces="+mine+","+also)
	for _, namespace := range []string{mine, also} {
		own := newWidget(namespace, "own")
		create(t, own)
		eventually(t, "an owner in a namespace of ours", func() bool { return made(t, own) != nil })
	}
	if made(t, foreign) != nil {
		t.Error("an owner in another namespace has a child")
	}
	if err := env.Client().Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign); err != nil || foreign.ResourceVersion != before {
		t.Errorf("an owner in another namespace was written: %v", err)
	}
}

// TestNamespacesOfClusterOwners checks that -namespaces is rejected for cluster-scoped owners.
func TestNamespacesOfClusterOwners(t *testing.T) {
	env.Require(t)
	o := widgets("global")
	o.AddToScheme = []func(*runtime.Scheme) error{addGlobal}
	o.Controllers = []*controller.Controller{controller.New("global", noted[*global]{}).Reads(&corev1.Secret{}).Build()}
	err := o.Run(t.Context(), []string{"-health-probe-bind-address=0", "-namespaces=default"}, io.Discard, io.Discard)
	want := `flag -namespaces "default": controller "global" reconciles test.reconcilekit.dev/v1/Global, which has no namespaces`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestWebhooksNeedCertificates checks that the error names the flag and the file.
func TestWebhooksNeedCertificates(t *testing.T) {
	env.Require(t)
	o := widgets("webhooks")
	served := map[string]http.Handler{}
	o.Webhooks = func(manager.Manager) (map[string]http.Handler, error) { return served, nil }
	o.Setup = func(manager.Manager) error { return errors.New("that far") }
	folder := t.TempDir()
	args := []string{"-health-probe-bind-address=0", "-webhook-cert-dir=" + folder}
	if err := o.Run(t.Context(), args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "that far") {
		t.Errorf("without webhooks no certificate is needed, got %v", err)
	}
	served["/validate"] = http.NotFoundHandler()
	err := o.Run(t.Context(), args, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("flag -webhook-cert-dir %q", folder)) || !strings.Contains(err.Error(), "tls.crt") {
		t.Errorf("got %v", err)
	}
}
