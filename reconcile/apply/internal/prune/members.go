package prune

import (
	"fmt"
	"slices"

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
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// setSelector selects what is labelled with an id of the owner. Whether it is
// a child is to be proven.
func setSelector(p *pass.Pass) (client.ListOption, error) {
	m := &p.Memory.Sets
	either, err := labels.NewRequirement(applyset.PartOfLabel, selection.In, []string{m.Standard, m.Own})
	if err != nil {
		return nil, fmt.Errorf("select the members: %w", err)
	}
	return client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*either)}, nil
}

func (p *Prune) plannedKinds() map[schema.GroupKind]*intent.Kind {
	out := map[schema.GroupKind]*intent.Kind{}
	for _, c := range p.Children {
		if c.Kind != nil && c.Member {
			out[c.ID.GroupKind] = c.Kind
		}
	}
	p.addKeptKinds(out)
	return out
}

// addKeptKinds adds the kept kinds to those that are planned.
func (p *Prune) addKeptKinds(planned map[schema.GroupKind]*intent.Kind) {
	for _, gvk := range p.Plan.KeptKinds {
		if gk := gvk.GroupKind(); planned[gk] == nil && p.KeepsKind(gk) {
			if k, err := p.Env.Kinds.OfGVK(gvk); err == nil {
				planned[gk] = k
			}
		}
	}
}

func (p *Prune) listIn(gvk schema.GroupVersionKind, k *intent.Kind, namespace string) ([]memberObject, error) {
	if p.ofSet == nil {
		var err error
		if p.ofSet, err = setSelector(p.Pass); err != nil {
			return nil, err
		}
	}
	var err error
	const most = 8 // with those of the cache
	selector := append(make([]client.ListOption, 0, most), client.InNamespace(namespace), p.ofSet)
	var list client.ObjectList
	if list = p.Env.NewList(k); list != nil {
		err = p.Env.Client.List(p.Ctx, list, append(selector, p.Env.CachedList...)...)
	} else {
		metadata := &metav1.PartialObjectMetadataList{}
		metadata.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		list = metadata
		err = p.Env.Live.List(p.Ctx, list, selector...)
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
		if proven {
			out = append(out, p.memberOf(gvk, m))
		}
		return err
	})
	return out, err
}

// provesListed proves that a listed object is a child of the owner. An object
// whose managedFields the cache has stripped is read live.
func (p *Prune) provesListed(gvk schema.GroupVersionKind, o metav1.Object) (bool, error) {
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
	var remembered types.UID
	planned := false
	if known := p.Memory.Children[applyset.ObjectID{GroupKind: gvk.GroupKind(), Key: key}]; known != nil {
		remembered, planned = known.Ours(), known.InPass(p.Memory.Pass)
	}
	switch {
	case len(o.GetManagedFields()) > 0 || remembered == o.GetUID() || !ownership.Refers(p.Pass, o):
		return ownership.Proves(p.Pass, o, remembered), nil
	case planned:
		return true, nil // it is not for the list to decide about
	}
	found, err := p.LiveMetadata(gvk, key)
	if err != nil || found == nil || found.UID != o.GetUID() {
		return false, err
	}
	return ownership.Proves(p.Pass, found, remembered), nil
}

// provesRemembered proves that a child that no list shows is still one, and in
// which version. It is read live if it is not planned.
func (p *Prune) provesRemembered(id applyset.ObjectID, m *memory.Child, planned bool) (proven bool, version string, err error) {
	if planned {
		return true, "", nil // it is not for the list to decide about
	}
	found, err := p.LiveMetadata(m.GVK(), id.Key)
	if err != nil || found == nil || !m.Known(found.UID) {
		return false, "", err
	}
	return ownership.Proves(p.Pass, found, m.Ours()), found.ResourceVersion, nil
}

func (p *Prune) memberOf(gvk schema.GroupVersionKind, o metav1.Object) memberObject {
	id := applyset.ObjectID{GroupKind: gvk.GroupKind(), Key: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}}
	m := memberObject{id: id, gvk: gvk, uid: o.GetUID(), version: o.GetResourceVersion(), deleting: o.GetDeletionTimestamp() != nil}
	if known := p.Memory.Children[id]; known != nil {
		m.planned = known.InPass(p.Memory.Pass) && !known.WasDeleted(m.uid)
	}
	m.heldBy = p.HeldBy(o)
	m.created = o.GetCreationTimestamp().Time
	m.unknown, m.holdsData = p.Memory.Children[id] == nil || !p.Memory.Children[id].Known(m.uid), p.holdsData(id, o)
	controller := metav1.GetControllerOfNoCopy(o)
	m.reached = controller != nil && controller.UID == p.Owner.GetUID()
	m.optedOut, m.finalizers = ownership.OptedOut(p.Pass, o), o.GetFinalizers()
	if p.Group != nil {
		m.allowPrune = o.GetAnnotations()[p.Keys.AllowPrune]
	}
	m.deleting = m.deleting || slices.ContainsFunc(p.Deletions, func(d *pass.Deletion) bool {
		return d.ID == id && d.Result.Verb == apply.VerbDelete // as planned, not as surplus
	})
	return m
}
