package reconcile

import "time"

// Budget limits what one pass of one owner may take, so that an owner costs the others at most one worker for one deadline.
// The zero value of a field means its default, a negative value no limit.
type Budget struct {
	// Deadline is how long a pass may take. Its context ends then, with an error that names the limit as its cause; a
	// phase that does not look at its context is not interrupted. Nothing is applied by a pass that is late; its status is
	// still written, and it is tried again with backoff. Default 2 minutes.
	Deadline time.Duration
	// MaxChildren is how many objects a plan may have, children and deletions together. Of a larger plan nothing is
	// applied and nothing pruned; the error is InvalidSpec with reason PlanTooLarge. Default 5000.
	MaxChildren int
	// MaxBytes is how many bytes the texts, names and numbers of a plan may have together, about its size as JSON or
	// less. A larger plan is refused like one with too many objects. Default 64 MiB.
	MaxBytes int
	// MaxRequests is how many requests a pass may send to the API server, half of them reads; what goes to the cache and the
	// write of the status are none. Further ones fail with reason RequestsExceeded and are not sent; what was done
	// before is done, and the next pass, with backoff, goes on from there. It holds where the Applier counts, as those of
	// reconcile/controller do. Default 20,000.
	MaxRequests int
}
