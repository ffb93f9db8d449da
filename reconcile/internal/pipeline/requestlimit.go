package pipeline

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/reconcilekit/reconcilekit/health"
)

// readShare is the divisor of the limit for reads. The rest is reserved for writes, so that each pass makes progress
// regardless of the number of its reads.
const readShare = 2

type requestCounterKey struct{}

// requestCounter is the context of a pass and its own value, which saves an allocation in each pass.
type requestCounter struct {
	context.Context //nolint:containedctx // requestCounter is a context

	limit       int64
	reason      string
	sent, reads atomic.Int64
}

// Value returns the counter, or the value of the context of the pass.
func (c *requestCounter) Value(k any) any {
	if _, mine := k.(requestCounterKey); mine {
		return c
	}
	return c.Context.Value(k)
}

// limitRequests returns the context of a pass that may send at most limit requests; a negative limit means no limit. The error of a further
// request has the reason.
func limitRequests(ctx context.Context, limit int, reason string) context.Context {
	if limit < 0 {
		return ctx
	}
	return &requestCounter{Context: ctx, limit: int64(limit), reason: reason}
}

// CountRead counts a read against the limit of the pass. The error names the limit.
func CountRead(ctx context.Context) error {
	c, limited := ctx.Value(requestCounterKey{}).(*requestCounter)
	if !limited {
		return nil
	}
	if c.reads.Add(1) > max(c.limit/readShare, 1) {
		return c.exceeded()
	}
	return c.send()
}

// CountWrite counts a write against the limit of the pass. The error names the limit.
func CountWrite(ctx context.Context) error {
	c, limited := ctx.Value(requestCounterKey{}).(*requestCounter)
	if !limited {
		return nil
	}
	return c.send()
}

func (c *requestCounter) send() error {
	if c.sent.Add(1) > c.limit {
		return c.exceeded()
	}
	return nil
}

// exceeded returns an error that a further pass resolves, because the work of this pass is kept.
func (c *requestCounter) exceeded() error {
	return health.NewError(health.Infrastructure, c.reason, fmt.Sprintf(
		"a pass may send at most %d requests, half of them reads (Budget.MaxRequests), and has sent them; the next one goes on", c.limit), nil)
}
