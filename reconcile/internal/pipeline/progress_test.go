package pipeline_test

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// is returns a reconciler that reports the component.
func is(c health.Component) *widgets {
	return &widgets{compose: func(o observation) observation {
		c.Name, c.Immediate = "Part", true
		o.extra = []health.Component{c}
		return o
	}}
}

// failing is a component with one error.
func failing(category health.Category) health.Component {
	return health.Component{Errors: []error{health.NewError(category, "Because", "of this", nil)}}
}

var _ = Describe("The conditions of kstatus", func() {
	const none = ""
	DescribeTable("exist only while they are True, and are removed after recovery",
		func(_ SpecContext, c health.Component, want string) {
			w := newWorld(widget.Spec{Count: 1}, is(c))
			for range 3 { // the first attempt may end in an error, and later ones must not change the conditions
				_, _ = w.pass()
				var present []string
				for _, conditionType := range []string{"Stalled", "Reconciling"} {
					found := w.condition(conditionType)
					if found.Type == "" {
						continue
					}
					present = append(present, conditionType)
					ready := w.condition(conditions.Ready)
					Expect(found.Status).To(Equal(metav1.ConditionTrue))
					Expect([]string{found.Reason, found.Message}).To(Equal([]string{ready.Reason, ready.Message}))
					Expect(found.ObservedGeneration).To(Equal(w.widget.Generation))
				}
				Expect(strings.Join(present, "")).To(Equal(want))
			}
			for _, event := range w.drain() {
				Expect(event).NotTo(Or(ContainSubstring("Stalled"), ContainSubstring("Reconciling")))
			}
			w.restart(is(health.Component{State: health.Ready}))
			w.settle()
			Expect(meta.IsStatusConditionTrue(w.widget.Status.Conditions, conditions.Ready)).To(BeTrue())
			Expect(w.condition("Stalled").Type + w.condition("Reconciling").Type).To(BeEmpty())
		},
		Entry("ready", health.Component{State: health.Ready}, none),
		Entry("progressing", health.Component{State: health.Progressing}, "Reconciling"),
		Entry("temporarily unavailable", health.Component{State: health.NotAvailable}, "Reconciling"),
		Entry("missing upstream dependency", failing(health.MissingUpstreamDependency), "Reconciling"),
		Entry("retried error", failing(health.Infrastructure), "Reconciling"),
		Entry("conflict", failing(health.Conflict), "Reconciling"),
		Entry("failed permanently", health.Component{State: health.Failed}, "Stalled"),
		Entry("invalid spec", failing(health.InvalidSpec), "Stalled"),
		Entry("missing permission", failing(health.Auth), "Stalled"),
		Entry("exceeded quota", failing(health.ResourceExhaustion), "Stalled"),
		Entry("program error", failing(health.ProgramError), "Stalled"),
	)

	It("report an owner without progress in one write, also after a restart", func() {
		waiting := func(message string) *widgets {
			return is(health.Component{State: health.Progressing, Reason: "Waiting", Message: message})
		}
		w := newWorld(widget.Spec{Count: 1}, waiting("1 of 3"))
		w.settle()
		result, err := w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(And(BeNumerically(">", 9*time.Minute), BeNumerically("<=", 10*time.Minute)))
		w.drain()

		w.clock.SetTime(w.clock.Now().Add(6 * time.Minute))
		w.restart(waiting("1 of 3"))
		w.requests.Reset()
		result, err = w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(And(BeNumerically(">", 3*time.Minute), BeNumerically("<=", 4*time.Minute)))
		Expect(w.requests.Snapshot().Writes()).To(BeEmpty())

		w.clock.SetTime(w.clock.Now().Add(result.RequeueAfter))
		result, err = w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(BeZero())
		Expect(w.requests.Snapshot().Writes()).To(HaveLen(1))
		stalled := w.condition("Stalled")
		Expect(stalled.Reason).To(Equal(pipeline.ReasonProgressDeadlineExceeded))
		Expect(stalled.Message).To(And(HavePrefix("no progress for 10m0s: "), HaveSuffix("Part: 1 of 3")))
		Expect(w.condition("Reconciling").Type).To(BeEmpty())
		Expect(w.drain()).To(ConsistOf(And(ContainSubstring("Warning ProgressDeadlineExceeded"), ContainSubstring("1 of 3"))))

		w.clock.SetTime(w.clock.Now().Add(time.Hour))
		w.restart(waiting("1 of 3"))
		w.requests.Reset()
		_, err = w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(w.requests.Snapshot().Writes()).To(BeEmpty())

		w.restart(waiting("2 of 3"))
		result, err = w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(Equal(10 * time.Minute))
		Expect(w.condition("Stalled").Type).To(BeEmpty())
		Expect(w.condition("Reconciling").LastTransitionTime.Time).To(BeTemporally("~", w.clock.Now(), time.Second))
	})

	It("are not set if the decorator sets one of them", func() {
		w := newWorld(widget.Spec{}, &decorated{decorate: func(_ *widget.Status, cm *conditions.Manager) {
			cm.MarkFalse(conditions.Ready, "Broken", "it is broken")
			cm.MarkTrue("Stalled", "Mine", "of the product")
		}})
		_, err := w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(w.condition("Stalled").Reason).To(Equal("Mine"))
		Expect(w.condition("Reconciling").Type).To(BeEmpty())
	})

	It("of another writer are kept", func(ctx SpecContext) {
		w := newWorld(widget.Spec{Count: 1}, &widgets{})
		w.settle()
		theirs := metav1.Condition{Type: "Stalled", Status: metav1.ConditionTrue, Reason: "Theirs", LastTransitionTime: metav1.Now()}
		w.widget.Status.Conditions = append(w.widget.Status.Conditions, theirs)
		Expect(env.Client().Status().Update(ctx, w.widget, client.FieldOwner("somebody"))).To(Succeed())
		w.settle()
		Expect(w.condition("Stalled").Reason).To(Equal("Theirs"))
	})
})
