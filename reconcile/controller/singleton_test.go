package controller_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

const (
	onShelf = "test.reconcilekit.dev/on-shelf"
	longer  = 60 * time.Second // for a busy machine
)

// shelf plans one ConfigMap with the names of all books in its namespace, which are ConfigMaps with a label, and a Secret while it is open.
type shelf struct {
	namespace string
	closed    *atomic.Bool // nil means open
	always    bool         // plan the ConfigMap also without books
}

// books is the remote state and the observation.
type books struct {
	reconcile.FetchResult[reconcile.Discovery[*corev1.ConfigMap]]
}

var errNoTitle = errors.New("data.title is missing")

func (s shelf) FetchRemoteState(ctx context.Context, r reconcile.Reader, _ reconcile.ReconcileContext[*controller.Group]) books {
	return books{reconcile.Discover(ctx, r, &corev1.ConfigMapList{}, func(o *corev1.ConfigMap) error {
		if o.Data["title"] == "" {
			return errNoTitle
		}
		return nil
	}, client.InNamespace(s.namespace), client.MatchingLabels{onShelf: "true"})}
}

func (s shelf) PlanResources(_ context.Context, _ reconcile.ReconcileContext[*controller.Group], b books) (reconcile.PlanResult, error) {
	var plan reconcile.PlanResult
	list := configMap(s.namespace, "list", nil)
	list.Data = map[string]string{}
	for _, book := range b.Value.Found {
		list.Data[book.Name] = book.Data["title"]
	}
	if len(list.Data) > 0 || s.always {
		plan.Apply(list)
	}
	if s.closed != nil && !s.closed.Load() {
		plan.Apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "key"}})
	}
	return plan, nil
}

// GetComponentHealth reports which books were left out.
func (b books) GetComponentHealth(context.Context) []health.Component {
	return []health.Component{{Name: "Books", State: health.Ready, Reason: "Listed", Message: "left out: " + b.Value.SkippedText()}}
}

