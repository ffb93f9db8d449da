package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

var _ = Describe("Diff", func() {
	secret := func(value string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: meta("s"), StringData: map[string]string{"token": value}}
	}

	It("contains creates, updates, deletes and prunes, masks secrets, and sends nothing", func() {
		w := newWorld()
		plan := func() apply.Plan {
			var s apply.Plan
			s.Apply(configMap("same", "1"))
			s.Apply(configMap("cm", "1"))
			s.Apply(configMap("old", "1"))
			s.Apply(configMap("unwanted", "1"))
			s.Apply(secret("hush"))
			return s
		}
		w.converge(plan)
		w.edit(configMap("cm", ""), types.MergePatchType, `{"metadata":{"annotations":{"theirs":"1"}}}`, "x")
		var s apply.Plan
		s.Apply(configMap("same", "1"))
		changed := configMap("cm", "2")
		changed.Data["more"] = "x"
		s.Apply(changed)
		s.Apply(secret("hush hush"))
		s.Apply(configMap("new", "1"))
		s.Delete(configMap("unwanted", ""))
		w.requests.take()
		diff, err := w.engine.Diff(w.ctx, w.stored(), s, engine.DiffOptions{})
		Expect(err).NotTo(HaveOccurred())
		text := diff.String()
		Expect(writes(w.requests.take())).To(BeEmpty())
		ns := w.namespace
		Expect(text).To(ContainSubstring("- ConfigMap " + ns + "/unwanted: delete (Planned)\n"))
		Expect(text).To(ContainSubstring("~ ConfigMap " + ns + "/cm: update (PlanChanged)\n  + .data.more: \"x\"\n  ~ .data.value: \"1\" -> \"2\"\n~ Secret"))
		Expect(text).To(ContainSubstring("~ Secret " + ns + "/s: update (PlanChanged)\n  ~ .data.token: *** -> *** (changed)\n"))
		Expect(text).To(ContainSubstring("+ ConfigMap " + ns + "/new: create (Missing)\n  + .data.value: \"1\"\n"))
		Expect(text).To(HaveSuffix("- ConfigMap " + ns + "/old: prune (NotPlanned)\n"))
		Expect(text).NotTo(ContainSubstring("same"))
		Expect(text).NotTo(ContainSubstring("aHVz"))
		Expect(w.names()).To(HaveLen(4))

		diff, err = w.engine.Diff(w.ctx, w.stored(), s, engine.DiffOptions{ServerDryRun: true})
		Expect(err).NotTo(HaveOccurred())
		text = diff.String()
		Expect(w.requests.take()).To(HaveEach(Or(HavePrefix("GET "), HaveSuffix("(dry run)"))))
		Expect(text).To(ContainSubstring("~ ConfigMap " + ns + "/cm: update (PlanChanged)\n  + .data.more: \"x\"\n  ~ .data.value: \"1\" -> \"2\"\n"))
		Expect(w.names()).To(HaveLen(4))
	})

	It("is empty if nothing would change", func() {
		w := newWorld()
		plan := planOf(everydayKinds)
		w.converge(plan)
		diff, err := w.engine.Diff(w.ctx, w.stored(), plan(), engine.DiffOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(diff.String()).To(BeEmpty())
	})
})
