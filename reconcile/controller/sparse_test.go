package controller_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// seen records the last text that a reconciliation read.
type seen struct {
	mu   sync.Mutex
	text string
}

func (s *seen) set(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
}

func (s *seen) get() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text
}

// sparsely starts a controller with the default cache of an operator, and counts its requests.
func sparsely(namespace string, b *controller.Controller) (mgr manager.Manager, sent *requests.Requests) {
	GinkgoHelper()
	options, err := controller.CacheOptions(testScheme(GinkgoTB()), b)
	Expect(err).NotTo(HaveOccurred())
	sent = &requests.Requests{}
	return runs{cache: options, wrap: sent.RoundTripper}.start(namespace, b.SetupWithManager), sent
}

// liveReads counts the requests for Secrets that do not come from an informer.
func liveReads(sent *requests.Requests) int {
	return len(sent.Snapshot().WithoutInformers().Where(requests.Resource("", "secrets")))
}

func secretOf(namespace, name, value string, labels map[string]string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}, StringData: map[string]string{"value": value},
	}
}

var _ = Describe("A Secret of another writer in a sparse cache", func() {
	var (
		namespace string
		c         client.Client
		last      *seen
	)
	BeforeEach(func() {
		namespace, c, last = env.Namespace(GinkgoTB()), admin(), &seen{}
	})
	set := func(ctx context.Context, name, value string) {
		GinkgoHelper()
		Expect(change(ctx, c, secretOf(namespace, name, "", nil), func(s *corev1.Secret) { s.Data["value"] = []byte(value) })).To(Succeed())
	}
	// again triggers one more reconciliation of the owner.
	again := func(ctx context.Context, p *probe, w *widget.Widget) {
		GinkgoHelper()
		before := p.count(w.Name)
		Expect(change(ctx, c, w, func(w *widget.Widget) { w.Spec.Message += "." })).To(Succeed())
		Eventually(p.count).WithArguments(w.Name).WithTimeout(soon).Should(BeNumerically(">", before))
		p.settled(ctx, w.Name)
	}
	byName := func(into func() client.Object, value func(client.Object) string) *probe {
		return &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			object := into()
			err := r.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: "theirs"}, object)
			if apierrors.IsNotFound(err) {
				last.set("missing")
				return world{}
			}
			last.set(value(object))
			return world{err: err}
		}}
	}
	valueOf := func(o client.Object) string {
		s := o.(*corev1.Secret) //nolint:forcetypeassert // see the probe
		return s.Kind + " " + string(s.Data["value"])
	}

	It("that is read by name is read once from the API server, then from the cache", func(ctx context.Context) {
		Expect(c.Create(ctx, secretOf(namespace, "theirs", "one", nil))).To(Succeed())
		p := byName(func() client.Object { return &corev1.Secret{} }, valueOf)
		_, sent := sparsely(namespace, controller.New("sparse-name", p).Reads(&corev1.Secret{}).Options(settings()).Build())
		for _, name := range []string{"a", "b", "c"} {
			Expect(c.Create(ctx, newWidget(namespace, name))).To(Succeed())
			p.settled(ctx, name)
		}
		Expect(last.get()).To(Equal("Secret one"))
		Expect(liveReads(sent)).To(Equal(1), "three owners, one request:\n%s", sent.Snapshot())

		again(ctx, p, newWidget(namespace, "a"))
		before := p.count("a")
		set(ctx, "theirs", "two")
		Eventually(last.get).WithTimeout(soon).Should(Equal("Secret two"))
		Eventually(p.count).WithArguments("a").WithTimeout(soon).Should(Equal(before+1), "a change wakes")
		Expect(c.Delete(ctx, secretOf(namespace, "theirs", "", nil))).To(Succeed())
		Eventually(last.get).WithTimeout(soon).Should(Equal("missing"))
		Expect(c.Create(ctx, secretOf(namespace, "theirs", "three", nil))).To(Succeed())
		Eventually(last.get).WithTimeout(soon).Should(Equal("Secret three"))
		p.settled(ctx, "a")
		Expect(liveReads(sent)).To(Equal(1), "what is read is kept whole:\n%s", sent.Snapshot())
	})

	It("can be read in each representation, with all of its metadata", func(ctx context.Context) {
		theirs := secretOf(namespace, "theirs", "one", nil)
		theirs.Annotations = map[string]string{"note": "kept"}
		Expect(c.Create(ctx, theirs)).To(Succeed())
		p := byName(func() client.Object { return controller.Metadata(corev1.SchemeGroupVersion.WithKind("Secret")) }, func(o client.Object) string {
			return o.GetAnnotations()["note"]
		})
		sparsely(namespace, controller.New("sparse-metadata", p).Reads(&corev1.Secret{}).Options(settings()).Build())
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		Eventually(last.get).WithTimeout(soon).Should(Equal("kept"))
	})

	It("can be read from a cache of unstructured objects", func(ctx context.Context) {
		Expect(c.Create(ctx, secretOf(namespace, "theirs", "one", nil))).To(Succeed())
		generic := func() *unstructured.Unstructured {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
			return u
		}
		p := byName(func() client.Object { return generic() }, func(o client.Object) string {
			data, _, _ := unstructured.NestedString(o.(*unstructured.Unstructured).Object, "data", "value") //nolint:forcetypeassert // see above
			return data
		})
		_, sent := sparsely(namespace, controller.New("sparse-generic", p).Reads(generic()).Options(settings()).Build())
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		Eventually(last.get).WithTimeout(soon).Should(Equal("b25l"))
		again(ctx, p, newWidget(namespace, "w"))
		Expect(liveReads(sent)).To(Equal(1))
	})

	DescribeTable("that a list selects is read once from the API server, then from the cache", func(ctx context.Context, count, live int) {
		label := map[string]string{"app": "w"}
		for i := range count {
			Expect(c.Create(ctx, secretOf(namespace, fmt.Sprint("s", i), "one", label))).To(Succeed())
		}
		Expect(c.Create(ctx, secretOf(namespace, "other", "none", nil))).To(Succeed())
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			var list corev1.SecretList
			err := r.List(ctx, &list, client.InNamespace(o.Namespace), client.MatchingLabels(label))
			values := make([]string, 0, len(list.Items))
			for _, s := range list.Items {
				values = append(values, s.Name+"="+string(s.Data["value"]))
			}
			last.set(strings.Join(values, " "))
			return world{err: err}
		}}
		_, sent := sparsely(namespace, controller.New("sparse-list", p).Reads(&corev1.Secret{}).Options(settings()).Build())
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		p.settled(ctx, "w")
		Expect(strings.Count(last.get(), "=one")).To(Equal(count), last.get())
		Expect(liveReads(sent)).To(Equal(live), "%s", sent.Snapshot())

		set(ctx, "s0", "two")
		Eventually(last.get).WithTimeout(soon).Should(HavePrefix("s0=two"))
		Expect(c.Create(ctx, secretOf(namespace, "a", "new", label))).To(Succeed())
		Eventually(last.get).WithTimeout(soon).Should(HavePrefix("a=new s0=two"))
		Expect(c.Delete(ctx, secretOf(namespace, "s0", "", nil))).To(Succeed())
		Eventually(last.get).WithTimeout(soon).Should(And(HavePrefix("a=new"), Not(ContainSubstring("s0"))))
		Expect(change(ctx, c, secretOf(namespace, "other", "", nil), func(s *corev1.Secret) { s.Labels = label })).To(Succeed())
		Eventually(last.get).WithTimeout(soon).Should(ContainSubstring("other=none"))
		again(ctx, p, newWidget(namespace, "w"))
		Expect(liveReads(sent)).To(Equal(live), "%s", sent.Snapshot())
	},
		Entry("by name if there are few", 2, 2),
		Entry("in one request if there are many", 12, 1),
	)

	It("with the name of a planned child is reported and not written, and costs no request in steady state", func(ctx context.Context) {
		theirs := map[string]types.UID{}
		for _, name := range []string{"applied", "once", "deleted"} {
			o := secretOf(namespace, name, "theirs", nil)
			Expect(c.Create(ctx, o)).To(Succeed())
			theirs[name] = o.UID
		}
		p := plans(func(o *widget.Widget, p *reconcile.PlanResult) {
			if o.Spec.Count == 0 {
				p.Apply(secretOf(namespace, "applied", "ours", nil))
			}
			p.Apply(secretOf(namespace, "once", "ours", nil), apply.Once)
			p.Apply(secretOf(namespace, "other", "ours", nil))
		})
		b := controller.New("sparse-foreign", p).Owns(&corev1.Secret{}).Options(settings()).Build()
		_, sent := sparsely(namespace, b)
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring("OwnedByAnother"))
		Expect(change(ctx, c, w, func(o *widget.Widget) { o.Spec.Count = 1 })).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring("Ready: True"))
		p.settled(ctx, "w")
		sent.Reset()
		again(ctx, p, w)
		Expect(liveReads(sent)).To(BeZero(), "%s", sent.Snapshot())
		for name, uid := range theirs {
			now := &corev1.Secret{}
			Expect(c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, now)).To(Succeed())
			Expect(now.UID).To(Equal(uid))
			Expect(now.Data).To(HaveKeyWithValue("value", []byte("theirs")))
			Expect(now.OwnerReferences).To(BeEmpty())
		}
	})

	It("with the labels of a child is cached with its content and not written", func(ctx context.Context) {
		p := plans(func(_ *widget.Widget, p *reconcile.PlanResult) { p.Apply(secretOf(namespace, "ours", "ours", nil)) })
		mgr, _ := sparsely(namespace, controller.New("sparse-hostile", p).Owns(&corev1.Secret{}).Options(settings()).Build())
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		p.settled(ctx, "w")
		ours := &corev1.Secret{}
		Expect(c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "ours"}, ours)).To(Succeed())
		copied := secretOf(namespace, "copied", "theirs", ours.Labels)
		Expect(c.Create(ctx, copied)).To(Succeed())
		again(ctx, p, newWidget(namespace, "w"))
		cached := &corev1.Secret{}
		Eventually(func() error { return mgr.GetCache().Get(ctx, client.ObjectKeyFromObject(copied), cached) }).Should(Succeed())
		Expect(cached.Data).To(HaveKeyWithValue("value", []byte("theirs")))
		Expect(c.Get(ctx, client.ObjectKeyFromObject(copied), cached)).To(Succeed())
		Expect(cached.ResourceVersion).To(Equal(copied.ResourceVersion))
	})

	It("cannot be read through the manager's client, unless the kind is declared with Whole", func(ctx context.Context) {
		theirs := secretOf(namespace, "theirs", "one", map[string]string{"app": "theirs"})
		Expect(c.Create(ctx, theirs)).To(Succeed())
		key := client.ObjectKeyFromObject(theirs)
		mgr, _ := sparsely(namespace, controller.New("sparse-plain", &probe{}).Owns(&corev1.Secret{}).Options(settings()).Build())
		Expect(mgr.GetCache().WaitForCacheSync(ctx)).To(BeTrue())
		for _, reader := range []client.Reader{mgr.GetClient(), mgr.GetCache()} {
			Expect(reader.Get(ctx, key, &corev1.Secret{})).To(MatchError(ContainSubstring("controller.Whole")))
			Expect(reader.Get(ctx, key, &corev1.Secret{}, client.UnsafeDisableDeepCopy)).To(MatchError(ContainSubstring("controller.Whole")))
			list := &corev1.SecretList{}
			Expect(reader.List(ctx, list)).To(MatchError(ContainSubstring("metadataOnly")))
			Expect(reader.List(ctx, list, client.UnsafeDisableDeepCopy)).To(MatchError(ContainSubstring("metadataOnly")))
			Expect(reader.List(ctx, list, client.MatchingLabels{"app": "theirs"})).NotTo(Succeed())
			Expect(reader.List(ctx, list, client.MatchingLabels{"app": "ours"})).To(Succeed())
		}
		mgr, _ = sparsely(namespace, controller.New("sparse-whole", &probe{}).Owns(&corev1.Secret{}, controller.Whole).Options(settings()).Build())
		Expect(mgr.GetCache().WaitForCacheSync(ctx)).To(BeTrue())
		cached := &corev1.Secret{}
		Expect(mgr.GetClient().Get(ctx, key, cached)).To(Succeed())
		Expect(cached.Data).To(HaveKey("value"))
	})
})

