package engine_test

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// gone waits until the cache no longer contains the object.
func (w *world) gone(o client.Object) {
	GinkgoHelper()
	Eventually(func() bool {
		return apierrors.IsNotFound(w.client.Get(w.ctx, client.ObjectKeyFromObject(o), o.DeepCopyObject().(client.Object)))
	}).WithPolling(5 * time.Millisecond).Should(BeTrue())
}

// replaceOwner acts like kubectl replace of the owner from a file without
// annotations.
func (w *world) replaceOwner() {
	GinkgoHelper()
	o := w.stored()
	o.Annotations, o.Labels = nil, nil
	Expect(w.admin.Update(w.ctx, o)).To(Succeed())
}

// annotate sets an annotation of the owner.
func (w *world) annotate(name, value string) {
	GinkgoHelper()
	o := w.stored()
	if o.Annotations == nil {
		o.Annotations = map[string]string{}
	}
	o.Annotations[name] = value
	Expect(w.admin.Update(w.ctx, o)).To(Succeed())
}

// declared sets the declared kinds of the engine, like the builder.
func declared(w *world) {
	w.options.Kinds = []apply.ChildKind{
		{GVK: corev1.SchemeGroupVersion.WithKind("ConfigMap")},
		{GVK: corev1.SchemeGroupVersion.WithKind("ServiceAccount")},
		{GVK: rbacv1.SchemeGroupVersion.WithKind("ClusterRole")},
		{GVK: corev1.SchemeGroupVersion.WithKind("Secret"), Use: apply.KindRetired},
	}
}

func (w *world) exists(o client.Object) bool {
	GinkgoHelper()
	if o.GetNamespace() == "" {
		if namespaced, err := w.admin.IsObjectNamespaced(o); err == nil && namespaced {
			o.SetNamespace(w.namespace)
		}
	}
	err := w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	return err == nil && o.GetDeletionTimestamp() == nil
}

var _ = Describe("An owner that lost its inventory", func() {
	account := func() client.Object { return &corev1.ServiceAccount{ObjectMeta: meta("sa")} }
	secret := func() client.Object { return &corev1.Secret{ObjectMeta: meta("s")} }
	with := func(objects ...func() client.Object) func() apply.Plan {
		return planOf(func() []client.Object {
			out := []client.Object{configMap("a", "1"), configMap("b", "1")}
			for _, o := range objects {
				out = append(out, o())
			}
			return out
		})
	}

	It("through a replace without annotations still prunes children that leave its plan", func() {
		w := newWorld()
		w.converge(with(account))
		w.replaceOwner()
		w.converge(with())
		Expect(w.exists(account())).To(BeFalse())
		Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap"))
	})

	It("has its inventory again before a child is pruned", func() {
		w := newWorld()
		w.converge(with(account))
		w.replaceOwner()
		w.converge(with(account))
		Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap,ServiceAccount"))
		Expect(w.stored().Labels).To(HaveKey(applyset.IDLabel))
	})

	DescribeTable("while no operator ran finds its children by their label", func(lose func(w *world), retired bool) {
		w := newWorld(declared)
		w.converge(with(account, secret))
		lose(w)
		w.restart()
		w.converge(with())
		Expect(w.exists(account())).To(BeFalse(), "a declared kind")
		Expect(w.exists(secret())).To(Equal(!retired), "a retired kind, which is asked for when the whole inventory is missing")
		Expect(w.names()).To(ConsistOf("a", "b"))
		Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap"))
	},
		Entry("all metadata", (*world).replaceOwner, true),
		Entry("one kind", func(w *world) { w.annotate(applyset.GroupKindsAnnotation, "ConfigMap") }, false),
		Entry("an invalid list", func(w *world) { w.annotate(applyset.GroupKindsAnnotation, "ConfigMap,.x") }, true),
		Entry("an empty list", func(w *world) { w.annotate(applyset.GroupKindsAnnotation, "") }, true),
	)

	It("finds children in other namespaces", func() {
		w := newWorld(declared)
		other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-other-"}}
		Expect(w.admin.Create(w.ctx, other)).To(Succeed())
		far := func() client.Object {
			o := configMap("far", "1")
			o.Namespace = other.Name
			return o
		}
		role := func() client.Object { return &rbacv1.ClusterRole{ObjectMeta: meta("lost-" + w.namespace)} }
		w.converge(with(far, role))
		o := w.stored()
		o.Annotations, o.Labels, o.Finalizers = nil, nil, nil
		Expect(w.admin.Update(w.ctx, o)).To(Succeed())
		w.restart()
		w.converge(with())
		Expect(w.exists(far())).To(BeFalse())
		Expect(w.exists(role())).To(BeFalse())
	})
})

