package pipeline_test

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	ownerstatus "github.com/reconcilekit/reconcilekit/reconcile/internal/status"
)

// decorated is a reconciler that sets the summary in DecorateStatus.
type decorated struct {
	widgets
	decorate func(status *widget.Status, cm *conditions.Manager)
}

func (d *decorated) DecorateStatus(status *widget.Status, cm *conditions.Manager, _ reconcile.StatusContext[*widget.Widget], _ observation) {
	d.decorate(status, cm)
}

// drain returns the events since the previous call.
func (w *world) drain() (events []string) {
	for {
		select {
		case event := <-w.events.Events:
			events = append(events, event)
		default:
			return events
		}
	}
}

var _ = Describe("A status that a former operator has written", func() {
	ctx := context.Background()
	const stored = `{"status":{"count":7,"conditions":[{"type":"PodScheduled","status":"True","reason":"R","message":"",` +
		`"lastTransitionTime":"2024-01-01T00:00:00Z"}]}}`

	for _, by := range []struct {
		name  string
		kept  bool
		patch types.PatchType
	}{
		{"old-operator", false, types.MergePatchType},
		{"old-operator", false, types.ApplyPatchType},
		{"widgets", false, types.MergePatchType},
		{"somebody", true, types.MergePatchType},
	} {
		It("is taken over in one write, written by "+by.name+" with "+string(by.patch), func() {
			reconciler := &decorated{decorate: func(status *widget.Status, _ *conditions.Manager) { status.Count = 0 }}
			w := newWorld(widget.Spec{Message: "x"}, reconciler)
			w.restart(reconciler, "old-operator")
			text := stored
			options := []client.SubResourcePatchOption{client.FieldOwner(by.name)}
			if by.patch == types.ApplyPatchType {
				text = `{"apiVersion":"test.reconcilekit.dev/v1","kind":"Widget",` + text[1:]
				options = append(options, client.ForceOwnership)
			}
			Expect(w.Status().Patch(ctx, w.widget, client.RawPatch(by.patch, []byte(text)), options...)).To(Succeed())
			for i := range 4 {
				w.requests.Reset()
				_, err := w.pass()
				Expect(err).NotTo(HaveOccurred())
				wanted := 0
				if i == 0 {
					wanted = 1
				}
				Expect(w.requests.Snapshot().Writes()).To(HaveLen(wanted), "pass %d", i+1)
				w.restart(reconciler, "old-operator")
			}
			found := meta.FindStatusCondition(w.widget.Status.Conditions, "PodScheduled") != nil
			Expect(found).To(Equal(by.kept))
			if by.kept {
				Expect(w.widget.Status.Count).To(BeEquivalentTo(7))
			} else {
				Expect(w.widget.Status.Count).NotTo(BeEquivalentTo(7))
			}
		})
	}
})

var _ = Describe("A summary that the decorator sets", func() {
	for name, c := range map[string]struct {
		options []conditions.Option
		want    []string
	}{
		"as a warning":          {[]conditions.Option{conditions.AsWarning}, []string{"Warning Broken it is broken"}},
		"silently":              {[]conditions.Option{conditions.Silent}, nil},
		"with an event reason":  {[]conditions.Option{conditions.EventReason("Other")}, []string{"Normal Other it is broken"}},
		"with an event message": {[]conditions.Option{conditions.EventMessage("told so")}, []string{"Normal Broken told so"}},
		"by default":            {nil, []string{"Normal Broken it is broken"}},
	} {
		It("is announced "+name, func() {
			w := newWorld(widget.Spec{}, &decorated{decorate: func(_ *widget.Status, cm *conditions.Manager) {
				cm.MarkFalse(conditions.Ready, "Broken", "it is broken", c.options...)
			}})
			_, err := w.pass()
			Expect(err).NotTo(HaveOccurred())
			Expect(w.condition("Ready").Reason).To(Equal("Broken"))
			Expect(w.drain()).To(Equal(c.want))
		})
	}

	It("is not set to ready while the plan waits", func() {
		open := false
		w := newWorld(widget.Spec{}, &decorated{
			widgets: widgets{plan: func(rc reconcile.ReconcileContext[*widget.Widget], plan *reconcile.PlanResult) {
				plan.Apply(part(rc.Object, "late"), apply.WaitUntil(open, "the first part is ready"))
			}},
			decorate: func(_ *widget.Status, cm *conditions.Manager) { cm.MarkTrue(conditions.Ready, "Mine", "all is well") },
		})
		w.settle()
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionFalse))
		Expect(w.condition("Ready").Message).To(ContainSubstring("demo-late waits until the first part is ready"))

		open = true
		w.settle()
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))
		Expect(w.condition("Ready").Reason).To(Equal("Mine"))
	})
})

// TestMissingStatusSubresource checks that the reconciliation is retried with a long delay. The CRD must be changed, and it is not watched.
func TestMissingStatusSubresource(t *testing.T) {
	t.Parallel()
	r := newStaleRun(t)
	r.refuse = &ownerstatus.NoSubresourceError{GVK: widget.GroupVersion.WithKind("Widget")}
	for range 3 {
		result, err := r.pipeline.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(r.widget)})
		if err != nil || result.RequeueAfter != pipeline.DefaultTerminalRetry {
			t.Errorf("want a retry after %v, got %+v and %v", pipeline.DefaultTerminalRetry, result, err)
		}
	}
}
