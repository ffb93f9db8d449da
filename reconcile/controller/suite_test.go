package controller_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
)

// env is the API server of the tests.
var env = &environment.Environment{
	CRDs:             []*apiextensionsv1.CustomResourceDefinition{widget.CRD()},
	AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"},
	Audit:            true,
}

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(env.Main(m))
}

// TestOnAPIServer runs the specs.
func TestOnAPIServer(t *testing.T) {
	t.Parallel()
	env.Require(t)
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(soon)
	RunSpecs(t, "controller")
}

const (
	soon  = time.Minute            // for a busy machine
	pause = 500 * time.Millisecond // long enough to observe an unexpected reconciliation
)

// world is the remote state of the tests.
type world struct {
	err   error
	names []string
}

// GetComponentHealth reports a failed read.
func (w world) GetComponentHealth(context.Context) []health.Component {
	if w.err == nil {
		return nil
	}
	return []health.Component{{Name: "World", Errors: []error{w.err}}}
}

// probe is a reconciler with two functions that counts the reconciliations of each owner.
type probe struct {
	fetch func(ctx context.Context, r reconcile.Reader, owner *widget.Widget) world
	plan  func(owner *widget.Widget, w world) reconcile.PlanResult

	mu     sync.Mutex
	passes map[string]int
}

func (p *probe) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*widget.Widget],
) world {
	p.mu.Lock()
	if p.passes == nil {
		p.passes = map[string]int{}
	}
	p.passes[rc.Object.Name]++
	p.mu.Unlock()
	if p.fetch == nil {
		return world{}
	}
	return p.fetch(ctx, r, rc.Object)
}

func (p *probe) PlanResources(
	_ context.Context, rc reconcile.ReconcileContext[*widget.Widget], w world,
) (reconcile.PlanResult, error) {
	if p.plan == nil {
		return reconcile.PlanResult{}, nil
	}
	return p.plan(rc.Object, w), nil
}

func (p *probe) count(owner string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passes[owner]
}

func (p *probe) total() (passes, owners int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, count := range p.passes {
		passes += count
	}
	return passes, len(p.passes)
}

// settled waits until the owner was reconciled and no other reconciliation follows, and returns their number.
func (p *probe) settled(ctx context.Context, owner string) int {
	GinkgoHelper()
	Eventually(p.count).WithContext(ctx).WithArguments(owner).WithTimeout(soon).Should(BeNumerically(">", 0))
	last := -1
	Eventually(func() bool {
		before := last
		last = p.count(owner)
		return before == last
	}).WithPolling(pause).WithTimeout(soon).Should(BeTrue())
	return last
}

// runs starts a manager for one namespace and stops it after the spec.
type runs struct {
	config  *rest.Config // nil means the administrator's
	wrap    func(http.RoundTripper) http.RoundTripper
	cache   cache.Options
	leaders bool
	logger  logr.Logger
	probes  string // the address of /readyz; empty disables it

	webhooks webhook.Server
	metrics  server.Options // metrics are served only if BindAddress is set
}

func (r runs) start(namespace string, add func(mgr manager.Manager) error) manager.Manager {
	GinkgoHelper()
	mgr := r.manager(namespace)
	Expect(add(mgr)).To(Succeed())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	DeferCleanup(func() {
		cancel()
		Eventually(done).WithTimeout(soon).Should(Receive(BeNil()))
	})
	return mgr
}

// manager returns a manager with these options that is not started.
func (r runs) manager(namespace string) manager.Manager {
	GinkgoHelper()
	config := r.config
	if config == nil {
		config = env.Config()
	}
	if r.wrap != nil {
		config.Wrap(r.wrap)
	}
	if r.metrics.BindAddress == "" {
		r.metrics.BindAddress = "0"
	}
	options := r.cache
	if namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	mgr, err := manager.New(config, manager.Options{
		Scheme: testScheme(GinkgoTB()), Cache: options, Metrics: r.metrics,
		Logger: r.logger, LeaderElection: r.leaders, LeaderElectionID: "test", LeaderElectionNamespace: namespace,
		HealthProbeBindAddress: r.probes, WebhookServer: r.webhooks,
	})
	Expect(err).NotTo(HaveOccurred())
	return mgr
}

func settings() controller.Options {
	return controller.Options{SkipNameValidation: true}
}

// change edits the object with a patch, which does not conflict with writes of the controller.
func change[T client.Object](ctx context.Context, c client.Client, object T, edit func(T)) error {
	if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return err
	}
	before := object.DeepCopyObject().(T)
	edit(object)
	return c.Patch(ctx, object, client.MergeFrom(before))
}

func admin() client.Client {
	c, err := client.New(env.Config(), client.Options{Scheme: testScheme(GinkgoTB())})
	Expect(err).NotTo(HaveOccurred())
	return c
}

func newWidget(namespace, name string) *widget.Widget {
	return &widget.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func configMap(namespace, name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}}
}

func ownerReference(version, kind, name string, uid types.UID, controls *bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, UID: uid, Controller: controls}
}

// inParallel calls do with each number below count.
func inParallel(count int, do func(i int) error) {
	GinkgoHelper()
	const workers = 8
	numbers := make(chan int)
	failed := make([]error, workers)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := range numbers {
				failed[worker] = errors.Join(failed[worker], do(i))
			}
		})
	}
	for i := range count {
		numbers <- i
	}
	close(numbers)
	group.Wait()
	Expect(errors.Join(failed...)).To(Succeed())
}

// trackedReads returns the number of tracked reads of a controller.
func trackedReads(name string) int {
	return metric("reconcilekit_tracked_reads", map[string]string{"controller": name})
}

// metric returns the sum of a metric's samples that have the labels.
func metric(name string, labels map[string]string) int {
	GinkgoHelper()
	families, err := metrics.Registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	sum := 0.0
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, sample := range family.GetMetric() {
			matching := 0
			for _, label := range sample.GetLabel() {
				if want, asked := labels[label.GetName()]; asked && want == label.GetValue() {
					matching++
				}
			}
			if matching == len(labels) {
				sum += sample.GetGauge().GetValue() + sample.GetCounter().GetValue() + float64(sample.GetHistogram().GetSampleCount())
			}
		}
	}
	return int(sum)
}
