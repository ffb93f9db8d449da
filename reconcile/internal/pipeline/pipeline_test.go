package pipeline_test

import (
	"context"
	"errors"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// once injects a fault into the first request that matches.
func once(fault requests.Fault, match ...func(requests.Request) bool) func(requests.Request) *requests.Fault {
	hit := false
	return func(request requests.Request) *requests.Fault {
		if hit {
			return nil
		}
		for _, m := range match {
			if !m(request) {
				return nil
			}
		}
		hit = true
		return &fault
	}
}

var (
	status     = requests.Subresource("status")
	configMaps = requests.Resource("", "configmaps")
)

var _ = Describe("A reconciliation", func() {
	ctx := context.Background()

	It("sends the events of a child and of a deletion once, after the write", func() {
		text, doomed := "1", false
		reconciler := &widgets{plan: func(rc reconcile.ReconcileContext[*widget.Widget], plan *reconcile.PlanResult) {
			child := part(rc.Object, "announced")
			if doomed {
				plan.Delete(child, apply.Announcement{Reason: "PartDeleted", Message: "deleted part", Warning: true})
				return
			}
			child.Data = map[string]string{"text": text}
			plan.Apply(child, apply.Announce("PartWritten", "wrote part "+text))
		}}
		w := newWorld(widget.Spec{}, reconciler)
		after := func(what string, want ...string) {
			GinkgoHelper()
			for range 3 {
				_, err := w.pass()
				Expect(err).NotTo(HaveOccurred())
			}
			var got []string
			for _, event := range w.drain() {
				if strings.Contains(event, "Part") {
					got = append(got, event)
				}
			}
			Expect(got).To(Equal(want), what)
		}
		after("created", "Normal PartWritten wrote part 1")
		after("unchanged")
		text = "2"
		after("changed", "Normal PartWritten wrote part 2")
		doomed = true
		after("deleted", "Warning PartDeleted deleted part")
	})

	It("applies the plan, stores the status once and then sends nothing", func() {
		w := newWorld(widget.Spec{Count: 2, Message: "hello"}, &widgets{})
		result, err := w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(BeZero())
		Expect(w.parts()).To(ConsistOf("demo-0", "demo-1"))
		Expect(w.requests.Snapshot().Where(status)).To(HaveLen(1))
		ready := w.condition("Ready")
		Expect(ready.Status).To(Equal(metav1.ConditionTrue))
		Expect(ready.ObservedGeneration).To(Equal(w.widget.Generation))
		Expect(w.widget.Status.ObservedGeneration).To(Equal(w.widget.Generation), "the decorator does not replace the engine's field")
		Expect(w.widget.Status.Count).To(Equal(1))
		Expect(w.widget.Status.State).To(Equal(string(health.Ready)))
		Expect(w.events.Events).To(Receive(ContainSubstring("Normal")))

		w.requests.Reset()
		for range 20 {
			_, err := w.pass()
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(w.requests.Snapshot().Writes()).To(BeEmpty())
		w.restart(&widgets{})
		_, err = w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(w.requests.Snapshot().Writes()).To(BeEmpty(), "after a restart")
	})

	It("prunes children that left the plan", func() {
		w := newWorld(widget.Spec{Count: 3}, &widgets{})
		w.settle()
		w.update(func(o *widget.Widget) { o.Spec.Count = 1 })
		w.settle()
		Expect(w.parts()).To(ConsistOf("demo-0"))
	})

	It("waits for an upstream dependency, and continues when it exists", func() {
		w := newWorld(widget.Spec{Count: 1, Ref: "source"}, &widgets{})
		result, err := w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(Equal(pipeline.DefaultProgressDeadline), "a watch triggers an earlier pass")
		Expect(w.parts()).To(BeEmpty())
		Expect(w.condition("ConfigValid").Reason).To(Equal("ReferenceNotFound"))
		Expect(w.condition("SourceReady").Message).To(ContainSubstring(`configmaps "source" not found`))
		Expect(env.Client().Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.widget.Namespace, Name: "source"},
		})).To(Succeed())
		w.settle()
		Expect(w.parts()).To(ConsistOf("demo-0"))
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))
	})

	It("neither applies nor prunes after a failed read, even if the reconciler ignores the error", func() {
		swallow := &widgets{fetch: func(f fetched) fetched {
			if f.source.HasError() {
				return fetched{}
			}
			return f
		}}
		w := newWorld(widget.Spec{Count: 3, Ref: "source"}, swallow)
		Expect(env.Client().Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.widget.Namespace, Name: "source"},
		})).To(Succeed())
		w.settle()
		w.update(func(o *widget.Widget) { o.Spec.Count = 0 })
		down := requests.Fault{Err: apierrors.NewServiceUnavailable("down")}
		w.requests.Inject(once(down, requests.Verb("get"), configMaps))
		_, err := w.pass()
		Expect(err).To(HaveOccurred(), "the backoff gets it")
		Expect(w.parts()).To(HaveLen(3))
		Expect(w.condition("DependenciesReachable").Status).To(Equal(metav1.ConditionFalse))
		w.settle()
		Expect(w.parts()).To(BeEmpty())
		Expect(w.condition("DependenciesReachable").Status).To(Equal(metav1.ConditionTrue))
	})

	It("neither applies nor prunes after an error of PlanResources, and reports it", func() {
		reconciler := &widgets{}
		w := newWorld(widget.Spec{Count: 2}, reconciler)
		_, err := w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(w.parts()).To(HaveLen(2))

		w.update(func(o *widget.Widget) { o.Spec.Count = 1 })
		reconciler.failed = errors.New("no name fits")
		w.requests.Reset()
		_, err = w.pass()
		Expect(err).To(MatchError(reconciler.failed), "an error without a category is tried again")
		Expect(w.requests.Snapshot().Where(configMaps).Writes()).To(BeEmpty())
		Expect(w.parts()).To(HaveLen(2), "nothing is pruned")
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		_, _ = w.pass()
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionFalse))
		Expect(w.condition("Ready").Message).To(ContainSubstring("no name fits"))

		reconciler.failed = health.NewError(health.InvalidSpec, "NameTooLong", "spec.message is no name", nil)
		result, err := w.pass()
		Expect(err).NotTo(HaveOccurred(), "an error of the spec waits for a change")
		Expect(result.RequeueAfter).To(BeZero())
		Expect(w.condition("Ready").Reason).To(Equal("NameTooLong"))
		Expect(w.parts()).To(HaveLen(2))

		reconciler.plan = func(_ reconcile.ReconcileContext[*widget.Widget], plan *reconcile.PlanResult) {
			plan.RequeueAfter = time.Hour
		}
		result, err = w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(Equal(time.Hour), "what the plan says of the next pass counts")

		reconciler.failed, reconciler.plan = nil, nil
		_, err = w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(w.parts()).To(HaveLen(1))
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))
	})

	It("turns a panic in any phase into an error and a condition", func() {
		boom := errors.New("boom")
		for _, reconciler := range []*widgets{
			{fetch: func(fetched) fetched { panic(boom) }},
			{compose: func(observation) observation { panic(boom) }},
			{plan: func(reconcile.ReconcileContext[*widget.Widget], *reconcile.PlanResult) { panic(boom) }},
		} {
			w := newWorld(widget.Spec{Count: 1}, reconciler)
			result, err := w.pass()
			var panicked *reconcile.PanicError
			Expect(errors.Is(err, ctrl.TerminalError(nil))).To(BeTrue(), "it is not retried hot")
			Expect(result.RequeueAfter).To(BeNumerically("<=", pipeline.DefaultTerminalRetry), "but it is tried again")
			Expect(errors.As(err, &panicked)).To(BeTrue(), "got %v", err)
			Expect(errors.Is(err, boom)).To(BeTrue())
			Expect(string(panicked.Stack)).To(ContainSubstring("pipeline_test.go"))
			Expect(w.parts()).To(BeEmpty())
			Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionFalse))
			Expect(w.condition("Ready").Reason).To(Equal("ProgramError"))
			Expect(w.condition("Ready").Message).To(ContainSubstring("panicked: boom"))
			Expect(w.condition("DependenciesReachable")).To(BeZero(), "nobody else is to blame")
			w.restart(&widgets{})
			w.settle()
			Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))
		}
	})

	It("reports a rejected write, applies the other children and recovers when the cause is gone", func() {
		bad := &widgets{plan: func(rc reconcile.ReconcileContext[*widget.Widget], plan *reconcile.PlanResult) {
			if rc.Object.Spec.Message == "bad" {
				child := part(rc.Object, "refused")
				child.Data = map[string]string{"not a key": ""}
				plan.Apply(child)
			}
		}}
		w := newWorld(widget.Spec{Count: 1, Message: "bad"}, bad)
		result, err := w.pass()
		Expect(err).NotTo(HaveOccurred(), "a refusal is not retried hot")
		Expect(result.RequeueAfter).To(And(BeNumerically(">", 0), BeNumerically("<=", pipeline.DefaultTerminalRetry)))
		Expect(w.parts()).To(ConsistOf("demo-0"))
		Expect(w.condition("ConfigValid").Reason).To(Equal("InvalidSpec"))
		Expect(w.condition("ConfigValid").Message).To(And(ContainSubstring("demo-refused"), ContainSubstring("not a key")))
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionFalse))
		w.update(func(o *widget.Widget) { o.Spec.Message = "good" })
		w.settle()
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))
		Expect(w.condition("ConfigValid").Status).To(Equal(metav1.ConditionTrue))
	})

	It("does not change an object of another owner, and reports that owner", func() {
		w := newWorld(widget.Spec{Count: 1, Message: "mine"}, &widgets{})
		other := &widget.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: w.widget.Namespace, Name: "other"}}
		Expect(env.Client().Create(ctx, other)).To(Succeed())
		foreign := part(w.widget, "0")
		foreign.Data = map[string]string{"message": "theirs"}
		isController := true
		foreign.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: widget.GroupVersion.String(), Kind: "Widget", Name: "other", UID: other.UID, Controller: &isController,
		}}
		Expect(env.Client().Create(ctx, foreign)).To(Succeed())
		before := foreign.ResourceVersion
		result, err := w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(BeNumerically(">", 0))
		Expect(env.Client().Get(ctx, client.ObjectKeyFromObject(foreign), foreign)).To(Succeed())
		Expect(foreign.ResourceVersion).To(Equal(before))
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionFalse))
		Expect(w.condition("Ready").Reason).To(Equal("OwnedByAnother"))
		Expect(w.condition("Ready").Message).To(ContainSubstring("controlled by Widget other"))
		Expect(env.Client().Delete(ctx, foreign)).To(Succeed())
		w.settle()
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))
	})

	It("announces only stored conditions, and announces them later if the status write fails", func() {
		w := newWorld(widget.Spec{Count: 1}, &widgets{
			plan: func(_ reconcile.ReconcileContext[*widget.Widget], plan *reconcile.PlanResult) {
				plan.RequeueAfter = time.Hour
			},
		})
		conflict := apierrors.NewConflict(schema.GroupResource{Group: widget.GroupVersion.Group, Resource: "widgets"}, "demo", nil)
		w.requests.Inject(once(requests.Fault{Err: conflict}, status))
		_, err := w.pass()
		Expect(apierrors.IsConflict(err)).To(BeTrue(), "got %v", err)
		Expect(w.events.Events).NotTo(Receive())
		Expect(w.widget.Status.Conditions).To(BeEmpty())
		result, err := w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(Equal(time.Hour))
		Expect(w.events.Events).To(Receive())
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))
	})

	It("does not reconcile a paused owner", func() {
		w := newWorld(widget.Spec{Count: 1}, &widgets{})
		w.update(func(o *widget.Widget) { o.Annotations = map[string]string{pipeline.DefaultPauseAnnotation: "true"} })
		_, err := w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(w.parts()).To(BeEmpty())
		Expect(w.condition("Paused").Message).To(ContainSubstring(pipeline.DefaultPauseAnnotation))
		w.update(func(o *widget.Widget) { o.Annotations[pipeline.DefaultPauseAnnotation] = "false" })
		w.settle()
		Expect(w.parts()).To(HaveLen(1))
		Expect(w.condition("Paused").Type).To(BeEmpty())

		ready := w.condition("Ready")
		w.update(func(o *widget.Widget) {
			o.Annotations[pipeline.DefaultPauseAnnotation] = "true"
			o.Spec.Count = 2
		})
		_, err = w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(w.condition("Paused").Status).To(Equal(metav1.ConditionTrue))
		Expect(w.condition("Ready")).To(Equal(ready), "what was found before the pause is about the generation before it")
		w.requests.Reset()
		_, err = w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(w.requests.Snapshot().Writes()).To(BeEmpty(), "once")
		w.restart(&widgets{})
		w.update(func(o *widget.Widget) { o.Annotations = nil })
		w.settle()
		Expect(w.parts()).To(HaveLen(2))
		Expect(w.condition("Paused").Type).To(BeEmpty(), "also after a restart")
	})

	It("removes the condition of a removed component and keeps those of other writers", func() {
		gone := &widgets{compose: func(o observation) observation {
			o.extra = []health.Component{{Name: "Extra", State: health.Starting, Child: true}}
			return o
		}}
		w := newWorld(widget.Spec{Count: 1}, gone)
		w.settle()
		Expect(w.condition("ExtraReady").Status).To(Equal(metav1.ConditionFalse))
		foreign := metav1.Condition{Type: "Backup", Status: metav1.ConditionTrue, Reason: "Done", LastTransitionTime: metav1.Now()}
		w.widget.Status.Conditions = append(w.widget.Status.Conditions, foreign)
		Expect(env.Client().Status().Update(ctx, w.widget, client.FieldOwner("backup"))).To(Succeed())
		w.restart(&widgets{})
		w.settle()
		Expect(w.condition("ExtraReady").Type).To(BeEmpty())
		Expect(w.condition("Backup").Status).To(Equal(metav1.ConditionTrue))
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))
	})
})