var _ = Describe("An invalid inventory", func() {
	DescribeTable("is reported, blocks prunes, and does not block repairs", func(name, value string) {
		w := newWorld()
		w.converge(configMaps(2))
		w.annotate(name, value)
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm-1", Namespace: w.namespace}}
		Expect(w.admin.Delete(w.ctx, o)).To(Succeed())
		w.gone(o)
		result, _ := w.pass(configMaps(2)())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(w.names()).To(ConsistOf("cm-0", "cm-1"))
		Expect(result.PruneBlocked).To(HaveOccurred())
		Expect(result.PruneBlocked.Reason).To(Equal(apply.ReasonUnknown))
		Expect(result.PruneBlocked.Error()).To(ContainSubstring(name))
	},
		Entry("kinds", applyset.GroupKindsAnnotation, "ConfigMap,.x"),
		Entry("contributions", "reconcilekit.dev/contributions", "ConfigMap//"),
		Entry("contributions without parts", "reconcilekit.dev/contributions", "nonsense"),
	)

	It("is rewritten from the declared kinds and the existing children", func() {
		w := newWorld(declared)
		w.converge(configMaps(2))
		w.annotate(applyset.GroupKindsAnnotation, "ConfigMap,.x")
		result, _ := w.pass(configMaps(2)())
		Expect(result.PruneBlocked).To(HaveOccurred())
		w.converge(configMaps(2))
		Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap"))
		result, _ = w.pass(configMaps(2)())
		Expect(result.PruneBlocked).ToNot(HaveOccurred())
	})
})

var _ = Describe("An inventory that a tenant wrote", func() {
	It("causes a limited number of requests, none for undeclared kinds, and is replaced eventually", func() {
		w := newWorld(declared)
		w.converge(configMaps(2))
		var namespaces []string
		for i := range 400 {
			namespaces = append(namespaces, fmt.Sprintf("tenant-%d", i))
		}
		o := w.stored()
		o.Annotations[applyset.NamespacesAnnotation] = strings.Join(namespaces, ",")
		o.Annotations[applyset.GroupKindsAnnotation] = "ConfigMap,Deployment.apps,Endpoints,Event,LimitRange,PersistentVolumeClaim,Pod,Role.rbac.authorization.k8s.io,Secret,Service"
		Expect(w.admin.Update(w.ctx, o)).To(Succeed())
		for range 2 {
			var asked []string
			for range 5 {
				result, sent := w.pass(configMaps(2)())
				Expect(result.Err()).NotTo(HaveOccurred())
				Expect(len(sent)).To(BeNumerically("<=", 110))
				Expect(result.RequeueAfter).NotTo(BeZero())
				asked = append(asked, sent...)
				w.clock.Step(15 * time.Second)
			}
			for _, kind := range []string{"deployments", "endpoints", "events", "limitranges", "pods", "roles", "services"} {
				Expect(asked).NotTo(ContainElement(ContainSubstring("/"+kind)), "not declared")
			}
			w.restart()
		}
		Eventually(func(g Gomega) {
			w.pass(configMaps(2)())
			w.clock.Step(15 * time.Second)
			g.Expect(w.stored().Annotations).NotTo(HaveKey(applyset.NamespacesAnnotation))
		}).Should(Succeed())
		Expect(w.names()).To(HaveLen(2))
	})

	It("causes a limited number of requests without declared kinds, too", func() {
		w := newWorld(func(w *world) { w.options.LiveReads = 10 })
		w.converge(configMaps(2))
		w.annotate(applyset.GroupKindsAnnotation, "ConfigMap,Deployment.apps,Endpoints,Event,LimitRange,PersistentVolumeClaim,Pod,Role.rbac.authorization.k8s.io,Secret,Service,ServiceAccount,StatefulSet.apps")
		for range 4 {
			_, sent := w.pass(configMaps(2)())
			Expect(len(sent)).To(BeNumerically("<=", 12))
		}
		w.converge(configMaps(2))
		Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap"))
	})

	It("causes no read of an undeclared kind for the release of a contribution", func() {
		w := newWorld(declared)
		w.converge(configMaps(2))
		var entries []string
		for i := range 200 {
			entries = append(entries, fmt.Sprintf("Endpoints/kube-system/e-%d", i))
		}
		w.annotate("reconcilekit.dev/contributions", strings.Join(entries, ","))
		result, sent := w.pass(configMaps(2)())
		Expect(sent).NotTo(ContainElement(ContainSubstring("/endpoints/")))
		Expect(result.PruneBlocked).To(HaveOccurred())
		Expect(result.PruneBlocked.Reason).To(Equal(apply.ReasonUnknown))
	})
})

