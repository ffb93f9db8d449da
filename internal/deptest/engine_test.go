package deptest_test

import "slices"

// engineFloors are those of the engine and its parts. The parts stand on each
// other in this order, each on all below it, above the words of plans.
func engineFloors() map[string][]string {
	const (
		rooms = "reconcile/apply/internal/"
		group = "reconcile/internal/groupkey"
	)
	out := map[string][]string{
		"reconcile/apply": {rooms + "applyset"},
		group:             {"reconcile/apply"},
	}
	below := []string{"naming", "reconcile/apply", "reconcile/internal/freshness", "reconcile/internal/conditionlist", group}
	for _, name := range []string{"applyset", "content", "fieldset"} {
		below = append(below, rooms+name)
	}
	for _, name := range []string{"intent", "memory", "pass", "ownership", "inventory", "deletion", "gate", "decide", "write", "prune"} {
		out[rooms+name] = slices.Clone(below)
		below = append(below, rooms+name)
	}
	out["reconcile/apply/engine"] = below
	out[rooms+"passtest"] = below
	return out
}
