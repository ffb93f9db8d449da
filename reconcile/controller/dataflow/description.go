package dataflow

import (
	"cmp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/transition"
)

// Description is what a controller watches, reads and writes, and the rights that this needs. It is made from the
// declarations alone, without a cluster.
type Description struct {
	// Controller is the name of the controller.
	Controller string `json:"controller"`
	// FieldManager is the name under which it owns fields.
	FieldManager string `json:"fieldManager"`
	// Finalizer is what it puts on owners that need one; empty for groups, which are in no cluster.
	Finalizer string `json:"finalizer"`
	// Owners is what selects the owners among the objects of their kind, empty for all.
	Owners string `json:"owners,omitempty"`
	// Watches is the watches table: first For, then Owns, then Watches, each sorted by kind.
	Watches []Watch `json:"watches"`
	// Access is the read and write matrix, in the order of the kinds.
	Access []Access `json:"access"`
	// External are the kinds of things outside of the cluster, in the order of the builder.
	External []External `json:"external,omitempty"`
	// Transitions are the state machines in the status, in the order of the builder.
	Transitions []transition.Drawing `json:"transitions,omitempty"`
	// Rules are the least rights of the controller: with one of them taken away it does not work. Events and the lease
	// of the leader election are rights of the whole operator, see [Page].
	Rules []rbacv1.PolicyRule `json:"rules"`
}

// Watch is a row of the watches table.
type Watch struct {
	// Type is For, Owns or Watches.
	Type string `json:"type"`
	// GVK is the kind, as in /v1/Namespace or apps/v1/Deployment.
	GVK string `json:"gvk"`
	// Source is the file and line of the declaration.
	Source string `json:"source"`
}

// Access is a row of the read and write matrix: what the phases of a pass do to the objects of one kind.
type Access struct {
	// GVK is the kind, as in apps/v1/Deployment.
	GVK string `json:"gvk"`
	// Cache is how the cache keeps the kind: typed, unstructured or metadata, or none for a kind that is retired. "typed, metadata of others"
	// keeps whole the children and what is read, and of all other objects only names, UIDs, labels and owners.
	Cache string `json:"cache"`
	// Filter is what the cache selects, by labels, fields and namespace; empty keeps all objects.
	Filter string `json:"filter,omitempty"`
	// Optional reports that the CRD of the kind may be missing.
	Optional bool `json:"optional,omitempty"`
	// Derived are the names of the values that are computed from objects of the kind, in the order of the builder. Owners that read one are woken
	// when the value changes.
	Derived []string `json:"derived,omitempty"`
	// FetchRemoteState, Apply, WriteStatus and Finalize list the verbs of the phases. Reads come from the cache.
	FetchRemoteState []string `json:"fetchRemoteState,omitempty"`
	Apply            []string `json:"apply,omitempty"`
	WriteStatus      []string `json:"writeStatus,omitempty"`
	Finalize         []string `json:"finalize,omitempty"`
}

// External is a kind of things outside of the cluster that FetchRemoteState observes and the plan names.
type External struct {
	// Kind is its name.
	Kind string `json:"kind"`
	// Source is the file and line of the declaration.
	Source string `json:"source"`
	// Watched reports that its changes trigger a reconciliation.
	Watched bool `json:"watched,omitempty"`
}

// The types of rows of the watches table.
const (
	typeFor     = "For"
	typeOwns    = "Owns"
	typeWatches = "Watches"
)

// The verbs of what the plan writes.
const (
	verbCreate = "create"
	verbPatch  = "patch"
)

// writes reports whether the plan makes objects of the kind or changes them.
func (a *Access) writes() bool {
	return slices.Contains(a.Apply, verbCreate) || slices.Contains(a.Apply, verbPatch)
}

// kindOf is the kind without group and version.
func kindOf(gvk string) string { return gvk[strings.LastIndex(gvk, "/")+1:] }

// sortWatches puts the rows of a watches table in their order: first For, then Owns, then Watches, each sorted by kind.
func sortWatches(rows []Watch) {
	rank := []string{typeFor, typeOwns, typeWatches}
	slices.SortStableFunc(rows, func(a, b Watch) int {
		return cmp.Or(cmp.Compare(slices.Index(rank, a.Type), slices.Index(rank, b.Type)), cmp.Compare(a.GVK, b.GVK))
	})
}
