package engine_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

const class = "example.com/class"

var _ = Describe("The metadata of the owner", func() {
	annotated := func(value string, opts ...apply.ChildOption) func() apply.Plan {
		return func() apply.Plan {
			var p apply.Plan
			p.Metadata(metav1.ObjectMeta{
				Labels: map[string]string{"tier": value}, Annotations: map[string]string{class: value},
			}, opts...)
			return p
		}
	}
	withFinalizer := func() apply.Plan {
		p := annotated("gold")()
		p.Metadata(metav1.ObjectMeta{Finalizers: []string{"example.com/product"}})
		p.Apply(configMap("cm", "1"))
		return p
	}
	nothing := func() apply.Plan { return apply.Plan{} }
	foreign := func(w *world) {
		GinkgoHelper()
		w.edit(w.owner, types.MergePatchType, `{"metadata":{"labels":{"theirs":"1"},"annotations":{"theirs":"1"},"finalizers":["example.com/theirs"]}}`, "kubectl-edit")
	}
	// change runs a reconciliation and expects one PATCH of the owner.
	change := func(w *world, plan func() apply.Plan) {
		GinkgoHelper()
		result, sent := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeUpdated))
		Expect(result.Objects[0].GVK.Kind).To(Equal("Widget"))
		Expect(sent).To(ConsistOf(HavePrefix("PATCH ")))
		Expect(sent[0]).To(HaveSuffix("/widgets/site"))
	}

	// known creates an owner with managedFields, which the API server does not keep for an object that was created empty.
	known := func() *world {
		GinkgoHelper()
		w := newWorld()
		w.owner = &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "site", Namespace: w.namespace}, Spec: widget.Spec{Count: 1}}
		Expect(w.admin.Create(w.ctx, w.owner)).To(Succeed())
		return w
	}

	It("is set, changed and removed by one write each, without a finalizer", func() {
		w := known()
		foreign(w)
		change(w, annotated("gold"))
		stored := w.stored()
		Expect(stored.Labels).To(Equal(map[string]string{"theirs": "1", "tier": "gold"}))
		Expect(stored.Annotations).To(Equal(map[string]string{"theirs": "1", class: "gold"}))
		Expect(stored.Finalizers).To(ConsistOf("example.com/theirs"))
		w.quiet(2, annotated("gold"))
		w.restart()
		w.quiet(2, annotated("gold"))

		change(w, annotated("silver"))
		Expect(w.stored().Annotations).To(HaveKeyWithValue(class, "silver"))
		w.quiet(2, annotated("silver"))

		w.restart()
		change(w, nothing)
		stored = w.stored()
		Expect(stored.Labels).To(Equal(map[string]string{"theirs": "1"}))
		Expect(stored.Annotations).To(Equal(map[string]string{"theirs": "1"}))
		w.quiet(2, nothing)
	})

	It("is removed key by key", func() {
		w := known()
		change(w, annotated("gold"))
		change(w, func() apply.Plan {
			var p apply.Plan
			p.Metadata(metav1.ObjectMeta{Labels: map[string]string{"tier": "gold"}})
			return p
		})
		Expect(w.stored().Labels).To(HaveKeyWithValue("tier", "gold"))
		Expect(w.stored().Annotations).NotTo(HaveKey(class))
	})

	It("is kept next to the inventory, and the status can be written in the same reconciliation", func() {
		w := known()
		plan := func() apply.Plan {
			p := annotated("gold", apply.Force("metadata.labels.tier"))()
			p.Apply(configMap("cm", "1"))
			return p
		}
		for _, step := range []func() apply.Plan{plan, annotated("gold"), plan} {
			w.requests.take()
			current := w.stored()
			Expect(w.engine.Apply(w.ctx, current, step()).Err()).NotTo(HaveOccurred())
			after := current.DeepCopyObject().(*widget.Widget)
			after.Status.State = current.ResourceVersion
			_, err := w.status.WriteStatus(w.ctx, current, after, nil)
			Expect(err).NotTo(HaveOccurred())
			w.converge(step)
			w.quiet(2, step)
		}
		var managers []string
		for _, e := range w.stored().ManagedFields {
			managers = append(managers, e.Manager)
		}
		Expect(managers).To(ContainElements(manager+":metadata", manager+":owner"))
	})

	It("does not overwrite values of another manager, reports them, and takes them if forced", func() {
		for _, how := range []struct {
			what  string
			write func(w *world)
		}{
			{"update", func(w *world) {
				w.edit(w.owner, types.MergePatchType, `{"metadata":{"annotations":{"`+class+`":"theirs"}}}`, "theirs")
			}},
			{"apply", func(w *world) {
				w.edit(w.owner, types.ApplyPatchType, `{"apiVersion":"`+widget.GroupVersion.String()+
					`","kind":"Widget","metadata":{"annotations":{"`+class+`":"theirs"}}}`, "theirs")
			}},
		} {
			By(how.what)
			w := known()
			how.write(w)
			result, _ := w.pass(annotated("gold")())
			var contested *apply.ContestedError
			Expect(errors.As(result.Err(), &contested)).To(BeTrue())
			Expect(contested.Kind).To(Equal("Widget"))
			Expect(contested.Fields).To(ConsistOf(And(HaveField("Manager", "theirs"), HaveField("Path", ContainSubstring(class)))))
			Expect(w.stored().Annotations).To(HaveKeyWithValue(class, "theirs"))
			Expect(w.stored().Labels).To(HaveKeyWithValue("tier", "gold"))
			_, sent := w.pass(annotated("gold")())
			Expect(sent).To(BeEmpty())

			forced := annotated("gold", apply.Force(`metadata.annotations["`+class+`"]`))
			w.converge(forced)
			Expect(w.stored().Annotations).To(HaveKeyWithValue(class, "gold"))
			w.quiet(2, forced)
		}
	})

	It("is restored by one write if the owner is replaced without it", func() {
		w := known()
		change(w, annotated("gold"))
		for _, restart := range []bool{false, true} {
			stored := w.stored()
			stored.Labels, stored.Annotations, stored.ManagedFields = nil, nil, nil
			Expect(w.admin.Update(w.ctx, stored, client.FieldOwner("kubectl-replace"))).To(Succeed())
			if restart {
				w.restart()
			}
			change(w, annotated("gold"))
			w.quiet(2, annotated("gold"))
		}
		change(w, nothing)
		Expect(w.stored().Annotations).NotTo(HaveKey(class))
	})

	It("is recognized after managedFields are removed", func() {
		w := known()
		change(w, annotated("gold"))
		w.edit(w.owner, types.JSONPatchType, `[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`, "kubectl-edit")
		w.converge(annotated("gold"))
		change(w, nothing)
		Expect(w.stored().Annotations).NotTo(HaveKey(class))
		Expect(w.stored().Labels).NotTo(HaveKey("tier"))
	})

	It("is not written to a recreated owner or to one that is being deleted", func() {
		w := known()
		old := w.stored()
		Expect(w.admin.Delete(w.ctx, old)).To(Succeed())
		result := w.engine.Apply(w.ctx, old.DeepCopyObject().(*widget.Widget), annotated("gold")())
		Expect(apierrors.IsNotFound(errors.Unwrap(errors.Unwrap(result.Objects[0].Err))) || result.Err() != nil).To(BeTrue())
		Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(old), &widget.Widget{}))).To(BeTrue())

		fresh := w.newOwner("site")
		result = w.engine.Apply(w.ctx, old.DeepCopyObject().(*widget.Widget), annotated("gold")())
		Expect(result.Err()).To(HaveOccurred())
		Expect(w.stored().ResourceVersion).To(Equal(fresh.ResourceVersion))

		foreign(w)
		before := w.stored()
		Expect(w.admin.Delete(w.ctx, before)).To(Succeed())
		w.engine.Apply(w.ctx, before, annotated("gold")()) // the cache does not contain the deletion yet
		Expect(w.stored().Annotations).NotTo(HaveKey(class))
		w.quiet(1, annotated("gold"))
		Expect(w.stored().Annotations).NotTo(HaveKey(class))
	})

	It("is not compared with a cached owner that is older than the engine's write", func() {
		w := known()
		before := w.stored()
		change(w, annotated("gold"))
		w.requests.take()
		Expect(w.engine.Apply(w.ctx, before.DeepCopyObject().(*widget.Widget), annotated("gold")()).Err()).NotTo(HaveOccurred())
		Expect(w.requests.take()).To(BeEmpty())
		Expect(w.engine.Apply(w.ctx, before.DeepCopyObject().(*widget.Widget), annotated("silver")()).Err()).NotTo(HaveOccurred())
		Expect(writes(w.requests.take())).To(HaveLen(1))
		Expect(w.stored().Annotations).To(HaveKeyWithValue(class, "silver"))
		w.converge(annotated("silver"))
	})

	It("keeps finalizers of the product until the deletion is complete", func() {
		w := known()
		w.converge(withFinalizer)
		Expect(w.stored().Finalizers).To(ConsistOf("example.com/product", HavePrefix(apply.DefaultDomain)))
		w.restart()
		w.quiet(2, withFinalizer)
		held := func() apply.Plan { return apply.Plan{Hold: true} }
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		w.pass(held())
		Expect(w.stored().Finalizers).To(HaveLen(2))
		w.restart()
		result, _ := w.pass(apply.Plan{})
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Finalized).To(BeTrue())
		Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), &widget.Widget{}))).To(BeTrue())
	})

	It("removes finalizers of the product that left the plan", func() {
		w := known()
		w.converge(withFinalizer)
		w.converge(annotated("gold"))
		Expect(w.stored().Finalizers).To(BeEmpty())
	})

	for title, takenOver := range map[string]bool{"taken over": true, "dropped by the version that knows the manager": false} {
		It("removes finalizers that a former manager owns, too: "+title, func() {
			w := known()
			w.edit(w.owner, types.MergePatchType,
				`{"metadata":{"labels":{"tier":"gold","theirs":"1"},"annotations":{"theirs":"1"},"finalizers":["example.com/product","example.com/theirs"]}}`, "old")
			w.options.FormerManagers = []string{"old"}
			if !takenOver {
				w.options.FormerManagers = nil
			}
			w.restart()
			w.converge(withFinalizer)
			w.options.FormerManagers = []string{"old"}
			w.restart()
			w.converge(nothing)
			stored := w.stored()
			Expect(stored.Finalizers).To(Equal([]string{"example.com/theirs"}))
			Expect(stored.Labels).To(Equal(map[string]string{"theirs": "1"}))
			Expect(stored.Annotations).To(HaveKeyWithValue("theirs", "1"))
			w.quiet(2, nothing)
		})
	}

	It("is correct after the process is killed between any two requests", func() {
		for n := range 8 {
			for _, commit := range []bool{false, true} {
				w := known()
				foreign(w)
				var crashed atomic.Bool
				w.requests.fail = crashAfter(int64(n), commit, &crashed)
				for _, plan := range []func() apply.Plan{withFinalizer, annotated("silver")} {
					for range 3 {
						w.pass(plan())
					}
				}
				By(fmt.Sprintf("crash at request %d, carried out: %v: %v", n, commit, crashed.Load()))
				if f := w.stored().Finalizers; len(f) > 1 {
					Expect(f).NotTo(ConsistOf("example.com/theirs", "example.com/product")) // it would never be removed
				}
				w.restart()
				w.converge(annotated("silver"))
				w.quiet(2, annotated("silver"))
				stored := w.stored()
				Expect(stored.Labels).To(Equal(map[string]string{"theirs": "1", "tier": "silver"}))
				Expect(stored.Annotations).To(And(HaveKeyWithValue("theirs", "1"), HaveKeyWithValue(class, "silver")))
				Expect(stored.Finalizers).To(ConsistOf("example.com/theirs"))
			}
		}
	})

	It("is retried after a failure, and does not block children", func() {
		w := known()
		plan := func() apply.Plan {
			p := annotated("gold")()
			p.Apply(configMap("cm", "1"))
			return p
		}
		w.requests.answer = func(r *http.Request) *apierrors.StatusError {
			if r.URL.Query().Get("fieldManager") == manager+":metadata" {
				return apierrors.NewServiceUnavailable("away")
			}
			return nil
		}
		result, _ := w.pass(plan())
		Expect(result.Err()).To(MatchError(And(ContainSubstring("Widget"), ContainSubstring("away"))))
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "cm"}, &corev1.ConfigMap{})).To(Succeed())
		w.requests.answer = nil
		w.converge(plan)
	})

	It("appears in the decisions, and metadata that cannot be planned is rejected", func() {
		w := known()
		decisions, err := w.engine.Diff(w.ctx, w.stored(), annotated("gold")(), engine.DiffOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(decisions.Objects).To(ConsistOf(And(
			HaveField("GVK.Kind", "Widget"), HaveField("Verb", apply.VerbUpdate),
			HaveField("Fields", ContainElement(HaveField("To", `"gold"`))),
		)))
		Expect(w.stored().Annotations).To(BeEmpty())

		var own apply.Plan
		own.Metadata(metav1.ObjectMeta{Name: "other"})
		result, sent := w.pass(own)
		Expect(result.Err()).To(MatchError(ContainSubstring("want only labels, annotations and finalizers")))
		Expect(sent).To(BeEmpty())

		var contribution apply.Plan
		contribution.Contribute(&widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "site", Annotations: map[string]string{class: "x"}}})
		result, sent = w.pass(contribution)
		Expect(result.Err()).To(MatchError(ContainSubstring("with Metadata")))
		Expect(writes(sent)).To(BeEmpty())
	})
})
