package engine_test

import (
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

var _ = Describe("Two processes with one field manager", func() {
	It("stop fighting over a field, report each other, and apply the other fields", func() {
		w := newWorld()
		other, err := engine.New(w.admin, w.admin, w.options)
		Expect(err).NotTo(HaveOccurred())
		ours := func() apply.Plan {
			return one(func() client.Object {
				a := configMap("a", "1")
				a.Data["ours"] = "yes"
				return a
			})()
		}
		theirs := func() apply.Plan {
			return one(func() client.Object {
				a := configMap("a", "2")
				a.Data["ours"] = "yes"
				return a
			})()
		}
		var last apply.Result
		writes := 0
		for range 20 {
			var sent []string
			last, sent = w.pass(ours())
			writes += len(sent)
			w.clock.Step(time.Second)
			_ = other.Apply(w.ctx, w.stored(), theirs())
			w.clock.Step(time.Second)
		}
		Expect(writes).To(BeNumerically("<", 10))
		var contested *apply.ContestedError
		Expect(last.Err()).To(MatchError(ContainSubstring("a has fields of other managers: .data.value of")))
		Expect(errors.As(last.Err(), &contested)).To(BeTrue())
		Expect(contested.Fields).To(Equal([]apply.ContestedField{{Path: ".data.value", Manager: w.options.FieldManager + " in another process"}}))
		stored := configMapIn(w.namespace, "a")
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(stored.Data).To(HaveKeyWithValue("ours", "yes"))
	})
})
