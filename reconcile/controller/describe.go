package controller

import (
	"cmp"
	"slices"

	clientscheme "k8s.io/client-go/kubernetes/scheme"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/go-logr/logr"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/rights"
)

// cacheNone is how the cache keeps a retired kind.
const cacheNone = "none"

// The verbs of the read and write matrix.
const (
	accessRead          = "read"
	accessCreate        = "create"
	accessPatch         = "patch"
	accessDelete        = "delete"
	accessPatchMetadata = "patch metadata"
	accessPatchStatus   = "patch status"
)

// Describe reports what the controller does. It needs the scheme and no cluster, so that a main function can print the
// page and exit. The error is that of [Builder.SetupWithManager] for the same declarations.
func (b *Builder[T, F, O]) Describe(scheme *runtime.Scheme) (dataflow.Description, error) {
	kinds, err := b.resolved(scheme)
	if err != nil {
		return dataflow.Description{}, err
	}
	d := dataflow.Description{
		Controller: b.name, FieldManager: b.fieldManager(), Finalizer: b.finalizer(),
		Watches: watchRows(kinds),
	}
	if kinds.kinds[0].representation == virtual { // groups are in no cluster
		d.Finalizer = ""
	}
	_, finalizes := b.reconciler.(reconcile.Finalizer[T, F])
	for _, k := range kinds.installable() {
		d.Access = append(d.Access, k.access(finalizes))
	}
	for _, k := range kinds.retired() {
		d.Access = append(d.Access, dataflow.Access{GVK: printKind(k.GroupVersionKind), Cache: cacheNone, Apply: []string{accessDelete}, Finalize: []string{accessDelete}})
	}
	d.Rules = kinds.rules()
	for _, k := range b.externals {
		d.External = append(d.External, dataflow.External{Kind: k.Name(), Source: k.source, Watched: k.Watched()})
	}
	return d, nil
}

var _ Declared = (*Builder[reconcile.Owner, any, reconcile.Observation])(nil)

// watchRows are the rows of the watches table: first For, then Owns, then Watches, each sorted by kind.
func watchRows(kinds *catalogue) []dataflow.Watch {
	rows := map[purpose][]dataflow.Watch{}
	for _, k := range kinds.installable() {
		for _, d := range k.declarations {
			p := purposeWatches
			switch d.purpose {
			case purposeFor, purposeOwns:
				p = d.purpose
			case purposeReads, purposeWatches, purposeWrites, purposeShares, purposeContributes, purposeRetired:
			}
			rows[p] = append(rows[p], dataflow.Watch{Type: string(p), GVK: printKind(k.GroupVersionKind), Source: d.source})
		}
	}
	if len(kinds.optional()) > 0 {
		rows[purposeWatches] = append(rows[purposeWatches], dataflow.Watch{
			Type: string(purposeWatches), GVK: printKind(crdKind()), Source: kinds.optional()[0].optionalAt(),
		})
	}
	var all []dataflow.Watch
	for _, p := range []purpose{purposeFor, purposeOwns, purposeWatches} {
		slices.SortStableFunc(rows[p], func(a, b dataflow.Watch) int { return cmp.Compare(a.GVK, b.GVK) })
		all = append(all, rows[p]...)
	}
	return all
}

func (k *kind) optionalAt() string {
	for _, d := range k.declarations {
		if d.optional {
			return d.source
		}
	}
	return ""
}

func (k *kind) access(finalizes bool) dataflow.Access {
	row := dataflow.Access{
		GVK: printKind(k.GroupVersionKind), Cache: string(k.representation), Filter: selector(k),
		Optional: k.optional, FetchRemoteState: []string{accessRead},
	}
	switch {
	case k.has(purposeOwns, purposeWrites):
		row.Apply = []string{accessCreate, accessPatch, accessDelete}
	case k.has(purposeShares):
		row.Apply = []string{accessCreate, accessPatch}
	case k.has(purposeContributes):
		row.Apply = []string{accessPatch}
	}
	if finalizes || k.has(purposeWrites, purposeShares, purposeContributes) {
		row.Finalize = slices.Clone(row.Apply)
	}
	if k.has(purposeFor) {
		row.Apply = append(row.Apply, accessPatchMetadata)
		row.WriteStatus = []string{accessPatchStatus}
		row.Finalize = append(row.Finalize, accessPatchMetadata)
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
		return rights.Plural(k.GroupVersionKind)
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
	return rights.Compact(grants)
}

func (c *catalogue) ownsAny() bool {
	return slices.ContainsFunc(c.kinds, func(k *kind) bool { return k.has(purposeOwns) })
}

// NewPage describes the controllers of an operator. It needs no cluster.
func NewPage(name string, scheme *runtime.Scheme, controllers ...Declared) (dataflow.Page, error) {
	page := dataflow.Page{Name: name}
	known := map[string]struct{}{}
	for _, controller := range controllers {
		d, err := controller.Describe(scheme)
		if err != nil {
			return dataflow.Page{}, err
		}
		page.Controllers = append(page.Controllers, d)
		kinds, err := controller.resolved(scheme)
		if err != nil {
			return dataflow.Page{}, err
		}
		owner := kinds.kinds[0]
		if owner.representation == virtual || clientscheme.Scheme.Recognizes(owner.GroupVersionKind) { // a group, or built in
			continue
		}
		crd := owner.Kind + " (" + owner.GroupVersion().String() + ")"
		if _, twice := known[crd]; !twice {
			known[crd] = struct{}{}
			page.CRDs = append(page.CRDs, crd)
		}
	}
	return page, nil
}

// checkPlural logs that the rights of [Builder.Describe], which are derived without an API server, name a resource that this one does not
// have.
func (b *Builder[T, F, O]) checkPlural(logger logr.Logger, k *kind, resource string) {
	derived := k.resource
	if derived == "" {
		derived = rights.Plural(k.GroupVersionKind)
	}
	if derived != resource {
		logger.Error(nil, "the derived rights name another resource than the API server has: add controller.Resource beside the kind, and generate them again",
			"controller", b.name, "kind", printKind(k.GroupVersionKind), "derived", derived, "resource", resource)
	}
}
