package engine

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// groupChildKind returns how the children of the kind are read from the cache.
func groupChildKind(p *pass, gk schema.GroupKind) (*intent.Kind, error) {
	kinds := p.group.ChildKinds()
	at := slices.IndexFunc(kinds, func(gvk schema.GroupVersionKind) bool { return gvk.GroupKind() == gk })
	return p.env.kinds.OfGVK(kinds[at])
}

// foundParts returns the objects in which the owner has an unrecorded part, as far as this process has written them or the cache shows
// them. A group has no record, and an owner may have lost its record.
func (p *pruning) foundParts(l *listing, kinds []schema.GroupVersionKind) []applyset.ObjectID {
	var out []applyset.ObjectID
	for id, m := range p.memory.Children {
		if isPartial(m.Mode()) && m.UID() != "" {
			out = append(out, id)
		}
	}
	own := groupkey.SharingAnnotation(p.groupValue())
	for _, gvk := range kinds {
		found, err := p.partsOf(gvk, own)
		if err != nil && !meta.IsNoMatchError(err) {
			p.listFailed(l, gvk.GroupKind(), err)
		}
		out = append(out, found...)
	}
	slices.SortFunc(out, applyset.CompareIDs)
	return slices.Compact(out)
}

// groupKinds returns the kinds in which a group may have parts.
func (p *pruning) groupKinds() []schema.GroupVersionKind {
	out := slices.Clone(p.group.ChildKinds())
	for _, k := range p.env.declared.of(apply.KindWritten) {
		out = append(out, k.GVK)
	}
	slices.SortFunc(out, compareVersions)
	return slices.Compact(out)
}

func compareVersions(a, b schema.GroupVersionKind) int {
	return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Version, b.Version), strings.Compare(a.Kind, b.Kind))
}

// partsOf lists the cached objects of a kind in which the owner has fields of its own. If the cache strips managedFields, it uses the
// annotation for shared objects.
func (p *pruning) partsOf(gvk schema.GroupVersionKind, own string) ([]applyset.ObjectID, error) {
	k, err := p.env.kinds.OfGVK(gvk)
	if err != nil {
		return nil, err
	}
	list := p.env.newList(k)
	if list == nil {
		return nil, nil
	}
	if err := p.env.client.List(p.ctx, list, p.env.cachedList...); err != nil {
		return nil, err
	}
	var out []applyset.ObjectID
	err = meta.EachListItem(list, func(item runtime.Object) error {
		o, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		entries := o.GetManagedFields()
		_, annotated := o.GetAnnotations()[own]
		if fieldset.Entry(entries, p.contributor) != nil || (len(entries) == 0 && annotated) {
			key := client.ObjectKey{Namespace: o.GetNamespace(), Name: o.GetName()}
			out = append(out, applyset.ObjectID{GroupKind: gvk.GroupKind(), Key: key})
		}
		return nil
	})
	return out, err
}

// releasedMembers returns the objects whose parts are to be given back, and the objects that are deleted with them, so that they are
// guarded like children.
func (p *pruning) releasedMembers() []memberObject {
	var out []memberObject
	for _, r := range p.releases {
		if r.result.Verb != apply.VerbNone {
			out = append(out, memberObject{id: r.id, gvk: r.result.GVK, uid: r.result.UID, holdsData: p.env.holdsData(r.id.GroupKind)})
		}
	}
	return out
}

// keepHeldReleases keeps the released or pruned parts that the guard has removed from the surplus. It removes the remaining parts from the
// surplus, because they are not children.
func (p *pruning) keepHeldReleases(surplus []memberObject, verb apply.Verb) []memberObject {
	for _, r := range p.releases {
		if r.result.Verb != verb {
			continue
		}
		rest := slices.DeleteFunc(surplus, func(m memberObject) bool { return m.id == r.id })
		if len(rest) == len(surplus) {
			r.keep()
		}
		surplus = rest
	}
	return surplus
}

// sharedChildren returns the number of shared objects that are planned or deleted.
func (p *pruning) sharedChildren() int {
	n := 0
	for _, c := range p.children {
		if c.memory != nil && c.planned.Mode == apply.Shared {
			n++
		}
	}
	for _, r := range p.releases {
		if r.result.Verb == apply.VerbPrune {
			n++
		}
	}
	return n
}
