package pipeline

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/reconcilekit/reconcilekit/health"
)

// readShare is the part of the limit that reads may take. The rest is left for writes, so that each pass gets further than the one
// before, however much it has to look at first.
const readShare = 2

type requestCounterKey struct{}

// requestCounter is the context of a pass that has itself as a value: one allocation in each pass instead of two.
type requestCounter struct {
	context.Context //nolint:containedctx // it is one

	limit       int64
	reason      string
	sent, reads atomic.Int64
}

// Value returns the counter, or what the context of the pass has.
func (c *requestCounter) Value(k any) any {
	if _, mine := k.(requestCounterKey); mine {
		return c
	}
	return c.Context.Value(k)
}

// limitRequests returns the context of a pass that may send so many requests; a negative limit is none. The error of a further one has the reason.
func limitRequests(ctx context.Context, limit int, reason string) context.Context {
	if limit < 0 {
		return ctx
	}
	return &requestCounter{Context: ctx, limit: int64(limit), reason: reason}
}

// CountRead takes a read from what the pass may send. The error names the limit.
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

// CountWrite takes a write from what the pass may send. The error names the limit.
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

// exceeded is a failure that a further pass ends: what this one has done is done.
func (c *requestCounter) exceeded() error {
	return health.NewError(health.Infrastructure, c.reason, fmt.Sprintf(
		"a pass may send at most %d requests, half of them reads (Budget.MaxRequests), and has sent them; the next one goes on", c.limit), nil)
}