var _ = Describe("A singleton", func() {
	var (
		namespace string
		c         client.Client
		counted   *requests.Requests
	)
	BeforeEach(func() {
		namespace, c, counted = env.Namespace(GinkgoTB()), admin(), &requests.Requests{}
	})

	declare := func(name string, s shelf) *controller.Controller {
		return controller.NewSingleton(name, s).Owns(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Options(settings()).Build()
	}
	start := func(in string, controllers ...*controller.Controller) (stop func()) {
		GinkgoHelper()
		options, err := controller.CacheOptions(testScheme(GinkgoTB()), controllers...)
		Expect(err).NotTo(HaveOccurred())
		return startManager(counted, options, in, func(mgr manager.Manager) error {
			var errs []error
			for _, c := range controllers {
				errs = append(errs, c.SetupWithManager(mgr))
			}
			return errors.Join(errs...)
		})
	}
	book := func(name, title string) *corev1.ConfigMap {
		o := configMap(namespace, name, map[string]string{onShelf: "true"})
		o.Data = map[string]string{"title": title}
		return o
	}
	list := func(ctx context.Context) *corev1.ConfigMap {
		found := &corev1.ConfigMap{}
		Expect(client.IgnoreNotFound(c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "list"}, found))).To(Succeed())
		return found
	}
	holds := func(ctx context.Context, data map[string]string) types.UID {
		GinkgoHelper()
		var found *corev1.ConfigMap
		Eventually(func() map[string]string { found = list(ctx); return found.Data }).WithTimeout(longer).Should(Equal(data))
		return found.UID
	}
	patch := func(ctx context.Context, o client.Object, body string) {
		GinkgoHelper()
		Expect(c.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(body)))).To(Succeed())
	}
	quiet := func() {
		GinkgoHelper()
		Eventually(func() int {
			counted.Reset()
			<-newTimer()
			return len(counted.Snapshot().WithoutInformers())
		}).WithTimeout(longer).Should(BeZero())
	}

	It("creates its children at the start, repairs them, and then sends nothing", func(ctx context.Context) {
		start(namespace, declare("shelf", shelf{namespace: namespace, always: true}))
		var made *corev1.ConfigMap
		Eventually(func() types.UID { made = list(ctx); return made.UID }).WithTimeout(longer).ShouldNot(BeEmpty())
		Expect(made.OwnerReferences).To(BeEmpty())
		Expect(made.Annotations).To(HaveKeyWithValue(apply.GroupAnnotation, "shelf//shelf"))
		quiet()
		Expect(c.Create(ctx, book("b", "B"))).To(Succeed())
		Expect(c.Create(ctx, book("a", "A"))).To(Succeed())
		Expect(holds(ctx, map[string]string{"a": "A", "b": "B"})).To(Equal(made.UID))
		patch(ctx, made, `{"data":{"a":"X"}}`)
		holds(ctx, map[string]string{"a": "A", "b": "B"})
		Expect(c.Delete(ctx, made)).To(Succeed())
		Eventually(func() types.UID { return list(ctx).UID }).WithTimeout(longer).ShouldNot(Or(BeEmpty(), Equal(made.UID)))
		quiet()
	})

	It("is enqueued by objects that match its lists, also if it found and planned nothing before", func(ctx context.Context) {
		start(namespace, declare("shelf", shelf{namespace: namespace}))
		quiet()
		plain := configMap(namespace, "c", nil)
		plain.Data = map[string]string{"title": "C"}
		Expect(c.Create(ctx, plain)).To(Succeed())
		Expect(c.Create(ctx, book("untitled", ""))).To(Succeed())
		for range 2 {
			patch(ctx, plain, fmt.Sprintf(`{"metadata":{"labels":{%q:"true"}}}`, onShelf))
			holds(ctx, map[string]string{"c": "C"})
			patch(ctx, plain, fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, onShelf))
			holds(ctx, nil)
			quiet()
		}
		patch(ctx, configMap(namespace, "untitled", nil), `{"data":{"title":"D"}}`)
		holds(ctx, map[string]string{"untitled": "D"})
	})

	It("writes nothing after a restart, and prunes children that left the plan by their labels", func(ctx context.Context) {
		closed := &atomic.Bool{}
		s := shelf{namespace: namespace, always: true, closed: closed}
		key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "key"}}
		stop := start(namespace, declare("shelf", s))
		Eventually(func() error { return c.Get(ctx, client.ObjectKeyFromObject(key), key) }).WithTimeout(longer).Should(Succeed())
		holds(ctx, nil)
		quiet()
		stop()
		counted.Reset()
		stop = start(namespace, declare("shelf", s))
		quiet()
		Expect(counted.Snapshot().Writes()).To(BeEmpty())
		stop()
		closed.Store(true)
		start(namespace, declare("shelf", s))
		Eventually(func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(key), key)) }).
			WithTimeout(longer).Should(BeTrue())
		Expect(list(ctx).UID).NotTo(BeEmpty())
	})

	It("recreates its children in another namespace and deletes the old ones", func(ctx context.Context) {
		stop := start("", declare("nomad", shelf{namespace: namespace, always: true}))
		Eventually(func() types.UID { return list(ctx).UID }).WithTimeout(longer).ShouldNot(BeEmpty())
		stop()
		old := namespace
		namespace = env.Namespace(GinkgoTB())
		start("", declare("nomad", shelf{namespace: namespace, always: true}))
		Eventually(func() types.UID { return list(ctx).UID }).WithTimeout(longer).ShouldNot(BeEmpty())
		namespace = old
		Eventually(func() types.UID { return list(ctx).UID }).WithTimeout(longer).Should(BeEmpty())
	})

	It("does not change an object that another writer created", func(ctx context.Context) {
		foreign := configMap(namespace, "list", nil)
		foreign.Data = map[string]string{"theirs": "1"}
		Expect(c.Create(ctx, foreign)).To(Succeed())
		start(namespace, declare("shelf", shelf{namespace: namespace, always: true}))
		Expect(c.Create(ctx, book("a", "A"))).To(Succeed())
		quiet()
		Expect(list(ctx).Data).To(Equal(foreign.Data))
	})

	It("provides its conditions to other controllers of the process", func(ctx context.Context) {
		shelves := declare("shelf", shelf{namespace: namespace})
		readers := controller.New("readers", &probe{
			fetch: func(ctx context.Context, r reconcile.Reader, _ *widget.Widget) world {
				found := reconcile.Fetch(ctx, r, controller.SingletonKey("shelf"), controller.GroupOf("shelf"))
				if found.HasError() {
					return world{err: found.Error}
				}
				books := meta.FindStatusCondition(found.Value.Status.Conditions, "BooksReady")
				return world{names: []string{books.Message}}
			},
			plan: func(owner *widget.Widget, w world) (plan reconcile.PlanResult) {
				told := configMap(owner.Namespace, "told", nil)
				told.Data = map[string]string{"message": w.names[0]}
				plan.Apply(told)
				return plan
			},
		}).Joins(shelves).Owns(&corev1.ConfigMap{}).Options(settings()).Build()
		Expect(c.Create(ctx, newWidget(namespace, "reader"))).To(Succeed())
		start(namespace, shelves, readers)
		told := func() string {
			found := &corev1.ConfigMap{}
			_ = c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "told"}, found)
			return found.Data["message"]
		}
		Eventually(told).WithTimeout(longer).Should(Equal("left out: "))
		Expect(c.Create(ctx, book("untitled", ""))).To(Succeed())
		Eventually(told).WithTimeout(longer).Should(Equal("left out: " + namespace + "/untitled: data.title is missing"))
	})
})
