package apply

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
}

// members lists the members of the set: planned kinds from the cache, others
// live, and what was written and is not in the cache yet from memory.
func (p *pass) members() ([]memberObject, error) {
	recorded, err := p.recorded()
	if err != nil {
		return nil, err
	}
	planned, err := p.memberKinds(recorded)
	if err != nil {
		return nil, err
	}
	found := map[applyset.ObjectID]int{}
	var out []memberObject
	for _, gk := range recorded.Kinds {
		objects, err := p.list(gk, planned[gk], recorded)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", gk, err)
		}
		for _, o := range objects {
			found[o.id] = len(out)
			out = append(out, o)
		}
	}
	for id, m := range p.memory.children {
		if _, known := found[id]; known || m.uid == "" || m.written == "" || (m.mode != Own && m.mode != Once) {
			continue
		}
		out = append(out, memberObject{id: id, gvk: m.gvk, uid: m.uid, planned: m.pass == p.memory.pass})
	}
	slices.SortFunc(out, func(a, b memberObject) int { return applyset.CompareIDs(a.id, b.id) })
	return out, nil
}

// memberKinds are the kinds of members that are read from the cache.
func (p *pass) memberKinds(recorded *applyset.Inventory) (map[schema.GroupKind]*kind, error) {
	out := p.plannedKinds()
	if p.group == nil {
		return out, nil
	}
	for _, gk := range recorded.Kinds {
		k, err := p.groupChildKind(gk)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", gk, err)
		}
		out[gk] = k
	}
	return out, nil
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

// list lists the members of one kind. Nothing can exist of a kind that the
// server does not know any more.
func (p *pass) list(gk schema.GroupKind, k *kind, inv *applyset.Inventory) ([]memberObject, error) {
	var gvk schema.GroupVersionKind
	var namespaced bool
	if k != nil {
		gvk, namespaced = k.gvk, k.namespaced
	} else {
		mapping, err := p.engine.client.RESTMapper().RESTMapping(gk)
		if meta.IsNoMatchError(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		gvk, namespaced = mapping.GroupVersionKind, mapping.Scope.Name() == meta.RESTScopeNameNamespace
	}
	namespaces := []string{""}
	if namespaced && p.group == nil {
		namespaces = inv.Namespaces
		if ns := p.owner.GetNamespace(); ns != "" {
			namespaces = append([]string{ns}, namespaces...)
		}
	}
	var out []memberObject
	for _, ns := range namespaces {
		objects, err := p.listIn(gvk, k, ns)
		if err != nil {
			return nil, err
		}
		out = append(out, objects...)
	}
	return out, nil
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
	if meta.IsNoMatchError(err) || (k == nil && apierrors.IsNotFound(err)) {
		return nil, nil
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
