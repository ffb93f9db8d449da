package controller_test

import (
	"context"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// version is one version of an operator.
type version struct {
	controller *controller.Controller
	rights     *environment.Rights // nil means the administrator's
}

// operate runs the version in the namespace until stop is called.
func (v version) operate(namespace string) (stop func()) {
	GinkgoHelper()
	config := env.Config()
	if v.rights != nil {
		config = v.rights.Config()
	}
	return startWith(config, namespace, v.controller.SetupWithManager)
}

// startWith runs a manager for one namespace until stop is called.
func startWith(config *rest.Config, namespace string, add func(manager.Manager) error) (stop func()) {
	GinkgoHelper()
	mgr := newManager(config, cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}})
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

// planning returns a reconciler that plans what the function returns.
func planning(plan func(o *widget.Widget) reconcile.PlanResult) *probe {
	return &probe{plan: func(o *widget.Widget, _ world) reconcile.PlanResult { return plan(o) }}
}

func blockedPrune(ctx context.Context, c client.Client, w *widget.Widget) func() *metav1.Condition {
	return func() *metav1.Condition {
		if err := c.Get(ctx, client.ObjectKeyFromObject(w), w); err != nil {
			return nil
		}
		return meta.FindStatusCondition(w.Status.Conditions, pipeline.PruneBlocked)
	}
}

func isGone(ctx context.Context, c client.Client, o client.Object) func() bool {
	return func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(o), o)) }
}

var _ = Describe("A kind that the new version of an operator no longer owns", func() {
	var (
		namespace string
		c         client.Client
		policy    *networkingv1.NetworkPolicy
		role      *rbacv1.ClusterRole
		w         *widget.Widget
	)
	BeforeEach(func(ctx context.Context) {
		namespace, c = env.Namespace(GinkgoTB()), admin()
		policy = &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "p"}}
		role = &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "retired-" + namespace}}
		w = newWidget(namespace, "w")
		first := version{controller: controller.New("retiring", planning(func(o *widget.Widget) (plan reconcile.PlanResult) {
			plan.Apply(configMap(o.Namespace, "c", nil))
			plan.Apply(policy.DeepCopy())
			plan.Apply(role.DeepCopy())
			return plan
		})).
			Owns(&corev1.ConfigMap{}).
			Owns(&networkingv1.NetworkPolicy{}).
			Owns(&rbacv1.ClusterRole{}).
			Options(settings()).Build()}
		stop := first.operate(namespace)
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(func() error {
			// The plan copies policy and role concurrently, so they must not be written here.
			if err := c.Get(ctx, client.ObjectKeyFromObject(policy), &networkingv1.NetworkPolicy{}); err != nil {
				return err
			}
			return c.Get(ctx, client.ObjectKeyFromObject(role), &rbacv1.ClusterRole{})
		}).Should(Succeed())
		stop()
	})

	second := func(retired ...client.Object) version {
		GinkgoHelper()
		b := controller.New("retiring", planning(func(o *widget.Widget) (plan reconcile.PlanResult) {
			plan.Apply(configMap(o.Namespace, "c", nil))
			return plan
		})).Owns(&corev1.ConfigMap{}).Options(settings())
		for _, kind := range retired {
			b.Owns(kind, controller.Retired)
		}
		built := b.Build()
		page, err := controller.NewPage("retiring", testScheme(GinkgoTB()), built)
		Expect(err).NotTo(HaveOccurred())
		return version{controller: built, rights: env.Rights(GinkgoTB(), page.Rules())}
	}

	It("is pruned with the derived permissions if it is declared as retired", func(ctx context.Context) {
		v := second(&networkingv1.NetworkPolicy{}, &rbacv1.ClusterRole{})
		defer v.operate(namespace)()
		Eventually(isGone(ctx, c, policy)).Should(BeTrue())
		Eventually(isGone(ctx, c, role)).Should(BeTrue())
		Eventually(blockedPrune(ctx, c, w)).Should(BeNil())
		log, err := env.AuditLog()
		Expect(err).NotTo(HaveOccurred())
		watched, err := log.Entries(environment.User(v.rights.User()),
			environment.Asked(requests.Verb("watch"), requests.Resource("networking.k8s.io", "networkpolicies")))
		Expect(err).NotTo(HaveOccurred())
		Expect(watched).To(BeEmpty())
		Eventually(readyMessage).WithArguments(ctx, c, w).Should(ContainSubstring("Ready: True"))
	})

	It("is neither listed nor pruned without a declaration, and a condition names it", func(ctx context.Context) {
		v := second()
		defer v.operate(namespace)()
		Eventually(blockedPrune(ctx, c, w)).ShouldNot(BeNil())
		Expect(blockedPrune(ctx, c, w)().Message).To(And(
			ContainSubstring("NetworkPolicy.networking.k8s.io"), ContainSubstring("ClusterRole.rbac.authorization.k8s.io"), ContainSubstring("retired")))
		Expect(isGone(ctx, c, policy)()).To(BeFalse())
		By("reporting why the deletion of the owner waits")
		Expect(c.Delete(ctx, w)).To(Succeed())
		Eventually(blockedPrune(ctx, c, w)).Should(HaveField("Message", ContainSubstring("ClusterRole.rbac.authorization.k8s.io")))
	})

	It("is deleted with an owner that was deleted while no operator ran, if it is declared as retired", func(ctx context.Context) {
		Expect(c.Delete(ctx, w)).To(Succeed())
		defer second(&networkingv1.NetworkPolicy{}, &rbacv1.ClusterRole{}).operate(namespace)()
		Eventually(isGone(ctx, c, role)).Should(BeTrue())
		Eventually(isGone(ctx, c, w)).Should(BeTrue())
	})
})

