package engine_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("A process that starts with an old cache", func() {
	plans := map[string]func(*world) apply.Plan{
		"a shared object": func(*world) (p apply.Plan) {
			p.Apply(&corev1.ConfigMap{ObjectMeta: meta("outlives")}, apply.Shared)
			return p
		},
		"an object of the cluster": func(w *world) (p apply.Plan) {
			p.Apply(&rbacv1.ClusterRole{ObjectMeta: meta(w.namespace)})
			return p
		},
	}
	for what, plan := range plans {
		// started converges, calls change, and starts a process whose cache shows the owner and the children before the change.
		started := func(change func(w *world, owner *widget.Widget)) (*world, *widget.Widget) {
			GinkgoHelper()
			w := newWorld()
			w.converge(func() apply.Plan { return plan(w) })
			before := w.stored()
			change(w, w.stored())
			w.restart()
			return w, before
		}
		goes := func(w *world, owner *widget.Widget) {
			GinkgoHelper()
			Expect(w.admin.Delete(w.ctx, owner)).To(Succeed())
			Eventually(func() error {
				err := w.admin.Get(w.ctx, client.ObjectKeyFromObject(owner), owner)
				if err == nil {
					_ = w.engine.Apply(w.ctx, owner, apply.Plan{})
				}
				return err
			}).Should(Satisfy(apierrors.IsNotFound))
		}
		made := func(w *world) bool { return w.exists(plan(w).Children[0].Object) }
		remove := func(w *world) {
			GinkgoHelper()
			o := plan(w).Children[0].Object
			Expect(w.exists(o)).To(BeTrue())
			Expect(w.admin.Delete(w.ctx, o)).To(Succeed())
		}

		It(fmt.Sprintf("does not create %s for a deleted owner", what), func() {
			w, before := started(goes)
			Expect(made(w)).To(BeFalse())
			result := w.engine.Apply(w.ctx, before, plan(w))
			Expect(apierrors.IsNotFound(result.OwnerErr)).To(BeTrue(), "%v", result.OwnerErr)
			Expect(made(w)).To(BeFalse())
		})

		It(fmt.Sprintf("does not create %s for an owner that was recreated", what), func() {
			w, before := started(func(w *world, owner *widget.Widget) {
				goes(w, owner)
				w.newOwner(owner.Name)
			})
			result := w.engine.Apply(w.ctx, before, plan(w))
			Expect(apierrors.IsNotFound(result.OwnerErr)).To(BeTrue(), "%v", result.OwnerErr)
			Expect(made(w)).To(BeFalse())
		})

		It(fmt.Sprintf("does not create %s for an owner that is being deleted", what), func() {
			w, before := started(func(w *world, owner *widget.Widget) {
				owner.Finalizers = append(owner.Finalizers, "test/others")
				Expect(w.admin.Update(w.ctx, owner)).To(Succeed())
				Expect(w.admin.Delete(w.ctx, owner)).To(Succeed())
				remove(w)
			})
			result := w.engine.Apply(w.ctx, before, plan(w))
			Expect(apierrors.IsConflict(result.OwnerErr)).To(BeTrue(), "%v", result.OwnerErr)
			Expect(made(w)).To(BeFalse())
		})

		It(fmt.Sprintf("recreates %s with one read of the owner", what), func() {
			w, before := started(func(w *world, _ *widget.Widget) { remove(w) })
			w.requests.take()
			Expect(w.engine.Apply(w.ctx, before, plan(w)).Err()).NotTo(HaveOccurred())
			Expect(made(w)).To(BeTrue())
			Expect(w.requests.take()).To(HaveLen(2), "the owner is read, the child is applied")
			Expect(w.engine.Confirm(w.ctx, before)).To(Succeed())
			Expect(w.requests.take()).To(BeEmpty())
		})
	}
})