var _ = Describe("A child in a sparse cache", func() {
	It("is cached with its content after a restart, so that a reconciliation in steady state sends nothing", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		p := plans(func(o *widget.Widget, p *reconcile.PlanResult) {
			p.Apply(secretOf(namespace, o.Name+"-s", "ours", nil))
		})
		stop := func(sent *requests.Requests) func() {
			b := controller.New("sparse-child", p).Owns(&corev1.Secret{}).Options(settings()).Build()
			options, err := controller.CacheOptions(testScheme(GinkgoTB()), b)
			Expect(err).NotTo(HaveOccurred())
			mgr := runs{cache: options, wrap: sent.RoundTripper}.manager(namespace)
			Expect(b.SetupWithManager(mgr)).To(Succeed())
			running, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- mgr.Start(running) }()
			return func() {
				cancel()
				Eventually(done).WithTimeout(soon).Should(Receive(BeNil()))
			}
		}
		first := stop(&requests.Requests{})
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		p.settled(ctx, "w")
		first()
		sent, before := &requests.Requests{}, p.count("w")
		second := stop(sent)
		defer second()
		Eventually(p.count).WithArguments("w").WithTimeout(soon).Should(BeNumerically(">", before))
		p.settled(ctx, "w")
		Expect(liveReads(sent)).To(BeZero(), "%s", sent.Snapshot())
	})
})
