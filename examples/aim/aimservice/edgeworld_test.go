package aimservice_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// reading has the phases of the operator without writes to children: it reads and plans, but changes no child. Only the
// test's own writes then enqueue a service.
type reading struct{ aimservice.ServiceReconciler }

func (r *reading) PlanResources(
	ctx context.Context, rc reconcile.ReconcileContext[*aimv1alpha1.AIMService], obs aimservice.ServiceObservation,
) (reconcile.PlanResult, error) {
	plan, err := r.ServiceReconciler.PlanResources(ctx, rc, obs)
	plan.Policy = apply.Suspend
	return plan, err
}

// enqueue is the record of an enqueued service: the first event that requested a reconciliation, and the number of
// further events before it began.
type enqueue struct {
	Message   string `json:"msg"`
	Namespace string
	Name      string
	Event     string
	Kind      string
	By        struct{ Namespace, Name string }
	More      int
}

func (e enqueue) String() string {
	text := fmt.Sprintf("%s/%s for %s of %s %s", e.Namespace, e.Name, e.Event, e.Kind, strings.TrimPrefix(e.By.Namespace+"/"+e.By.Name, "/"))
	if e.More > 0 {
		text += fmt.Sprintf(", and for %d other events", e.More)
	}
	return text
}

// edgeWorld runs an operator and records its enqueues. One worker reconciles services in the order in which they were
// enqueued.
type edgeWorld struct {
	known client.Reader // reads the cache of the operator

	mu   sync.Mutex
	seen []string
}

// startReading runs the operator until the specs of the container end.
func startReading() *edgeWorld {
	GinkgoHelper()
	w := &edgeWorld{}
	services := aimservice.Declare(&reading{}).Options(controller.Options{
		Apply: apply.Options{Finalizer: aimservice.CleanupFinalizer}, PauseAnnotation: "edges.test/paused", SkipNameValidation: true,
	}).Build()
	cache, err := controller.CacheOptions(scheme, services)
	Expect(err).NotTo(HaveOccurred())
	mgr, err := ctrl.NewManager(env.Config(), manager.Options{
		Scheme: scheme, Cache: cache, Metrics: server.Options{BindAddress: "0"},
		Logger: funcr.NewJSON(w.note, funcr.Options{Verbosity: 1}),
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(services.SetupWithManager(mgr)).To(Succeed())
	running, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- mgr.Start(running) }()
	DeferCleanup(func() {
		cancel()
		Expect(<-done).To(Succeed())
	})
	Expect(mgr.GetCache().WaitForCacheSync(running)).To(BeTrue())
	w.known = mgr.GetCache()
	return w
}

func (w *edgeWorld) note(line string) {
	var e enqueue
	if !strings.Contains(line, `"triggered"`) || json.Unmarshal([]byte(line), &e) != nil || e.Message != "triggered" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, e.String())
}

// since lists the enqueues after the given number.
func (w *edgeWorld) since(first int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen[first:])
}

func (w *edgeWorld) count() int { return len(w.since(0)) }

// quiet waits until each of the services was enqueued and nothing has been enqueued for a while.
func (w *edgeWorld) quiet(services ...*aimv1alpha1.AIMService) {
	GinkgoHelper()
	for _, s := range services {
		Eventually(func() []string { return w.since(0) }).Should(ContainElement(HavePrefix(s.Namespace + "/" + s.Name + " for create of ")))
	}
	last := -1
	Eventually(func() bool {
		before := last
		last = w.count()
		return before == last
	}).WithPolling(700 * time.Millisecond).Should(BeTrue())
}

// knows waits until the operator has the objects in its cache, so that later events of their kinds cannot overtake
// theirs.
func (w *edgeWorld) knows(objects ...client.Object) {
	GinkgoHelper()
	for _, object := range objects {
		kind, err := apiutil.GVKForObject(object, scheme)
		Expect(err).NotTo(HaveOccurred())
		var cached client.Object = controller.Metadata(kind)
		if kind.Kind != "Node" { // the cache stores no more of it
			cached = object.DeepCopyObject().(client.Object)
		}
		Eventually(func() error { return w.known.Get(ctx, client.ObjectKeyFromObject(object), cached) }).Should(Succeed())
	}
}

// kindOf formats the kind of an object as the library does.
func kindOf(object client.Object) string {
	GinkgoHelper()
	kind, err := apiutil.GVKForObject(object, scheme)
	Expect(err).NotTo(HaveOccurred())
	return kind.Group + "/" + kind.Version + "/" + kind.Kind
}

// expected returns the record of an enqueue of a service because of an object.
func expected(service *aimv1alpha1.AIMService, event string, object client.Object) string {
	GinkgoHelper()
	e := enqueue{Namespace: service.Namespace, Name: service.Name, Event: event, Kind: kindOf(object)}
	e.By.Namespace, e.By.Name = object.GetNamespace(), object.GetName()
	return e.String()
}

// put creates an object. It registers the deletion of a cluster-scoped one, which does not disappear with the namespace.
func put(object client.Object) client.Object {
	GinkgoHelper()
	Expect(c.Create(ctx, object)).To(Succeed(), "%T %s", object, object.GetName())
	if object.GetNamespace() == "" {
		DeferCleanup(func() { Expect(client.IgnoreNotFound(c.Delete(ctx, object))).To(Succeed()) })
	}
	return object
}

// touch changes a label or annotation that has no meaning.
func touch(object client.Object, where string) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{%q:{"touched":"%d"}}}`, where, time.Now().UnixNano())
	Expect(c.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}
