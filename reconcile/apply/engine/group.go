package engine

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/kinds"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// groupKind is the kind of a group, which no API server knows.
func groupKind(g apply.Group) *kinds.Kind {
	return &kinds.Kind{GVK: g.GetObjectKind().GroupVersionKind(), Namespaced: true}
}

// groupInventory is all there may be.
func groupInventory(g apply.Group) *applyset.Inventory {
	inv := &applyset.Inventory{}
	for _, gvk := range g.ChildKinds() {
		inv.Kinds = append(inv.Kinds, gvk.GroupKind())
	}
	inv.Normalise()
	return inv
}

// groupChildKind returns how the children of the kind are read from the cache.
func (p *pass) groupChildKind(gk schema.GroupKind) (*kinds.Kind, error) {
	kinds := p.group.ChildKinds()
	at := slices.IndexFunc(kinds, func(gvk schema.GroupVersionKind) bool { return gvk.GroupKind() == gk })
	return p.engine.kinds.OfGVK(kinds[at])
}

// gave reports whether the object has the owner reference from us: the plan of a
// group may make somebody the controller of its child.
func (p *pass) gave(o metav1.Object, owner types.UID) bool {
	if p.group == nil {
		return false
	}
	entry := managedfields.Entry(o.GetManagedFields(), p.engine.opts.FieldManager)
	if entry == nil || entry.FieldsV1 == nil {
		return false
	}
	set, err := managedfields.Parse(entry.FieldsV1.GetRawBytes())
	if err != nil || set.Field("metadata") == nil {
		return false
	}
	references := set.Field("metadata").Field("ownerReferences")
	return references != nil && slices.ContainsFunc(references.Items, func(item managedfields.Item) bool {
		return item.Keys["uid"] == string(owner)
	})
}

// optedOut reports whether somebody has taken the object out of our hands.
func (e *env) optedOut(o metav1.Object) bool {
	name := e.opts.OptOutAnnotation
	return name != "" && o.GetAnnotations()[name] == optOutValue
}

const optOutValue = "false"
