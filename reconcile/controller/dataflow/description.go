package dataflow

import (
	"cmp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/transition"
)

// Description lists the watches, reads, writes and permissions of a controller. It is derived from the declarations,
// without a cluster.
type Description struct {
	// Controller is the name of the controller.
	Controller string `json:"controller"`
	// FieldManager is the field manager of the controller.
	FieldManager string `json:"fieldManager"`
	// Finalizer is the finalizer that the controller adds to owners that need one; empty for groups, which are not objects
	// of a cluster.
	Finalizer string `json:"finalizer"`
	// Owners is the selector of the owners among the objects of their kind, empty for all.
	Owners string `json:"owners,omitempty"`
	// Watches is the watches table: first For, then Owns, then Watches, each sorted by kind.
	Watches []Watch `json:"watches"`
	// Access is the read and write matrix, in the order of the kinds.
	Access []Access `json:"access"`
	// External are the kinds of resources outside the cluster, in the order of the builder.
	External []External `json:"external,omitempty"`
	// Transitions are the state machines in the status, in the order of the builder.
	Transitions []transition.Drawing `json:"transitions,omitempty"`
	// Rules are the minimal permissions of the controller: without any one of them it does not work. Permissions for events
	// and the lease of the leader election belong to the entire operator, see [Page].
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

// Access is a row of the read and write matrix: the requests of the phases for objects of one kind.
type Access struct {
	// GVK is the kind, as in apps/v1/Deployment.
	GVK string `json:"gvk"`
	// Cache is the representation in the cache: typed, unstructured or metadata, or none for a retired kind. With "typed,
	// metadata of others" the cache stores children and read objects entirely, and of other objects only names, UIDs,
	// labels and owners.
	Cache string `json:"cache"`
	// Filter is the selection of the cache, by labels, fields and namespace; empty selects all objects.
	Filter string `json:"filter,omitempty"`
	// Optional reports whether the CRD of the kind may be missing.
	Optional bool `json:"optional,omitempty"`
	// Derived are the names of the values that are computed from objects of the kind, in the order of the builder. A change
	// of a value enqueues the owners that read it.
	Derived []string `json:"derived,omitempty"`
	// FetchRemoteState, Apply, WriteStatus and Finalize list the verbs of the phases. Reads come from the cache.
	FetchRemoteState []string `json:"fetchRemoteState,omitempty"`
	Apply            []string `json:"apply,omitempty"`
	WriteStatus      []string `json:"writeStatus,omitempty"`
	Finalize         []string `json:"finalize,omitempty"`
}

// External is a kind of resources outside the cluster, which FetchRemoteState observes and the plan may contain.
type External struct {
	// Kind is the name of the kind.
	Kind string `json:"kind"`
	// Source is the file and line of the declaration.
	Source string `json:"source"`
	// Watched reports whether changes trigger a reconciliation.
	Watched bool `json:"watched,omitempty"`
}

// The types of rows in the watches table.
const (
	typeFor     = "For"
	typeOwns    = "Owns"
	typeWatches = "Watches"
)

// The verbs of writes of the plan.
const (
	verbCreate = "create"
	verbPatch  = "patch"
)

// writes reports whether the plan creates or changes objects of the kind.
func (a *Access) writes() bool {
	return slices.Contains(a.Apply, verbCreate) || slices.Contains(a.Apply, verbPatch)
}

// kindOf returns the kind without group and version.
func kindOf(gvk string) string { return gvk[strings.LastIndex(gvk, "/")+1:] }

// sortWatches sorts the rows of a watches table: first For, then Owns, then Watches, each sorted by kind.
func sortWatches(rows []Watch) {
	rank := []string{typeFor, typeOwns, typeWatches}
	slices.SortStableFunc(rows, func(a, b Watch) int {
		return cmp.Or(cmp.Compare(slices.Index(rank, a.Type), slices.Index(rank, b.Type)), cmp.Compare(a.GVK, b.GVK))
	})
}
