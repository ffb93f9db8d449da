package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// A group has no object to record its parts of shared objects on. Each group
// puts an annotation of its own on such an object, under its own field manager,
// which leads from the object to the group, and a group finds its parts in the
// cache by their field manager.

// GroupValues returns the values of [GroupAnnotation] that lead from an object
// to the groups whose child it is, or that have a part of it as a shared one,
// sorted.
func GroupValues(o metav1.Object) []string {
	var out []string
	for name, value := range o.GetAnnotations() {
		if name == GroupAnnotation || name == sharingAnnotation(value) {
			out = append(out, value)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sharingAnnotation is the annotation of a group on shared objects.
func sharingAnnotation(value string) string { return GroupAnnotation + "-" + shortHash(value) }

// shortHash is short enough for the name of an annotation.
func shortHash(text string) string {
	const width = 16
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:width])
}

// maxManager is the length that the API server allows for a field manager.
const maxManager = 128

// contributor is the field manager for contributions and shared objects, one
// per owner. The UID of a group may be too long for it.
func (p *pass) contributor() string {
	m := p.memory
	if m.contributor == "" {
		m.contributor = p.engine.opts.FieldManager + ":" + string(p.owner.GetUID())
		if len(m.contributor) > maxManager {
			m.contributor = p.engine.opts.FieldManager + ":" + shortHash(string(p.owner.GetUID()))
		}
	}
	return m.contributor
}

// groupParts are the objects of which a group has a part, as far as this
// process has written them or the cache shows them.
func (p *pruner) groupParts(l *look) []applyset.ObjectID {
	var out []applyset.ObjectID
	for id, m := range p.memory.children {
		if m.mode.partial() && m.uid != "" {
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
	out := slices.Clone(p.group.ChildKinds())
	for _, k := range p.engine.declared.of(KindWritten) {
		out = append(out, k.GVK)
	}
	slices.SortFunc(out, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(out)
}

// partsOf lists the objects of a kind in the cache in which the group has
// fields of its own. Where the cache strips managedFields, the annotation says
// in which it may have some.
func (p *pruner) partsOf(gvk schema.GroupVersionKind) ([]applyset.ObjectID, error) {
	k, err := p.engine.kinds.ofGVK(gvk)
	if err != nil {
		return nil, err
	}
	list := p.engine.newList(k)
	if list == nil {
		return nil, nil
	}
	if err := p.engine.client.List(p.ctx, list, p.engine.cachedList...); err != nil {
		return nil, err
	}
	own := sharingAnnotation(p.groupValue())
	var out []applyset.ObjectID
	err = meta.EachListItem(list, func(item runtime.Object) error {
		o, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		entries := o.GetManagedFields()
		_, annotated := o.GetAnnotations()[own]
		if managedfields.Entry(entries, p.contributor()) != nil || (len(entries) == 0 && annotated) {
			key := client.ObjectKey{Namespace: o.GetNamespace(), Name: o.GetName()}
			out = append(out, applyset.ObjectID{GroupKind: gvk.GroupKind(), Key: key})
		}
		return nil
	})
	return out, err
}

// groupValue is what the annotation of the group says.
func (p *pass) groupValue() string {
	return GroupValue(p.ownerKind.gvk.Kind, client.ObjectKeyFromObject(p.owner))
}
