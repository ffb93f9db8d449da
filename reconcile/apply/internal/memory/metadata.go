package memory

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// Metadata is the state of the owner's metadata.
type Metadata struct {
	// Written is the engine's last write or live read of the metadata; Replaced is the resourceVersion before the write.
	Written  freshness.Write
	Replaced string
	// Confirmed reports that the API server had the owner after this process started.
	Confirmed bool
	// Stored is the inventory as last read or written; Version is the resourceVersion of that owner. Known are entries that this process
	// knows in addition, because another writer may have removed them from the owner.
	Stored, Known *applyset.Inventory
	Version       string
	// Identity is the identity of the plan whose inventory Stored covers; Covered reports whether there is one.
	Identity uint64
	Covered  bool
	// Fresh reports that the first pass found neither an inventory nor a child, so that this process knows all members.
	Fresh bool
	// Lost reports that the inventory was missing or could not be parsed at the first pass of this process, although the owner has had
	// children.
	Lost bool
	// Labelled reports that managedFields have shown the engine's field manager as the owner of the label of the set: the owner was not
	// restored, and its managedFields were not reset before this process has seen it.
	Labelled bool
	// StatusHasGeneration reports that the owner's status records an observed generation.
	StatusHasGeneration bool
}
