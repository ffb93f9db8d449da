package engine_test

import (
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("A planned object that waits for a condition", func() {
	staged := func(ready bool, value string) func() apply.Plan {
		return func() (s apply.Plan) {
			s.Apply(configMap("database", "1"))
			s.Apply(configMap("server", value), apply.WaitUntil(ready, "the database is ready"))
			return s
		}
	}
	value := func(w *world, name string) string {
		GinkgoHelper()
		o := configMap(name, "")
		o.SetNamespace(w.namespace)
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
		return o.Data["value"]
	}

	It("is created when the condition is met, and neither changed nor pruned when it is no longer met", func() {
		w := newWorld()
		first, _ := w.pass(staged(false, "1")())
		Expect(first.Err()).NotTo(HaveOccurred())
		server := first.Objects[1]
		Expect(server.Outcome).To(BeEquivalentTo(apply.OutcomeWaiting))
		Expect(server.Decision.String()).To(ContainSubstring("server: waits until the database is ready"))
		Expect(w.names()).To(ConsistOf("database"))

		By("making the database ready")
		w.converge(staged(true, "1"))
		Expect(w.names()).To(ConsistOf("database", "server"))

		By("making the database unavailable, and changing the plan for the server")
		w.touchSpec()
		for range 2 {
			w.synced(staged(true, "1"))
			w.agrees(staged(false, "2")())
			w.quiet(3, staged(false, "2"))
			Expect(w.names()).To(ConsistOf("database", "server"))
			Expect(value(w, "server")).To(Equal("1"))
			w.restart()
			w.converge(func() apply.Plan { return staged(false, "2")() })
		}
		w.converge(staged(true, "2"))
		Expect(value(w, "server")).To(Equal("2"))

		By("removing it from the plan")
		w.touchSpec()
		w.converge(func() (s apply.Plan) { s.Apply(configMap("database", "1")); return s })
		Eventually(w.names).Should(ConsistOf("database"))
	})

	It("blocks the prune of a child that it may replace", func() {
		w := newWorld()
		w.converge(func() (s apply.Plan) { s.Apply(configMap("old", "1")); return s })
		renamed := func(ready bool) func() apply.Plan {
			return func() (s apply.Plan) {
				s.Apply(configMap("new", "1"), apply.WaitUntil(ready, "the database is ready"))
				return s
			}
		}
		w.touchSpec()
		for range 3 {
			result, _ := w.pass(renamed(false)())
			Expect(result.Err()).NotTo(HaveOccurred())
			Expect(result.PruneBlocked).To(HaveOccurred())
			Expect(result.PruneBlocked.Error()).To(ContainSubstring("waits until the database is ready"))
		}
		w.quiet(2, renamed(false))
		Expect(w.names()).To(ConsistOf("old"))
		w.converge(renamed(true))
		Eventually(w.names).Should(ConsistOf("new"))
	})

	It("keeps its contribution", func() {
		w := newWorld()
		target := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "target", Namespace: w.namespace}}
		Expect(w.admin.Create(w.ctx, target)).To(Succeed())
		contribution := func(ready bool, value string) func() apply.Plan {
			return func() (s apply.Plan) {
				s.Contribute(configMap("target", value), apply.WaitUntil(ready, "the route is there"))
				return s
			}
		}
		w.converge(contribution(true, "1"))
		w.quiet(2, contribution(false, "2"))
		Expect(value(w, "target")).To(Equal("1"))
		w.converge(contribution(true, "2"))
		Expect(value(w, "target")).To(Equal("2"))
	})

	It("orders deletions, and delays the deletion of the owner until the last one", func() {
		w := newWorld()
		far := func(name string) *corev1.ConfigMap {
			o := configMap(name, "1")
			o.SetNamespace("default") // not deleted by garbage collection
			o.SetName(w.namespace + name)
			return o
		}
		exists := func(name string) bool {
			err := w.client.Get(w.ctx, client.ObjectKeyFromObject(far(name)), far(name))
			return !apierrors.IsNotFound(err)
		}
		w.converge(func() (s apply.Plan) { s.Apply(far("database")); s.Apply(far("server")); return s })
		Expect(w.admin.Delete(w.ctx, w.owner)).To(Succeed())
		final := func(serverExists bool) (s apply.Plan) {
			s.Delete(far("server"))
			s.Delete(far("database"), apply.WaitUntil(!serverExists, "the server is gone"))
			return s
		}
		result, _ := w.pass(final(true))
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Finalized).To(BeFalse())
		Eventually(func() bool { return exists("server") }).Should(BeFalse())
		for range 2 { // the condition can be met with a delay
			result, _ = w.pass(final(true))
			Expect(result.Err()).NotTo(HaveOccurred())
			Expect(result.Finalized).To(BeFalse())
			Expect(exists("database")).To(BeTrue())
		}
		Eventually(func(g Gomega) {
			current := &widget.Widget{}
			err := w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), current)
			if apierrors.IsNotFound(err) {
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			w.engine.Apply(w.ctx, current, final(false))
			g.Expect(errors.New("the owner is there")).NotTo(HaveOccurred())
		}).Should(Succeed())
		Eventually(func() bool { return exists("database") }).Should(BeFalse())
	})
})
