package transport

import (
	"errors"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
)

// Injection is a fault that happens to one request of a run, or to several in a row. It counts how often it has happened, also over the
// lives of several instances.
type Injection struct {
	Call string // of call.String, of Request.String for one that lasts
	// writes hits every write, creates every write that makes an object in the namespace of the test; call is empty then.
	Writes, Creates bool
	Fault           Fault
	// Lasting is how many requests in a row are refused: 0 is one alone, and forever is until the fault is lifted.
	Lasting int
	hits    int
}

const Forever = -1

// hit reports whether the fault happens to the call.
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

// Happened reports whether the fault has hit a request.
func (n *Injection) Happened() bool { return n.hits > 0 }

// Lasts reports whether the fault goes on until it is lifted.
func (n *Injection) Lasts() bool { return n.Lasting == Forever }

// Fault is what goes wrong with a request.
type Fault string

const (
	FaultError    Fault = "error"    // refused before it does anything
	FaultTimeout  Fault = "timeout"  // carried out, but the answer is lost
	FaultConflict Fault = "conflict" // refused as outdated
	FaultCrash    Fault = "crash"    // carried out, and the operator dies
	FaultReplaced Fault = "replaced" // the object was deleted and made anew by somebody else just before
	FaultChanged  Fault = "owner changed just before"
	FaultDeleted  Fault = "owner deleted just before"
	FaultBeside   Fault = "passes side by side" // other passes run from their beginning to their end just before
)

// ErrRefused is the cause of the errors that cases inject.
var ErrRefused = errors.New("injected by the test")
