package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/dryrun"
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
	ctx context.Context, config *rest.Config, scheme *runtime.Scheme, options PreviewOptions, controllers ...Declared,
) (preview.Report, error) {
	var report preview.Report
	mgr, err := previewManager(config, scheme, options, controllers)
	if err != nil {
		return report, fmt.Errorf("preview: %w", err)
	}
	ctx, cancel := context.WithCancel(log.IntoContext(ctx, logr.Discard()))
	defer cancel()
	var previewers []previewer
	for _, c := range controllers {
		p, err := c.previewer(mgr, options)
		if err != nil {
			return report, fmt.Errorf("preview: %w", err)
		}
		previewers = append(previewers, p)
	}
	report.Skipped, err = options.unknown(previewers)
	if err != nil {
		return report, fmt.Errorf("preview: %w", err)
	}
	// Singletons and groups first: others may read what they found.
	slices.SortStableFunc(previewers, func(a, b previewer) int { return a.rank() - b.rank() })
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.GetCache().Start(ctx) }()
	for _, p := range previewers {
		if err := p.preview(ctx, &report); err != nil {
			return report, fmt.Errorf("preview: controller %q: %w", p.name(), err)
		}
	}
	cancel()
	if err := <-stopped; err != nil {
		return report, fmt.Errorf("preview: stop the cache: %w", err)
	}
	return report, nil
}

// previewer is a controller whose passes are not carried out.
type previewer interface {
	name() string
	rank() int // the lower ones go first
	reconciles(kind schema.GroupKind) bool
	preview(ctx context.Context, report *preview.Report) error
}

// unknown names the manifests that no controller reconciles. The error is that of no manifest that one does.
func (o PreviewOptions) unknown(previewers []previewer) (skipped []string, err error) {
	for _, m := range o.Manifests {
		kind := m.GroupVersionKind().GroupKind()
		if !slices.ContainsFunc(previewers, func(p previewer) bool { return p.reconciles(kind) }) {
			skipped = append(skipped, fmt.Sprintf("%s %s: no controller reconciles it", kind, m.GetName()))
		}
	}
	if len(skipped) > 0 && len(skipped) == len(o.Manifests) {
		return nil, errors.New(strings.Join(skipped, "; "))
	}
	return skipped, nil
}

// previewManager makes the manager whose cache and clients a preview uses. It is not started, and sends reads only.
func previewManager(
	config *rest.Config, scheme *runtime.Scheme, options PreviewOptions, controllers []Declared,
) (manager.Manager, error) {
	cached, err := CacheOptions(scheme, controllers...)
	if err != nil {
		return nil, err
	}
	cached.NewInformer = nil // the owners of all shards, and whole what is looked at once
	for _, namespace := range options.Namespaces {
		if cached.DefaultNamespaces == nil {
			cached.DefaultNamespaces = map[string]cache.Config{}
		}
		cached.DefaultNamespaces[namespace] = cache.Config{}
	}
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return dryrun.ReadOnly{RoundTripper: next, DryRun: options.ServerDryRun}
	})
	return manager.New(config, manager.Options{
		Scheme: scheme, Cache: cached, Logger: logr.Discard(), Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
}
