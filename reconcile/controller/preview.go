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
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/reconcilekit/reconcilekit/reconcile/preview"
)

// PreviewOptions say how [Preview] looks at a cluster. The zero value works.
type PreviewOptions struct {
	// Namespaces are those whose objects are looked at; empty is all.
	Namespaces []string
	// ServerDryRun asks the API server what would become of each object that differs, so that defaults and admission show. Its
	// requests need the rights to write, although they write nothing. Default false: only reads are sent.
	ServerDryRun bool
	// SyncTimeout bounds the wait for the caches. Zero is 2 minutes.
	SyncTimeout time.Duration
}

// Preview reports what the controllers would do now for every owner in the cluster, and does nothing of it: their phases run, the plan
// is compared with what there is, and whatever is not a read is refused on its way out, by construction. It needs the rights to
// list and watch of the controllers' own rights, and no right to write. Groups of owners are skipped, which the report says.
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
	// Singletons first: others may read what they found.
	slices.SortStableFunc(previewers, func(a, b previewer) int { return rank(a) - rank(b) })
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
	single() bool
	preview(ctx context.Context, report *preview.Report) error
}

func rank(p previewer) int {
	if p.single() {
		return 0
	}
	return 1
}

// previewManager makes the manager whose cache and clients a preview uses. It is not started, and sends reads only.
func previewManager(
	config *rest.Config, scheme *runtime.Scheme, options PreviewOptions, controllers []Declared,
) (manager.Manager, error) {
	cached, err := CacheOptions(scheme, controllers...)
	if err != nil {
		return nil, err
	}
	for _, namespace := range options.Namespaces {
		if cached.DefaultNamespaces == nil {
			cached.DefaultNamespaces = map[string]cache.Config{}
		}
		cached.DefaultNamespaces[namespace] = cache.Config{}
	}
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readOnly{next, options.ServerDryRun} })
	return manager.New(config, manager.Options{
		Scheme: scheme, Cache: cached, Logger: logr.Discard(), Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
}

// errNotARead is what a preview's transport answers to anything else.
var errNotARead = errors.New("a preview only reads: refused before it was sent")

// readOnly refuses requests that are no reads.
type readOnly struct {
	http.RoundTripper
	dryRun bool // dry runs pass
}

// RoundTrip implements http.RoundTripper.
func (t readOnly) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet || t.dryRun && slices.Equal(r.URL.Query()["dryRun"], []string{"All"}) {
		return t.RoundTripper.RoundTrip(r)
	}
	return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, errNotARead)
}

// syncedKinds waits until the caches of all kinds are filled.
func (c *cachedReads) syncedKinds(ctx context.Context, mgr manager.Manager, timeout time.Duration, failed *listFailures) error {
	if timeout == 0 {
		timeout = defaultSyncTimeout
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if mgr.GetCache().WaitForCacheSync(limited) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var missing []string
	for _, k := range c.present() {
		informer, err := mgr.GetCache().GetInformer(ctx, k.object, cache.BlockUntilSynced(false))
		if err != nil || !informer.HasSynced() {
			missing = append(missing, printKind(k.GroupVersionKind))
		}
	}
	return fmt.Errorf("the caches of %s are not filled after %s: %w", strings.Join(missing, ", "), timeout,
		errors.Join(failed.last(), limited.Err()))
}

// present are the kinds that are installed.
func (c *catalogue) present() []*kind {
	return slices.DeleteFunc(slices.Clone(c.installable()), func(k *kind) bool { return k.absent.Load() })
}

// presentKinds finds out which optional kinds are installed.
func (c *catalogue) presentKinds(mapper meta.RESTMapper) error {
	for _, k := range c.optional() {
		mapping, err := mapper.RESTMapping(k.GroupKind(), k.Version)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look up %s: %w", printKind(k.GroupVersionKind), err)
		}
		k.cluster.Store(mapping.Scope.Name() == meta.RESTScopeNameRoot)
		k.absent.Store(false)
	}
	return nil
}

// ownerKeys are the owners in the cache, by namespace and name.
func (c *cachedReads) ownerKeys(ctx context.Context) ([]types.NamespacedName, error) {
	list, err := c.emptyList(c.kinds[0])
	if err == nil {
		err = c.cache.List(ctx, list, client.UnsafeDisableDeepCopy)
	}
	if err != nil {
		return nil, fmt.Errorf("list the owners: %w", err)
	}
	var keys []types.NamespacedName
	err = meta.EachListItem(list, func(item runtime.Object) error {
		if o, ok := item.(client.Object); ok {
			keys = append(keys, client.ObjectKeyFromObject(o))
		}
		return nil
	})
	slices.SortFunc(keys, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	return keys, err
}
