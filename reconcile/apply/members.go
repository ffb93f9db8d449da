package apply

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// memberObject is one object with the part-of label.
type memberObject struct {
	id       applyset.ObjectID
	gvk      schema.GroupVersionKind
	uid      types.UID
	deleting bool
	planned  bool
	// reached says that garbage collection deletes it with the owner.
	reached bool
	// foreign says that somebody else controls it, or that it has opted out.
	foreign bool
	// allowPrune is what the annotation of that name says on a child of a
	// group, which has no object of its own to put it on.
	allowPrune string
}

func (p *pass) plannedKinds() map[schema.GroupKind]*kind {
	out := map[schema.GroupKind]*kind{}
	for _, c := range p.children {
		if c.kind != nil && c.member() {
			out[c.id.GroupKind] = c.kind
		}
	}
	return out
}

func (p *pass) listIn(gvk schema.GroupVersionKind, k *kind, namespace string) ([]memberObject, error) {
	selector := []client.ListOption{client.InNamespace(namespace), client.MatchingLabels{PartOfLabel: p.id}}
	var list client.ObjectList
	var err error
	if list = p.engine.newList(k); list != nil {
		err = p.engine.client.List(p.ctx, list, append(selector, p.engine.cachedList...)...)
	} else {
		metadata := &metav1.PartialObjectMetadataList{}
		metadata.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		list = metadata
		err = p.engine.live.List(p.ctx, list, selector...)
	}
	if err != nil {
		return nil, err
	}
	var out []memberObject
	err = meta.EachListItem(list, func(o runtime.Object) error {
		m, err := meta.Accessor(o)
		if err != nil {
			return err
		}
		out = append(out, p.memberOf(gvk, m))
		return nil
	})
	return out, err
}

func (p *pass) memberOf(gvk schema.GroupVersionKind, o metav1.Object) memberObject {
	id := applyset.ObjectID{GroupKind: gvk.GroupKind(), Key: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}}
	m := memberObject{id: id, gvk: gvk, uid: o.GetUID(), deleting: o.GetDeletionTimestamp() != nil}
	if known := p.memory.children[id]; known != nil {
		m.planned = known.pass == p.memory.pass && known.deleted == ""
	}
	if controller := metav1.GetControllerOfNoCopy(o); controller != nil {
		m.reached = controller.UID == p.owner.GetUID()
		m.foreign = !m.reached && !p.gave(o, controller.UID)
	}
	m.foreign = m.foreign || p.engine.optedOut(o)
	if p.group != nil {
		m.allowPrune = o.GetAnnotations()[p.engine.AllowPruneAnnotation()]
	}
	m.deleting = m.deleting || slices.ContainsFunc(p.deletions, func(d *plannedDeletion) bool {
		return d.id == id && d.result.Verb == VerbDelete // as planned, not as surplus
	})
	return m
}

// newList returns an empty list in the representation of the kind; nil if
// there is none in the cache.
func (e *Engine) newList(k *kind) client.ObjectList {
	if k == nil {
		return nil
	}
	gvk := k.gvk.GroupVersion().WithKind(k.gvk.Kind + "List")
	if k.goType == nil {
		list := newUnstructuredList(gvk)
		return list
	}
	o, err := e.client.Scheme().New(gvk)
	if err != nil {
		return nil
	}
	list, _ := o.(client.ObjectList)
	return list
}
