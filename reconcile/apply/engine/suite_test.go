package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"go/build"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/status"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
)

const manager = "apply-test"

// patience is long enough for a busy machine.
const patience = time.Minute

var (
	env       *environment.Environment
	config    *rest.Config
	scheme    = runtime.NewScheme()
	setupOnce sync.Once
)

func TestEngine(t *testing.T) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("KUBEBUILDER_ASSETS is not set; run make assets")
		}
		t.Skip("KUBEBUILDER_ASSETS is not set; run make assets")
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(patience)
	RunSpecs(t, "Apply engine")
}

var _ = BeforeSuite(func() {
	log.SetLogger(GinkgoLogr)
	var err error
	env, config, err = startEnvironment()
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(env.Stop)
})

// startEnvironment starts an API server with the CRDs of the tests.
func startEnvironment() (*environment.Environment, *rest.Config, error) {
	setupOnce.Do(func() {
		for _, add := range []func(*runtime.Scheme) error{
			clientgoscheme.AddToScheme, widget.AddToScheme, gatewayv1.Install, apiextensionsv1.AddToScheme,
		} {
			_ = add(scheme)
		}
		scheme.AddKnownTypeWithName(ruleKind, &typedRule{})
		scheme.AddKnownTypeWithName(ruleKind.GroupVersion().WithKind("RuleList"), &typedRuleList{})
		metav1.AddToGroupVersion(scheme, ruleKind.GroupVersion())
	})
	gateway, err := build.Import("sigs.k8s.io/gateway-api/apis/v1", ".", build.FindOnly)
	if err != nil {
		return nil, nil, err
	}
	crds := filepath.Join(gateway.Dir, "..", "..", "config", "crd", "standard")
	started := &environment.Environment{
		Scheme:   scheme,
		CRDPaths: []string{filepath.Join(crds, "gateway.networking.k8s.io_httproutes.yaml")},
		CRDs:     []*apiextensionsv1.CustomResourceDefinition{widget.CRD(), atomicCRD(), ruleCRD(), tableCRD()},
		Audit:    true,
	}
	if err := started.Start(); err != nil {
		return nil, nil, err
	}
	cfg := started.Config()
	cfg.QPS = -1
	return started, cfg, nil
}

// atomicCRD is like the CRD of the widget, with an atomic list of conditions.
func atomicCRD() *apiextensionsv1.CustomResourceDefinition {
	crd := widget.CRD()
	crd.Name = "atomics." + crd.Spec.Group
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Kind: "Atomic", ListKind: "AtomicList", Plural: "atomics", Singular: "atomic",
	}
	status := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	conditions := status.Properties["conditions"]
	conditions.XListType, conditions.XListMapKeys = nil, nil
	status.Properties["conditions"] = conditions
	return crd
}

// recorded records the requests to the API server.
type recorded struct {
	mu   sync.Mutex
	log  []string
	fail func(n int, r *http.Request) error
	// answer returns a response that replaces that of the server, or nil.
	answer func(r *http.Request) *apierrors.StatusError
	// lose reports whether the response to a performed request is lost.
	lose func(r *http.Request) bool
	sent int
}

func (r *recorded) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if discovery(req.URL.Path) {
			return next.RoundTrip(req)
		}
		r.mu.Lock()
		r.sent++
		n, fail, answer, lose := r.sent, r.fail, r.answer, r.lose
		line := req.Method + " " + req.URL.Path
		if req.URL.Query().Get("dryRun") != "" {
			line += " (dry run)"
		}
		r.log = append(r.log, line)
		r.mu.Unlock()
		if fail != nil {
			if err := fail(n, req); err != nil {
				return nil, err
			}
		}
		if answer != nil {
			if refused := answer(req); refused != nil {
				return refusal(req, refused)
			}
		}
		response, err := next.RoundTrip(req)
		if err == nil && lose != nil && lose(req) {
			_ = response.Body.Close()
			return nil, errCrash
		}
		return response, err
	})
}

// refusal returns the response of a server for the error.
func refusal(req *http.Request, refused *apierrors.StatusError) (*http.Response, error) {
	status := refused.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	data, err := json.Marshal(status)
	return &http.Response{
		StatusCode: int(status.Code), Body: io.NopCloser(bytes.NewReader(data)), Request: req,
		Header: http.Header{"Content-Type": {"application/json"}},
	}, err
}

// discovery reports whether a request is not about objects.
func discovery(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	return (parts[0] == "api" && len(parts) <= 2) || (parts[0] == "apis" && len(parts) <= 3)
}

func (r *recorded) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.log
	r.log, r.sent = nil, 0
	return out
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// writes returns the requests that are not reads.
func writes(log []string) []string {
	return slices.DeleteFunc(slices.Clone(log), func(l string) bool { return strings.HasPrefix(l, "GET ") })
}

// world is a namespace with one owner, and an engine with a cached client like
// a manager's.
type world struct {
	ctx       context.Context
	namespace string
	admin     client.Client // not counted, not cached
	owner     *widget.Widget
	clock     *testingclock.FakeClock
	requests  *recorded
	options   apply.Options
	user      string // the user that the engine and its cache impersonate, if any
	transform func(any) (any, error)
	client    client.Client
	cache     cache.Cache
	cacheless *rest.Config // counted
	engine    *engine.Engine
	status    *status.Writer
	stop      context.CancelFunc
}

