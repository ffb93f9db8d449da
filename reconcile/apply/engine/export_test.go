package engine

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// What follows lets the external tests reach pure logic.

var encoder = content.NewEncoder()

// Intent is what would be sent for an object, without its identity.
func Intent(o client.Object) (map[string]any, error) {
	body, err := encoder.Intent(o)
	if err != nil {
		return nil, err
	}
	content.StripIdentity(body)
	if _, secret := body["stringData"]; secret {
		content.MergeStringData(body)
	}
	return body, nil
}

// Hashes computes intent hashes that may be compared with each other.
type Hashes struct{ h *intent.Hasher }

// NewHashes returns a source of hashes.
func NewHashes() Hashes { return Hashes{intent.NewHasher(content.NewEncoder())} }

// Of is the hash of an object.
func (h Hashes) Of(o client.Object) uint64 { return h.h.Child(&apply.Child{Object: o}) }

// OfChild is the hash of a planned child.
func (h Hashes) OfChild(c *apply.Child) uint64 { return h.h.Child(c) }

// Names of the rooms.
var (
	Rank    = intent.Rank
	Backoff = memory.Backoff
)

// RememberChildren fills the memory of an owner as n applied children would.
func RememberChildren(n int, name func(i int) (types.NamespacedName, types.UID, string)) any {
	o := &memory.Owner{Children: map[applyset.ObjectID]*memory.Child{}}
	for i := range n {
		key, uid, version := name(i)
		m := o.Child(applyset.ObjectID{GroupKind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, Key: key})
		m.Seen(uid)
		m.Accept(1, version)
	}
	return o
}
