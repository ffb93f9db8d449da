package faults

import (
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
)

// Draw lists the cases of a system, and counts what it was about.
type Draw struct {
	System *description.Prepared
	// Only is the name of the one case that is looked for; empty is all.
	Only string
	// Seed draws the pairs of faults.
	Seed uint64

	Calls    int // that were made to fail, one in each case
	Unpaired int // pairs of faults that were not drawn
}
