package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/benchmarks/desired"
	"github.com/reconcilekit/reconcilekit/benchmarks/subject"
	"github.com/reconcilekit/reconcilekit/benchmarks/traffic"
	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

const (
	// quiet is the idle time after which a world counts as settled.
	quiet = 2 * time.Second
	// patience is the timeout for that.
	patience = 20 * time.Minute
)

// Options configures a worker.
type Options struct {
	// Kubeconfig is the path of the kubeconfig of the API server.
	Kubeconfig string
	// Subject is the name of the subject.
	Subject string
	// Owners is the number of owners in the world.
	Owners int
	// Drive runs no controller; [DoSteady] runs the passes.
	Drive bool
}

// Scheme returns a scheme with the owner and its children.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), widget.AddToScheme(scheme))
}

type worker struct {
	Options

	counter traffic.Counter
	config  *rest.Config
	manager *holding
	inner   reconcile.Reconciler // for DoSteady
	meter   *meter
	since   usage
	rested  bool
}

// holding is a manager that delays the controllers until the caches are synchronised.
type holding struct {
	manager.Manager

	controllers []controller.Controller
}

// Add delays controllers.
func (h *holding) Add(runnable manager.Runnable) error {
	if c, ok := runnable.(controller.Controller); ok {
		h.controllers = append(h.controllers, c)
		return nil
	}
	return h.Manager.Add(runnable)
}

// Run serves commands until the input ends.
func Run(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &worker{Options: o}
	if err := w.setup(ctx); err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- w.manager.Start(ctx) }()
	if !w.manager.GetCache().WaitForCacheSync(ctx) {
		return fmt.Errorf("the cache does not sync: %w", <-failed)
	}
	w.reset()
	if !w.Drive {
		for _, c := range w.manager.controllers {
			if err := w.manager.Manager.Add(c); err != nil {
				return err
			}
		}
	}
	err := w.serve(ctx, json.NewDecoder(in), json.NewEncoder(out))
	cancel()
	return errors.Join(err, <-failed) // after the running passes have ended
}

func (w *worker) serve(ctx context.Context, in *json.Decoder, out *json.Encoder) error {
	for {
		var command Command
		if err := in.Decode(&command); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		measured, err := w.do(ctx, command)
		if err != nil {
			measured.Error = err.Error()
		}
		if err := out.Encode(measured); err != nil {
			return err
		}
	}
}

func (w *worker) do(ctx context.Context, command Command) (Measurement, error) {
	switch command.Do {
	case DoReset:
		w.reset()
		return Measurement{}, nil
	case DoSettle:
		return w.settle(ctx)
	case DoSteady:
		return w.steady(ctx, command)
	}
	return Measurement{}, fmt.Errorf("command %q is unknown", command.Do)
}

// setup creates the manager with the options that all subjects share, except for filters: a typed cache, no rate limits of the client, no
// events.
func (w *worker) setup(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", w.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	w.config = rest.CopyConfig(config) // not counted
	config.Wrap(w.counter.Wrap)
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	caches, err := subject.CacheOptions(w.Subject, scheme)
	if err != nil {
		return err
	}
	m, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Cache: caches, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	w.manager, w.meter = &holding{Manager: m}, &meter{seen: map[reconcile.Request]struct{}{}}
	if err := w.informers(ctx); err != nil {
		return err
	}
	return w.subject(config)
}

// subject adds the controller of the subject to the manager.
func (w *worker) subject(config *rest.Config) error {
	chosen, err := subject.ByName(w.Subject)
	if err != nil {
		return err
	}
	w.inner, err = chosen.New(subject.Environment{
		Client: w.manager.GetClient(), Live: w.manager.GetAPIReader(), Config: config, HTTP: w.manager.GetHTTPClient(),
		Manager: w.manager, Observer: w.meter,
	})
	if err != nil {
		return err
	}
	if w.inner == nil {
		w.inner = w.manager.controllers[0]
		return nil
	}
	w.meter.inner = w.inner
	b := builder.ControllerManagedBy(w.manager).Named("widget").For(&widget.Widget{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: subject.Workers})
	for _, kind := range desired.Kinds() {
		b = b.Owns(kind)
	}
	return b.Complete(w.meter)
}

// informers registers the informers that must be synchronised before a measurement.
func (w *worker) informers(ctx context.Context) error {
	for _, kind := range append(desired.Kinds(), client.Object(&widget.Widget{})) {
		if _, err := w.manager.GetCache().GetInformer(ctx, kind); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) reset() {
	w.meter.mu.Lock()
	w.meter.passes, w.meter.errs, w.meter.last = 0, 0, time.Time{}
	w.meter.mu.Unlock()
	resetPeak()
	w.counter.Reset()
	w.since = now()
}

// settle waits until every owner was reconciled, no reconciliation is running, and the worker was idle for a while.
func (w *worker) settle(ctx context.Context) (Measurement, error) {
	ticker := time.NewTicker(quiet / 20)
	defer ticker.Stop()
	deadline := time.Now().Add(patience)
	begun := time.Now()
	for {
		owners, idle, last := w.meter.idle()
		if request := w.counter.Last(); request.After(last) {
			last = request
		}
		if begun.After(last) {
			last = begun
		}
		if owners >= w.Owners && idle && time.Since(last) > quiet {
			break
		}
		if time.Now().After(deadline) {
			return Measurement{}, fmt.Errorf("%d of %d owners were reconciled, no steady state after %s", owners, w.Owners, patience)
		}
		select {
		case <-ctx.Done():
			return Measurement{}, ctx.Err()
		case <-ticker.C:
		}
	}
	return w.measure(), nil
}

func (w *worker) measure() Measurement {
	used := now()
	var m Measurement
	m.count(w.counter.Counts(), 1)
	m.SentBytes = w.counter.Sent()
	_, _, last := w.meter.idle()
	if request := w.counter.Last(); request.After(last) {
		last = request
	}
	if last.After(w.since.at) {
		m.Wall = last.Sub(w.since.at)
	}
	m.CPU, m.Allocs, m.Bytes = used.cpu-w.since.cpu, used.allocs-w.since.allocs, used.bytes-w.since.bytes
	m.PeakBytes = peakResident()
	w.meter.mu.Lock()
	m.Passes, m.Errors = w.meter.passes, w.meter.errs
	w.meter.mu.Unlock()
	m.HeapBytes = liveHeap()
	w.reset()
	return m
}
