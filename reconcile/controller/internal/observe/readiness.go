package observe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// The names of the checks of the manager's /readyz in addition to those of the controllers.
const (
	readyAPIServer = "api-server"
	readyWebhooks  = "webhooks"
)

// Ready adds the checks of a controller to /readyz of the manager. They report whether this process can serve: the caches of the
// controller are synced, also on a standby, and the API server answers. Failures of single owners appear in their conditions and in
// metrics, and do not make the process unready.
func Ready(mgr manager.Manager, controller string, caches *Caches, c clock.PassiveClock) error {
	api := &apiServer{config: mgr.GetConfig(), client: mgr.GetHTTPClient(), clock: c}
	err := errors.Join(
		mgr.AddReadyzCheck(controller, told(mgr.GetLogger(), controller, caches.check)),
		mgr.AddReadyzCheck(readyAPIServer, told(mgr.GetLogger(), readyAPIServer, api.check)),
	)
	if err != nil {
		return fmt.Errorf("controller %q: add its readiness checks: %w", controller, err)
	}
	return nil
}

// WebhooksReady adds a check to /readyz of the manager that fails until the webhook server serves.
func WebhooksReady(mgr manager.Manager) error {
	if err := mgr.AddReadyzCheck(readyWebhooks, told(mgr.GetLogger(), readyWebhooks, mgr.GetWebhookServer().StartedChecker())); err != nil {
		return fmt.Errorf("add the readiness check of the webhook server: %w", err)
	}
	return nil
}

// told logs each change of a check's answer with the reason, which /readyz omits.
func told(logger logr.Logger, name string, check func(*http.Request) error) func(*http.Request) error {
	var mu sync.Mutex
	last := ""
	return func(request *http.Request) error {
		err := check(request)
		text := ""
		if err != nil {
			text = err.Error()
		}
		mu.Lock()
		defer mu.Unlock()
		switch text {
		case last:
		case "":
			logger.Info("ready again", "check", name)
		default:
			logger.Info("not ready", "check", name, "reason", text)
		}
		last = text
		return err
	}
}

// Caches records which event sources of a controller have not synced yet. Its methods may be called while sources are added, because
// metrics may be read before the set-up ends.
type Caches struct {
	mu      sync.Mutex
	sources []*syncing
	Failed  *ListFailures // the responses of the API server to lists and watches
}

// noted returns the sources so far.
func (c *Caches) noted() []*syncing {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sources[:len(c.sources):len(c.sources)]
}

// byKind returns 1 for each kind whose cache is synced and 0 for the others. Kinds of one name in several groups count as one.
func (c *Caches) byKind() map[string]float64 {
	kinds := map[string]float64{}
	for _, s := range c.noted() {
		if s.kind == "" {
			continue
		}
		value := 0.0
		if s.listed() { // s.done is also true after the manager of the source has ended
			value = 1
		}
		if other, twice := kinds[s.kind]; twice {
			value = min(value, other)
		}
		kinds[s.kind] = value
	}
	return kinds
}

// syncing is a source that records whether it has synced.
type syncing struct {
	source.SyncingSource
	name   string
	kind   string      // without its group; empty for a source of several kinds
	listed func() bool // reports whether the kind itself is in the cache
	begun  atomic.Bool
	done   atomic.Bool
	caches *Caches
}

// Watch adds the source of a kind, and returns a source that records its sync.
func (c *Caches) Watch(cached cache.Cache, k *declaration.Kind, s source.SyncingSource) source.SyncingSource {
	var known atomic.Pointer[cache.Informer] // GetInformer of a cache of several namespaces starts a goroutine that runs until it has synced
	one := &syncing{SyncingSource: s, name: declaration.Print(k.GroupVersionKind), kind: k.Kind}
	one.listed = func() bool {
		// GetInformer adds a missing informer to the cache. Before the source starts, the manager would wait for it without a timeout, and
		// would not end when it is stopped.
		if !one.begun.Load() {
			return false
		}
		if known.Load() == nil {
			informer, err := cached.GetInformer(context.Background(), k.Object, cache.BlockUntilSynced(false)) //nolint:forbidigo // a read from memory
			if err != nil {
				return false
			}
			known.Store(&informer)
		}
		return (*known.Load()).HasSynced()
	}
	return c.note(one)
}

// WatchAll adds a source of several kinds.
func (c *Caches) WatchAll(name string, s source.SyncingSource) source.SyncingSource {
	return c.note(&syncing{SyncingSource: s, name: name, listed: func() bool { return false }})
}

func (c *Caches) note(s *syncing) source.SyncingSource {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.caches = c
	c.sources = append(c.sources, s)
	return s
}

// Start implements source.SyncingSource. The manager starts its caches first.
func (s *syncing) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	s.begun.Store(true)
	return s.SyncingSource.Start(ctx, queue)
}

// WaitForSync implements source.SyncingSource.
func (s *syncing) WaitForSync(ctx context.Context) error {
	err := s.SyncingSource.WaitForSync(ctx)
	s.done.Store(err == nil)
	if err == nil {
		return nil
	}
	return errors.Join(err, unsynced{s.caches.check(nil)}) // each source waits for all caches: another one may be the cause
}

// unsynced has the caches that a source has waited for in vain.
type unsynced struct{ error }

// Unsynced returns the kinds and the responses of the API server.
func (u unsynced) Unsynced() error { return u.error }

// String returns the name of the source for the log.
func (s *syncing) String() string { return fmt.Sprint(s.SyncingSource) }

// check implements healthz.Checker.
func (c *Caches) check(*http.Request) error {
	var waiting, missing []string
	for _, s := range c.noted() {
		if s.done.Load() {
			continue
		}
		waiting = append(waiting, s.name)
		if !s.listed() {
			missing = append(missing, s.name)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	if len(missing) == 0 { // sources wait for each other
		missing = waiting
	}
	err := fmt.Errorf("the caches of %s are not synced", strings.Join(missing, ", "))
	if failed := c.Failed.Last(); failed != nil {
		return fmt.Errorf("%w: %w", err, failed)
	}
	return fmt.Errorf("%w: is the kind served, and may it be listed and watched?", err)
}

const (
	reachTimeout = 3 * time.Second // below the usual timeouts of probes times their threshold
	reachFor     = 5 * time.Second // an answer is valid for this time, regardless of the number of probes
)

// apiServer checks that the API server answers. It requests the version, which every account may read, at most once in reachFor.
type apiServer struct {
	config *rest.Config
	client *http.Client
	clock  clock.PassiveClock

	mu    sync.Mutex
	asked time.Time
	err   error
}

// check implements healthz.Checker.
func (a *apiServer) check(request *http.Request) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := a.clock.Now(); a.asked.IsZero() || now.Sub(a.asked) >= reachFor {
		a.err, a.asked = a.ask(request.Context()), now
	}
	return a.err
}

func (a *apiServer) ask(ctx context.Context) error {
	c, err := discovery.NewDiscoveryClientForConfigAndClient(a.config, a.client)
	if err != nil {
		return fmt.Errorf("ask the API server: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	err = c.RESTClient().Get().AbsPath("/version").MaxRetries(0).Do(ctx).Error()
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsTooManyRequests(err) {
		return nil // the API server answers
	}
	if err != nil {
		return fmt.Errorf("the API server does not answer: %w", err)
	}
	return nil
}
