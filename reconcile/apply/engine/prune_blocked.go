package engine

import (
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// gravity orders the reasons by severity.
func gravity(r apply.Reason) int {
	return slices.Index([]apply.Reason{
		apply.ReasonTerminating, apply.ReasonHeldByFinalizers, apply.ReasonUnproven, apply.ReasonUnknown, apply.ReasonReplacementFailed, apply.ReasonReferenced, apply.ReasonNewer, apply.ReasonHoldsData, apply.ReasonTooMany, apply.ReasonPruneFailed, apply.ReasonPlanIncomplete,
	}, r)
}

// joinBlocked merges two reports; either may be nil.
func joinBlocked(e *apply.PruneBlockedError, other *apply.PruneBlockedError) *apply.PruneBlockedError {
	switch {
	case e == nil:
		return other
	case other == nil:
		return e
	case gravity(other.Reason) > gravity(e.Reason):
		e, other = other, e
	}
	e.Further = append(append(e.Further, other), other.Further...)
	other.Further = nil
	slices.SortStableFunc(e.Further, func(a, b *apply.PruneBlockedError) int { return gravity(b.Reason) - gravity(a.Reason) })
	return e
}

// copyBlocked returns a copy that can be extended.
func copyBlocked(e *apply.PruneBlockedError) *apply.PruneBlockedError {
	if e == nil {
		return nil
	}
	out := *e
	out.Further = slices.Clone(e.Further)
	return &out
}
