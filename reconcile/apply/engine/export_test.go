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

// The following identifiers export internal functions to the tests.

var encoder = content.NewEncoder()

// Intent returns the intent of an object, without its identity.
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

// Hashes computes intent hashes. Hashes of the same source are comparable.
type Hashes struct{ h *intent.Hasher }

// NewHashes returns a source of hashes.
func NewHashes() Hashes { return Hashes{intent.NewHasher(content.NewEncoder())} }

// Of returns the hash of an object.
func (h Hashes) Of(o client.Object) uint64 { return h.h.Child(&apply.Child{Object: o}) }

// OfChild returns the hash of a planned child.
func (h Hashes) OfChild(c *apply.Child) uint64 { return h.h.Child(c) }

// Names of internal types.
var (
	Rank    = intent.Rank
	Backoff = memory.Backoff
)

// RememberChildren fills the memory of an owner with n applied children.
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
