package transport

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Gap is a read of the cache that has a part only of what is read, which the answer says.
type Gap struct {
	GVK  schema.GroupVersionKind
	What string
	Pass int
	sent int // requests before
}

// Unread notes such a read.
func (w *Wire) Unread(gvk schema.GroupVersionKind, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gaps = append(w.gaps, Gap{GVK: gvk, What: what, Pass: w.pass, sent: len(w.sent)})
}

// Gaps are the reads of this sort after which the pass has not read the kind past the cache.
func (w *Wire) Gaps() []Gap {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.gaps), func(g Gap) bool {
		return slices.ContainsFunc(w.sent[min(g.sent, len(w.sent)):], func(c Call) bool {
			return c.Pass == g.Pass && c.GVK == g.GVK && !c.Request.IsWrite()
		})
	})
}
