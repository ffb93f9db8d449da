package dryrun

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/conditionlist"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	"github.com/reconcilekit/reconcilekit/reconcile/preview"
)

// Pass replaces the engine and the status writer, and records what they would do for one owner.
type Pass struct {
	Engine     *engine.Engine
	Options    engine.DiffOptions
	Conditions conditionlist.Access // of the owners
	Owner      preview.Owner        // the record of the pass
	// Readable reports whether the record may have the values of an object's fields. Nil means of all objects.
	Readable func(ctx context.Context, kind schema.GroupVersionKind, object types.NamespacedName) bool
}

var (
	_ pipeline.Applier      = (*Pass)(nil)
	_ pipeline.StatusWriter = (*Pass)(nil)
	_ reconcile.Observer    = (*Pass)(nil)
)

// Apply implements reconcile.Applier.
func (d *Pass) Apply(ctx context.Context, owner client.Object, plan apply.Plan) apply.Result {
	decisions, err := d.Engine.Diff(ctx, owner, plan, d.Options)
	if err != nil {
		return apply.Result{OwnerErr: err}
	}
	result := apply.Result{PruneBlocked: decisions.PruneBlocked}
	if decisions.Owner != nil {
		d.note(ctx, decisions.Owner)
	}
	for i := range decisions.Objects {
		one := &decisions.Objects[i]
		d.note(ctx, one)
		result.Objects = append(result.Objects, apply.ObjectResult{Decision: *one, Outcome: wouldBe(one)})
	}
	return result
}

// Confirm implements reconcile.Applier. It writes nothing.
func (d *Pass) Confirm(context.Context, client.Object) error { return nil }

// Forget implements reconcile.Applier.
func (d *Pass) Forget(owner types.UID) { d.Engine.Forget(owner) }

// wouldBe returns the outcome that the decision would have.
func wouldBe(d *apply.Decision) apply.Outcome {
	if d.Err != nil {
		return apply.OutcomeFailed
	}
	if d.WaitsUntil != "" {
		return apply.OutcomeWaiting
	}
	switch d.Verb {
	case apply.VerbCreate:
		return apply.OutcomeCreated
	case apply.VerbUpdate:
		return apply.OutcomeUpdated
	case apply.VerbDelete:
		return apply.OutcomeDeleted
	case apply.VerbPrune:
		return apply.OutcomePruned
	case apply.VerbRelease:
		return apply.OutcomeReleased
	case apply.VerbNone, apply.VerbRecord:
	}
	return apply.OutcomeUnchanged
}

func (d *Pass) note(ctx context.Context, one *apply.Decision) {
	if one.Verb == apply.VerbNone && one.Err == nil && one.WaitsUntil == "" {
		return
	}
	change := preview.Change{Object: observe.ObjectName(one.GVK.Kind, one.Key), Verb: string(one.Verb), Reason: string(one.Reason), WaitsUntil: one.WaitsUntil}
	if one.Err != nil {
		change.Error = observe.Safe(one.Err.Error())
	}
	hidden := len(one.Fields) > 0 && d.Readable != nil && !d.Readable(ctx, one.GVK, one.Key)
	for _, f := range one.Fields {
		if hidden {
			f = masked(f)
		}
		change.Fields = append(change.Fields, preview.Field{Path: f.Path, From: f.From, To: f.To})
		change.Restart = change.Restart || one.Verb == apply.VerbUpdate && f.From != f.To && restarts(one, f.Path)
	}
	d.Owner.Changes = append(d.Owner.Changes, change)
}

// masked returns the change with only whether each value exists, and whether it changes.
func masked(f apply.FieldChange) apply.FieldChange {
	const value = "***"
	from, to := f.From, f.To
	if from != "" {
		f.From = value
	}
	switch {
	case to == "":
	case from == "" || from == to:
		f.To = value
	default:
		f.To = value + " (changed)"
	}
	return f
}

// restarts reports whether a workload replaces its pods when the field changes.
func restarts(d *apply.Decision, path string) bool {
	if d.GVK.Group != "apps" || !strings.HasPrefix(path, ".spec.template") {
		return false
	}
	switch d.GVK.Kind {
	case "Deployment", "StatefulSet", "DaemonSet":
		return true
	}
	return false
}

// WriteStatus implements reconcile.StatusWriter.
func (d *Pass) WriteStatus(_ context.Context, before, after client.Object, managed []string) (bool, error) {
	old, fresh := d.Conditions.Get(before), d.Conditions.Get(after)
	for _, name := range managed {
		was, is := meta.FindStatusCondition(old, name), meta.FindStatusCondition(fresh, name)
		if was == nil {
			was = &metav1.Condition{}
		}
		if is != nil && (was.Status != is.Status || was.Reason != is.Reason) {
			d.Owner.Conditions = append(d.Owner.Conditions, name+": "+printed(was)+" -> "+printed(is))
		}
	}
	return false, nil
}

func printed(c *metav1.Condition) string {
	if c.Type == "" {
		return "none"
	}
	return string(c.Status) + " " + c.Reason
}

// Rewrite implements reconcile.StatusWriter.
func (d *Pass) Rewrite(_ context.Context, before, _ client.Object) (bool, error) {
	gvk := before.GetObjectKind().GroupVersionKind()
	d.Owner.Changes = append(d.Owner.Changes, preview.Change{
		Object: observe.ObjectName(gvk.Kind, client.ObjectKeyFromObject(before)), Verb: string(apply.VerbUpdate), Reason: "Migrated",
	})
	return false, nil
}

// PhaseStart implements reconcile.Observer.
func (*Pass) PhaseStart(ctx context.Context, _ reconcile.Phase) context.Context { return ctx }

// PhaseDone implements reconcile.Observer.
func (*Pass) PhaseDone(context.Context, reconcile.Phase, time.Duration, error) {}

// PassDone implements reconcile.Observer.
func (d *Pass) PassDone(_ context.Context, report reconcile.Report) {
	d.Owner.Paused = report.Paused
	if report.Blocked != nil {
		d.Owner.Blocked = observe.Safe(report.Blocked.Error())
	}
	if kept := report.Applied.PruneBlocked; kept != nil {
		d.Owner.PruneBlocked = observe.Safe(kept.Error())
	}
	for _, cause := range observe.CausesOf(&report) {
		if cause.Category != "" {
			d.Owner.Errors = append(d.Owner.Errors, cause.Message)
		}
	}
}

// Discarded records no event.
type Discarded struct{}

// Eventf implements events.EventRecorder.
func (Discarded) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}
