package pipeline_test

import (
	"context"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

type widgetContext = reconcile.ReconcileContext[*widget.Widget]

// two is a reconciler with the two mandatory phases, for any observation type.
type two[F, O any] struct{}

func (two[F, O]) FetchRemoteState(context.Context, reconcile.Reader, widgetContext) (f F) { return f }

func (two[F, O]) PlanResources(context.Context, widgetContext, O) (reconcile.PlanResult, error) {
	return reconcile.PlanResult{}, nil
}

type (
	simple          struct{ two[int, int] }
	uncomposed      struct{ two[int, string] }
	composed        struct{ two[int, string] }
	composesOther   struct{ two[int, string] }
	noErrorFinalize struct{ two[int, int] }
	byPointer       struct{ two[int, int] }
	otherStatus     struct{ two[int, int] }
	misspeltStatus  struct{ two[int, int] }
	misspeltFinal   struct{ two[int, int] }
	migratesNothing struct{ two[int, int] }
	ownMethods      struct{ two[int, int] }
	deletionOfOther struct{ two[int, int] }
	everything      struct{ two[int, healthy] }
	healthOfTwo     struct{ two[int, int] }
	healthByPointer struct{ two[int, int] }
	oneForBoth      struct{}

	healthy      struct{}
	pointsHealth struct{}
	wrongHealth  struct{}
	nearHealth   struct{}
	holdsStatus  struct{}
)

func (composed) ComposeState(context.Context, widgetContext, int) string         { return "" }
func (composesOther) ComposeState(context.Context, widgetContext, string) string { return "" }
func (noErrorFinalize) Finalize(context.Context, widgetContext, int) (p reconcile.PlanResult) {
	return p
}

func (*byPointer) DecorateStatus(*widget.Status, *conditions.Manager, reconcile.StatusContext[*widget.Widget], int) {
}

func (otherStatus) DecorateStatus(*widget.Spec, *conditions.Manager, reconcile.StatusContext[*widget.Widget], int) {
}
func (misspeltStatus) DecorateStatuses(*widget.Status, *conditions.Manager, int)            {}
func (misspeltFinal) Finalise(context.Context, widgetContext, int) (p reconcile.PlanResult) { return p }
func (migratesNothing) Migrate() bool                                                       { return false }
func (ownMethods) Finalizer() string                                                        { return "" }
func (ownMethods) DecorateLabels(map[string]string)                                         {}
func (ownMethods) PlanResource(string) bool                                                 { return true }
func (deletionOfOther) DecorateDeletion(*widget.Status, *conditions.Manager, *mute)         {}
func (healthy) GetComponentHealth(context.Context) []health.Component                       { return nil }
func (*pointsHealth) GetComponentHealth(context.Context) []health.Component                 { return nil }
func (wrongHealth) GetComponentHealth() []health.Component                                  { return nil }
func (nearHealth) GetComponentsHealth(context.Context) []health.Component                   { return nil }
func (everything) ComposeState(context.Context, widgetContext, int) (h healthy)             { return h }
func (everything) Finalize(context.Context, widgetContext, int) (p reconcile.PlanResult, e error) {
	return
}

func (healthOfTwo) GetComponentHealth(context.Context) []health.Component      { return nil }
func (*healthByPointer) GetComponentHealth(context.Context) []health.Component { return nil }
func (holdsStatus) DecorateStatus(*widget.Status, *conditions.Manager, reconcile.StatusContext[*widget.Widget], holdsStatus) {
}

func (o oneForBoth) FetchRemoteState(context.Context, reconcile.Reader, widgetContext) oneForBoth {
	return o
}
func (oneForBoth) GetComponentHealth(context.Context) []health.Component { return nil }

func (oneForBoth) PlanResources(context.Context, widgetContext, oneForBoth) (reconcile.PlanResult, error) {
	return reconcile.PlanResult{}, nil
}

func (everything) Migrate(*widget.Widget) {}
func (everything) DecorateStatus(*widget.Status, *conditions.Manager, reconcile.StatusContext[*widget.Widget], healthy) {
}
func (everything) DecorateDeletion(*widget.Status, *conditions.Manager, *widget.Widget) {}

func (everything) ObserveApply(context.Context, widgetContext, healthy, reconcile.ApplyOutcome) (h healthy) {
	return h
}

// decoratesLoose decorates an owner that has no field Status.
type decoratesLoose struct{ anything[*loose] }

func (decoratesLoose) DecorateStatus(*widget.Status, *conditions.Manager, reconcile.StatusContext[*loose], observation) {
}

// TestCheckPhases checks the errors for methods that are almost phases. They contain the name, the actual and the expected signature.
func TestCheckPhases(t *testing.T) {
	t.Parallel()
	check := pipeline.CheckPhases[*widget.Widget, int, int]
	for name, test := range map[string]struct {
		err  error
		want string // parts of the error, in order
	}{
		"Only the mandatory phases": {check(simple{}), ""},
		"All":                       {pipeline.CheckPhases[*widget.Widget, int, healthy](everything{}), ""},
		"All, by pointer":           {pipeline.CheckPhases[*widget.Widget, int, healthy](&everything{}), ""},
		"Composed":                  {pipeline.CheckPhases[*widget.Widget, int, string](composed{}), ""},
		"Other methods":             {check(ownMethods{}), ""},
		"Pointer receiver, by ref":  {check(&byPointer{}), ""},
		"Nil":                       {check(nil), "the reconciler is nil"},
		"Nothing composes": {
			pipeline.CheckPhases[*widget.Widget, int, string](uncomposed{}),
			"pipeline_test.uncomposed has no method ComposeState|FetchRemoteState returns int|PlanResources takes string|" +
				"ComposeState(context.Context, reconcile.ReconcileContext[*widget.Widget], int) string",
		},
		"Composes something else": {
			pipeline.CheckPhases[*widget.Widget, int, string](composesOther{}),
			"have ComposeState(context.Context, reconcile.ReconcileContext[*widget.Widget], string) string|" +
				"want ComposeState(context.Context, reconcile.ReconcileContext[*widget.Widget], int) string",
		},
		"Finalize without error": {
			check(noErrorFinalize{}), "noErrorFinalize|have Finalize(|int) reconcile.PlanResult,|want Finalize(|int) (reconcile.PlanResult, error)",
		},
		"Value for a pointer receiver": {check(byPointer{}), "method DecorateStatus of pipeline_test.byPointer has a pointer receiver"},
		"Status of another type": {
			check(otherStatus{}),
			"have DecorateStatus(*widget.Spec, *conditions.Manager, reconcile.StatusContext[*widget.Widget], int)|want DecorateStatus(*widget.Status, *conditions.Manager, reconcile.StatusContext[*widget.Widget], int)",
		},
		"Misspelt DecorateStatus": {
			check(misspeltStatus{}), "method DecorateStatuses of pipeline_test.misspeltStatus|DecorateStatus|have DecorateStatuses(|want DecorateStatus(",
		},
		"Misspelt Finalize":        {check(misspeltFinal{}), "method Finalise|the phase Finalize|have Finalise(|want Finalize("},
		"Migrate of nothing":       {check(migratesNothing{}), "have Migrate() bool, want Migrate(*widget.Widget)"},
		"Deletion of another":      {check(deletionOfOther{}), "want DecorateDeletion(*widget.Status, *conditions.Manager, *widget.Widget)"},
		"Health by pointer":        {pipeline.CheckPhases[*widget.Widget, pointsHealth, pointsHealth](two[pointsHealth, pointsHealth]{}), "GetComponentHealth|pointer receiver"},
		"Health without a context": {pipeline.CheckPhases[*widget.Widget, wrongHealth, wrongHealth](two[wrongHealth, wrongHealth]{}), "have GetComponentHealth() []health.Component|want GetComponentHealth(context.Context) []health.Component"},
		"Misspelt health":          {pipeline.CheckPhases[*widget.Widget, nearHealth, nearHealth](two[nearHealth, nearHealth]{}), "GetComponentsHealth|GetComponentHealth"},
		"Health of the reconciler": {
			check(healthOfTwo{}), "GetComponentHealth is a method of the reconciler pipeline_test.healthOfTwo|make it a method of int",
		},
		"Health of the reconciler, by pointer": {check(healthByPointer{}), "GetComponentHealth is a method of the reconciler"},
		"Status of the observation": {
			pipeline.CheckPhases[*widget.Widget, holdsStatus, holdsStatus](two[holdsStatus, holdsStatus]{}),
			"DecorateStatus is a method of the observation pipeline_test.holdsStatus|make it a method of pipeline_test.two",
		},
		"One type for both":      {pipeline.CheckPhases[*widget.Widget, oneForBoth, oneForBoth](oneForBoth{}), ""},
		"Owner without a status": {pipeline.CheckPhases(decoratesLoose{}), "the method DecorateStatus, but *pipeline_test.loose has no field Status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.want == "" {
				if test.err != nil {
					t.Fatalf("got %v, want no error", test.err)
				}
				return
			}
			if test.err == nil {
				t.Fatal("got no error")
			}
			rest := test.err.Error()
			for part := range strings.SplitSeq(test.want, "|") {
				at := strings.Index(rest, part)
				if at < 0 {
					t.Fatalf("got %q, want %q in it, in this order: %q", test.err, part, test.want)
				}
				rest = rest[at:]
			}
		})
	}
}
