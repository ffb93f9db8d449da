package dryrun

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
)

// Synced waits until the caches of all kinds are synced.
func Synced(ctx context.Context, c *tracked.Reads, mgr manager.Manager, timeout time.Duration, failed *observe.ListFailures) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if mgr.GetCache().WaitForCacheSync(limited) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var missing []string
	for _, k := range c.Present() {
		informer, err := mgr.GetCache().GetInformer(ctx, k.Object, cache.BlockUntilSynced(false))
		if err != nil || !informer.HasSynced() {
			missing = append(missing, declaration.Print(k.GroupVersionKind))
		}
	}
	return fmt.Errorf("the caches of %s are not filled after %s: %w", strings.Join(missing, ", "), timeout,
		errors.Join(failed.Last(), limited.Err()))
}
