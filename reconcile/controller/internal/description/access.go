package description

import (
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// cacheNone is the representation of a retired kind: no cache has it.
const cacheNone = "none"

// sparseCache is the suffix of a representation whose cache keeps only the metadata of objects that are neither children nor read.
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

// Access returns the matrix of reads and writes: a row for each kind, the retired kinds last. Finalizes reports whether the owners have a
// finalizer; its plan may write the same kinds as any plan.
func Access(kinds *declaration.Catalogue, finalizes bool) []dataflow.Access {
	var rows []dataflow.Access
	for _, k := range kinds.Installable() {
		rows = append(rows, accessOf(k, finalizes))
	}
	for _, k := range kinds.Retired() {
		rows = append(rows, dataflow.Access{
			GVK: declaration.Print(k.GroupVersionKind), Cache: cacheNone, Apply: []string{accessDelete}, Finalize: []string{accessDelete},
		})
	}
	return rows
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
