package reconciletest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// scheduler runs the passes of all controllers of an instance one at a time, in an order that can be repeated, on a clock
// that the test moves. Its queues take the place of controller-runtime's.
type scheduler struct {
	clock *manualClock

	mu      sync.Mutex
	queues  []*queue
	ready   []item
	delayed map[item]time.Time
	running map[item]bool
	known   map[item]bool // has run
	again   map[item]bool // was added while it ran
	done    chan item
}

type item struct {
	queue   *queue
	request reconcile.Request
}

func newScheduler(clk *manualClock) *scheduler {
	return &scheduler{
		clock: clk, delayed: map[item]time.Time{}, running: map[item]bool{}, known: map[item]bool{}, again: map[item]bool{}, done: make(chan item, 16),
	}
}

// queue is the work queue of one controller.
type queue struct {
	scheduler *scheduler
	name      string
	next      chan reconcile.Request
	stop      chan struct{}
	stopOnce  sync.Once
	idle      chan struct{} // one token for each worker that has asked for work
	mu        sync.Mutex
	failures  map[reconcile.Request]int
}

var _ workqueue.TypedRateLimitingInterface[reconcile.Request] = (*queue)(nil)

func (s *scheduler) newQueue(name string) *queue {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &queue{
		scheduler: s, name: name, next: make(chan reconcile.Request), stop: make(chan struct{}),
		idle: make(chan struct{}, 1024), failures: map[reconcile.Request]int{},
	}
	s.queues = append(s.queues, q)
	return q
}

// Add makes a request ready.
func (q *queue) Add(request reconcile.Request) { q.scheduler.add(item{q, request}) }

func (s *scheduler) add(i item) {
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

// AddAfter makes a request ready at a later time; the earliest time stands.
func (q *queue) AddAfter(request reconcile.Request, after time.Duration) {
	if after <= 0 {
		q.Add(request)
		return
	}
	s := q.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	i, due := item{q, request}, s.clock.Now().Add(after)
	if known, waits := s.delayed[i]; !waits || due.Before(known) {
		s.delayed[i] = due
	}
}

const (
	backoffBase = 5 * time.Millisecond
	backoffMost = 1000 * time.Second
)

// AddRateLimited makes a request ready after the backoff of controller-runtime's default rate limiter.
func (q *queue) AddRateLimited(request reconcile.Request) {
	q.mu.Lock()
	failures := q.failures[request]
	q.failures[request]++
	q.mu.Unlock()
	wait := backoffMost
	if failures < 18 { //nolint:mnd // 5 ms doubled 18 times is above the limit
		wait = min(wait, backoffBase<<failures)
	}
	q.AddAfter(request, wait)
}

// Forget ends the backoff of a request.
func (q *queue) Forget(request reconcile.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.failures, request)
}

// NumRequeues is the number of failures in a row.
func (q *queue) NumRequeues(request reconcile.Request) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failures[request]
}

// Get blocks until the scheduler hands out a request.
func (q *queue) Get() (request reconcile.Request, shutdown bool) {
	select {
	case q.idle <- struct{}{}:
	default:
	}
	select {
	case request := <-q.next:
		return request, false
	case <-q.stop:
		return reconcile.Request{}, true
	}
}

// Done ends a pass.
func (q *queue) Done(request reconcile.Request) {
	s := q.scheduler
	i := item{q, request}
	s.mu.Lock()
	delete(s.running, i)
	if s.again[i] {
		delete(s.again, i)
		s.ready = append(s.ready, i)
	}
	s.mu.Unlock()
	s.done <- i
}

// Len is the number of ready requests.
func (q *queue) Len() int {
	q.scheduler.mu.Lock()
	defer q.scheduler.mu.Unlock()
	count := 0
	for _, i := range q.scheduler.ready {
		if i.queue == q {
			count++
		}
	}
	return count
}

// ShutDown lets the workers go.
func (q *queue) ShutDown() { q.stopOnce.Do(func() { close(q.stop) }) }

// ShutDownWithDrain is ShutDown: passes run one at a time, so none is under way.
func (q *queue) ShutDownWithDrain() { q.ShutDown() }

// ShuttingDown reports whether ShutDown was called.
func (q *queue) ShuttingDown() bool {
	select {
	case <-q.stop:
		return true
	default:
		return false
	}
}

// wakeAll makes every request ready that there ever was.
func (s *scheduler) wakeAll() {
	s.mu.Lock()
	known := make([]item, 0, len(s.known))
	for i := range s.known {
		known = append(known, i)
	}
	s.mu.Unlock()
	slices.SortFunc(known, compareItems)
	for _, i := range known {
		s.add(i)
	}
}

// order sorts what is ready: the sources of a controller start at the same time, in no order.
func (s *scheduler) order() {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortFunc(s.ready, compareItems)
}

func compareItems(a, b item) int {
	return cmp.Or(cmp.Compare(a.queue.name, b.queue.name), compareKeys(a.request.NamespacedName, b.request.NamespacedName))
}

// take returns what is to run next.
func (s *scheduler) take() (item, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ready) == 0 {
		return item{}, false
	}
	i := s.ready[0]
	s.ready = s.ready[1:]
	s.running[i], s.known[i] = true, true
	return i, true
}

// due is the time of the earliest delayed request.
func (s *scheduler) due() (time.Time, bool) {
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

// wake makes ready what is due at the clock's time.
func (s *scheduler) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	var woken []item
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

// passTimeout bounds one pass in real time; a pass that takes longer hangs.
const passTimeout = 5 * time.Minute

var errHangs = errors.New("the pass does not return")

// run hands out a request and waits for the end of its pass.
func (s *scheduler) run(i item) error {
	timeout := time.NewTimer(passTimeout)
	defer timeout.Stop()
	select {
	case i.queue.next <- i.request:
	case <-timeout.C:
		return fmt.Errorf("controller %s, %s: no worker takes the request: %w", i.queue.name, i.request, errHangs)
	}
	for {
		select {
		case finished := <-s.done:
			if finished == i {
				return nil
			}
		case <-timeout.C:
			return fmt.Errorf("controller %s, %s: %w within %s", i.queue.name, i.request, errHangs, passTimeout)
		}
	}
}

// manualClock tells the time that the test has set.
type manualClock struct {
	mu  sync.Mutex
	now time.Time
}

// Now implements clock.PassiveClock.
func (c *manualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Since implements clock.PassiveClock.
func (c *manualClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// set moves the clock forward.
func (c *manualClock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.now) {
		c.now = t
	}
}
