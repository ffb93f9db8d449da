package status_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/status"
)

func condition(kind, message string) metav1.Condition {
	return metav1.Condition{
		Type: kind, Status: metav1.ConditionTrue, Reason: "Because", Message: message, LastTransitionTime: metav1.Unix(1700000000, 0),
	}
}

func replaceCondition(list []metav1.Condition, c metav1.Condition) []metav1.Condition {
	out := []metav1.Condition{c}
	for _, old := range list {
		if old.Type != c.Type {
			out = append(out, old)
		}
	}
	return out
}

var _ = Describe("A status write", func() {
	It("is one apply if the status changed, and is omitted otherwise", func() {
		w := newWorld()
		before := w.stored()
		after := copyOf(before)
		written, err := w.writer.WriteStatus(w.ctx, before, after, []string{"Ready"})
		Expect(err).NotTo(HaveOccurred())
		Expect(written).To(BeFalse())
		Expect(w.sent()).To(BeZero())

		after.Status = widget.Status{Count: 2, ObservedGeneration: 1, Conditions: []metav1.Condition{condition("Ready", "")}}
		written, err = w.writer.WriteStatus(w.ctx, before, after, []string{"Ready"})
		Expect(err).NotTo(HaveOccurred())
		Expect(written).To(BeTrue())
		Expect(w.sent()).To(Equal(1))
		stored := w.stored()
		Expect(after.ResourceVersion).To(Equal(stored.ResourceVersion))
		Expect(stored.Status.Conditions).To(ConsistOf(condition("Ready", "")))
		Expect(stored.ManagedFields).To(ContainElement(And(HaveField("Manager", manager), HaveField("Operation", metav1.ManagedFieldsOperationApply))))

		written, err = w.writer.WriteStatus(w.ctx, stored, copyOf(stored), []string{"Ready"})
		Expect(err).NotTo(HaveOccurred())
		Expect(written).To(BeFalse())

		By("removing a condition and a field")
		next := copyOf(stored)
		next.Status.Conditions = []metav1.Condition{condition("Other", "x")}
		next.Status.Count = 0
		_, err = w.writer.WriteStatus(w.ctx, stored, next, []string{"Other"})
		Expect(err).NotTo(HaveOccurred())
		Expect(w.stored().Status).To(Equal(widget.Status{ObservedGeneration: 1, Conditions: []metav1.Condition{condition("Other", "x")}}))
	})

	It("keeps the conditions of other writers and does not conflict with them", func() {
		w := newWorld()
		second := w.newWriter("second")
		stale := w.stored()
		for i := range 20 {
			for name, writer := range map[string]*status.Writer{"First": w.writer, "Second": second} {
				after := copyOf(stale) // both writers start from the same old state
				after.Status.Conditions = replaceCondition(after.Status.Conditions, condition(name, string(rune('a'+i))))
				_, err := writer.WriteStatus(w.ctx, stale, after, []string{name})
				Expect(err).NotTo(HaveOccurred())
			}
		}
		Expect(w.stored().Status.Conditions).To(ConsistOf(condition("First", "t"), condition("Second", "t")))
	})

	It("is a merge patch with a resourceVersion if the list of conditions is atomic", func() {
		w := newWorld()
		atomic := func() *unstructured.Unstructured {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(widget.GroupVersion.WithKind("Atomic"))
			u.SetName("atomic")
			u.SetNamespace(w.namespace)
			return u
		}
		o := atomic()
		Expect(w.admin.Create(w.ctx, o)).To(Succeed())
		write := func(before *unstructured.Unstructured, kind string) error {
			after := before.DeepCopy()
			conditions, _, _ := unstructured.NestedSlice(after.Object, "status", "conditions")
			conditions = append(conditions, map[string]any{
				"type": kind, "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2024-01-01T00:00:00Z",
			})
			Expect(unstructured.SetNestedSlice(after.Object, conditions, "status", "conditions")).To(Succeed())
			_, err := w.writer.WriteStatus(w.ctx, before, after, []string{kind})
			return err
		}
		read := func() *unstructured.Unstructured {
			u := atomic()
			Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(u), u)).To(Succeed())
			return u
		}
		Expect(write(o, "One")).To(Succeed())
		stale := read()
		Expect(write(read(), "Two")).To(Succeed())
		Expect(apierrors.IsConflict(write(stale, "Three"))).To(BeTrue())
		Expect(write(read(), "Three")).To(Succeed())
		conditions, _, _ := unstructured.NestedSlice(read().Object, "status", "conditions")
		Expect(conditions).To(HaveLen(3))
	})
})

var _ = Describe("A migration of the owner", func() {
	It("sends only the differences in one patch with a resourceVersion, and nothing without a difference", func() {
		w := newWorld()
		before := w.stored()
		after := copyOf(before)
		written, err := w.writer.Rewrite(w.ctx, before, after)
		Expect(written, err).To(BeFalse())

		after.SetLabels(map[string]string{"form": "new"})
		written, err = w.writer.Rewrite(w.ctx, before, after)
		Expect(written, err).To(BeTrue())
		Expect(w.stored().Labels).To(HaveKeyWithValue("form", "new"))
		Expect(after.ResourceVersion).To(Equal(w.stored().ResourceVersion))

		after = copyOf(before)
		after.SetLabels(map[string]string{"form": "newer"})
		_, err = w.writer.Rewrite(w.ctx, before, after)
		Expect(err).To(MatchError(ContainSubstring("rewrite: ")), "the version is an old one")
		after.UID = ""
		_, err = w.writer.Rewrite(w.ctx, before, after)
		Expect(err).To(MatchError(ContainSubstring("two states of one existing object")))
	})
})
