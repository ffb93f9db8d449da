package intent

import (
	"hash/maphash"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// Hasher computes the hashes that the engine stores in memory.
type Hasher struct{ fieldset.Hasher }

// NewHasher returns a hasher with its own seed.
func NewHasher(e *content.Encoder) *Hasher {
	return &Hasher{fieldset.Hasher{Hasher: content.NewHasher(e)}}
}

// Child returns the hash of the planned object and its options.
func (h *Hasher) Child(c *apply.Child) uint64 {
	s := h.Start()
	if u, ok := c.Object.(runtime.Unstructured); ok {
		_ = s.WriteByte(content.TagMap)
		h.Content(s, u.UnstructuredContent())
	} else {
		_ = s.WriteByte(content.TagSome)
		h.Object(s, Written(c))
	}
	h.childRules(s, c)
	return h.Finish(s)
}

func (*Hasher) childRules(s *maphash.Hash, c *apply.Child) {
	content.WriteUint(s, uint64(c.Mode)<<8|uint64(c.Adoption)) //nolint:gosec // small enumerations
	for _, option := range []bool{c.Recreate, c.Existing, c.History} {
		if option {
			_ = s.WriteByte(content.TagTrue)
		} else {
			_ = s.WriteByte(content.TagNil)
		}
	}
	content.WriteString(s, string(c.RecreatePropagation))
	content.WriteUint(s, uint64(len(c.Fields)))
	for i := range c.Fields {
		content.WriteString(s, c.Fields[i].Path)
		content.WriteUint(s, uint64(c.Fields[i].Policy)) //nolint:gosec // a small enumeration
	}
}

// Written returns the object or the apply configuration of the child.
func Written(c *apply.Child) any {
	if c.Configuration != nil {
		return c.Configuration
	}
	return c.Object
}
