package engine

import (
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// longestPause bounds how long a child that others delete is left alone: people
// and test-suites delete a child again and again to see it come back, and do so
// within a minute.
const longestPause = 30 * time.Second

// deletedByOthers counts that a child is gone that was there and that we have not
// deleted. It reports whether the child is left alone for now.
func deletedByOthers(p *pass, c *child) bool {
	times, rest := c.memory.Gone(p.now, min(longestPause, p.env.options.ContestInterval))
	if times == 0 {
		return false
	}
	c.fail(apply.OutcomeContested, apply.ReasonContested, &apply.DeletedByOthersError{
		Kind: c.id.GroupKind.Kind, Namespace: c.id.Key.Namespace, Name: c.id.Key.Name, Times: times,
	})
	c.requeue = rest
	return true
}
