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
