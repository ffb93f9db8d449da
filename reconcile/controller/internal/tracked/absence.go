package tracked

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// noteOptional records, before the reads of a pass, how often each optional kind has appeared.
func (c *Reads) noteOptional(owner client.ObjectKey) {
	kinds := c.Optional()
	if len(kinds) == 0 {
		return
	}
	counts := make([]uint64, len(kinds))
	for i, k := range kinds {
		counts[i] = k.Appeared.Load()
	}
	c.begun.Store(owner, counts)
}

// unknown adds to known the optional kinds that were absent at any time since the reads of the pass began. A plan without
// them does not mean that their objects are unwanted, and the API server may have such objects, in another version.
func (c *Reads) unknown(owner client.ObjectKey, known map[schema.GroupKind]error) map[schema.GroupKind]error {
	begun, _ := c.begun.Load(owner)
	counts, _ := begun.([]uint64)
	cloned := false
	for i, k := range c.Optional() {
		var cause error
		switch {
		case k.Absent.Load():
			cause = fmt.Errorf("%s is not served", declaration.Print(k.GroupVersionKind))
		case i >= len(counts) || counts[i] != k.Appeared.Load():
			cause = fmt.Errorf("%s has appeared during the pass", declaration.Print(k.GroupVersionKind))
		default:
			continue
		}
		if !cloned {
			if known = maps.Clone(known); known == nil {
				known = map[schema.GroupKind]error{}
			}
			cloned = true
		}
		if gk := k.GroupKind(); known[gk] == nil {
			known[gk] = cause
		}
	}
	return known
}
