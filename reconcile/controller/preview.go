package controller

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/dryrun"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/groups"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/preview"
)

// PreviewOptions are how [Preview] looks at a cluster. The zero value works.
type PreviewOptions struct {
	// Namespaces are those whose objects are looked at; empty is all.
	Namespaces []string
	// Manifests are owners as they would be, in the cluster or not: only these are looked at. What the manifest of an owner that there is does
	// not have, besides its spec, stays as it is. Without ServerDryRun a manifest has no defaults of the API server. An object that no
	// controller reconciles is skipped, and an error when all are.
	Manifests []*unstructured.Unstructured
	// ServerDryRun asks the API server what would become of each object that differs, so that defaults and admission show. Its
	// requests need the rights to write, although they write nothing. Default false: only reads are sent.
	ServerDryRun bool
	// SyncTimeout bounds the wait for the caches. Zero is 2 minutes.
	SyncTimeout time.Duration
}

// Preview reports what the controllers would do now for every owner in the cluster, and does nothing of it: their phases run, the plan
// is compared with what there is, and whatever is not a read is refused on its way out, by construction. It needs the rights to
// list and watch of the controllers' own rights, and no right to write. Groups are found as they are at work: by their members and by
// what is theirs already.
//
// What phases do besides, such as calling other systems, they do here too.
func Preview(
	ctx context.Context, config *rest.Config, scheme *runtime.Scheme, options PreviewOptions, controllers ...*Controller,
) (preview.Report, error) {
	ctx = log.IntoContext(ctx, logr.Discard())
	report, err := previewed(ctx, config, scheme, options, controllers)
	if err != nil {
		return report, fmt.Errorf("preview: %w", err)
	}
	return report, nil
}

// Preview is the function [Preview] for this controller alone.
func (c *Controller) Preview(
	ctx context.Context, config *rest.Config, scheme *runtime.Scheme, options PreviewOptions,
) (preview.Report, error) {
	return Preview(ctx, config, scheme, options, c)
}

func previewed(
	ctx context.Context, config *rest.Config, scheme *runtime.Scheme, options PreviewOptions, controllers []*Controller,
) (report preview.Report, err error) {
	cached, err := CacheOptions(scheme, controllers...)
	if err != nil {
		return report, err
	}
	mgr, err := dryrun.NewManager(config, scheme, cached, options.Namespaces, options.ServerDryRun)
	if err != nil {
		return report, err
	}
	var dry []*dryrun.Controller
	for _, c := range controllers {
		one, err := c.previewer(mgr, options)
		if err != nil {
			return report, err
		}
		dry = append(dry, one)
	}
	return dryrun.Report(ctx, mgr.GetCache(), options.Manifests, dry)
}

// previewer prepares the passes of a preview. It must be called before the cache of the manager is started.
func (c *Controller) previewer(mgr manager.Manager, o PreviewOptions) (*dryrun.Controller, error) {
	kinds, err := c.resolved(mgr.GetScheme())
	if err != nil {
		return nil, err
	}
	if err := locateKinds(mgr, kinds); err != nil {
		return nil, err
	}
	if err := kinds.PresentKinds(mgr.GetRESTMapper()); err != nil {
		return nil, fmt.Errorf("controller %q: %w", c.name, err)
	}
	for _, k := range kinds.Present() {
		ctx := context.Background() //nolint:forbidigo // a set-up has none
		err := k.IndexFields(ctx, mgr.GetFieldIndexer())
		if err == nil {
			_, err = mgr.GetCache().GetInformer(ctx, k.Object, cache.BlockUntilSynced(false))
		}
		if err != nil {
			return nil, fmt.Errorf("controller %q: %w", c.name, err)
		}
	}
	silent := *c
	silent.options.Recorder = dryrun.Discarded{}
	silent.options.Shard = nil // every owner is previewed, none claimed
	kinds.ShareOwners(shards.Selection{})
	options := silent.withDefaults(mgr)
	options.Apply.Kinds = kinds.ChildKinds()
	joins := &groups.Joined{Controller: c.name}
	reads := tracked.New(kinds, mgr.GetCache(), options.Apply.LagDeadline, tracked.Answers{Group: joins.Read, Absent: absent})
	for _, joined := range c.joins {
		joins.Join(joined.store, reads.Tracker, nil) // nothing is woken
	}
	dry := &dryrun.Pass{Options: engine.DiffOptions{ServerDryRun: o.ServerDryRun}, Conditions: c.phases.conditions()}
	if dry.Engine, err = c.engine(mgr, reads, options); err != nil {
		return nil, err
	}
	options.Observer = dry
	if err := c.dryOutside(reads, options); err != nil {
		return nil, err
	}
	config := silent.assembled(mgr, reads, options, dry, dry)
	if silent.selected != nil {
		silent.selected.Writer = nil // nothing is released
	}
	offered := &dryrun.Offered{Clock: options.Clock, Reader: config.Reader}
	config.Reader = offered
	loop, err := c.phases.pipeline(config)
	if err != nil {
		return nil, err
	}
	return &dryrun.Controller{
		Manager: mgr, Reads: reads, Failed: c.failed, Groups: c.store, Timeout: cmp.Or(o.SyncTimeout, defaultSyncTimeout), Passes: loop, Pass: dry,
		Offered: offered, Manifests: o.Manifests, ServerDryRun: o.ServerDryRun,
	}, nil
}