var _ = Describe("The option Retired", func() {
	It("is rejected for a kind with another declaration", func() {
		_, err := controller.New("both", &probe{}).
			Owns(&corev1.Secret{}).
			Owns(&corev1.Secret{}, controller.Retired).Build().
			Describe(testScheme(GinkgoTB()))
		Expect(err).To(MatchError(ContainSubstring("a kind that is retired is not used in any other way")))
	})

	It("does not allow reads of the kind", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			return world{err: r.Get(ctx, client.ObjectKeyFromObject(o), &corev1.Secret{})}
		}}
		defer startWith(env.Config(), namespace, controller.New("reader", p).Owns(&corev1.Secret{}, controller.Retired).Options(settings()).Build().SetupWithManager)()
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).Should(ContainSubstring("is not declared"))
	})
})

var _ = Describe("An optional kind that is served in another version", Ordered, func() {
	It("keeps its objects while the operator is down and afterwards, and a condition reports it", func(ctx context.Context) {
		namespace, scheme := env.Namespace(GinkgoTB()), testScheme(GinkgoTB())
		Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
		c, err := client.New(env.Config(), client.Options{Scheme: scheme})
		Expect(err).NotTo(HaveOccurred())
		crd := reversionedCRD("gizmos", "Gizmo")
		Expect(c.Create(ctx, crd)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { _ = c.Delete(ctx, crd) })
		gizmo := func(version string) *unstructured.Unstructured {
			o := &unstructured.Unstructured{}
			o.SetGroupVersionKind(schema.GroupVersionKind{Group: crd.Spec.Group, Version: version, Kind: crd.Spec.Names.Kind})
			o.SetNamespace(namespace)
			o.SetName("g")
			return o
		}
		Eventually(func() error {
			return c.List(ctx, listOf(gizmo("v1beta1")), client.InNamespace(namespace))
		}).Should(Succeed())
		var mode atomic.Value // "always" plans the object also if its kind is absent
		mode.Store("always")
		build := func() *controller.Controller {
			p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
				if controller.IsAbsent(r.Get(ctx, client.ObjectKeyFromObject(o), gizmo("v1beta1"))) {
					return world{names: []string{"absent"}}
				}
				return world{}
			}, plan: func(o *widget.Widget, found world) (plan reconcile.PlanResult) {
				plan.Apply(configMap(o.Namespace, "c", nil))
				if len(found.names) == 0 || mode.Load() == "always" {
					plan.Apply(gizmo("v1beta1"))
				}
				return plan
			}}
			return controller.New("reversioned", p).
				Owns(&corev1.ConfigMap{}).
				Owns(gizmo("v1beta1"), controller.Optional).
				Options(settings()).Build()
		}
		stop := startWith(env.Config(), namespace, build().SetupWithManager)
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(func() error { return c.Get(ctx, client.ObjectKeyFromObject(gizmo("v1beta1")), gizmo("v1beta1")) }).Should(Succeed())
		stop()

		By("upgrading the CRD while no operator runs")
		serve(ctx, c, crd, "v1")
		Eventually(func() error { return c.Get(ctx, client.ObjectKeyFromObject(gizmo("v1")), gizmo("v1")) }).Should(Succeed())
		Eventually(func() error {
			return c.List(ctx, listOf(gizmo("v1beta1")), client.InNamespace(namespace))
		}).ShouldNot(Succeed())
		for _, m := range []string{"always", "only when it is there"} {
			mode.Store(m)
			stop = startWith(env.Config(), namespace, build().SetupWithManager)
			Expect(c.Delete(ctx, configMap(namespace, "c", nil))).To(Succeed())
			Eventually(func() error {
				return c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "c"}, &corev1.ConfigMap{})
			}).Should(Succeed())
			Eventually(blockedPrune(ctx, c, w)).Should(And(Not(BeNil()), HaveField("Message", And(
				ContainSubstring("Gizmo "+namespace+"/g"), ContainSubstring("v1beta1/Gizmo is not served")))))
			Consistently(isGone(ctx, c, gizmo("v1"))).WithTimeout(pause).Should(BeFalse())
			stop()
		}

		By("serving the version again while the operator runs")
		stop = startWith(env.Config(), namespace, build().SetupWithManager)
		serve(ctx, c, crd, "v1beta1", "v1")
		Eventually(blockedPrune(ctx, c, w)).Should(BeNil())
		Expect(isGone(ctx, c, gizmo("v1"))()).To(BeFalse())

		By("deleting and recreating the CRD")
		Expect(c.Delete(ctx, crd.DeepCopy())).To(Succeed())
		Eventually(isGone(ctx, c, crd.DeepCopy())).Should(BeTrue())
		Eventually(blockedPrune(ctx, c, w)).Should(BeNil(), "there is nothing that could be kept")
		Expect(w.Annotations).To(HaveKeyWithValue("applyset.kubernetes.io/contains-group-kinds", ContainSubstring("Gizmo.example.com")))
		Expect(c.Create(ctx, reversionedCRD("gizmos", "Gizmo"))).To(Succeed())
		Eventually(func() error { return c.Get(ctx, client.ObjectKeyFromObject(gizmo("v1beta1")), gizmo("v1beta1")) }).Should(Succeed())
		stop()
	})
})

