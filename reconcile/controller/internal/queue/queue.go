package queue

import (
	"math/bits"
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// fair is the priority queue of controller-runtime. The priority of a request falls with the number of requests of its namespace that are
// queued already: by 1 for one, by 2 for two, by 3 for four, by 4 for eight, and so on. So a request waits for at most about as many
// requests of each other namespace as precede it in its own. The steps double because the metrics of the queue have a series for each
// priority. Priorities above 0, of edits, stay.
type fair struct {
	priorityqueue.PriorityQueue[ctrl.Request]

	mu     sync.Mutex
	queued map[ctrl.Request]int // the rank of each queued request
	counts map[string]int       // of the queued requests of each namespace
}

// New returns the queue of a controller. It is a NewQueue function of controller-runtime's options.
func New(name string, limiter workqueue.TypedRateLimiter[ctrl.Request]) workqueue.TypedRateLimitingInterface[ctrl.Request] {
	return &fair{
		PriorityQueue: priorityqueue.New(name, func(o *priorityqueue.Opts[ctrl.Request]) { o.RateLimiter = limiter }),
		queued:        map[ctrl.Request]int{}, counts: map[string]int{},
	}
}

// AddWithOpts implements priorityqueue.PriorityQueue. A request that is added with a delay does not count, and is not ranked: it has
// waited when it is due.
func (q *fair) AddWithOpts(o priorityqueue.AddOpts, requests ...ctrl.Request) {
	priority := 0
	if o.Priority != nil {
		priority = *o.Priority
	}
	if priority > 0 || o.After > 0 || o.RateLimited {
		q.PriorityQueue.AddWithOpts(o, requests...)
		return
	}
	for _, request := range requests {
		o.Priority = new(priority - q.rank(request))
		q.PriorityQueue.AddWithOpts(o, request)
	}
}

// Add implements workqueue.TypedInterface.
func (q *fair) Add(request ctrl.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, request) }

// rank returns the rank of a request, and counts it unless it is queued already.
func (q *fair) rank(request ctrl.Request) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	rank, known := q.queued[request]
	if !known {
		rank = bits.Len(uint(q.counts[request.Namespace])) //nolint:gosec // a count is not negative
		q.queued[request] = rank
		q.counts[request.Namespace]++
	}
	return rank
}

// GetWithPriority implements priorityqueue.PriorityQueue. It returns the priority without the rank.
func (q *fair) GetWithPriority() (request ctrl.Request, priority int, shutdown bool) {
	request, priority, shutdown = q.PriorityQueue.GetWithPriority()
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, known := q.queued[request]; known {
		delete(q.queued, request)
		if q.counts[request.Namespace]--; q.counts[request.Namespace] == 0 {
			delete(q.counts, request.Namespace)
		}
	}
	return request, base(priority), shutdown
}

// Get implements workqueue.TypedInterface.
func (q *fair) Get() (request ctrl.Request, shutdown bool) {
	request, _, shutdown = q.GetWithPriority()
	return request, shutdown
}

// base returns a priority without a rank: that of edits, 0, or that of initial lists and resyncs.
func base(priority int) int {
	switch {
	case priority > 0:
		return priority
	case priority > handler.LowPriority:
		return 0
	}
	return handler.LowPriority
}
