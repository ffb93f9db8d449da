package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// Scheduler runs the passes of all controllers of an instance one at a time, in a reproducible order, on a clock that the test moves. Its
// queues replace those of controller-runtime.
type Scheduler struct {
	clock *Clock

	mu      sync.Mutex
	queues  []*queue
	ready   []Item
	ordered int // length of the ordered prefix of ready
	delayed map[Item]time.Time
	running map[Item]chan struct{} // closed at the end of the pass
	known   map[Item]bool          // has run
	again   map[Item]bool          // was added while it ran
}

// Item is a request in the queue of a controller.
type Item struct {
	queue   *queue
	Request reconcile.Request
}

// New returns a scheduler without queues.
func New(clk *Clock) *Scheduler {
	return &Scheduler{
		clock: clk, delayed: map[Item]time.Time{}, running: map[Item]chan struct{}{}, known: map[Item]bool{}, again: map[Item]bool{},
	}
}

// NewQueue adds the queue of a controller with the number of workers.
func (s *Scheduler) NewQueue(name string, workers int) *queue {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &queue{
		scheduler: s, name: name, workers: max(1, workers), next: make(chan reconcile.Request), stop: make(chan struct{}),
		idle: make(chan struct{}, 1024), failures: map[reconcile.Request]int{},
	}
	s.queues = append(s.queues, q)
	return q
}

func (s *Scheduler) add(i Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.delayed, i)
	if s.running[i] != nil {
		s.again[i] = true
		return
	}
	if !slices.Contains(s.ready, i) {
		s.ready = append(s.ready, i)
	}
}

// Repeat makes a request ready again.
func (s *Scheduler) Repeat(i Item) { s.add(i) }

// TriggerAll makes every known request ready.
func (s *Scheduler) TriggerAll() {
	for _, i := range s.all() {
		s.add(i)
	}
}

// Order sorts the requests that became ready since the last call: the sources of controllers start concurrently, so neither the initial
// lists nor the handlers of one event have a reproducible order.
func (s *Scheduler) Order() {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortFunc(s.ready[s.ordered:], compareItems)
	s.ordered = len(s.ready)
}

func compareItems(a, b Item) int {
	return cmp.Or(cmp.Compare(a.queue.name, b.queue.name), objects.CompareKeys(a.Request.NamespacedName, b.Request.NamespacedName))
}

// Take returns the next request to run.
func (s *Scheduler) Take() (Item, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ready) == 0 {
		return Item{}, false
	}
	i := s.ready[0]
	s.ready, s.ordered = s.ready[1:], max(0, s.ordered-1)
	s.begin(i)
	return i, true
}

func (s *Scheduler) begin(i Item) {
	s.running[i], s.known[i] = make(chan struct{}), true
}

// Interleave begins passes of requests that are ready, or have run before and do not run now, one for each controller with a free worker.
// These passes may be concurrent with the current one, regardless of the events. The caller runs them.
func (s *Scheduler) Interleave() []Item {
	busy := map[*queue]int{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.running {
		busy[i.queue]++
	}
	var out []Item
	candidates := slices.AppendSeq(slices.Clone(s.ready), maps.Keys(s.known))
	slices.SortFunc(candidates, compareItems)
	for _, i := range slices.Compact(candidates) {
		if s.running[i] != nil || busy[i.queue] >= min(i.queue.workers, sideBySide) {
			continue
		}
		busy[i.queue]++
		if n := slices.Index(s.ready, i); n >= 0 {
			s.ready = slices.Delete(s.ready, n, n+1)
			if n < s.ordered {
				s.ordered--
			}
		}
		s.begin(i)
		out = append(out, i)
	}
	return out
}

// sideBySide is the maximum number of concurrent passes of one controller.
const sideBySide = 2

// Overlaps reports whether passes of known requests may be concurrent.
func (s *Scheduler) Overlaps() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := map[*queue]int{}
	for i := range s.known {
		requests[i.queue]++
	}
	for q, n := range requests {
		if len(requests) > 1 || n > 1 && q.workers > 1 {
			return true
		}
	}
	return false
}

// Due returns the time of the earliest delayed request.
func (s *Scheduler) Due() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first time.Time
	for _, at := range s.delayed {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first, !first.IsZero()
}

// Shift moves the times of delayed requests, so that their delays remain when the clock is set back.
func (s *Scheduler) Shift(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, at := range s.delayed {
		s.delayed[i] = at.Add(by)
	}
}

// MakeReady makes requests ready that are due.
func (s *Scheduler) MakeReady() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	var triggered []Item
	for i, at := range s.delayed {
		if !at.After(now) {
			triggered = append(triggered, i)
		}
	}
	slices.SortFunc(triggered, compareItems)
	for _, i := range triggered {
		delete(s.delayed, i)
		if !slices.Contains(s.ready, i) {
			s.ready = append(s.ready, i)
		}
	}
}

// Run starts a request of [Scheduler.Take] or [Scheduler.Interleave], and waits for the end of its pass.
func (s *Scheduler) Run(i Item) error {
	timeout := time.NewTimer(passTimeout)
	defer timeout.Stop()
	s.mu.Lock()
	done := s.running[i]
	s.mu.Unlock()
	select {
	case i.queue.next <- i.Request:
	case <-timeout.C:
		return fmt.Errorf("controller %s, %s: no worker accepted the request: %w", i.queue.name, i.Request, errHangs)
	}
	select {
	case <-done:
		return nil
	case <-timeout.C:
		return fmt.Errorf("controller %s, %s: %w within %s", i.queue.name, i.Request, errHangs, passTimeout)
	}
}

// passTimeout is the timeout of one pass in real time.
const passTimeout = 5 * time.Minute

var errHangs = errors.New("the pass did not return")

// Waiting returns the number of queues with a waiting worker.
func (s *Scheduler) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, q := range s.queues {
		if len(q.idle) > 0 {
			count++
		}
	}
	return count
}

// ShutDown releases the workers of all queues.
func (s *Scheduler) ShutDown() {
	s.mu.Lock()
	queues := s.queues
	s.mu.Unlock()
	for _, q := range queues {
		q.ShutDown()
	}
}

// all returns all known requests, sorted.
func (s *Scheduler) all() []Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Keys(s.known), compareItems)
}

// Failing returns the requests whose last passes, as many as times, have failed or asked for a retry with backoff.
func (s *Scheduler) Failing(times int) []string {
	var out []string
	for _, i := range s.all() {
		if i.queue.NumRequeues(i.Request) >= times {
			out = append(out, i.Request.String())
		}
	}
	return out
}