// cleaner is a reconciler that plans a deletion in Finalize.
type cleaner struct {
	widgets

	wait bool
}

func (c *cleaner) Finalize(
	_ context.Context, rc reconcile.ReconcileContext[*widget.Widget], _ fetched,
) (plan reconcile.PlanResult, _ error) {
	plan.Delete(part(rc.Object, "0"))
	if c.wait {
		plan.RequeueAfter = time.Second
	}
	return plan, c.failed
}

var _ = Describe("A reconciliation of an owner that is being deleted", func() {
	ctx := context.Background()

	It("applies the plan of Finalize and then removes the finalizer", func() {
		reconciler := &cleaner{wait: true}
		w := newWorld(widget.Spec{Count: 1}, reconciler)
		w.settle()
		Expect(w.widget.Finalizers).To(ConsistOf("reconcilekit.dev/widgets"), "before the first child")
		Expect(env.Client().Delete(ctx, w.widget)).To(Succeed())
		result, err := w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(BeNumerically("<=", time.Second))
		Expect(w.widget.Finalizers).NotTo(BeEmpty(), "Finalize asked to be called again")
		Expect(w.parts()).To(BeEmpty())
		reconciler.wait, reconciler.failed = false, errors.New("the account is not closed")
		_, err = w.pass()
		Expect(err).To(MatchError(reconciler.failed))
		Expect(w.widget.Finalizers).NotTo(BeEmpty(), "nothing is known of what has to be done")
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		_, _ = w.pass()
		Expect(w.condition("Ready").Message).To(ContainSubstring("the account is not closed"))
		reconciler.failed = nil
		Eventually(func() error {
			if _, err := w.pass(); err != nil {
				return err
			}
			return env.Client().Get(ctx, client.ObjectKeyFromObject(w.widget), &widget.Widget{})
		}).Should(MatchError(apierrors.IsNotFound, "NotFound"))
	})
})