func newWorld(change ...func(*world)) *world {
	GinkgoHelper()
	w := &world{ctx: context.Background(), clock: testingclock.NewFakeClock(time.Now())}
	w.options = apply.Options{FieldManager: manager, Clock: w.clock}
	for _, f := range change {
		f(w)
	}
	var err error
	w.admin, err = client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-"}}
	Expect(w.admin.Create(w.ctx, ns)).To(Succeed())
	w.namespace = ns.Name
	w.owner = w.newOwner("owner")
	w.start()
	DeferCleanup(func() { w.stop() })
	return w
}

func (w *world) newOwner(name string) *widget.Widget {
	GinkgoHelper()
	o := &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.namespace}}
	Expect(w.admin.Create(w.ctx, o)).To(Succeed())
	return o
}

// start creates a new cache, client and engine, like a restart of the process.
func (w *world) start() {
	GinkgoHelper()
	var ctx context.Context
	ctx, w.stop = context.WithCancel(w.ctx)
	var err error
	counted := rest.CopyConfig(config)
	if w.user != "" {
		counted.Impersonate = rest.ImpersonationConfig{UserName: w.user, Groups: []string{"system:masters"}}
	}
	w.cache, err = cache.New(rest.CopyConfig(counted), cache.Options{Scheme: scheme, DefaultTransform: w.transform})
	Expect(err).NotTo(HaveOccurred())
	started := w.cache
	go func() { _ = started.Start(ctx) }()
	w.requests = &recorded{}
	counted.Wrap(w.requests.wrap)
	w.cacheless = counted
	w.client, err = client.New(counted, client.Options{
		Scheme: scheme, Cache: &client.CacheOptions{Reader: w.cache, Unstructured: true},
	})
	Expect(err).NotTo(HaveOccurred())
	live, err := client.New(counted, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	w.engine, err = engine.New(w.client, live, w.options)
	Expect(err).NotTo(HaveOccurred())
	w.status, err = status.New(w.client, live, status.Options{FieldManager: manager})
	Expect(err).NotTo(HaveOccurred())
}

func (w *world) restart() {
	GinkgoHelper()
	w.stop()
	w.start()
}

// pass applies a plan for an owner and returns the result with the requests.
func (w *world) pass(set apply.Plan) (apply.Result, []string) {
	GinkgoHelper()
	w.requests.take()
	current := &widget.Widget{}
	Eventually(func() error { return w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), current) }).Should(Succeed())
	result := w.engine.Apply(w.ctx, current, set)
	return result, w.requests.take()
}

// converge runs reconciliations until one sends nothing and waits for no deletion.
func (w *world) converge(plan func() apply.Plan) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		result, sent := w.pass(plan())
		g.Expect(result.Err()).NotTo(HaveOccurred())
		g.Expect(sent).To(BeEmpty())
		g.Expect(awaited(result)).To(BeEmpty())
	}).Should(Succeed())
	w.synced(plan)
}

// confirming is the longest interval at which a pass asks for another one because it awaits a deletion or the cache.
const confirming = 5 * time.Second

// awaited describes what a pass that sent nothing still waits for, empty for nothing. A pruned object that is being deleted is not among
// the results, but the pass asks for another one soon.
func awaited(result apply.Result) string {
	for i := range result.Objects {
		if o := &result.Objects[i]; o.Reason == apply.ReasonTerminating {
			return "the deletion of " + o.GVK.Kind + " " + o.Key.String()
		}
	}
	if after := result.RequeueAfter; after > 0 && after <= confirming {
		return "another pass after " + after.String()
	}
	return ""
}

// synced waits until the cache contains the stored objects.
func (w *world) synced(plan func() apply.Plan) {
	GinkgoHelper()
	for _, c := range plan().Children {
		if c.Object == nil {
			continue
		}
		w.syncedObject(c.Object)
	}
}

func (w *world) syncedObject(o client.Object) {
	GinkgoHelper()
	key := client.ObjectKeyFromObject(o)
	stored := o.DeepCopyObject().(client.Object)
	if namespaced, err := w.admin.IsObjectNamespaced(o); err == nil && namespaced && key.Namespace == "" {
		key.Namespace = w.namespace
	}
	Expect(w.admin.Get(w.ctx, key, stored)).To(Succeed())
	Eventually(func() string {
		cached := o.DeepCopyObject().(client.Object)
		if err := w.client.Get(w.ctx, key, cached); err != nil {
			return err.Error()
		}
		return cached.GetResourceVersion()
	}).WithPolling(5 * time.Millisecond).Should(Equal(stored.GetResourceVersion()))
}

// quiet runs n reconciliations and expects no requests.
func (w *world) quiet(n int, plan func() apply.Plan) {
	GinkgoHelper()
	for i := range n {
		result, sent := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(sent).To(BeEmpty(), "pass %d", i)
	}
}
