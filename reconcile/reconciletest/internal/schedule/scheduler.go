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

// Scheduler runs the passes of all controllers of an instance one at a time, in an order that can be repeated, on a clock
// that the test moves. Its queues take the place of controller-runtime's.
type Scheduler struct {
	clock *Clock

	mu      sync.Mutex
	queues  []*queue
	ready   []Item
	ordered int // of ready, those before the items that Order has not seen
	delayed map[Item]time.Time
	running map[Item]bool
	known   map[Item]bool // has run
	again   map[Item]bool // was added while it ran
	done    chan Item
}

// Item is a request in the queue of a controller.
type Item struct {
	queue   *queue
	Request reconcile.Request
}

// New has no queues yet.
func New(clk *Clock) *Scheduler {
	return &Scheduler{
		clock: clk, delayed: map[Item]time.Time{}, running: map[Item]bool{}, known: map[Item]bool{}, again: map[Item]bool{}, done: make(chan Item, 16),
	}
}

// NewQueue adds the queue of a controller.
func (s *Scheduler) NewQueue(name string) *queue {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &queue{
		scheduler: s, name: name, next: make(chan reconcile.Request), stop: make(chan struct{}),
		idle: make(chan struct{}, 1024), failures: map[reconcile.Request]int{},
	}
	s.queues = append(s.queues, q)
	return q
}

func (s *Scheduler) add(i Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.delayed, i)
	if s.running[i] {
		s.again[i] = true
		return
	}
	if !slices.Contains(s.ready, i) {
		s.ready = append(s.ready, i)
	}
}

// Repeat makes a request ready once more.
func (s *Scheduler) Repeat(i Item) { s.add(i) }

// WakeAll makes every request ready that there ever was.
func (s *Scheduler) WakeAll() {
	for _, i := range s.all() {
		s.add(i)
	}
}

// Order sorts what has become ready since it was last called: the sources of controllers start at the same time, so that
// neither the initial lists nor the handlers of one event come in an order that could be repeated.
func (s *Scheduler) Order() {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortFunc(s.ready[s.ordered:], compareItems)
	s.ordered = len(s.ready)
}

func compareItems(a, b Item) int {
	return cmp.Or(cmp.Compare(a.queue.name, b.queue.name), objects.CompareKeys(a.Request.NamespacedName, b.Request.NamespacedName))
}

// Take returns what is to run next.
func (s *Scheduler) Take() (Item, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ready) == 0 {
		return Item{}, false
	}
	i := s.ready[0]
	s.ready, s.ordered = s.ready[1:], max(0, s.ordered-1)
	s.running[i], s.known[i] = true, true
	return i, true
}

// Due is the time of the earliest delayed request.
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

// Wake makes ready what is due at the clock's time.
func (s *Scheduler) Wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	var woken []Item
	for i, at := range s.delayed {
		if !at.After(now) {
			woken = append(woken, i)
		}
	}
	slices.SortFunc(woken, compareItems)
	for _, i := range woken {
		delete(s.delayed, i)
		if !slices.Contains(s.ready, i) {
			s.ready = append(s.ready, i)
		}
	}
}

// Run hands out a request and waits for the end of its pass.
func (s *Scheduler) Run(i Item) error {
	timeout := time.NewTimer(passTimeout)
	defer timeout.Stop()
	select {
	case i.queue.next <- i.Request:
	case <-timeout.C:
		return fmt.Errorf("controller %s, %s: no worker takes the request: %w", i.queue.name, i.Request, errHangs)
	}
	for {
		select {
		case finished := <-s.done:
			if finished == i {
				return nil
			}
		case <-timeout.C:
			return fmt.Errorf("controller %s, %s: %w within %s", i.queue.name, i.Request, errHangs, passTimeout)
		}
	}
}

// passTimeout bounds one pass in real time; a pass that takes longer hangs.
const passTimeout = 5 * time.Minute

var errHangs = errors.New("the pass does not return")

// Waiting is the number of queues that a worker has asked for work.
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

// ShutDown lets the workers of all queues go.
func (s *Scheduler) ShutDown() {
	s.mu.Lock()
	queues := s.queues
	s.mu.Unlock()
	for _, q := range queues {
		q.ShutDown()
	}
}

// all are the requests that there ever were, sorted.
func (s *Scheduler) all() []Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Keys(s.known), compareItems)
}

// Failing are the requests whose last passes, so many of them, have failed or asked to be tried again by backoff.
func (s *Scheduler) Failing(times int) []string {
	var out []string
	for _, i := range s.all() {
		if i.queue.NumRequeues(i.Request) >= times {
			out = append(out, i.Request.String())
		}
	}
	return out
}
