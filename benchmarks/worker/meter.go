package worker

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	kit "github.com/reconcilekit/reconcilekit/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/benchmarks/traffic"
)

// meter records the reconciliations of a controller, as a wrapper of a subject's reconciler or as an observer.
type meter struct {
	inner reconcile.Reconciler

	mu     sync.Mutex
	active int
	last   time.Time
	seen   map[reconcile.Request]struct{}
	passes int64
	errs   int64
}

// Reconcile calls the subject's reconciler.
func (g *meter) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	g.mu.Lock()
	g.active++
	g.mu.Unlock()
	result, err := g.inner.Reconcile(ctx, request)
	g.mu.Lock()
	g.active--
	g.mu.Unlock()
	g.note(request, err != nil)
	return result, err
}

// PhaseStart implements the observer.
func (*meter) PhaseStart(ctx context.Context, _ kit.Phase) context.Context { return ctx }

// PhaseDone implements the observer.
func (*meter) PhaseDone(context.Context, kit.Phase, time.Duration, error) {}

// PassDone records a reconciliation of the SDK's controller.
func (g *meter) PassDone(_ context.Context, r kit.Report) {
	g.note(r.Request, len(r.Outcome.Retry)+len(r.Outcome.Terminal) > 0)
}

func (g *meter) note(request reconcile.Request, failed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passes++
	g.last = time.Now()
	g.seen[request] = struct{}{}
	if failed {
		g.errs++
	}
}

// idle returns the number of reconciled owners, whether no reconciliation is running, and the end of the last one.
func (g *meter) idle() (owners int, quiet bool, last time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.seen), g.active == 0, g.last
}

// usage is the resource usage of the process up to a time.
type usage struct {
	at     time.Time
	cpu    time.Duration
	allocs uint64
	bytes  uint64
}

func now() usage {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return usage{at: time.Now(), cpu: cpuTime(), allocs: memory.Mallocs, bytes: memory.TotalAlloc}
}

// cpuTime returns the CPU time of the process, in user and kernel mode.
func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// liveHeap returns the size of the reachable heap.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC() // frees memory that finalizers and pools held during the first
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.HeapAlloc
}

// peakResident returns the peak of the resident memory since the last resetPeak, from proc_pid_status(5). Zero without /proc.
func peakResident() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err == nil {
				return kib << 10
			}
		}
	}
	return 0
}

// resetPeak resets the peak if the kernel supports it (proc_pid_clear_refs(5), value 5).
func resetPeak() {
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// count adds the requests to the columns of the measurement, divided by per for figures per pass.
func (m *Measurement) count(counts map[traffic.Kind]int64, per int64) {
	m.Requests = map[string]float64{}
	for kind, n := range counts {
		if kind.Verb == "watch" {
			continue
		}
		share := float64(n) / float64(per)
		m.Requests[kind.String()] += share
		if kind.Failed {
			m.Failed += share
		}
		switch {
		case kind.Verb == "get" || kind.Verb == "list":
			m.Reads += share
		case kind.DryRun:
			m.DryRuns += share
		case !kind.Writes():
		case kind.Resource != "widgets":
			m.ChildWrites += share
		case kind.Subresource == "status":
			m.StatusWrites += share
		default:
			m.OwnerWrites += share
		}
	}
}
