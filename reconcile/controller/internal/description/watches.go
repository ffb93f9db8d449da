package description

import (
	"cmp"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// Watches returns the rows of the watches table: first For, then Owns, then Watches, each sorted by kind.
func Watches(kinds *declaration.Catalogue) []dataflow.Watch {
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
