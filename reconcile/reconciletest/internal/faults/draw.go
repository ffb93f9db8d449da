package faults

import (
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
)

// Draw lists the cases of a system and counts them.
type Draw struct {
	System *description.Prepared
	// Only is the name of the only case to run; empty is all.
	Only string
	// Seed selects the pairs of faults.
	Seed uint64

	Calls    int // calls that fail, one in each case
	Unpaired int // omitted pairs of faults
}
