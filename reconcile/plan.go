package reconcile

import "github.com/reconcilekit/reconcilekit/reconcile/apply"

// PlanResult is the complete desired set of an owner. The zero value plans nothing; what earlier passes applied and the
// plan does not name any more is pruned. Objects need not be in any order: the engine orders them by kind. It is the plan
// that the engine carries out, and that a diff and a recording print.
type PlanResult = apply.Plan
