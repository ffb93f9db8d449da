package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

const (
	sumsName = "sums"
	optOut   = "test.reconcilekit.dev/managed"
)

// sums plans one ConfigMap for all widgets with the same ref. The key of the group is namespace and ref.
type sums struct {
	anchored bool // the ConfigMap with the name of the ref becomes the controller of the child
}

// sum is the remote state and the observation of a group.
type sum struct {
	widgets reconcile.FetchResult[*widget.WidgetList]
	anchor  reconcile.FetchResult[*corev1.ConfigMap]
}

var errTooMany = errors.New("count is above 99")

func (s sum) each(visit func(w *widget.Widget, refused error)) {
	for i := range s.widgets.Value.Items {
		w := &s.widgets.Value.Items[i]
		if !w.DeletionTimestamp.IsZero() {
			continue
		}
		var refused error
		if w.Spec.Count > 99 {
			refused = errTooMany
		}
		visit(w, refused)
	}
}

// GetComponentHealth returns no components.
func (sum) GetComponentHealth(context.Context) []health.Component { return nil }

// GetMembers lists the widgets.
func (s sum) GetMembers() []controller.Member {
	var members []controller.Member
	s.each(func(w *widget.Widget, refused error) { members = append(members, controller.MemberOf(w, refused)) })
	return members
}

func (s sums) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*controller.Group]) sum {
	out := sum{widgets: reconcile.FetchList(ctx, r, &widget.WidgetList{}, client.MatchingFields{"group." + rc.Object.Kind: client.ObjectKeyFromObject(rc.Object).String()})}
	if s.anchored {
		out.anchor = reconcile.Fetch(ctx, r, client.ObjectKeyFromObject(rc.Object), &corev1.ConfigMap{})
	}
	return out
}

func (sums) PlanResources(_ context.Context, rc reconcile.ReconcileContext[*controller.Group], s sum) (reconcile.PlanResult, error) {
	var plan reconcile.PlanResult
	data := map[string]string{}
	s.each(func(w *widget.Widget, refused error) {
		if refused == nil {
			data[w.Name] = strconv.Itoa(w.Spec.Count)
		}
	})
	if len(data) > 0 {
		child := configMap(rc.Object.Namespace, "sum-"+rc.Object.Name, nil)
		child.Data = data
		if anchor := s.anchor.Value; anchor != nil {
			yes := true
			child.OwnerReferences = []metav1.OwnerReference{ownerReference("v1", "ConfigMap", anchor.Name, anchor.UID, &yes)}
		}
		plan.Apply(child)
	}
	return plan, nil
}

// part is the reconciler of a widget. It reports the outcome of the widget's part.
type part struct{}

func (part) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*widget.Widget]) reading {
	key := types.NamespacedName{Namespace: rc.Object.Namespace, Name: rc.Object.Spec.Ref}
	return reading{owner: rc.Object, group: reconcile.Fetch(ctx, r, key, controller.GroupOf(sumsName))}
}

func (part) PlanResources(context.Context, reconcile.ReconcileContext[*widget.Widget], reading) (reconcile.PlanResult, error) {
	return reconcile.PlanResult{}, nil
}

type reading struct {
	owner *widget.Widget
	group reconcile.FetchResult[*controller.Group]
}

// GetComponentHealth reports the outcome of the part.
func (s reading) GetComponentHealth(context.Context) []health.Component {
	if s.group.HasError() {
		return []health.Component{{Name: "Part", Errors: []error{s.group.Error}}}
	}
	effect, message := s.group.Value.Effect(s.owner)
	c := health.Component{Name: "Part", State: health.Ready, Reason: string(effect), Message: message, Child: true}
	if effect != controller.EffectApplied {
		c.State = health.Progressing
	}
	return []health.Component{c}
}

