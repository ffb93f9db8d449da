package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/words"
	"github.com/reconcilekit/reconcilekit/reconcile/preview"
)

// dryController runs the passes of one controller without carrying them out.
type dryController struct {
	mgr      manager.Manager
	reads    *tracked.Reads
	failed   *observe.ListFailures
	board    *board
	timeout  time.Duration
	pipeline ctrl.Reconciler
	dry      *dryPass
}

// previewer prepares the passes of a preview. It must be called before the cache of the manager is started.
func (b *Builder[T, F, O]) previewer(mgr manager.Manager, o PreviewOptions) (previewer, error) {
	kinds, err := b.resolved(mgr.GetScheme())
	if err != nil {
		return nil, err
	}
	if err := b.locate(mgr, kinds); err != nil {
		return nil, err
	}
	if err := kinds.PresentKinds(mgr.GetRESTMapper()); err != nil {
		return nil, fmt.Errorf("controller %q: %w", b.name, err)
	}
	for _, k := range kinds.Present() {
		ctx := context.Background() //nolint:forbidigo // a set-up has none
		err := k.IndexFields(ctx, mgr.GetFieldIndexer())
		if err == nil {
			_, err = mgr.GetCache().GetInformer(ctx, k.Object, cache.BlockUntilSynced(false))
		}
		if err != nil {
			return nil, fmt.Errorf("controller %q: %w", b.name, err)
		}
	}
	silent := *b
	silent.options.Recorder = discarded{}
	options := silent.withDefaults(mgr)
	options.Apply.Kinds = kinds.ChildKinds()
	groups := &joinedGroups{controller: b.name}
	reads := tracked.New(kinds, mgr.GetCache(), options.Apply.LagDeadline, tracked.Answers{Group: groups.read, Absent: absent})
	for _, joined := range b.joins {
		groups.join(joined, reads.Tracker, nil) // nothing is woken
	}
	dry := &dryPass{options: engine.DiffOptions{ServerDryRun: o.ServerDryRun}}
	if dry.engine, err = b.engine(mgr, reads, options); err != nil {
		return nil, err
	}
	options.Observer = dry
	if err := b.dryOutside(reads, options); err != nil {
		return nil, err
	}
	pipeline, err := silent.assemble(mgr, reads, options, dry, dry)
	if err != nil {
		return nil, err
	}
	return &dryController{
		mgr: mgr, reads: reads, failed: b.failed, board: b.board, timeout: o.SyncTimeout, pipeline: pipeline, dry: dry,
	}, nil
}

func (c *dryController) name() string { return c.reads.Controller }

func (c *dryController) rank() int {
	switch {
	case c.board == nil:
		return 2
	case c.board.single:
		return 0
	}
	return 1
}

// keys are the owners to look at.
func (c *dryController) keys(ctx context.Context) ([]types.NamespacedName, error) {
	switch {
	case c.board == nil:
		return c.reads.OwnerKeys(ctx)
	case c.board.single:
		return []types.NamespacedName{SingletonKey(c.name())}, nil
	}
	return groupKeys(ctx, c.reads, c.board)
}