func listOf(o *unstructured.Unstructured) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	gvk := o.GroupVersionKind()
	gvk.Kind += "List"
	list.SetGroupVersionKind(gvk)
	return list
}

// reversionedCRD has a second version, which is not served.
func reversionedCRD(plural, kind string) *apiextensionsv1.CustomResourceDefinition {
	crd := gadgetCRD()
	crd.Name = plural + "." + crd.Spec.Group
	crd.Spec.Names.Plural, crd.Spec.Names.Kind = plural, kind
	second := *crd.Spec.Versions[0].DeepCopy()
	second.Name, second.Served, second.Storage = "v1", false, false
	crd.Spec.Versions = append(crd.Spec.Versions, second)
	return crd
}

// serve makes the API server serve only these versions of the CRD.
func serve(ctx context.Context, c client.Client, crd *apiextensionsv1.CustomResourceDefinition, versions ...string) {
	GinkgoHelper()
	Expect(change(ctx, c, crd, func(crd *apiextensionsv1.CustomResourceDefinition) {
		for i := range crd.Spec.Versions {
			v := &crd.Spec.Versions[i]
			v.Served = false
			for _, served := range versions {
				v.Served = v.Served || v.Name == served
			}
		}
	})).To(Succeed())
}

var _ = Describe("A child with data or a workload", func() {
	It("is protected by the mass-prune guard from the first one, and its prune is announced", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		var seen atomic.Bool // the source of the jobs has its label
		seen.Store(true)
		job := func(o *widget.Widget, name string) *batchv1.Job {
			return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: name}, Spec: batchv1.JobSpec{
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
				}},
			}}
		}
		p := planning(func(o *widget.Widget) (plan reconcile.PlanResult) {
			plan.Apply(configMap(o.Namespace, "c", nil))
			if seen.Load() && o.Spec.Message == "" {
				plan.Apply(job(o, "one"), apply.Once)
				plan.Apply(job(o, "two"), apply.Once)
			}
			return plan
		})
		defer startWith(env.Config(), namespace, controller.New("jobs", p).Owns(&corev1.ConfigMap{}).Owns(&batchv1.Job{}).Options(settings()).Build().SetupWithManager)()
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		jobs := func() int {
			var list batchv1.JobList
			Expect(c.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
			return len(list.Items)
		}
		Eventually(jobs).Should(Equal(2))
		p.settled(ctx, "w")
		seen.Store(false)
		Expect(change(ctx, c, w, func(w *widget.Widget) { w.Annotations = map[string]string{"look": "again"} })).To(Succeed())
		Eventually(blockedPrune(ctx, c, w)).Should(And(Not(BeNil()), HaveField("Reason", "HoldsData"), HaveField("Message", And(
			ContainSubstring("Job "+namespace+"/one"), ContainSubstring("Job "+namespace+"/two")))))
		Consistently(jobs).WithTimeout(pause).Should(Equal(2))

		By("changing the spec")
		Expect(change(ctx, c, w, func(w *widget.Widget) { w.Spec.Message = "no jobs" })).To(Succeed())
		Eventually(jobs).Should(BeZero())
		Eventually(func() []string {
			var list eventsv1.EventList
			Expect(c.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
			var notes []string
			for _, e := range list.Items {
				if e.Reason == "Pruned" && e.Regarding.Name == "w" {
					notes = append(notes, e.Note)
				}
			}
			return notes
		}).Should(ContainElement(And(ContainSubstring("Job "+namespace+"/one"), ContainSubstring("Job "+namespace+"/two"))))
		Eventually(blockedPrune(ctx, c, w)).Should(BeNil())
	})
})

