package controller

import (
	"cmp"
	"slices"

	"github.com/go-logr/logr"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/rights"
)

// cacheNone is how the cache keeps a retired kind.
const cacheNone = "none"

// sparseCache follows how the cache keeps a kind of which it has the metadata only of what is neither a child nor read.
const sparseCache = ", metadata of others"

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
	if kinds.Kinds[0].Representation == declaration.Virtual { // groups are in no cluster
		d.Finalizer = ""
	}
	_, finalizes := b.reconciler.(reconcile.Finalizer[T, F])
	for _, k := range kinds.Installable() {
		d.Access = append(d.Access, accessOf(k, finalizes))
	}
	for _, k := range kinds.Retired() {
		d.Access = append(d.Access, dataflow.Access{GVK: declaration.Print(k.GroupVersionKind), Cache: cacheNone, Apply: []string{accessDelete}, Finalize: []string{accessDelete}})
	}
	d.Rules = rulesOf(kinds)
	for _, k := range b.externals {
		d.External = append(d.External, dataflow.External{Kind: k.Name(), Source: k.source, Watched: k.Watched()})
	}
	for _, table := range b.transitions {
		d.Transitions = append(d.Transitions, table.Drawing())
	}
	return d, nil
}

var _ Declared = (*Builder[reconcile.Owner, any, reconcile.Observation])(nil)

// watchRows are the rows of the watches table: first For, then Owns, then Watches, each sorted by kind.
func watchRows(kinds *declaration.Catalogue) []dataflow.Watch {
	rows := map[declaration.Purpose][]dataflow.Watch{}
	for _, k := range kinds.Installable() {
		for _, d := range k.Declarations {
			p := declaration.PurposeWatches
			switch d.Purpose {
			case declaration.PurposeFor, declaration.PurposeOwns:
				p = d.Purpose
			case declaration.PurposeReads, declaration.PurposeWatches, declaration.PurposeWrites, declaration.PurposeShares, declaration.PurposeContributes, declaration.PurposeRetired:
			}
			rows[p] = append(rows[p], dataflow.Watch{Type: string(p), GVK: declaration.Print(k.GroupVersionKind), Source: d.Source})
		}
	}
	if len(kinds.Optional()) > 0 {
		rows[declaration.PurposeWatches] = append(rows[declaration.PurposeWatches], dataflow.Watch{
			Type: string(declaration.PurposeWatches), GVK: declaration.Print(declaration.CRD()), Source: kinds.Optional()[0].OptionalAt(),
		})
	}
	var all []dataflow.Watch
	for _, p := range []declaration.Purpose{declaration.PurposeFor, declaration.PurposeOwns, declaration.PurposeWatches} {
		slices.SortStableFunc(rows[p], func(a, b dataflow.Watch) int { return cmp.Compare(a.GVK, b.GVK) })
		all = append(all, rows[p]...)
	}
	return all
}

func accessOf(k *declaration.Kind, finalizes bool) dataflow.Access {
	row := dataflow.Access{
		GVK: declaration.Print(k.GroupVersionKind), Cache: string(k.Representation), Filter: k.Selector(),
		Optional: k.Optional, FetchRemoteState: []string{accessRead},
	}
	if k.Sparse() {
		row.Cache += sparseCache
	}
	for _, of := range k.Derives {
		row.Derived = append(row.Derived, of.Name)
	}
	switch {
	case k.Has(declaration.PurposeOwns, declaration.PurposeWrites):
		row.Apply = []string{accessCreate, accessPatch, accessDelete}
	case k.Has(declaration.PurposeShares):
		row.Apply = []string{accessCreate, accessPatch}
	case k.Has(declaration.PurposeContributes):
		row.Apply = []string{accessPatch}
	}
	if finalizes || k.Has(declaration.PurposeWrites, declaration.PurposeShares, declaration.PurposeContributes) {
		row.Finalize = slices.Clone(row.Apply)
	}
	if k.Has(declaration.PurposeFor) {
		row.Apply = append(row.Apply, accessPatchMetadata)
		if k.HasStatus() {
			row.WriteStatus = []string{accessPatchStatus}
		}
		row.Finalize = append(row.Finalize, accessPatchMetadata)
	}
	return row
}

// rulesOf returns the least rules, one for each API group and set of verbs.
func rulesOf(c *declaration.Catalogue) []rbacv1.PolicyRule {
	grants := map[schema.GroupResource][]string{}
	grant := func(group, resource string, verbs ...string) {
		key := schema.GroupResource{Group: group, Resource: resource}
		grants[key] = append(grants[key], verbs...)
	}
	name := func(k *declaration.Kind) string {
		if k.Resource != "" {
			return k.Resource
		}
		return rights.Plural(k.GroupVersionKind)
	}
	for _, k := range c.Retired() {
		grant(k.Group, name(k), "list", "delete")
	}
	for _, k := range c.Installable() {
		resource := name(k)
		grant(k.Group, resource, "list", "watch") // the informer; reads send nothing
		switch {
		case k.Has(declaration.PurposeOwns, declaration.PurposeWrites):
			grant(k.Group, resource, "get", "create", "patch", "delete")
		case k.Has(declaration.PurposeShares):
			grant(k.Group, resource, "get", "create", "patch")
		case k.Has(declaration.PurposeContributes):
			grant(k.Group, resource, "get", "patch")
		}
		if k.Has(declaration.PurposeFor) {
			grant(k.Group, resource, "get", "patch") // finalizer and inventory
			if k.HasStatus() {
				grant(k.Group, resource+"/status", "patch")
			}
			if ownsAny(c) {
				// Owner references block the owner's deletion, which OwnerReferencesPermissionEnforcement asks this for.
				grant(k.Group, resource+"/finalizers", "update")
			}
		}
	}
	if len(c.Optional()) > 0 {
		grant(declaration.CRD().Group, "customresourcedefinitions", "list", "watch")
	}
	return rights.Compact(grants)
}

func ownsAny(c *declaration.Catalogue) bool {
	return slices.ContainsFunc(c.Kinds, func(k *declaration.Kind) bool { return k.Has(declaration.PurposeOwns) })
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
		owner := kinds.Kinds[0]
		if owner.Representation == declaration.Virtual || clientscheme.Scheme.Recognizes(owner.GroupVersionKind) { // a group, or built in
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
func (b *Builder[T, F, O]) checkPlural(logger logr.Logger, k *declaration.Kind, resource string) {
	derived := k.Resource
	if derived == "" {
		derived = rights.Plural(k.GroupVersionKind)
	}
	if derived != resource {
		logger.Error(nil, "the derived rights name another resource than the API server has: add controller.Resource beside the kind, and generate them again",
			"controller", b.name, "kind", declaration.Print(k.GroupVersionKind), "derived", derived, "resource", resource)
	}
}
