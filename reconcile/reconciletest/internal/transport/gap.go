package transport

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Gap is a read from a cache that contains only a part of the data, as the error reports.
type Gap struct {
	GVK  schema.GroupVersionKind
	What string
	Pass int
	sent int // number of earlier requests
}

// Unread records such a read.
func (w *Wire) Unread(gvk schema.GroupVersionKind, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gaps = append(w.gaps, Gap{GVK: gvk, What: what, Pass: w.pass, sent: len(w.sent)})
}

// Gaps returns the reads that Unread recorded, except for kinds that the reconciliation read from the API server afterwards.
func (w *Wire) Gaps() []Gap {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.gaps), func(g Gap) bool {
		return slices.ContainsFunc(w.sent[min(g.sent, len(w.sent)):], func(c Call) bool {
			return c.Pass == g.Pass && c.GVK == g.GVK && !c.Request.IsWrite()
		})
	})
}
