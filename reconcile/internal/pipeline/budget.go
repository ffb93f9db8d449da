package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Defaults of a [reconcile.Budget].
const (
	DefaultDeadline    = 2 * time.Minute
	DefaultMaxChildren = 5000
	DefaultMaxBytes    = 64 << 20
	DefaultMaxRequests = 4 * DefaultMaxChildren
)

// statusTime is the time for writing the status after the deadline of a pass, so that the status reports the deadline.
const statusTime = 10 * time.Second

// Reasons of the errors of passes that exceed their [reconcile.Budget].
const (
	// ReasonDeadlineExceeded: the pass took longer than its deadline.
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonPlanTooLarge: the plan has more objects or bytes than allowed.
	ReasonPlanTooLarge = "PlanTooLarge"
	// ReasonRequestsExceeded: the pass has sent the maximum number of requests to the API server.
	ReasonRequestsExceeded = "RequestsExceeded"
)

// budget enforces the limits of a pass.
type budget reconcile.Budget

func (b budget) orDefaults() budget {
	if b.Deadline == 0 {
		b.Deadline = DefaultDeadline
	}
	if b.MaxChildren == 0 {
		b.MaxChildren = DefaultMaxChildren
	}
	if b.MaxBytes == 0 {
		b.MaxBytes = DefaultMaxBytes
	}
	if b.MaxRequests == 0 {
		b.MaxRequests = DefaultMaxRequests
	}
	return b
}

// deadlineError is the cause of a context that ended at the deadline of a pass.
type deadlineError struct{ after time.Duration }

func (e *deadlineError) Error() string {
	return fmt.Sprintf("the pass took longer than its deadline of %s", e.after)
}

// Unwrap returns context.DeadlineExceeded.
func (*deadlineError) Unwrap() error { return context.DeadlineExceeded }

// limit returns the context of a pass.
func (b budget) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = limitRequests(ctx, b.MaxRequests, ReasonRequestsExceeded)
	if b.Deadline < 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, b.Deadline, &deadlineError{after: b.Deadline})
}

// late returns the error of a pass that exceeds its deadline, else nil.
func late(ctx context.Context) error {
	cause := context.Cause(ctx)
	if cause == nil {
		return nil // avoids the allocations of errors.As
	}
	var over *deadlineError
	if !errors.As(cause, &over) {
		return nil
	}
	return health.NewError(health.Infrastructure, ReasonDeadlineExceeded,
		over.Error()+"; look for slow reads, or raise Budget.Deadline", over)
}

// toWriteStatus returns the context for writing the status: that of the pass, or a short one if the pass is late.
func toWriteStatus(ctx context.Context) (context.Context, context.CancelFunc) {
	if late(ctx) == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), statusTime)
}

// check returns an error for a plan that exceeds a limit. The error has the limit and the kind with the largest share.
func (b budget) check(plan *reconcile.PlanResult) error {
	if count := len(plan.Children) + len(plan.Deletes); b.MaxChildren > 0 && count > b.MaxChildren {
		return tooLarge("the plan has %d objects, at most %d are allowed (Budget.MaxChildren): %s", count, b.MaxChildren,
			largestChild(plan, func(*apply.Child) int { return 1 }, ""))
	}
	if b.MaxBytes < 0 {
		return nil
	}
	total := 0
	if plan.Owner != nil {
		total += sizeOf(plan.Owner)
	}
	for i := range plan.Children {
		total += sizeOf(&plan.Children[i])
	}
	if total > b.MaxBytes {
		return tooLarge("the plan has %d bytes, at most %d are allowed (Budget.MaxBytes): %s", total, b.MaxBytes,
			largestChild(plan, sizeOf, " bytes"))
	}
	return nil
}

func tooLarge(format string, args ...any) error {
	return health.NewError(health.InvalidSpec, ReasonPlanTooLarge, fmt.Sprintf(format, args...), nil)
}
