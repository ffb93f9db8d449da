package engine

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// groupParts are the objects of which a group has a part, as far as this
// process has written them or the cache shows them.
func (p *pruner) groupParts(l *look) []applyset.ObjectID {
	var out []applyset.ObjectID
	for id, m := range p.Memory.Children {
		if pass.Partial(m.Mode) && m.UID != "" {
			out = append(out, id)
		}
	}
	for _, gvk := range p.groupKinds() {
		found, err := p.partsOf(gvk)
		if err != nil && !meta.IsNoMatchError(err) {
			p.listFailed(l, gvk.GroupKind(), err)
		}
		out = append(out, found...)
	}
	slices.SortFunc(out, applyset.CompareIDs)
	return slices.Compact(out)
}

// groupKinds are the kinds of which a group may have parts.
func (p *pruner) groupKinds() []schema.GroupVersionKind {
	out := slices.Clone(p.Group.ChildKinds())
	for _, k := range p.Env.Declared.Of(apply.KindWritten) {
		out = append(out, k.GVK)
	}
	slices.SortFunc(out, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(out)
}

// partsOf lists the objects of a kind in the cache in which the group has
// fields of its own. Where the cache strips managedFields, the annotation says
// in which it may have some.
func (p *pruner) partsOf(gvk schema.GroupVersionKind) ([]applyset.ObjectID, error) {
	k, err := p.Env.Kinds.OfGVK(gvk)
	if err != nil {
		return nil, err
	}
	list := p.Env.NewList(k)
	if list == nil {
		return nil, nil
	}
	if err := p.Env.Client.List(p.Ctx, list, p.Env.CachedList...); err != nil {
		return nil, err
	}
	own := groupkey.SharingAnnotation(p.GroupValue())
	var out []applyset.ObjectID
	err = meta.EachListItem(list, func(item runtime.Object) error {
		o, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		entries := o.GetManagedFields()
		_, annotated := o.GetAnnotations()[own]
		if managedfields.Entry(entries, p.Contributor()) != nil || (len(entries) == 0 && annotated) {
			key := client.ObjectKey{Namespace: o.GetNamespace(), Name: o.GetName()}
			out = append(out, applyset.ObjectID{GroupKind: gvk.GroupKind(), Key: key})
		}
		return nil
	})
	return out, err
}
