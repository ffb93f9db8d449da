package pipeline_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	ownerstatus "github.com/reconcilekit/reconcilekit/reconcile/internal/status"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

var env = &environment.Environment{
	CRDs:   []*apiextensionsv1.CustomResourceDefinition{widget.CRD()},
	Scheme: newScheme(),
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), widget.AddToScheme(scheme)); err != nil {
		panic(err)
	}
	return scheme
}

func TestPipeline(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(time.Minute) // for a busy machine
	RunSpecs(t, "Pipeline")
}

var _ = BeforeSuite(func() { env.Setup(GinkgoTB()) })

// fetched is the remote state: the ConfigMap that the widget refers to, if any.
type fetched struct {
	source reconcile.FetchResult[*corev1.ConfigMap]
}

type observation struct {
	fetched
	referring bool
	extra     []health.Component
	refused   []string
}

func (o observation) GetComponentHealth(context.Context) []health.Component {
	components := o.extra
	if o.referring {
		components = append(components, o.source.Upstream("Source", nil))
	}
	return components
}

// widgets plans spec.count ConfigMaps for a widget. A test overrides single phases.
type widgets struct {
	fetch   func(fetched) fetched
	compose func(observation) observation
	plan    func(rc reconcile.ReconcileContext[*widget.Widget], plan *reconcile.PlanResult)
	failed  error // the error of PlanResources
}

func (w *widgets) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*widget.Widget],
) (f fetched) {
	if ref := rc.Object.Spec.Ref; ref != "" {
		f.source = reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: rc.Object.Namespace, Name: ref}, &corev1.ConfigMap{})
	}
	if w.fetch != nil {
		f = w.fetch(f)
	}
	return f
}

func (w *widgets) ComposeState(_ context.Context, rc reconcile.ReconcileContext[*widget.Widget], f fetched) observation {
	o := observation{fetched: f, referring: rc.Object.Spec.Ref != "" && (f.source.HasError() || f.source.Value != nil)}
	if w.compose != nil {
		o = w.compose(o)
	}
	return o
}

func (w *widgets) PlanResources(
	_ context.Context, rc reconcile.ReconcileContext[*widget.Widget], _ observation,
) (plan reconcile.PlanResult, _ error) {
	for i := range rc.Object.Spec.Count {
		plan.Apply(part(rc.Object, strconv.Itoa(i)))
	}
	if w.plan != nil {
		w.plan(rc, &plan)
	}
	return plan, w.failed
}

// part returns one child of a widget.
func part(owner *widget.Widget, suffix string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: owner.Name + "-" + suffix},
		Data:       map[string]string{"message": owner.Spec.Message},
	}
}

// DecorateStatus sets the count, and tries to overwrite a field that the pipeline owns.
func (w *widgets) DecorateStatus(status *widget.Status, _ *conditions.Manager, _ reconcile.StatusContext[*widget.Widget], _ observation) {
	status.Count++
	status.Count = min(status.Count, 1)
	status.ObservedGeneration = 99
	status.Conditions = nil
}

// world is the namespace of a test with a widget and a pipeline.
type world struct {
	client.Client
	requests *requests.Requests
	events   *events.FakeRecorder
	clock    *testingclock.FakePassiveClock
	widget   *widget.Widget
	pipeline ctrl.Reconciler
	budget   reconcile.Budget
	// reconcileDeleted is the option of the pipeline.
	reconcileDeleted bool
}

// newWorld creates the widget and a pipeline with live reads, so that a test controls the objects that a reconciliation reads.
func newWorld(spec widget.Spec, reconciler reconcile.Reconciler[*widget.Widget, fetched, observation]) *world {
	GinkgoHelper()
	namespace := env.Namespace(GinkgoTB())
	w := &world{
		requests: &requests.Requests{},
		events:   events.NewFakeRecorder(100),
		clock:    testingclock.NewFakePassiveClock(metav1.Now().Time),
		widget:   &widget.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "demo"}, Spec: spec},
	}
	var err error
	w.Client, err = client.New(w.requests.Observe(env.Config()), client.Options{Scheme: env.Scheme})
	Expect(err).NotTo(HaveOccurred())
	Expect(env.Client().Create(context.Background(), w.widget)).To(Succeed())
	w.restart(reconciler)
	return w
}

// restart replaces the pipeline and its engine with new ones, as a restart of the operator does.
func (w *world) restart(reconciler reconcile.Reconciler[*widget.Widget, fetched, observation], former ...string) {
	GinkgoHelper()
	engine, err := engine.New(w.Client, w.Client, apply.Options{FieldManager: "widgets"})
	Expect(err).NotTo(HaveOccurred())
	writer, err := ownerstatus.New(w.Client, w.Client, ownerstatus.Options{FieldManager: "widgets", FormerManagers: former})
	Expect(err).NotTo(HaveOccurred())
	config := pipeline.Config{
		Name:         "widgets",
		Reader:       w.Client,
		Applier:      engine,
		StatusWriter: writer,
		Finalizer:    apply.DefaultDomain + "/widgets",
		FieldManager: "widgets", FormerManagers: former,
		Recorder: w.events,
		Clock:    w.clock,
		Budget:   w.budget, ReconcileDeleted: w.reconcileDeleted,
	}
	w.pipeline, err = pipeline.New(reconciler, config)
	Expect(err).NotTo(HaveOccurred())
}

// pass runs one reconciliation and reads the widget.
func (w *world) pass() (ctrl.Result, error) {
	GinkgoHelper()
	result, err := w.pipeline.Reconcile(context.Background(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(w.widget)})
	if getErr := env.Client().Get(context.Background(), client.ObjectKeyFromObject(w.widget), w.widget); getErr != nil {
		Expect(client.IgnoreNotFound(getErr)).To(Succeed())
	}
	return result, err
}

// settle runs reconciliations until one sends no write.
func (w *world) settle() {
	GinkgoHelper()
	for range 5 {
		w.requests.Reset()
		_, err := w.pass()
		Expect(err).NotTo(HaveOccurred())
		if len(w.requests.Snapshot().Writes()) == 0 {
			return
		}
	}
	Fail("five passes did not settle; the last one sent:\n" + w.requests.Snapshot().Writes().String())
}

// condition returns a condition of the stored widget.
func (w *world) condition(conditionType string) metav1.Condition {
	for _, c := range w.widget.Status.Conditions {
		if c.Type == conditionType {
			return c
		}
	}
	return metav1.Condition{}
}

// parts returns the names of the widget's children that exist.
func (w *world) parts() []string {
	GinkgoHelper()
	var list corev1.ConfigMapList
	Expect(env.Client().List(context.Background(), &list, client.InNamespace(w.widget.Namespace))).To(Succeed())
	names := []string{}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], w.widget) {
			names = append(names, list.Items[i].Name)
		}
	}
	return names
}

// update changes the stored widget.
func (w *world) update(change func(*widget.Widget)) {
	GinkgoHelper()
	base, _ := w.widget.DeepCopyObject().(*widget.Widget)
	change(w.widget)
	Expect(env.Client().Patch(context.Background(), w.widget, client.MergeFrom(base))).To(Succeed())
}
