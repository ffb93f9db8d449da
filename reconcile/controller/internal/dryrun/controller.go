package dryrun

import (
	"context"
	"errors"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/groups"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/preview"
)

// Controller runs the passes of one controller as dry runs.
type Controller struct {
	Manager manager.Manager
	Reads   *tracked.Reads
	Failed  *observe.ListFailures
	Groups  *groups.Store // the reconciled groups; nil for owners that are objects
	Timeout time.Duration // limits the wait for the caches
	Passes  ctrl.Reconciler
	Pass    *Pass // the current pass
	Offered *Offered

	Manifests    []*unstructured.Unstructured // of the owners to preview; none means those of Owners
	Owners       []types.NamespacedName       // the owners to preview; none means all in the cluster
	ServerDryRun bool
}

func (c *Controller) name() string { return c.Reads.Controller }

func (c *Controller) rank() int {
	switch {
	case c.Groups == nil:
		return 2
	case c.Groups.Single:
		return 0
	}
	return 1
}

func (c *Controller) reconciles(kind schema.GroupKind) bool {
	return c.Groups == nil && c.Reads.Kinds[0].GroupKind() == kind
}

// offer adds the owners of the manifests.
func (c *Controller) offer(ctx context.Context, report *preview.Report) (keys []types.NamespacedName, err error) {
	var asked client.Client
	if c.ServerDryRun {
		asked = c.Manager.GetClient()
	}
	for _, m := range c.Manifests {
		if !c.reconciles(m.GroupVersionKind().GroupKind()) {
			continue
		}
		key, err := c.Offered.Offer(ctx, c.Reads, asked, m)
		if errors.Is(err, errNotSelected) {
			report.Skipped = append(report.Skipped, err.Error())
			continue
		}
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// keys returns the owners to preview.
func (c *Controller) keys(ctx context.Context, report *preview.Report) ([]types.NamespacedName, error) {
	switch {
	case c.Groups == nil && len(c.Manifests) > 0:
		return c.offer(ctx, report)
	case c.Groups == nil && len(c.Owners) > 0:
		return c.Owners, nil
	case c.Groups == nil:
		return c.Reads.OwnerKeys(ctx)
	case c.Groups.Single:
		return []types.NamespacedName{groups.SingletonKey(c.name())}, nil
	}
	return c.Groups.InCache(ctx, c.Reads)
}

// preview runs a pass for each owner.
func (c *Controller) preview(ctx context.Context, report *preview.Report) error {
	if err := Synced(ctx, c.Reads, c.Manager, c.Timeout, c.Failed); err != nil {
		return err
	}
	keys, err := c.keys(ctx, report)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.Pass.Owner = preview.Owner{
			Controller: c.name(), Kind: declaration.Print(c.Reads.Kinds[0].GroupVersionKind), Name: strings.TrimPrefix(key.String(), "/"),
		}
		// The report of the pass has the error.
		_, _ = c.Passes.Reconcile(ctx, ctrl.Request{NamespacedName: key})
		if c.Groups == nil || len(c.Manifests) == 0 { // with manifests, only groups that the owners read are previewed
			report.Owners = append(report.Owners, c.Pass.Owner)
		}
	}
	return nil
}
