package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// stopTimeout limits how long reconciliations may take to end when the process is stopped. It is less than the 30 s of a
// Pod's default grace period, so that the lease is released before the process is killed.
const stopTimeout = 20 * time.Second

// runManager runs the controllers until ctx is done and logs the error.
func runManager(ctx context.Context, p *process) error {
	logs := newLogs(ctx, p.settings.log, p.stderr)
	logs.share()
	if err := p.work(ctx, logs); err != nil {
		logs.last(p.Name, err)
		return &ended{err}
	}
	return nil
}

// work runs the controllers until ctx is done.
func (p *process) work(ctx context.Context, logs *logs) error {
	if err := p.shareOwners(); err != nil {
		return err
	}
	options, err := p.managerOptions()
	if err != nil {
		return err
	}
	options.Logger = logs.Logger
	build := p.build()
	logs.WithName(p.Name).Info("the operator starts", "version", build.version, "revision", build.revision, "go", build.compiler)
	if err := build.register(metrics.Registry, p.Name); err != nil {
		return err
	}
	mgr, err := p.newManager(ctx, options)
	if err != nil {
		return err
	}
	if err := errors.Join(p.checkOwners(mgr), p.setup(mgr), p.serveLevel(mgr, logs)); err != nil {
		return err
	}
	return p.explain(mgr.Start(ctx))
}

// newManager creates the manager for the cluster.
func (p *process) newManager(ctx context.Context, options manager.Options) (manager.Manager, error) {
	cluster, err := p.cluster()
	if err != nil {
		return nil, err
	}
	if options.LeaderElection && options.LeaderElectionNamespace == "" && !inCluster() {
		return nil, fmt.Errorf("flag -%s %q: the process does not run in a cluster; name the namespace of the lease", flagLeaseNamespace, "")
	}
	for _, c := range p.Controllers {
		c.StoreClaimsIn(options.LeaderElectionNamespace)
	}
	if options.LeaderElection {
		if options.LeaderElectionConfig == nil {
			options.LeaderElectionConfig = cluster
		}
		p.requests = &leaseRequests{}
		options.LeaderElectionConfig = p.requests.observe(options.LeaderElectionConfig)
	}
	if err := p.keepCertificate(cluster, &options); err != nil {
		return nil, err
	}
	if err := p.checkOtherLease(ctx, cluster, options); err != nil {
		return nil, err
	}
	mgr, err := manager.New(cluster, options)
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", p.explain(err))
	}
	return mgr, p.reportOthers(mgr, cluster, options)
}

// cluster returns the configuration of the cluster from the flags and the environment. Requests have no client-side rate
// limit: the API server has priority and fairness.
func (p *process) cluster() (*rest.Config, error) {
	if p.Config != nil {
		return p.Config, nil
	}
	if p.kubeconfig == "" {
		found, err := config.GetConfig()
		if err != nil {
			return nil, fmt.Errorf("flag -%s %q: find a cluster: %w; name a kubeconfig, or run in a cluster", flagKubeconfig, "", err)
		}
		return found, nil
	}
	found, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("flag -%s %q: want a file with a current context: %w", flagKubeconfig, p.kubeconfig, err)
	}
	found.QPS = -1
	return found, nil
}

// ownNamespace is the file with the namespace of the Pod, which is the default namespace of the lease.
const ownNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// inCluster reports whether the process runs in a Pod.
func inCluster() bool {
	_, err := os.Stat(ownNamespace)
	return err == nil
}

