package dryrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/reconcilekit/reconcilekit/reconcile/preview"
)

// Report starts the cache of the controllers, runs their passes and returns the report.
func Report(
	ctx context.Context, filled cache.Cache, manifests []*unstructured.Unstructured, controllers []*Controller,
) (report preview.Report, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	report.Skipped, err = unknown(manifests, controllers)
	if err != nil {
		return report, err
	}
	// Singletons and groups first: other owners may read their results.
	slices.SortStableFunc(controllers, func(a, b *Controller) int { return a.rank() - b.rank() })
	stopped := make(chan error, 1)
	go func() { stopped <- filled.Start(ctx) }()
	for _, c := range controllers {
		if err := c.preview(ctx, &report); err != nil {
			return report, fmt.Errorf("controller %q: %w", c.name(), err)
		}
	}
	cancel()
	if err := <-stopped; err != nil {
		return report, fmt.Errorf("stop the cache: %w", err)
	}
	return report, nil
}

// Running returns the report of controllers whose cache runs.
func Running(ctx context.Context, controllers []*Controller) (report preview.Report, err error) {
	for _, c := range controllers {
		if err := c.preview(ctx, &report); err != nil {
			return report, fmt.Errorf("controller %q: %w", c.name(), err)
		}
	}
	return report, nil
}

// unknown returns the manifests that no controller reconciles. It returns an error if that is all of them.
func unknown(manifests []*unstructured.Unstructured, controllers []*Controller) (skipped []string, err error) {
	for _, m := range manifests {
		kind := m.GroupVersionKind().GroupKind()
		if !slices.ContainsFunc(controllers, func(c *Controller) bool { return c.reconciles(kind) }) {
			skipped = append(skipped, fmt.Sprintf("%s %s: no controller reconciles it", kind, m.GetName()))
		}
	}
	if len(skipped) > 0 && len(skipped) == len(manifests) {
		return nil, errors.New(strings.Join(skipped, "; "))
	}
	return skipped, nil
}