// finisher plans a child while its owner is being deleted, and optionally holds the finalizer.
type finisher struct {
	*probe

	hold *atomic.Bool
}

func (f finisher) Finalize(_ context.Context, rc reconcile.ReconcileContext[*widget.Widget], _ world) (plan reconcile.PlanResult, _ error) {
	plan.Apply(configMap(rc.Object.Namespace, "last", nil))
	plan.Hold = f.hold.Load()
	return plan, nil
}

var _ = Describe("A Finalize that plans a child", func() {
	It("completes without Hold, and waits with Hold", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		var hold atomic.Bool
		hold.Store(true)
		f := finisher{probe: &probe{}, hold: &hold}
		defer startWith(env.Config(), namespace, controller.New("finisher", f).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager)()
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).Should(ContainSubstring("Ready: True"))
		Expect(c.Delete(ctx, w)).To(Succeed())
		Eventually(func() error {
			return c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "last"}, &corev1.ConfigMap{})
		}).Should(Succeed())
		Consistently(isGone(ctx, c, w)).WithTimeout(pause).Should(BeFalse())
		hold.Store(false)
		Expect(client.IgnoreNotFound(change(ctx, c, w, func(w *widget.Widget) { w.Annotations = map[string]string{"let": "go"} }))).To(Succeed())
		Eventually(isGone(ctx, c, w)).WithTimeout(20 * time.Second).Should(BeTrue())
	})
})
