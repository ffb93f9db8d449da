package controller

import (
	"cmp"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile"
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
	// Watches is the watches table: first For, then Owns, then Watches, each sorted by kind.
	Watches []Watch `json:"watches"`
	// Access is the read and write matrix, in the order of the kinds.
	Access []Access `json:"access"`
	// External are the kinds of things outside of the cluster, in the order of the builder.
	External []External `json:"external,omitempty"`
	// Rules are the least rights of the controller: with one of them taken away it does not work. Events and the lease
	// of the leader election are rights of the whole operator, see [Page].
	Rules []rbacv1.PolicyRule `json:"rules"`

	writes []schema.GroupVersionKind
	owner  schema.GroupVersionKind
}

// Watch is a row of the watches table.
type Watch struct {
	// Type is For, Owns or Watches.
	Type string `json:"type"`
	// GVK is the kind, as in /v1/Namespace or apps/v1/Deployment.
	GVK string `json:"gvk"`
	// Source is the file and line of the declaration.
	Source string `json:"source"`

	kind string
}

// Access is a row of the read and write matrix: what the phases of a pass do to the objects of one kind.
type Access struct {
	// GVK is the kind, as in apps/v1/Deployment.
	GVK string `json:"gvk"`
	// Cache is how the cache keeps the kind: typed, unstructured or metadata, or none for a kind that is retired.
	Cache string `json:"cache"`
	// Filter is the label selector of the cache; empty keeps all objects.
	Filter string `json:"filter,omitempty"`
	// Optional reports that the CRD of the kind may be missing.
	Optional bool `json:"optional,omitempty"`
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

// cacheNone is how the cache keeps a retired kind.
const cacheNone = "none"

// The types of rows of the watches table.
const (
	typeFor     = "For"
	typeOwns    = "Owns"
	typeWatches = "Watches"
)

// Describe reports what the controller does. It needs the scheme and no cluster, so that a main function can print the
// page and exit. The error is that of [Builder.SetupWithManager] for the same declarations.
func (b *Builder[T, F, O]) Describe(scheme *runtime.Scheme) (Description, error) {
	kinds, err := b.resolved(scheme)
	if err != nil {
		return Description{}, err
	}
	d := Description{
		Controller: b.name, FieldManager: b.fieldManager(), Finalizer: b.finalizer(),
		Watches: watchRows(kinds), owner: kinds.kinds[0].GroupVersionKind,
	}
	if kinds.kinds[0].representation == virtual { // groups are in no cluster
		d.owner, d.Finalizer = schema.GroupVersionKind{}, ""
	}
	_, finalizes := b.reconciler.(reconcile.Finalizer[T, F])
	for _, k := range kinds.installable() {
		d.Access = append(d.Access, k.access(finalizes))
		if k.writes() {
			d.writes = append(d.writes, k.GroupVersionKind)
		}
	}
	for _, k := range kinds.retired() {
		d.Access = append(d.Access, Access{GVK: printKind(k.GroupVersionKind), Cache: cacheNone, Apply: []string{"delete"}, Finalize: []string{"delete"}})
	}
	d.Rules = kinds.rules()
	for _, k := range b.externals {
		d.External = append(d.External, External{Kind: k.Name(), Source: k.source, Watched: k.Watched()})
	}
	return d, nil
}

var _ Declared = (*Builder[reconcile.Owner, any, reconcile.Observation])(nil)

// writes reports whether the plan writes the kind.
func (k *kind) writes() bool {
	return k.has(purposeOwns, purposeWrites, purposeShares, purposeContributes)
}

func watchRows(kinds *catalogue) []Watch {
	var rows []Watch
	for _, k := range kinds.installable() {
		for _, d := range k.declarations {
			row := Watch{Type: typeWatches, GVK: printKind(k.GroupVersionKind), Source: d.source, kind: k.Kind}
			switch d.purpose {
			case purposeFor:
				row.Type = typeFor
			case purposeOwns:
				row.Type = typeOwns
			case purposeReads, purposeWatches, purposeWrites, purposeShares, purposeContributes, purposeRetired:
			}
			rows = append(rows, row)
		}
	}
	if len(kinds.optional()) > 0 {
		rows = append(rows, Watch{
			Type: typeWatches, GVK: printKind(crdKind()), Source: kinds.optional()[0].optionalAt(), kind: crdKind().Kind,
		})
	}
	sortWatches(rows)
	return rows
}

func sortWatches(rows []Watch) {
	rank := []string{typeFor, typeOwns, typeWatches}
	slices.SortStableFunc(rows, func(a, b Watch) int {
		return cmp.Or(cmp.Compare(slices.Index(rank, a.Type), slices.Index(rank, b.Type)), cmp.Compare(a.GVK, b.GVK))
	})
}

func (k *kind) optionalAt() string {
	for _, d := range k.declarations {
		if d.optional {
			return d.source
		}
	}
	return ""
}

func (k *kind) access(finalizes bool) Access {
	row := Access{
		GVK: printKind(k.GroupVersionKind), Cache: string(k.representation), Filter: selector(k),
		Optional: k.optional, FetchRemoteState: []string{"read"},
	}
	switch {
	case k.has(purposeOwns, purposeWrites):
		row.Apply = []string{"create", "patch", "delete"}
	case k.has(purposeShares):
		row.Apply = []string{"create", "patch"}
	case k.has(purposeContributes):
		row.Apply = []string{"patch"}
	}
	if finalizes || k.has(purposeWrites, purposeShares, purposeContributes) {
		row.Finalize = slices.Clone(row.Apply)
	}
	if k.has(purposeFor) {
		row.Apply = append(row.Apply, "patch metadata")
		row.WriteStatus = []string{"patch status"}
		row.Finalize = append(row.Finalize, "patch metadata")
	}
	return row
}

// rules returns the least rules, one for each API group and set of verbs.
func (c *catalogue) rules() []rbacv1.PolicyRule {
	grants := map[schema.GroupResource][]string{}
	grant := func(group, resource string, verbs ...string) {
		key := schema.GroupResource{Group: group, Resource: resource}
		grants[key] = append(grants[key], verbs...)
	}
	name := func(k *kind) string {
		if k.resource != "" {
			return k.resource
		}
		return plural(k.GroupVersionKind)
	}
	for _, k := range c.retired() {
		grant(k.Group, name(k), "list", "delete")
	}
	for _, k := range c.installable() {
		resource := name(k)
		grant(k.Group, resource, "list", "watch") // the informer; reads send nothing
		switch {
		case k.has(purposeOwns, purposeWrites):
			grant(k.Group, resource, "get", "create", "patch", "delete")
		case k.has(purposeShares):
			grant(k.Group, resource, "get", "create", "patch")
		case k.has(purposeContributes):
			grant(k.Group, resource, "get", "patch")
		}
		if k.has(purposeFor) {
			grant(k.Group, resource, "get", "patch") // finalizer and inventory
			grant(k.Group, resource+"/status", "patch")
			if c.ownsAny() {
				// Owner references block the owner's deletion, which OwnerReferencesPermissionEnforcement asks this for.
				grant(k.Group, resource+"/finalizers", "update")
			}
		}
	}
	if len(c.optional()) > 0 {
		grant(crdKind().Group, "customresourcedefinitions", "list", "watch")
	}
	return compact(grants)
}

func (c *catalogue) ownsAny() bool {
	return slices.ContainsFunc(c.kinds, func(k *kind) bool { return k.has(purposeOwns) })
}
