package dryrun

import (
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// NewManager returns the manager of a preview, with caches of the given namespaces, or of all. The caller starts it. It sends only
// reads, and dry-run requests if they are allowed.
func NewManager(
	config *rest.Config, scheme *runtime.Scheme, cached cache.Options, namespaces []string, allowDryRun bool,
) (manager.Manager, error) {
	cached.NewInformer = nil // the owners of all shards, and all objects in full
	for _, namespace := range namespaces {
		if cached.DefaultNamespaces == nil {
			cached.DefaultNamespaces = map[string]cache.Config{}
		}
		cached.DefaultNamespaces[namespace] = cache.Config{}
	}
	return manager.New(readOnly(config, allowDryRun), manager.Options{
		Scheme: scheme, Cache: cached, Logger: logr.Discard(), Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
}

// NewSharing returns a manager that reads from the cache of a running one and sends only reads. It is not started.
func NewSharing(running manager.Manager) (manager.Manager, error) {
	return manager.New(readOnly(running.GetConfig(), false), manager.Options{
		Scheme: running.GetScheme(), Logger: logr.Discard(), Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		NewCache:       func(*rest.Config, cache.Options) (cache.Cache, error) { return running.GetCache(), nil },
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return running.GetRESTMapper(), nil },
	})
}

func readOnly(config *rest.Config, allowDryRun bool) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return ReadOnly{RoundTripper: next, DryRun: allowDryRun}
	})
	return config
}
