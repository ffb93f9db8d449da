package reconcile

import "time"

// Budget limits one reconciliation of one owner, so that an owner blocks at most one worker, for at most one deadline. For
// each field, zero means the default and a negative value means no limit.
type Budget struct {
	// Deadline limits the duration of a reconciliation. Its context then ends with an error whose cause names the limit; a
	// phase that ignores its context is not interrupted. After the deadline nothing is applied. The status is still
	// written, and the reconciliation is retried with backoff. Default 2 minutes.
	Deadline time.Duration
	// MaxChildren limits the number of objects in a plan, children and deletions together. When a plan exceeds it, nothing
	// is applied and nothing is pruned; the error is InvalidSpec with reason PlanTooLarge. Default 5000.
	MaxChildren int
	// MaxBytes limits the total size of the strings, names and numbers of a plan, which is at most about its size as JSON.
	// A larger plan is rejected like one that exceeds MaxChildren. Default 64 MiB.
	MaxBytes int
	// MaxRequests limits the requests of a reconciliation to the API server; at most half of them are reads. Reads from the
	// cache and the write of the status do not count. Requests above the limit are not sent and fail with reason
	// RequestsExceeded. Completed requests stay in effect, and the next reconciliation, with backoff, continues. The limit
	// applies when the Applier counts requests, as those of reconcile/controller do. Default 20,000.
	MaxRequests int
}
