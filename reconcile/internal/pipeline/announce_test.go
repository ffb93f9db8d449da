package pipeline_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// mute is an owner whose type has no field for conditions.
type mute struct{ widget.Widget }

func (m *mute) DeepCopyObject() runtime.Object {
	return &mute{*m.Widget.DeepCopyObject().(*widget.Widget)}
}

// counter is a reconciler of mute owners.
type counter struct{ failure error }

func (*counter) GetConditions(*mute) []metav1.Condition  { return nil }
func (*counter) SetConditions(*mute, []metav1.Condition) {}

type counted struct{ components []health.Component }

func (c counted) GetComponentHealth(context.Context) []health.Component { return c.components }

func (*counter) FetchRemoteState(context.Context, reconcile.Reader, reconcile.ReconcileContext[*mute]) struct{} {
	return struct{}{}
}

func (c *counter) ComposeState(context.Context, reconcile.ReconcileContext[*mute], struct{}) (out counted) {
	if c.failure != nil {
		out.components = []health.Component{{Name: "Queue", Errors: []error{c.failure}}}
	}
	return out
}

func (*counter) PlanResources(context.Context, reconcile.ReconcileContext[*mute], counted) (plan reconcile.PlanResult, _ error) {
	return plan, nil
}

// muteWorld stores one mute owner.
type muteWorld struct {
	client.Reader
	pipeline.Applier
	pipeline.StatusWriter
	owner   *mute
	changed bool
}

func (w *muteWorld) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	*into.(*mute) = *w.owner.DeepCopyObject().(*mute)
	return nil
}

func (*muteWorld) Apply(context.Context, client.Object, apply.Plan) apply.Result {
	return apply.Result{}
}

func (w *muteWorld) WriteStatus(context.Context, client.Object, client.Object, []string) (bool, error) {
	return w.changed, nil
}

// TestOwnerWithoutConditions checks that an announcement is not repeated with the next status write.
func TestOwnerWithoutConditions(t *testing.T) {
	t.Parallel()
	w := &muteWorld{owner: &mute{widget.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m", UID: types.UID("1"), ResourceVersion: "1"}}}}
	r := &counter{}
	recorder := events.NewFakeRecorder(100)
	var loop ctrl.Reconciler
	restart := func() {
		var err error
		loop, err = pipeline.New(r, pipeline.Config{
			Name: "mutes", FieldManager: "mutes", Reader: w, Applier: w, StatusWriter: w,
			Recorder: recorder,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	passes := func(why string, statusChanges bool, want ...string) {
		t.Helper()
		w.changed = statusChanges
		for range 4 {
			_, _ = loop.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(w.owner)})
		}
		var got []string
		for len(recorder.Events) > 0 {
			got = append(got, strings.Join(strings.Fields(<-recorder.Events)[:2], " "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", why, diff)
		}
	}
	restart()
	passes("a new owner is announced once", true, "Normal AllComponentsReady")
	r.failure = health.NewError(health.InvalidSpec, "Unknown", "no such queue", nil)
	passes("failure is announced without a change of the status", false,
		"Warning InvalidSpec", "Warning Unknown")
	passes("and not again", true)
	r.failure = nil
	passes("recovery is announced", true, "Normal AllComponentsReady")
	restart()
	passes("nothing is known after a restart, and nothing stored", false)
	passes("nothing has changed", true)
	restart()
	passes("at most once more after a restart", true, "Normal AllComponentsReady")
}

// observing reports the outcome of its plan in the status.
type observing struct {
	widgets
	outcomes []reconcile.ApplyOutcome
}

func (o *observing) ObserveApply(
	_ context.Context, _ reconcile.ReconcileContext[*widget.Widget], seen observation, outcome reconcile.ApplyOutcome,
) observation {
	o.outcomes = append(o.outcomes, outcome)
	for _, object := range outcome.Objects {
		if object.Err != nil {
			seen.refused = append(seen.refused, object.Key.Name+": "+object.Err.Error())
		}
	}
	return seen
}

func (o *observing) DecorateStatus(_ *widget.Status, cm *conditions.Manager, _ reconcile.StatusContext[*widget.Widget], seen observation) {
	cm.MarkFalse("Refused", "Refused", strings.Join(seen.refused, "; "))
}

var _ = Describe("A decorator", func() {
	It("receives the outcome of the plan, with the messages of the API server", func() {
		r := &observing{}
		r.plan = func(rc reconcile.ReconcileContext[*widget.Widget], plan *reconcile.PlanResult) {
			bad := part(rc.Object, "bad")
			bad.Data = map[string]string{"not a key!": "x"}
			plan.Apply(bad)
		}
		w := newWorld(widget.Spec{Count: 1}, r)
		_, _ = w.pass()
		Expect(w.condition("Refused").Message).To(And(HavePrefix("demo-bad: "), ContainSubstring(`Invalid value: "not a key!"`)))
		Expect(r.outcomes).To(HaveLen(1))
		Expect(r.outcomes[0].Blocked).NotTo(HaveOccurred())
		Expect(r.outcomes[0].Objects).To(ContainElement(And(HaveField("Key.Name", "demo-0"), HaveField("Outcome", BeEquivalentTo(apply.OutcomeCreated)))))
	})

	It("receives the reason why nothing was applied", func() {
		r := &observing{}
		w := newWorld(widget.Spec{Ref: "missing"}, r)
		_, _ = w.pass()
		Expect(r.outcomes).To(HaveLen(1))
		Expect(r.outcomes[0].Blocked).To(MatchError(ContainSubstring("missing")))
		Expect(r.outcomes[0].Objects).To(BeEmpty())
	})
})
