package worker

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"runtime"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/benchmarks/desired"
	"github.com/reconcilekit/reconcilekit/benchmarks/traffic"
	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

const (
	benchTime   = "500ms"
	warmPasses  = 50
	restPasses  = 3 // passes without a change before the measurement
	cacheWait   = 10 * time.Second
	cacheLookup = 5 * time.Millisecond
)

// steady brings the owner to steady state, the first time, and measures passes over it.
func (w *worker) steady(ctx context.Context, command Command) (Measurement, error) {
	request := reconcile.Request{NamespacedName: command.Owner}
	if !w.rested {
		testing.Init()
		if err := flag.Set("test.benchtime", benchTime); err != nil {
			return Measurement{}, err
		}
		if err := w.rest(ctx, command.Owner); err != nil {
			return Measurement{}, err
		}
		for range warmPasses {
			if _, err := w.inner.Reconcile(ctx, request); err != nil {
				return Measurement{}, err
			}
		}
		w.rested = true
	}
	resetPeak()
	return w.run(ctx, request)
}

// run is one benchmark.
func (w *worker) run(ctx context.Context, request reconcile.Request) (Measurement, error) {
	runtime.GC()
	var failed error
	var m Measurement
	var cpu time.Duration
	var counts map[traffic.Kind]int64
	result := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		b.ReportAllocs()
		w.counter.Reset()
		before := cpuTime()
		for b.Loop() {
			if _, err := w.inner.Reconcile(ctx, request); err != nil {
				failed = err
				b.Fatal(err)
			}
		}
		cpu = cpuTime() - before
		counts = w.counter.Counts()
	})
	if failed != nil {
		return m, failed
	}
	passes := int64(max(result.N, 1))
	m.count(counts, passes)
	m.Passes, m.SentBytes = passes, w.counter.Sent()/passes
	m.Wall, m.CPU = time.Duration(result.NsPerOp()), cpu/time.Duration(passes)
	m.Allocs, m.Bytes = uint64(max(result.AllocsPerOp(), 0)), uint64(max(result.AllocedBytesPerOp(), 0))
	m.PeakBytes, m.HeapBytes = peakResident(), liveHeap()
	return m, nil
}

// rest runs passes until they change nothing and the cache is up to date.
func (w *worker) rest(ctx context.Context, owner client.ObjectKey) error {
	live, err := client.New(w.config, client.Options{Scheme: w.manager.GetScheme()})
	if err != nil {
		return err
	}
	var before map[string]string
	var failed error
	for unchanged, pass := 0, 0; unchanged < restPasses; pass++ {
		if pass > 50*restPasses {
			return fmt.Errorf("every pass over %s changes something, last error: %w", owner, failed)
		}
		_, failed = w.inner.Reconcile(ctx, reconcile.Request{NamespacedName: owner})
		after, err := versions(ctx, live, owner)
		if err != nil {
			return err
		}
		if err := w.follow(ctx, owner, after); err != nil {
			return err
		}
		unchanged++
		if failed != nil || !maps.Equal(before, after) {
			unchanged = 0
		}
		before = after
	}
	return nil
}

// follow waits until the cache shows the versions.
func (w *worker) follow(ctx context.Context, owner client.ObjectKey, want map[string]string) error {
	deadline := time.Now().Add(cacheWait)
	for {
		got, err := versions(ctx, w.manager.GetClient(), owner)
		if err == nil && maps.Equal(got, want) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the cache is not up to date: %v instead of %v, last error: %w", got, want, err)
		}
		time.Sleep(cacheLookup)
	}
}

// versions returns the resource versions of the owner and of its existing children.
func versions(ctx context.Context, r client.Reader, key client.ObjectKey) (map[string]string, error) {
	owner := &widget.Widget{}
	if err := r.Get(ctx, key, owner); err != nil {
		return nil, err
	}
	out := map[string]string{"": owner.ResourceVersion}
	for i := range owner.Spec.Count {
		name := desired.ChildName(owner, i)
		child := desired.Kind(i)
		err := r.Get(ctx, client.ObjectKey{Namespace: owner.Namespace, Name: name}, child)
		if client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		if err == nil {
			out[name] = child.GetResourceVersion()
		}
	}
	return out, nil
}
