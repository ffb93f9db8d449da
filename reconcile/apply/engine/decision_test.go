package engine_test

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// decided is the part of a decision that must be the same in a diff and an apply.
func decided(d apply.Decision) string {
	text := fmt.Sprintf("%s %s: %s %s", d.GVK.Kind, d.Key.Name, d.Verb, d.Reason)
	if d.Err != nil {
		text += ": " + d.Err.Error()
	}
	return text
}

// agrees compares a diff with the apply that follows it, and returns the
// decision.
func (w *world) agrees(plan apply.Plan) []string {
	GinkgoHelper()
	current := &widget.Widget{}
	Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), current)).To(Succeed())
	w.requests.take()
	stored := *current // must not be changed by the diff
	diff, err := w.engine.Diff(w.ctx, &stored, plan, engine.DiffOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(writes(w.requests.take())).To(BeEmpty(), "a diff sends no write")
	again, err := w.engine.Diff(w.ctx, &stored, plan, engine.DiffOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(cmp.Diff(diff.String(), again.String())).To(BeEmpty(), "a diff remembers nothing")
	w.requests.take()

	// Only a dry run shows that the API server rejects a write.
	tried, err := w.engine.Diff(w.ctx, &stored, plan, engine.DiffOptions{ServerDryRun: true})
	Expect(err).NotTo(HaveOccurred())
	for _, request := range writes(w.requests.take()) {
		Expect(request).To(HaveSuffix("(dry run)"))
	}

	result := w.engine.Apply(w.ctx, current, plan)
	sent := writes(w.requests.take())
	want, got := []string{}, []string{}
	decisions := 0
	for i, d := range diff.Objects {
		want = append(want, decided(tried.Objects[i]))
		Expect(d.Verb).To(Equal(tried.Objects[i].Verb))
		if d.Verb != apply.VerbNone {
			decisions++
		}
	}
	for _, o := range result.Objects {
		got = append(got, decided(o.Decision))
	}
	Expect(cmp.Diff(want, got)).To(BeEmpty(), "diff (-) and apply (+)")
	Expect(diff.Owner == nil).To(Equal(result.Owner == nil), "write of the owner's metadata")
	Expect(fmt.Sprint(diff.PruneBlocked)).To(Equal(fmt.Sprint(result.PruneBlocked)))
	if decisions == 0 && diff.Owner == nil {
		Expect(sent).To(BeEmpty(), "nothing was to be done")
	} else {
		Expect(sent).NotTo(BeEmpty(), "%s", diff)
	}
	return got
}

// A diff has the same decisions as an apply, for each verb of a plan in each situation
// that can occur.
var _ = Describe("The decisions of a diff are those of an apply", func() {
	const name = "it"
	verbs := map[string]func(p *apply.Plan){
		"Apply":            func(p *apply.Plan) { p.Apply(configMap(name, "2")) },
		"Shared":           func(p *apply.Plan) { p.Apply(configMap(name, "2"), apply.Shared) },
		"Once":             func(p *apply.Plan) { p.Apply(configMap(name, "2"), apply.Once) },
		"Keep":             func(p *apply.Plan) { p.Keep(configMap(name, "2")) },
		"Contribute":       func(p *apply.Plan) { p.Contribute(configMap(name, "2")) },
		"Delete":           func(p *apply.Plan) { p.Delete(configMap(name, "")) },
		"Delete by labels": func(p *apply.Plan) { p.Delete(configMap(name, ""), apply.MatchLabels{"is": "not there"}) },
		"Delete by UID": func(p *apply.Plan) {
			o := configMap(name, "")
			o.UID = "another"
			p.Delete(o)
		},
		"prune":    func(*apply.Plan) {},
		"suspend":  func(p *apply.Plan) { p.Policy = apply.Suspend; p.Apply(configMap(name, "2")) },
		"withdraw": func(p *apply.Plan) { p.Policy = apply.Withdraw },
		"prune blocked": func(p *apply.Plan) {
			p.PruneBlocked = fmt.Errorf("a read failed")
		},
	}
	ours := func(w *world) {
		w.converge(planOf(func() []client.Object { return []client.Object{configMap(name, "1")} }))
	}
	object := func(w *world) *corev1.ConfigMap {
		o := configMap(name, "")
		o.Namespace = w.namespace
		return o
	}
	situations := map[string]func(w *world){
		"absent": func(*world) {},
		"ours":   ours,
		"ours, after a restart": func(w *world) {
			ours(w)
			w.restart()
		},
		"foreign": func(w *world) { w.foreign(object(w)) },
		"labelled, but foreign": func(w *world) {
			o := object(w)
			o.Labels = map[string]string{applyset.PartOfLabel: applyset.ID(widget.GroupVersion.WithKind("Widget").GroupKind(), client.ObjectKeyFromObject(w.owner))}
			w.foreign(o)
		},
		"controlled by another": func(w *world) {
			o := object(w)
			other := w.newOwner("another")
			o.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(other, widget.GroupVersion.WithKind("Widget"))}
			w.foreign(o)
		},
		"terminating": func(w *world) {
			ours(w)
			w.edit(object(w), types.MergePatchType, `{"metadata":{"finalizers":["test/hold"]}}`, "x")
			Expect(w.admin.Delete(w.ctx, object(w))).To(Succeed())
			w.syncedObject(object(w))
		},
		"opted out": func(w *world) {
			ours(w)
			w.edit(object(w), types.MergePatchType, `{"metadata":{"annotations":{"test/managed":"false"}}}`, "x")
			w.syncedObject(object(w))
		},
		"edited": func(w *world) {
			ours(w)
			w.edit(object(w), types.MergePatchType, `{"data":{"value":"9"}}`, "kubectl-edit")
			w.syncedObject(object(w))
		},
		"refused a moment ago": func(w *world) {
			w.requests.fail = refuseWrites
			plan := apply.Plan{}
			plan.Apply(configMap(name, "2"))
			w.pass(plan)
			w.requests.fail = nil
		},
	}
	for situation, arrange := range situations {
		It(situation, func() {
			for verb, add := range verbs {
				By(verb)
				w := newWorld(func(w *world) { w.options.OptOutAnnotation = "test/managed" })
				arrange(w)
				var plan apply.Plan
				add(&plan)
				for range 3 { // the second reconciliation starts with the result of the first
					w.agrees(plan)
					w.settled(object(w))
				}
				w.stop()
			}
		})
	}

	It("a kind that is not served", func() {
		w := newWorld()
		absent := &unstructured.Unstructured{}
		absent.SetGroupVersionKind(schema.GroupVersionKind{Group: "nowhere.example.com", Version: "v1", Kind: "Thing"})
		absent.SetName("thing")
		var plan apply.Plan
		plan.Apply(absent)
		plan.Apply(configMap("near", "1"))
		plan.Delete(absent.DeepCopy())
		Expect(w.agrees(plan)).To(ContainElement(ContainSubstring("Thing")))
	})
})

// foreign creates an object without the engine, and waits for the cache.
func (w *world) foreign(o client.Object) {
	GinkgoHelper()
	Expect(w.admin.Create(w.ctx, o, client.FieldOwner("somebody"))).To(Succeed())
	w.syncedObject(o)
}

// settled waits until the cache contains the stored version of an object.
func (w *world) settled(o client.Object) {
	GinkgoHelper()
	key := client.ObjectKeyFromObject(o)
	Eventually(func(g Gomega) {
		stored, cached := &corev1.ConfigMap{}, &corev1.ConfigMap{}
		storedErr, cachedErr := w.admin.Get(w.ctx, key, stored), w.client.Get(w.ctx, key, cached)
		g.Expect(apierrors.IsNotFound(cachedErr)).To(Equal(apierrors.IsNotFound(storedErr)))
		g.Expect(cached.ResourceVersion).To(Equal(stored.ResourceVersion))
	}).Should(Succeed())
}

// refuseWrites rejects all writes.
func refuseWrites(_ int, r *http.Request) error {
	if r.Method == http.MethodGet {
		return nil
	}
	return errors.New("refused")
}
