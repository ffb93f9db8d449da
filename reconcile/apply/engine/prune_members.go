package engine

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// memberObject is an object that is proven to be a child of the owner.
type memberObject struct {
	id  applyset.ObjectID
	gvk schema.GroupVersionKind
	uid types.UID
	// version is the resourceVersion for which the membership was proven.
	version  string
	deleting bool
	// finalizers are the finalizers of the object.
	finalizers []string
	// heldBy are the finalizers that keep the object although its deletion is overdue.
	heldBy  []string
	planned bool
	// created is the creation timestamp.
	created time.Time
	// unknown reports that this process has neither planned nor seen the object.
	unknown bool
	// holdsData reports that the object is never deleted without a known reason.
	holdsData bool
	// reached reports that garbage collection deletes the object with the owner.
	reached bool
	// after are the objects that the object is deleted before.
	after []applyset.ObjectID
	// optedOut reports that the object has the opt-out annotation.
	optedOut bool
	// holdsOwner reports that the object cannot be gone before the owner.
	holdsOwner bool
	// deleted reports that this process has deleted the object recently.
	deleted bool
	// memory is what the engine remembers of the object, nil for nothing.
	memory *memory.Child
	// allowPrune is the value of the allow-prune annotation on a child of a group, which is not an object and cannot have annotations.
	allowPrune string
}

// surplusMember is a member that left the plan.
type surplusMember struct {
	memberObject
	result apply.ObjectResult
}

// setSelector selects the objects that are labelled with an ID of the owner. Their membership must still be proven.
func setSelector(p *pass) (client.ListOption, error) {
	m := &p.memory.Sets
	either, err := labels.NewRequirement(applyset.PartOfLabel, selection.In, []string{m.Standard, m.Own})
	if err != nil {
		return nil, fmt.Errorf("select the members: %w", err)
	}
	return client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*either)}, nil
}

func (p *pruning) plannedKinds() map[schema.GroupKind]*intent.Kind {
	out := map[schema.GroupKind]*intent.Kind{}
	for _, c := range p.children {
		if c.kind != nil && c.member {
			out[c.id.GroupKind] = c.kind
		}
	}
	p.addKeptKinds(out)
	return out
}

// addKeptKinds adds the kept kinds to the planned ones.
func (p *pruning) addKeptKinds(planned map[schema.GroupKind]*intent.Kind) {
	for _, gvk := range p.plan.KeptKinds {
		if gk := gvk.GroupKind(); planned[gk] == nil && p.keepsKind(p.plan, gk) {
			if k, err := p.env.kinds.OfGVK(gvk); err == nil {
				planned[gk] = k
			}
		}
	}
}

func (p *pruning) listIn(gvk schema.GroupVersionKind, k *intent.Kind, namespace string) ([]memberObject, error) {
	if p.ofSet == nil {
		var err error
		if p.ofSet, err = setSelector(p.pass); err != nil {
			return nil, err
		}
	}
	var err error
	const most = 8 // with those of the cache
	selector := append(make([]client.ListOption, 0, most), client.InNamespace(namespace), p.ofSet)
	var list client.ObjectList
	if list = p.env.newList(k); list != nil {
		err = p.env.client.List(p.ctx, list, append(selector, p.env.cachedList...)...)
	} else {
		metadata := &metav1.PartialObjectMetadataList{}
		metadata.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		list = metadata
		err = p.env.live.List(p.ctx, list, selector...)
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
		proven, err := p.provesListed(gvk, m)
		if err == nil && !proven {
			err = p.noteUnproven(gvk, m)
		}
		if proven {
			out = append(out, p.memberOf(gvk, m))
		}
		return err
	})
	return out, err
}

// provesListed reports whether a listed object is a child of the owner. It reads an object live if the cache has stripped its
// managedFields.
func (p *pruning) provesListed(gvk schema.GroupVersionKind, o metav1.Object) (bool, error) {
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
	var remembered types.UID
	planned := false
	if known := p.memory.Children[applyset.ObjectID{GroupKind: gvk.GroupKind(), Key: key}]; known != nil {
		remembered, planned = known.Ours(), known.InPass(p.memory.Pass)
	}
	switch {
	case len(o.GetManagedFields()) > 0 || remembered == o.GetUID() || !p.refersToOwner(o):
		return p.provesMember(o, remembered), nil
	case planned:
		return true, nil // the list does not decide about it
	}
	found, err := p.liveMetadata(gvk, key)
	if err != nil || found == nil || found.UID != o.GetUID() {
		return false, err
	}
	return p.provesMember(found, remembered), nil
}

// provesRemembered reports whether a child that no list shows is still one, and returns its metadata. An unplanned child is read live; the
// metadata of a planned one is empty.
func (p *pruning) provesRemembered(id applyset.ObjectID, m *memory.Child, planned bool) (proven bool, found *metav1.PartialObjectMetadata, err error) {
	if planned {
		return true, &metav1.PartialObjectMetadata{}, nil // the list does not decide about it
	}
	found, err = p.liveMetadata(m.GVK(), id.Key)
	if err != nil || found == nil || !m.Known(found.UID) {
		return false, nil, err
	}
	return p.provesMember(found, m.Ours()), found, nil
}

func (p *pruning) memberOf(gvk schema.GroupVersionKind, o metav1.Object) memberObject {
	id := applyset.ObjectID{GroupKind: gvk.GroupKind(), Key: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}}
	m := memberObject{id: id, gvk: gvk, uid: o.GetUID(), version: o.GetResourceVersion(), deleting: o.GetDeletionTimestamp() != nil}
	if known := p.memory.Children[id]; known != nil {
		m.planned = known.InPass(p.memory.Pass) && !known.WasDeleted(m.uid)
	}
	m.heldBy = p.heldBy(o)
	m.created = o.GetCreationTimestamp().Time
	m.unknown, m.holdsData = p.memory.Children[id] == nil || !p.memory.Children[id].Known(m.uid), p.memberHoldsData(id, o)
	controller := metav1.GetControllerOfNoCopy(o)
	m.reached = controller != nil && controller.UID == p.owner.GetUID()
	m.optedOut, m.finalizers = p.optedOut(o), o.GetFinalizers()
	m.memory, m.holdsOwner, m.deleted = p.memory.Children[id], p.holdsOwner(id), p.deletedAlready(id, m.uid)
	m.after, _ = applyset.ParseContributions(o.GetAnnotations()[applyset.AfterAnnotation])
	if p.group != nil {
		m.allowPrune = o.GetAnnotations()[p.keys.AllowPrune]
	}
	m.deleting = m.deleting || slices.ContainsFunc(p.deletions, func(d *deletion) bool {
		return d.id == id && d.result.Verb == apply.VerbDelete // as planned, not as surplus
	})
	return m
}
