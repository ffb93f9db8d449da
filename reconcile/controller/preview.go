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
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/dryrun"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/groups"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/preview"
)

// PreviewOptions configure [Preview]. The zero value is valid.
type PreviewOptions struct {
	// Namespaces restricts the preview to owners in these namespaces. Default all.
	Namespaces []string
	// Manifests are desired owners, which may exist in the cluster or not. When set, only these are previewed. Fields other
	// than the spec that the manifest of an existing owner does not have keep their current values. Without ServerDryRun a
	// manifest has no defaults of the API server. An object that no controller reconciles is skipped; it is an error if all
	// are.
	Manifests []*unstructured.Unstructured
	// ServerDryRun sends dry-run requests for each object that differs, so that the report includes defaulting and
	// admission. These require write permissions. Default false: only reads are sent.
	ServerDryRun bool
	// SyncTimeout limits the wait for the caches. Default 2 minutes.
	SyncTimeout time.Duration
}

// Preview reports the changes that the controllers would now make for every owner in the cluster, without making them. It
// runs the phases and compares the plans with the cluster; the client rejects every request that is not a read. It requires
// the list and watch permissions of the controllers and no write permission. It finds groups by their members and by their
// existing children.
//
// Side effects of the phases, such as calls to other systems, do occur.
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

// Preview calls the function [Preview] with this controller.
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
		one, err := c.previewer(mgr, options, nil)
		if err != nil {
			return report, err
		}
		dry = append(dry, one)
	}
	return dryrun.Report(ctx, mgr.GetCache(), options.Manifests, dry)
}

// previewer prepares the reconciliations of a preview. Without a running controller, whose caches and indexes they use, it must be called
// before the cache of the manager is started.
func (c *Controller) previewer(mgr manager.Manager, o PreviewOptions, running *tracked.Reads) (*dryrun.Controller, error) {
	kinds, err := c.resolved(mgr.GetScheme())
	if err != nil {
		return nil, err
	}
	if running != nil {
		kinds.PresentIn(running.Catalogue)
	} else if err := c.fill(mgr, kinds); err != nil {
		return nil, err
	}
	silent := *c
	silent.options.Recorder = dryrun.Discarded{}
	silent.options.Shard = nil // every owner is previewed
	kinds.ShareOwners(shards.Selection{})
	options := silent.withDefaults(mgr)
	options.Apply.Kinds = kinds.ChildKinds()
	joins := &groups.Joined{Controller: c.name}
	answers := tracked.Answers{Group: joins.Read, Absent: absent, Live: tracked.Limited(mgr.GetAPIReader())}
	reads := tracked.New(kinds, mgr.GetCache(), options.Apply.LagDeadline, answers)
	if running != nil {
		reads.Share(running)
	}
	for _, joined := range c.joins {
		joins.Join(joined.store, reads.Tracker, nil) // nothing is enqueued
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
		silent.selected.Writer = nil // no finalizer is removed
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

// fill prepares the caches of the kinds in a manager that is not started.
func (c *Controller) fill(mgr manager.Manager, kinds *declaration.Catalogue) error {
	if err := locateKinds(mgr, kinds); err != nil {
		return err
	}
	if err := kinds.PresentKinds(mgr.GetRESTMapper()); err != nil {
		return fmt.Errorf("controller %q: %w", c.name, err)
	}
	for _, k := range kinds.Present() {
		ctx := context.Background() //nolint:forbidigo // the set-up has no context
		err := k.IndexFields(ctx, mgr.GetFieldIndexer())
		if err == nil {
			_, err = mgr.GetCache().GetInformer(ctx, k.Object, cache.BlockUntilSynced(false))
		}
		if err != nil {
			return fmt.Errorf("controller %q: %w", c.name, err)
		}
	}
	return nil
}
