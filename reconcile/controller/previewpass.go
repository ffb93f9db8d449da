package controller

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/dryrun"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/groups"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/served"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/conditionlist"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	"github.com/reconcilekit/reconcilekit/reconcile/preview"
)

// dryController runs the passes of one controller without carrying them out.
type dryController struct {
	mgr      manager.Manager
	reads    *tracked.Reads
	failed   *observe.ListFailures
	store    *groups.Store
	timeout  time.Duration
	pipeline ctrl.Reconciler
	dry      *dryrun.Pass
	offered  *dryrun.Offered
	options  PreviewOptions
}

// previewer prepares the passes of a preview. It must be called before the cache of the manager is started.
func (b *Builder[T, F, O]) previewer(mgr manager.Manager, o PreviewOptions) (previewer, error) {
	kinds, err := b.resolved(mgr.GetScheme())
	if err != nil {
		return nil, err
	}
	if err := served.Locate(mgr, kinds); err != nil {
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
	silent.options.Recorder = dryrun.Discarded{}
	silent.options.Shard = nil // every owner is previewed, none claimed
	kinds.ShareOwners(shards.Selection{})
	options := silent.withDefaults(mgr)
	options.Apply.Kinds = kinds.ChildKinds()
	joins := &groups.Joined{Controller: b.name}
	reads := tracked.New(kinds, mgr.GetCache(), options.Apply.LagDeadline, tracked.Answers{Group: joins.Read, Absent: absent})
	for _, joined := range b.joins {
		joins.Join(joined, reads.Tracker, nil) // nothing is woken
	}
	dry := &dryrun.Pass{Options: engine.DiffOptions{ServerDryRun: o.ServerDryRun}, Conditions: conditionlist.Of[T](b.reconciler)}
	if dry.Engine, err = b.engine(mgr, reads, options); err != nil {
		return nil, err
	}
	options.Observer = dry
	if err := b.dryOutside(reads, options); err != nil {
		return nil, err
	}
	loop, err := silent.assemble(mgr, reads, options, dry, dry)
	if err != nil {
		return nil, err
	}
	offered := &dryrun.Offered{Clock: options.Clock}
	loop = loop.With(func(c *pipeline.Config[T, F, O]) { c.Reader, offered.Reader = offered, c.Reader })
	return &dryController{
		mgr: mgr, reads: reads, failed: b.failed, store: b.store, timeout: cmp.Or(o.SyncTimeout, defaultSyncTimeout), pipeline: loop, dry: dry,
		offered: offered, options: o,
	}, nil
}

func (c *dryController) name() string { return c.reads.Controller }

func (c *dryController) rank() int {
	switch {
	case c.store == nil:
		return 2
	case c.store.Single:
		return 0
	}
	return 1
}

func (c *dryController) reconciles(kind schema.GroupKind) bool {
	return c.store == nil && c.reads.Kinds[0].GroupKind() == kind
}

// offer takes the owners of the manifests.
func (c *dryController) offer(ctx context.Context) (keys []types.NamespacedName, err error) {
	var asked client.Client
	if c.options.ServerDryRun {
		asked = c.mgr.GetClient()
	}
	for _, m := range c.options.Manifests {
		if !c.reconciles(m.GroupVersionKind().GroupKind()) {
			continue
		}
		key, err := c.offered.Offer(ctx, c.reads, asked, m)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// keys are the owners to look at.
func (c *dryController) keys(ctx context.Context) ([]types.NamespacedName, error) {
	switch {
	case c.store == nil && len(c.options.Manifests) > 0:
		return c.offer(ctx)
	case c.store == nil:
		return c.reads.OwnerKeys(ctx)
	case c.store.Single:
		return []types.NamespacedName{SingletonKey(c.name())}, nil
	}
	return c.store.InCache(ctx, c.reads)
}

// preview runs a pass for each owner.
func (c *dryController) preview(ctx context.Context, report *preview.Report) error {
	if err := dryrun.Synced(ctx, c.reads, c.mgr, c.timeout, c.failed); err != nil {
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
		c.dry.Owner = preview.Owner{
			Controller: c.name(), Kind: declaration.Print(c.reads.Kinds[0].GroupVersionKind), Name: strings.TrimPrefix(key.String(), "/"),
		}
		// What goes wrong is in the report of the pass.
		_, _ = c.pipeline.Reconcile(ctx, ctrl.Request{NamespacedName: key})
		if c.store == nil || len(c.options.Manifests) == 0 { // groups are looked at for the owners that read them
			report.Owners = append(report.Owners, c.dry.Owner)
		}
	}
	return nil
}