var _ = Describe("A group", func() {
	var (
		namespace string
		c         client.Client
		counted   *requests.Requests
	)
	BeforeEach(func() {
		namespace, c, counted = env.Namespace(GinkgoTB()), admin(), &requests.Requests{}
	})

	start := func(s sums) (stop func()) {
		groups := controller.NewGroup(sumsName, s).
			Members(&widget.Widget{}, func(o client.Object) []types.NamespacedName {
				return []types.NamespacedName{{Namespace: o.GetNamespace(), Name: o.(*widget.Widget).Spec.Ref}}
			}).
			Owns(&corev1.ConfigMap{}).
			Options(controller.Options{SkipNameValidation: true, Apply: apply.Options{OptOutAnnotation: optOut}}).Build()
		parts := controller.New("parts", part{}).Joins(groups).Options(settings()).Build()
		options, err := controller.CacheOptions(testScheme(GinkgoTB()), groups, parts)
		Expect(err).NotTo(HaveOccurred())
		return startManager(counted, options, namespace, func(mgr manager.Manager) error {
			return errors.Join(groups.SetupWithManager(mgr), parts.SetupWithManager(mgr))
		})
	}
	member := func(name string, count int) *widget.Widget {
		w := newWidget(namespace, name)
		w.Spec.Ref, w.Spec.Count = "g", count
		return w
	}
	child := func(ctx context.Context) *corev1.ConfigMap {
		found := &corev1.ConfigMap{}
		Expect(client.IgnoreNotFound(c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "sum-g"}, found))).To(Succeed())
		return found
	}
	holds := func(ctx context.Context, data map[string]string) types.UID {
		GinkgoHelper()
		var found *corev1.ConfigMap
		Eventually(func() map[string]string { found = child(ctx); return found.Data }).WithTimeout(soon).Should(Equal(data))
		return found.UID
	}
	reports := func(ctx context.Context, name, want string) {
		GinkgoHelper()
		Eventually(func() string {
			w := newWidget(namespace, name)
			if err := c.Get(ctx, client.ObjectKeyFromObject(w), w); err != nil {
				return err.Error()
			}
			for _, condition := range w.Status.Conditions {
				if condition.Type == "PartReady" {
					return condition.Reason + " " + condition.Message
				}
			}
			return "none"
		}).WithTimeout(soon).Should(HavePrefix(want))
	}
	change := func(ctx context.Context, o client.Object, body string) {
		GinkgoHelper()
		Expect(c.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(body)))).To(Succeed())
	}
	quiet := func() {
		GinkgoHelper()
		Eventually(func() int {
			counted.Reset()
			<-newTimer()
			return len(counted.Snapshot().WithoutInformers())
		}).WithTimeout(soon).Should(BeZero())
	}

	It("keeps one child for three owners, updates it when owners are added, changed or deleted, and deletes it with the last", func(ctx context.Context) {
		start(sums{})
		for i, name := range []string{"a", "b", "c"} {
			Expect(c.Create(ctx, member(name, i+1))).To(Succeed())
		}
		uid := holds(ctx, map[string]string{"a": "1", "b": "2", "c": "3"})
		found := child(ctx)
		Expect(found.OwnerReferences).To(BeEmpty())
		Expect(found.Annotations).To(HaveKeyWithValue(apply.GroupAnnotation, "sums/"+namespace+"/g"))
		for _, name := range []string{"a", "b", "c"} {
			reports(ctx, name, "Applied")
		}
		quiet()

		change(ctx, newWidget(namespace, "b"), `{"spec":{"count":100}}`)
		Expect(holds(ctx, map[string]string{"a": "1", "c": "3"})).To(Equal(uid))
		reports(ctx, "b", "Refused count is above 99")
		reports(ctx, "a", "Applied")
		change(ctx, newWidget(namespace, "b"), `{"spec":{"count":5}}`)
		holds(ctx, map[string]string{"a": "1", "b": "5", "c": "3"})

		change(ctx, newWidget(namespace, "a"), `{"spec":{"ref":"h"}}`)
		Expect(holds(ctx, map[string]string{"b": "5", "c": "3"})).To(Equal(uid))
		Expect(c.Delete(ctx, newWidget(namespace, "b"))).To(Succeed())
		Expect(holds(ctx, map[string]string{"c": "3"})).To(Equal(uid))
		Expect(c.Delete(ctx, found)).To(Succeed())
		Expect(holds(ctx, map[string]string{"c": "3"})).NotTo(Equal(uid), "made anew after it was deleted by hand")
		Expect(c.Delete(ctx, newWidget(namespace, "c"))).To(Succeed())
		holds(ctx, nil)
		quiet()
	})

	It("writes nothing after a restart, and deletes the child if its members were deleted meanwhile", func(ctx context.Context) {
		stop := start(sums{})
		Expect(c.Create(ctx, member("a", 1))).To(Succeed())
		Expect(c.Create(ctx, member("b", 2))).To(Succeed())
		holds(ctx, map[string]string{"a": "1", "b": "2"})
		reports(ctx, "a", "Applied")
		reports(ctx, "b", "Applied")
		quiet()
		stop()

		counted.Reset()
		stop = start(sums{})
		<-newTimer()
		Expect(counted.Snapshot().Writes()).To(BeEmpty())
		stop()

		Expect(c.Delete(ctx, newWidget(namespace, "a"))).To(Succeed())
		Expect(c.Delete(ctx, newWidget(namespace, "b"))).To(Succeed())
		start(sums{})
		holds(ctx, nil)
	})

	It("converges with three owners under faults", func(ctx context.Context) {
		var writes atomic.Int64
		counted.Inject(func(r requests.Request) *requests.Fault {
			if !r.IsWrite() {
				return nil
			}
			n := writes.Add(1)
			if n > 30 || n%3 == 0 {
				return nil
			}
			return &requests.Fault{Committed: n%2 == 0}
		})
		start(sums{})
		for i, name := range []string{"a", "b", "c"} {
			Expect(c.Create(ctx, member(name, i+1))).To(Succeed())
		}
		holds(ctx, map[string]string{"a": "1", "b": "2", "c": "3"})
		for _, name := range []string{"c", "a", "b"} {
			Expect(c.Delete(ctx, newWidget(namespace, name))).To(Succeed())
			if name == "c" {
				holds(ctx, map[string]string{"a": "1", "b": "2"})
			}
		}
		holds(ctx, nil)
		Expect(writes.Load()).To(BeNumerically(">", 3))
		counted.Inject(nil)
		quiet()
	})

	It("neither adopts nor deletes an object that another writer created, and reports it to each member", func(ctx context.Context) {
		foreign := configMap(namespace, "sum-g", nil)
		foreign.Data = map[string]string{"theirs": "1"}
		Expect(c.Create(ctx, foreign)).To(Succeed())
		start(sums{})
		Expect(c.Create(ctx, member("a", 1))).To(Succeed())
		Expect(c.Create(ctx, member("b", 2))).To(Succeed())
		reports(ctx, "a", "Failed ConfigMap "+namespace+"/sum-g")
		reports(ctx, "b", "Failed ConfigMap "+namespace+"/sum-g")
		Expect(c.Delete(ctx, newWidget(namespace, "a"))).To(Succeed())
		Expect(c.Delete(ctx, newWidget(namespace, "b"))).To(Succeed())
		Consistently(func() types.UID { return child(ctx).UID }).WithTimeout(2 * pause).Should(Equal(foreign.UID))
		Expect(child(ctx).Data).To(Equal(foreign.Data))
	})

	It("does not change a child that opted out, until the annotation is removed", func(ctx context.Context) {
		start(sums{})
		Expect(c.Create(ctx, member("a", 1))).To(Succeed())
		holds(ctx, map[string]string{"a": "1"})
		change(ctx, child(ctx), fmt.Sprintf(`{"metadata":{"annotations":{%q:"false"}},"data":{"a":"7"}}`, optOut))
		change(ctx, newWidget(namespace, "a"), `{"spec":{"count":2}}`)
		quiet()
		Expect(child(ctx).Data).To(Equal(map[string]string{"a": "7"}))
		Expect(c.Delete(ctx, newWidget(namespace, "a"))).To(Succeed())
		quiet()
		Expect(child(ctx).Data).To(Equal(map[string]string{"a": "7"}))
		Expect(c.Create(ctx, member("b", 3))).To(Succeed())
		change(ctx, child(ctx), fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, optOut))
		Eventually(func() string { return child(ctx).Data["b"] }).WithTimeout(soon).Should(Equal("3"))
		Expect(c.Delete(ctx, newWidget(namespace, "b"))).To(Succeed())
		holds(ctx, nil)
	})

	It("can set a controller reference on the child, replace the reference, and delete the child", func(ctx context.Context) {
		anchor := configMap(namespace, "g", nil)
		Expect(c.Create(ctx, anchor)).To(Succeed())
		start(sums{anchored: true})
		Expect(c.Create(ctx, member("a", 1))).To(Succeed())
		holds(ctx, map[string]string{"a": "1"})
		controlledBy := func() types.UID {
			if reference := metav1.GetControllerOf(child(ctx)); reference != nil {
				return reference.UID
			}
			return ""
		}
		Eventually(controlledBy).WithTimeout(soon).Should(Equal(anchor.UID))
		Expect(c.Delete(ctx, anchor)).To(Succeed())
		another := configMap(namespace, "g", nil)
		Expect(c.Create(ctx, another)).To(Succeed())
		Eventually(controlledBy).WithTimeout(soon).Should(Equal(another.UID))
		Expect(c.Delete(ctx, newWidget(namespace, "a"))).To(Succeed())
		holds(ctx, nil)
	})
})

// startManager is like runs.start and returns the function that stops the manager.
func startManager(
	counted *requests.Requests, options cache.Options, namespace string, add func(manager.Manager) error,
) (stop func()) {
	GinkgoHelper()
	options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	mgr := newManager(counted.Observe(env.Config()), options)
	Expect(add(mgr)).To(Succeed())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	stop = func() {
		if ctx.Err() == nil {
			cancel()
			Eventually(done).WithTimeout(soon).Should(Receive(BeNil()))
		}
	}
	DeferCleanup(stop)
	return stop
}

func newManager(config *rest.Config, options cache.Options) manager.Manager {
	GinkgoHelper()
	mgr, err := manager.New(config, manager.Options{
		Scheme: testScheme(GinkgoTB()), Cache: options, Metrics: server.Options{BindAddress: "0"}, Logger: logr.Discard(),
	})
	Expect(err).NotTo(HaveOccurred())
	return mgr
}

func newTimer() <-chan time.Time { return time.After(pause) }
