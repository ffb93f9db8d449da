package transport

import (
	"errors"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
)

// Injection is a fault of one request of a run, or of several in a row. It counts its occurrences, also over several instances.
type Injection struct {
	Call string // by call.String, for a permanent one by Request.String
	// Writes matches every write, Creates every write that creates an object in the namespace of the test; Call is empty then.
	Writes, Creates bool
	Fault           Fault
	// Lasting is the number of consecutive rejections: 0 is one, and Forever lasts until the fault ends.
	Lasting int
	hits    int
}

const Forever = -1

// hit reports whether the fault affects the call.
func (n *Injection) hit(c *Call) bool {
	switch {
	case n.Writes:
		return n.hits == 0 && c.Request.IsWrite()
	case n.Creates:
		return c.Request.IsWrite() && c.Before == nil && c.Request.Namespace == description.TestNamespace && c.Request.Verb != "delete"
	case n.Lasting == 0:
		return n.hits == 0 && n.Call == c.String()
	}
	return n.Call == c.Request.String() && (n.Lasting == Forever || n.hits < n.Lasting)
}

// Happened reports whether the fault has affected a request.
func (n *Injection) Happened() bool { return n.hits > 0 }

// Lasts reports whether the fault lasts until it is ended.
func (n *Injection) Lasts() bool { return n.Lasting == Forever }

// Fault is the fault of a request.
type Fault string

const (
	FaultError      Fault = "error"    // rejected without effect
	FaultTimeout    Fault = "timeout"  // executed, but the response is lost
	FaultConflict   Fault = "conflict" // rejected as outdated
	FaultCrash      Fault = "crash"    // executed, then the operator crashes
	FaultReplaced   Fault = "replaced" // another client deleted and recreated the object just before
	FaultChanged    Fault = "owner changed just before"
	FaultDeleted    Fault = "owner deleted just before"
	FaultInterleave Fault = "concurrent passes" // other complete passes run just before
)

// ErrRefused is the cause of injected errors.
var ErrRefused = errors.New("injected by the test")
