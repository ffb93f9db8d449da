package apply

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// GroupAnnotation is on the children of a [Group]; its value is the group's
// kind, namespace and name, joined by slashes. It leads from a child to its
// group, which no owner reference does.
const GroupAnnotation = DefaultDomain + "/group"

// Group is an owner that is no object of the cluster: a key under which several
// objects together determine children. Its namespace and name are the key, its
// UID must be the same in every process, and the kind of its TypeMeta tells it
// from groups of other controllers.
//
// The children of a group carry the part-of label and [GroupAnnotation] instead
// of an owner reference. They may carry a controller reference that the plan
// gives them; one that somebody else gave them makes them somebody else's.
// There is no object to keep an inventory on, so that the members of the set
// are found by their label alone, in all namespaces and from the cache.
type Group interface {
	client.Object
	// ChildKinds are all kinds that the group's children may have. What a
	// group once had of other kinds is not pruned, unless [Options.Kinds] has
	// them as retired.
	ChildKinds() []schema.GroupVersionKind
}

// GroupValue is the value of [GroupAnnotation] for the key.
func GroupValue(kind string, key types.NamespacedName) string {
	return kind + "/" + key.Namespace + "/" + key.Name
}

// groupKind is the kind of a group, which no API server knows.
func groupKind(g Group) *kind {
	return &kind{gvk: g.GetObjectKind().GroupVersionKind(), namespaced: true}
}

// groupInventory is all there may be.
func groupInventory(g Group) *applyset.Inventory {
	inv := &applyset.Inventory{}
	for _, gvk := range g.ChildKinds() {
		inv.Kinds = append(inv.Kinds, gvk.GroupKind())
	}
	inv.Normalise()
	return inv
}

// groupChildKind returns how the children of the kind are read from the cache.
func (p *pass) groupChildKind(gk schema.GroupKind) (*kind, error) {
	kinds := p.group.ChildKinds()
	at := slices.IndexFunc(kinds, func(gvk schema.GroupVersionKind) bool { return gvk.GroupKind() == gk })
	return p.engine.kinds.ofGVK(kinds[at])
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