// managerOptions returns the options from the flags and the declarations.
func (p *process) managerOptions() (manager.Options, error) {
	declared, err := controller.CacheOptions(p.scheme, p.Controllers...)
	if err := errors.Join(err, p.checkWebhooks(), p.lease.check()); err != nil {
		return manager.Options{}, err
	}
	for _, namespace := range p.namespaces {
		if declared.DefaultNamespaces == nil {
			declared.DefaultNamespaces = map[string]cache.Config{}
		}
		declared.DefaultNamespaces[namespace] = cache.Config{}
	}
	for object, by := range declared.ByObject {
		for namespace := range by.Namespaces {
			if len(p.namespaces) > 0 && !slices.Contains(p.namespaces, namespace) {
				return manager.Options{}, fmt.Errorf("flag -%s %q: want namespace %q in it, of which the cache of %T is declared with controller.Filter",
					flagNamespaces, p.namespaces.String(), namespace, object)
			}
		}
	}
	timeout := stopTimeout
	options := manager.Options{
		Scheme:                        p.scheme,
		Cache:                         declared,
		Metrics:                       server.Options{BindAddress: string(p.metrics)},
		HealthProbeBindAddress:        string(p.probes),
		LeaderElection:                bool(p.leaderElect),
		LeaderElectionID:              p.leaseName(),
		LeaderElectionNamespace:       p.leaseNamespace,
		LeaseDuration:                 &p.lease.duration,
		RenewDeadline:                 &p.lease.deadline,
		RetryPeriod:                   &p.lease.retry,
		LeaderElectionReleaseOnCancel: true, // the process ends with the manager
		GracefulShutdownTimeout:       &timeout,
		WebhookServer:                 p.webhookServer(),
	}
	if p.metricsSecure {
		options.Metrics.SecureServing, options.Metrics.FilterProvider = true, filterMetrics
	}
	return options, p.adjust(&options)
}

// adjust calls Manager of the Operator and returns an error if it changes options that the declarations need.
func (p *process) adjust(options *manager.Options) error {
	if p.Manager == nil {
		return nil
	}
	declared := maps.Clone(options.Cache.ByObject)
	p.Manager(options)
	for object, by := range declared {
		if after := options.Cache.ByObject[object]; selector(after) != selector(by) {
			return fmt.Errorf("operator.Operator.Manager changes the cache of %T, which is declared with the filter %q: change controller.Filter instead",
				object, selector(by))
		}
	}
	if options.Cache.DefaultTransform == nil {
		return errors.New("operator.Operator.Manager takes the transform of the cache away: change the cache options, do not replace them")
	}
	return nil
}

// selector returns the selectors of the cache of a kind as text.
func selector(by cache.ByObject) string {
	var parts []string
	if by.Label != nil {
		parts = append(parts, by.Label.String())
	}
	if by.Field != nil {
		parts = append(parts, by.Field.String())
	}
	for _, namespace := range slices.Sorted(maps.Keys(by.Namespaces)) {
		parts = append(parts, "namespace "+namespace)
	}
	return strings.Join(parts, " and ")
}

// setup adds webhooks, controllers, runnables and checks to the manager.
func (p *process) setup(mgr manager.Manager) error {
	if p.Webhooks != nil && p.webhookPort > 0 {
		handlers, err := p.Webhooks(mgr)
		if err != nil {
			return err
		}
		if err := p.serveWebhooks(mgr, handlers); err != nil {
			return err
		}
	}
	for _, c := range p.Controllers {
		if err := c.SetupWithManager(mgr); err != nil {
			return err
		}
	}
	if p.Setup != nil {
		if err := p.Setup(mgr); err != nil {
			return err
		}
	}
	if err := errors.Join(p.serveExplanations(mgr), p.servePreviews(mgr)); err != nil {
		return err
	}
	return mgr.AddHealthzCheck("ping", healthz.Ping)
}

// explain adds the cause to the error of a manager: the caches that are not synced, the reason for the lost lease, or the
// flag whose address is in use.
func (p *process) explain(err error) error {
	if unsynced := (interface{ Unsynced() error })(nil); errors.As(err, &unsynced) {
		return fmt.Errorf("the controllers cannot start: %w", unsynced.Unsynced())
	}
	if err != nil && strings.Contains(err.Error(), leaseLost) {
		return fmt.Errorf("%w: %w", err, p.requests.why(p.lease))
	}
	var listening *net.OpError
	if !errors.As(err, &listening) || listening.Op != "listen" {
		return err
	}
	taken, ok := listening.Addr.(*net.TCPAddr)
	if !ok {
		return err
	}
	for _, bound := range []struct{ flag, address string }{
		{flagMetrics, string(p.metrics)}, {flagProbes, string(p.probes)}, {flagWebhookPort, ":" + p.webhookPort.String()},
	} {
		if _, number, _ := net.SplitHostPort(bound.address); number == strconv.Itoa(taken.Port) {
			return fmt.Errorf("flag -%s %q: want an address that is free: %w", bound.flag, strings.TrimPrefix(bound.address, ":"), err)
		}
	}
	return err
}
