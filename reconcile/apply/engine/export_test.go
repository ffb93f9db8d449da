package engine

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// What follows lets the external tests reach pure logic.

var encoder = content.NewEncoder()

// Intent is what would be sent for an object, without its identity.
func Intent(o client.Object) (map[string]any, error) {
	intent, err := encoder.Intent(o)
	if err != nil {
		return nil, err
	}
	content.StripIdentity(intent)
	if _, secret := intent["stringData"]; secret {
		content.MergeStringData(intent)
	}
	return intent, nil
}

// Hashes computes intent hashes that may be compared with each other.
type Hashes struct{ h *hasher }

// NewHashes returns a source of hashes.
func NewHashes() Hashes { return Hashes{newHasher(content.NewEncoder())} }

// Of is the hash of an object.
func (h Hashes) Of(o client.Object) uint64 { return h.h.child(&apply.Child{Object: o}) }

// OfChild is the hash of a planned child.
func (h Hashes) OfChild(c *apply.Child) uint64 { return h.h.child(c) }

// Exported names of unexported logic.
var (
	Rank    = rank
	Backoff = backoff
)

// RememberChildren fills the memory of an owner as n applied children would.
func RememberChildren(n int, name func(i int) (types.NamespacedName, types.UID, string)) any {
	o := &ownerMemory{children: map[applyset.ObjectID]*childMemory{}}
	for i := range n {
		key, uid, version := name(i)
		m := o.child(applyset.ObjectID{GroupKind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, Key: key})
		m.uid, m.version, m.proven = uid, version, true
	}
	return o
}
