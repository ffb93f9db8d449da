package decide

import (
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// longestPause bounds how long a child that others delete is left alone: people
// and test-suites delete a child again and again to see it come back, and do so
// within a minute.
const longestPause = 30 * time.Second

// deletedByOthers counts that a child is gone that was there and that we have not
// deleted. It reports whether the child is left alone for now.
func deletedByOthers(p *pass.Pass, c *pass.Child) bool {
	times, rest := c.Memory.Gone(p.Now, min(longestPause, p.Env.Options.ContestInterval))
	if times == 0 {
		return false
	}
	c.Fail(apply.OutcomeContested, apply.ReasonContested, &apply.DeletedByOthersError{
		Kind: c.ID.GroupKind.Kind, Namespace: c.ID.Key.Namespace, Name: c.ID.Key.Name, Times: times,
	})
	c.Requeue = rest
	return true
}
