package engine_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

var _ = Describe("The option After", func() {
	// Without the option, the kinds are applied in the opposite order.
	server := func() *corev1.ConfigMap { return configMap("server", "1") }
	database := func() *corev1.Service {
		return &corev1.Service{ObjectMeta: meta("database"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	}
	plan := func(opts ...apply.ChildOption) func() apply.Plan {
		return func() (s apply.Plan) {
			s.Policy = apply.Withdraw // disables the mass-prune guard
			s.Apply(server(), apply.After(database()))
			s.Apply(database(), opts...)
			return s
		}
	}
	empty := func() apply.Plan { return apply.Plan{Policy: apply.Withdraw} }
	// order returns the names of the objects in the requests that have the prefix.
	order := func(sent []string, prefix string) (names []string) {
		for _, line := range sent {
			if strings.HasPrefix(line, prefix) && !strings.Contains(line, "/widgets/") {
				names = append(names, line[strings.LastIndex(line, "/")+1:])
			}
		}
		return names
	}
	refused := func(path string) func(*http.Request) *apierrors.StatusError {
		return func(r *http.Request) *apierrors.StatusError {
			if r.Method != http.MethodPatch || !strings.HasSuffix(r.URL.Path, path) {
				return nil
			}
			return apierrors.NewForbidden(schema.GroupResource{}, path, errors.New("refused by the test"))
		}
	}
	hold := func(w *world, o client.Object) {
		GinkgoHelper()
		w.edit(o, types.MergePatchType, `{"metadata":{"finalizers":["test/hold"]}}`, "somebody")
	}
	release := func(w *world, o client.Object) {
		GinkgoHelper()
		o.SetNamespace(w.namespace)
		Expect(w.admin.Patch(w.ctx, o, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))).To(Succeed())
	}

	It("orders the writes of one reconciliation", func() {
		w := newWorld()
		result, sent := w.pass(plan()())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(order(sent, "PATCH ")).To(Equal([]string{"database", "server"}))
		Expect([]apply.Outcome{result.Objects[0].Outcome, result.Objects[1].Outcome}).To(HaveEach(apply.OutcomeCreated))
		w.synced(plan())
		w.quiet(2, plan())
		w.restart()
		w.quiet(2, plan())

		By("adding and removing an order with one write each")
		w.touchSpec()
		unordered := planOf(func() []client.Object { return []client.Object{server(), database()} })
		w.synced(plan())
		_, sent = w.pass(unordered())
		Expect(order(sent, "PATCH ")).To(Equal([]string{"server"}))
		w.converge(unordered)
		Expect(w.stored().Finalizers).To(BeEmpty())
		stored := server()
		stored.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(stored.Annotations).To(BeEmpty())
	})

	It("delays the second object and all prunes while the first object is rejected", func() {
		w := newWorld()
		w.requests.answer = refused("/services/database")
		for range 3 {
			result, sent := w.pass(plan()())
			Expect(order(sent, "PATCH ")).NotTo(ContainElement("server"))
			Expect(result.Objects[0].Outcome).To(Equal(apply.OutcomeWaiting))
			Expect(result.Objects[0].Verb).To(Equal(apply.VerbNone))
			Expect(result.Objects[0].WaitsUntil).To(Equal("Service " + w.namespace + "/database is applied"))
			Expect(result.Objects[1].Outcome).To(Equal(apply.OutcomeFailed))
		}
		w.requests.answer = nil
		w.clock.Step(time.Hour)
		w.converge(plan())

		By("waiting again without changing or pruning the second")
		waiting := plan(apply.WaitUntil(false, "the volume is bound"))
		w.edit(server(), types.MergePatchType, `{"data":{"value":"theirs"}}`, "somebody")
		w.syncedObject(server())
		for range 2 {
			w.agrees(waiting())
			w.quiet(2, waiting)
			Expect(w.names()).To(ConsistOf("server"))
			w.restart()
		}
		w.converge(plan())
		Expect(w.names()).To(ConsistOf("server"))
	})

	It("keeps a child that the waiting second object may replace", func() {
		w := newWorld()
		w.converge(planOf(func() []client.Object { return []client.Object{configMap("former", "1"), database()} }))
		w.touchSpec()
		w.edit(database(), types.MergePatchType, `{"metadata":{"labels":{"applyset.kubernetes.io/part-of":null},"ownerReferences":null}}`, "somebody")
		w.restart()
		w.syncedObject(database())
		for range 2 {
			result, _ := w.pass(plan()())
			Expect(result.Objects[0].Outcome).To(Equal(apply.OutcomeWaiting))
			Expect(result.PruneBlocked).To(MatchError(ContainSubstring("waits until Service " + w.namespace + "/database is applied")))
			Expect(w.names()).To(ConsistOf("former"))
		}
	})

	It("deletes an object after another is applied, and applies one after another is deleted", func() {
		w := newWorld()
		w.converge(planOf(func() []client.Object { return []client.Object{configMap("old", "1")} }))
		replaced := func() (s apply.Plan) {
			s.Policy = apply.Withdraw
			s.Delete(configMap("old", "1"), apply.After(server()))
			s.Apply(server())
			s.Apply(configMap("report", "1"), apply.After(configMap("old", "")))
			return s
		}
		w.requests.answer = refused("/configmaps/server")
		for range 2 {
			result, sent := w.pass(replaced())
			Expect(result.Finalized).To(BeFalse())
			Expect(order(sent, "DELETE ")).To(BeEmpty())
			Expect(w.names()).To(ConsistOf("old"))
		}
		w.requests.answer = nil
		w.restart()
		w.syncedObject(configMap("old", ""))
		_, sent := w.pass(replaced())
		all := slices.Concat(order(sent, "PATCH "), order(sent, "DELETE "))
		Expect(all).To(Equal([]string{"server", "old"}))
		w.converge(replaced)
		Expect(w.names()).To(ConsistOf("server", "report"))
		w.restart()
		w.quiet(2, replaced)
	})

	It("is reversed when the children leave the plan together, also after a restart", func() {
		w := newWorld()
		w.converge(plan())
		hold(w, server())
		w.touchSpec()
		_, sent := w.pass(empty())
		Expect(order(sent, "DELETE ")).To(Equal([]string{"server"}))
		w.restart()
		for range 2 {
			diff, err := w.engine.Diff(w.ctx, w.stored(), empty(), engine.DiffOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(diff.String()).To(ContainSubstring("* Service " + w.namespace + "/database: waits until ConfigMap " + w.namespace + "/server is gone"))
			_, sent = w.pass(empty())
			Expect(order(sent, "DELETE ")).To(BeEmpty())
			Expect(w.exists(database())).To(BeTrue())
		}
		release(w, server())
		Eventually(func(g Gomega) { // waits until a reconciliation with a current cache sends nothing
			_, _ = w.pass(empty())
			g.Expect(w.exists(database())).To(BeFalse())
		}).Should(Succeed())
		w.converge(empty)
		Expect(w.stored().Finalizers).To(BeEmpty())
		Expect(w.stored().Annotations).To(BeEmpty())
	})

	It("is reversed when the owner is deleted, although garbage collection would delete the children", func() {
		w := newWorld()
		w.converge(plan())
		Expect(w.stored().Finalizers).To(HaveLen(1))
		hold(w, server())
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		_, sent := w.pass(apply.Plan{})
		Expect(order(sent, "DELETE ")).To(Equal([]string{"server"}))
		w.restart()
		for range 2 {
			result, sent := w.pass(apply.Plan{})
			Expect(result.Finalized).To(BeFalse())
			Expect(order(sent, "DELETE ")).To(BeEmpty())
			Expect(w.exists(database())).To(BeTrue())
		}
		release(w, server())
		Eventually(func(g Gomega) {
			current := &widget.Widget{}
			if err := w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), current); apierrors.IsNotFound(err) {
				return
			}
			result := w.engine.Apply(w.ctx, current, apply.Plan{})
			g.Expect(result.Err()).NotTo(HaveOccurred())
			g.Expect(result.Finalized).To(BeTrue())
		}).Should(Succeed())
		Expect(w.exists(database())).To(BeTrue(), "it is left to garbage collection, which does not run here")
	})

	It("releases a part of a shared object after the children that are ordered after it", func() {
		w := newWorld()
		sharing := func() (s apply.Plan) {
			s.Policy = apply.Withdraw
			s.Apply(database(), apply.Shared)
			s.Apply(server(), apply.After(database()))
			return s
		}
		w.converge(sharing)
		hold(w, server())
		for range 2 {
			_, _ = w.pass(empty())
			Expect(w.exists(database())).To(BeTrue())
			w.restart()
		}
		release(w, server())
		Eventually(func(g Gomega) { // waits until a reconciliation with a current cache sends nothing
			_, _ = w.pass(empty())
			g.Expect(w.exists(database())).To(BeFalse())
		}).Should(Succeed())
		w.converge(empty)
		Expect(w.stored().Annotations).To(BeEmpty())
	})

	It("does not delay the deletion of an owner for an excluded child or for contradictory orders", func() {
		w := newWorld(func(w *world) { w.options.OptOutAnnotation = "example.com/managed" })
		w.converge(func() (s apply.Plan) {
			s.Apply(configMap("one", "1"))
			s.Apply(configMap("two", "1"), apply.After(configMap("one", "")))
			s.Apply(configMap("three", "1"), apply.After(configMap("two", "")))
			return s
		})
		w.edit(configMap("three", ""), types.MergePatchType, `{"metadata":{"annotations":{"example.com/managed":"false"}}}`, "somebody")
		w.edit(configMap("one", ""), types.MergePatchType, `{"metadata":{"annotations":{"`+applyset.AfterAnnotation+`":"ConfigMap/`+w.namespace+`/two"}}}`, "somebody")
		w.syncedObject(configMap("three", ""))
		w.syncedObject(configMap("one", ""))
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		Eventually(func(g Gomega) {
			current := &widget.Widget{}
			if err := w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), current); apierrors.IsNotFound(err) {
				return
			}
			g.Expect(w.engine.Apply(w.ctx, current, apply.Plan{}).Finalized).To(BeTrue())
		}).Should(Succeed())
		Expect(w.names()).To(ConsistOf("three"))
	})
})
