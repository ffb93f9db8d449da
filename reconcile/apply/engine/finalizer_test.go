package engine_test

import (
	"errors"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

var _ = Describe("The finalizer of an owner", func() {
	It("exists while there are cluster-scoped children or children in other namespaces", func() {
		w := newWorld()
		other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-other-"}}
		Expect(w.admin.Create(w.ctx, other)).To(Succeed())
		role := func() client.Object {
			return &rbacv1.ClusterRole{ObjectMeta: meta("role-" + w.namespace)}
		}
		far := func() client.Object {
			o := configMap("far", "1")
			o.Namespace = other.Name
			return o
		}
		plan := planOf(func() []client.Object { return []client.Object{role(), far(), configMap("near", "1")} })
		w.converge(plan)
		o := w.stored()
		Expect(o.Finalizers).To(ConsistOf("reconcilekit.dev/" + manager))
		Expect(o.Annotations).To(HaveKeyWithValue(applyset.NamespacesAnnotation, other.Name))
		stored := &corev1.ConfigMap{}
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(far()), stored)).To(Succeed())
		Expect(stored.OwnerReferences).To(BeEmpty())
		w.restart()
		w.quiet(2, plan)

		By("removing the finalizer with the last of them")
		near := planOf(func() []client.Object { return []client.Object{configMap("near", "1")} })
		w.converge(near)
		Expect(w.stored().Finalizers).To(BeEmpty())
		Expect(w.stored().Annotations).NotTo(HaveKey(applyset.NamespacesAnnotation))
		Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(far()), stored))).To(BeTrue())

		By("deleting children that garbage collection does not delete")
		w.converge(plan)
		w.restart()
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		result, sent := w.pass(apply.Plan{})
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Finalized).To(BeTrue(), strings.Join(sent, "\n"))
		Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(far()), stored))).To(BeTrue())
		Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(role()), &rbacv1.ClusterRole{}))).To(BeTrue())
		Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), &widget.Widget{}))).To(BeTrue())
	})

	It("is named in the error if its removal is rejected", func() {
		w := newWorld()
		w.converge(planOf(func() []client.Object {
			return []client.Object{&rbacv1.ClusterRole{ObjectMeta: meta("role-" + w.namespace)}}
		}))
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		w.requests.answer = func(r *http.Request) *apierrors.StatusError {
			if r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/widgets/") {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "widgets"}, "owner", errors.New("frozen by a policy"))
			}
			return nil
		}
		var result apply.Result
		Eventually(func() error {
			result, _ = w.pass(apply.Plan{})
			w.clock.Step(time.Minute)
			return result.PruneBlocked
		}).Should(MatchError(And(
			ContainSubstring("remove the finalizer of the owner"), ContainSubstring("frozen by a policy"), Not(ContainSubstring("children")),
		)))
		w.requests.answer = nil
		Eventually(func() bool { result, _ = w.pass(apply.Plan{}); w.clock.Step(time.Minute); return result.Finalized }).Should(BeTrue())
	})

	It("is kept while children have finalizers", func() {
		w := newWorld()
		plan := planOf(func() []client.Object {
			return []client.Object{&rbacv1.ClusterRole{ObjectMeta: meta("slow-" + w.namespace)}}
		})
		w.converge(plan)
		role := &rbacv1.ClusterRole{ObjectMeta: meta("slow-" + w.namespace)}
		Expect(w.admin.Patch(w.ctx, role, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":["test/hold"]}}`)))).To(Succeed())
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		result, _ := w.pass(apply.Plan{})
		Expect(result.Finalized).To(BeFalse())
		Expect(result.RequeueAfter).NotTo(BeZero())
		Expect(w.admin.Patch(w.ctx, role, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))).To(Succeed())
		result, _ = w.pass(apply.Plan{})
		Expect(result.Finalized).To(BeTrue())
	})

	DescribeTable("is removed after Hold if the owner has no children", func(between func(*world)) {
		w := newWorld()
		w.converge(func() apply.Plan { return apply.Plan{Hold: true} })
		Expect(w.stored().Finalizers).To(HaveLen(1))
		between(w)
		w.converge(func() apply.Plan { return apply.Plan{} })
		Expect(w.stored().Finalizers).To(BeEmpty())
	},
		Entry("in the same process", func(*world) {}),
		Entry("after a restart", (*world).restart),
		Entry("after a restart with another Hold", func(w *world) {
			w.restart()
			w.quiet(2, func() apply.Plan { return apply.Plan{Hold: true} })
		}),
	)

	DescribeTable("is kept without Hold while the plan of a deleted owner contains objects that need it", func(name string, plan func(ours client.Object) apply.Plan) {
		w := newWorld()
		other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-other-"}}
		Expect(w.admin.Create(w.ctx, other)).To(Succeed())
		theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "theirs", Namespace: other.Name}, Data: map[string]string{"theirs": "1"}}
		Expect(w.admin.Create(w.ctx, theirs)).To(Succeed())
		ours := func() *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: other.Name}, Data: map[string]string{"ours": "1"}}
		}
		w.syncedObject(theirs)
		planned := func() apply.Plan { return plan(ours()) }
		w.converge(planned)
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())

		held := planned()
		held.Hold = true
		result, _ := w.pass(held)
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Finalized).To(BeFalse())

		result, _ = w.pass(planned())
		Expect(result.Err()).To(MatchError(ContainSubstring("it would be left behind")))
		Expect(result.Finalized).To(BeFalse())
		stored := &corev1.ConfigMap{}
		if err := w.admin.Get(w.ctx, client.ObjectKeyFromObject(ours()), stored); !apierrors.IsNotFound(err) {
			Expect(err).NotTo(HaveOccurred())
			Expect(stored.Data).NotTo(HaveKey("ours"))
		}

		Eventually(func() bool {
			result, _ = w.pass(apply.Plan{})
			return result.Finalized
		}).Should(BeTrue())
	},
		Entry("a contribution", "theirs", func(ours client.Object) (plan apply.Plan) { plan.Contribute(ours); return plan }),
		Entry("a part of a shared object", "shared", func(ours client.Object) (plan apply.Plan) { plan.Apply(ours, apply.Shared); return plan }),
		Entry("a child in another namespace", "far", func(ours client.Object) (plan apply.Plan) { plan.Apply(ours); return plan }),
	)

	It("is kept while the plan has Hold", func() {
		w := newWorld()
		hold := func() apply.Plan { return apply.Plan{Hold: true} }
		w.converge(hold)
		Expect(w.stored().Finalizers).To(HaveLen(1))
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		result, _ := w.pass(apply.Plan{Hold: true})
		Expect(result.Finalized).To(BeFalse())
		result, _ = w.pass(apply.Plan{})
		Expect(result.Finalized).To(BeTrue())
	})
})