// groupKeys are the groups that have a member or something that is theirs in the cache, by namespace and name.
func groupKeys(ctx context.Context, reads *tracked.Reads, groups *board) ([]types.NamespacedName, error) {
	var keys []types.NamespacedName
	for _, k := range reads.Present() {
		err := reads.Each(ctx, k, func(o client.Object) {
			if k.Has(declaration.PurposeOwns, declaration.PurposeWrites) {
				keys = append(keys, groups.OfChild(o)...)
			}
			for _, d := range k.Declarations {
				if d.Mapping == nil {
					continue
				}
				for _, request := range d.Mapping(ctx, o) {
					keys = append(keys, request.NamespacedName)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(keys, tracking.CompareNames)
	return slices.Compact(keys), nil
}

// preview runs a pass for each owner.
func (c *dryController) preview(ctx context.Context, report *preview.Report) error {
	if err := syncedKinds(ctx, c.reads, c.mgr, c.timeout, c.failed); err != nil {
		return err
	}
	keys, err := c.keys(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.dry.owner = preview.Owner{
			Controller: c.name(), Kind: declaration.Print(c.reads.Kinds[0].GroupVersionKind), Name: strings.TrimPrefix(key.String(), "/"),
		}
		// What goes wrong is in the report of the pass.
		_, _ = c.pipeline.Reconcile(ctx, ctrl.Request{NamespacedName: key})
		report.Owners = append(report.Owners, c.dry.owner)
	}
	return nil
}

// dryPass takes the place of the engine and of the status writer, and notes what they would do for one owner.
type dryPass struct {
	engine  *engine.Engine
	options engine.DiffOptions
	owner   preview.Owner
}

var (
	_ reconcile.Applier      = (*dryPass)(nil)
	_ reconcile.StatusWriter = (*dryPass)(nil)
	_ reconcile.Observer     = (*dryPass)(nil)
)

// Apply implements reconcile.Applier.
func (d *dryPass) Apply(ctx context.Context, owner client.Object, plan apply.Plan) apply.Result {
	decisions, err := d.engine.Diff(ctx, owner, plan, d.options)
	if err != nil {
		return apply.Result{OwnerErr: err}
	}
	result := apply.Result{PruneBlocked: decisions.PruneBlocked}
	if decisions.Owner != nil {
		d.note(decisions.Owner)
	}
	for i := range decisions.Objects {
		one := &decisions.Objects[i]
		d.note(one)
		result.Objects = append(result.Objects, apply.ObjectResult{Decision: *one, Outcome: wouldBe(one)})
	}
	return result
}

// Forget implements reconcile.Applier.
func (d *dryPass) Forget(owner types.UID) { d.engine.Forget(owner) }

// wouldBe is the outcome of a decision that is carried out.
func wouldBe(d *apply.Decision) apply.Outcome {
	if d.Err != nil {
		return apply.Failed
	}
	if d.WaitsUntil != "" {
		return apply.Waiting
	}
	switch d.Verb {
	case words.VerbCreate:
		return apply.Created
	case words.VerbUpdate:
		return apply.Updated
	case words.VerbDelete:
		return apply.Deleted
	case words.VerbPrune:
		return apply.Pruned
	case words.VerbRelease:
		return apply.Released
	case words.VerbNone, words.VerbRecord:
	}
	return apply.Unchanged
}

func (d *dryPass) note(one *apply.Decision) {
	if one.Verb == words.VerbNone && one.Err == nil && one.WaitsUntil == "" {
		return
	}
	change := preview.Change{Object: observe.ObjectName(one.GVK.Kind, one.Key), Verb: string(one.Verb), Reason: string(one.Reason), WaitsUntil: one.WaitsUntil}
	if one.Err != nil {
		change.Error = observe.Safe(one.Err.Error())
	}
	for _, f := range one.Fields {
		change.Fields = append(change.Fields, preview.Field{Path: f.Path, From: f.From, To: f.To})
		change.Restart = change.Restart || one.Verb == words.VerbUpdate && f.From != f.To && restarts(one, f.Path)
	}
	d.owner.Changes = append(d.owner.Changes, change)
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
func (d *dryPass) WriteStatus(_ context.Context, before, after client.Object, managed []string) (bool, error) {
	old, _ := before.(reconcile.Owner)
	fresh, _ := after.(reconcile.Owner)
	if old == nil || fresh == nil {
		return false, nil
	}
	for _, name := range managed {
		was, is := meta.FindStatusCondition(old.GetConditions(), name), meta.FindStatusCondition(fresh.GetConditions(), name)
		if was == nil {
			was = &metav1.Condition{}
		}
		if is != nil && (was.Status != is.Status || was.Reason != is.Reason) {
			d.owner.Conditions = append(d.owner.Conditions, name+": "+printed(was)+" -> "+printed(is))
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
func (d *dryPass) Rewrite(_ context.Context, before, _ client.Object) (bool, error) {
	gvk := before.GetObjectKind().GroupVersionKind()
	d.owner.Changes = append(d.owner.Changes, preview.Change{
		Object: observe.ObjectName(gvk.Kind, client.ObjectKeyFromObject(before)), Verb: string(words.VerbUpdate), Reason: "Migrated",
	})
	return false, nil
}

// PhaseStart implements reconcile.Observer.
func (*dryPass) PhaseStart(ctx context.Context, _ reconcile.Phase) context.Context { return ctx }

// PhaseDone implements reconcile.Observer.
func (*dryPass) PhaseDone(context.Context, reconcile.Phase, time.Duration, error) {}

// PassDone implements reconcile.Observer.
func (d *dryPass) PassDone(_ context.Context, report reconcile.Report) {
	d.owner.Paused = report.Paused
	if report.Blocked != nil {
		d.owner.Blocked = observe.Safe(report.Blocked.Error())
	}
	if kept := report.Applied.PruneBlocked; kept != nil {
		d.owner.PruneBlocked = observe.Safe(kept.Error())
	}
	for _, cause := range observe.CausesOf(&report) {
		if cause.Category != "" {
			d.owner.Errors = append(d.owner.Errors, cause.Message)
		}
	}
}

// discarded records no event.
type discarded struct{}

// Event implements reconcile.EventRecorder.
func (discarded) Event(runtime.Object, string, string, string) {}