var _ = Describe("A kind of an earlier version", func() {
	It("that is not declared is not listed, and a condition of the owner reports it, also during its deletion", func() {
		w := newWorld()
		role := func() client.Object { return &rbacv1.ClusterRole{ObjectMeta: meta("old-" + w.namespace)} }
		w.converge(planOf(func() []client.Object { return []client.Object{configMap("a", "1"), role()} }))
		w.options.Kinds = []apply.ChildKind{{GVK: corev1.SchemeGroupVersion.WithKind("ConfigMap")}}
		w.restart()
		near := planOf(func() []client.Object { return []client.Object{configMap("a", "1")} })
		result, sent := w.pass(near())
		Expect(sent).NotTo(ContainElement(ContainSubstring("clusterroles")))
		Expect(result.PruneBlocked).To(HaveOccurred())
		Expect(result.PruneBlocked.Reason).To(Equal(apply.ReasonUnknown))
		Expect(result.PruneBlocked.Error()).To(ContainSubstring("ClusterRole.rbac.authorization.k8s.io"))
		Expect(w.stored().Finalizers).To(HaveLen(1))
		By("reporting why the deletion waits")
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		result, _ = w.pass(apply.Plan{})
		Expect(result.Finalized).To(BeFalse())
		Expect(result.PruneBlocked).To(HaveOccurred())
		Expect(result.PruneBlocked.Error()).To(ContainSubstring("ClusterRole.rbac.authorization.k8s.io"))
		By("deleting it with the owner after it is declared as retired")
		w.options.Kinds = append(w.options.Kinds, apply.ChildKind{GVK: rbacv1.SchemeGroupVersion.WithKind("ClusterRole"), Use: apply.KindRetired})
		w.restart()
		Eventually(func(g Gomega) {
			w.engine.Apply(w.ctx, w.stored(), apply.Plan{})
			g.Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), &widget.Widget{}))).To(BeTrue())
		}).Should(Or(Succeed()))
		Expect(w.exists(role())).To(BeFalse())
	})

	It("that is retired is pruned", func() {
		w := newWorld()
		s := func() client.Object { return &corev1.Secret{ObjectMeta: meta("s")} }
		w.converge(planOf(func() []client.Object { return []client.Object{configMap("a", "1"), s()} }))
		declared(w)
		w.restart()
		w.converge(planOf(func() []client.Object { return []client.Object{configMap("a", "1")} }))
		Expect(w.exists(s())).To(BeFalse())
		Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap"))
	})
})
