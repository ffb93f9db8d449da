package schedule

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// queue is the work queue of one controller.
type queue struct {
	scheduler *Scheduler
	name      string
	workers   int
	next      chan reconcile.Request
	stop      chan struct{}
	stopOnce  sync.Once
	idle      chan struct{} // one token for each waiting worker
	mu        sync.Mutex
	failures  map[reconcile.Request]int
}

var _ workqueue.TypedRateLimitingInterface[reconcile.Request] = (*queue)(nil)

// Add makes a request ready.
func (q *queue) Add(request reconcile.Request) { q.scheduler.add(Item{q, request}) }

// AddAfter makes a request ready at a later time; the earliest time wins.
func (q *queue) AddAfter(request reconcile.Request, after time.Duration) {
	if after <= 0 {
		q.Add(request)
		return
	}
	s := q.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	i, due := Item{q, request}, s.clock.Now().Add(after)
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

// NumRequeues returns the number of consecutive failures.
func (q *queue) NumRequeues(request reconcile.Request) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failures[request]
}

// Get blocks until the scheduler returns a request.
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
	i := Item{q, request}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.again[i] {
		delete(s.again, i)
		s.ready = append(s.ready, i)
	}
	close(s.running[i])
	delete(s.running, i)
}

// Len returns the number of ready requests.
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

// ShutDown releases the workers.
func (q *queue) ShutDown() { q.stopOnce.Do(func() { close(q.stop) }) }

// ShutDownWithDrain is ShutDown: all passes have ended already.
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
