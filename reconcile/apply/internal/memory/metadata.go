package memory

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// Metadata is what is remembered about the metadata of an owner.
type Metadata struct {
	// Written is our last write of the metadata, or what was last read of it from the
	// API server; Replaced is the resourceVersion before the write.
	Written  freshness.Write
	Replaced string
	// Confirmed reports that the API server had the owner after this process has started.
	Confirmed bool
	// Stored is the inventory as last read or written, Version the
	// resourceVersion of the owner it was read from. Known is what this process
	// knows besides: somebody may have taken it off the owner.
	Stored, Known *applyset.Inventory
	Version       string
	// Identity of the plan whose inventory was covered by Stored; Covered
	// reports whether there is one.
	Identity uint64
	Covered  bool
	// Fresh reports that the first pass found neither an inventory nor a child, so
	// that all members are ours to know.
	Fresh bool
	// Lost reports that the inventory was missing, or not readable, at the first
	// pass of this process although the owner has had children.
	Lost bool
	// StatusHasGeneration reports that the owner's status has the generation that it is about.
	StatusHasGeneration bool
}
