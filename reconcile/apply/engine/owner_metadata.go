package engine

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// resolveOwner resolves what is planned of the owner's metadata, or what has to
// be taken off it because nothing is planned any more. An owner that is being
// deleted keeps what it has.
func resolveOwner(p *pass) {
	planned := p.plan.Owner
	if p.finalize || (planned == nil && !hasOwnerMetadata(p)) {
		return
	}
	if planned == nil {
		planned = &apply.Child{Mode: apply.Contribute, Object: &metav1.PartialObjectMetadata{}}
	}
	c := &child{planned: planned, kind: p.env.kinds.MetadataOf(p.ownerKind), manager: p.env.metadataManager()}
	p.ownerChild = c
	c.id = applyset.ObjectID{GroupKind: c.kind.GVK.GroupKind(), Key: client.ObjectKeyFromObject(p.owner)}
	c.result.GVK, c.result.Key = c.kind.GVK, c.id.Key
	c.memory = p.memory.Child(c.id)
	c.memory.PlannedOwner(p.memory.Pass, c.kind.GVK, p.owner.GetUID())
	switch {
	case p.group != nil:
		c.fail(apply.OutcomeFailed, apply.ReasonInvalid, errGroupMetadata)
	case !onlyKeys(planned.Object):
		c.fail(apply.OutcomeFailed, apply.ReasonInvalid, errMoreMetadata)
	default:
		c.hash = p.env.hasher.Child(planned)
		if len(planned.Object.GetFinalizers()) > 0 {
			p.identity += p.env.hasher.Text(c.manager)
		}
	}
}

// onlyKeys reports whether nothing is planned but labels, annotations and
// finalizers.
func onlyKeys(o client.Object) bool {
	partial, ok := o.(*metav1.PartialObjectMetadata)
	if !ok || partial == nil {
		return false
	}
	rest := partial.ObjectMeta
	rest.Labels, rest.Annotations, rest.Finalizers = nil, nil, nil
	return equality.Semantic.DeepEqual(rest, metav1.ObjectMeta{})
}

// hasOwnerMetadata reports whether the owner has something of an earlier plan.
func hasOwnerMetadata(p *pass) bool {
	if p.group != nil {
		return false
	}
	if fieldset.Entry(p.owner.GetManagedFields(), p.env.metadataManager()) != nil {
		return true
	}
	m := p.memory.Children[applyset.ObjectID{GroupKind: p.ownerKind.GVK.GroupKind(), Key: client.ObjectKeyFromObject(p.owner)}]
	return m != nil && m.Owned().Known() && m.Known(p.owner.GetUID()) && len(p.owner.GetManagedFields()) == 0
}

// ownerMetadata is the owner as the pass knows it, of which nothing but the
// metadata is looked at.
func ownerMetadata(p *pass) *metav1.PartialObjectMetadata {
	o := p.owner
	out := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: o.GetName(), Namespace: o.GetNamespace(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(),
		Labels: o.GetLabels(), Annotations: o.GetAnnotations(), Finalizers: o.GetFinalizers(),
		ManagedFields: o.GetManagedFields(), DeletionTimestamp: o.GetDeletionTimestamp(),
	}}
	out.SetGroupVersionKind(p.ownerKind.GVK)
	return out
}

// ownerApplied lets the pass go on with the owner as it was answered, if that
// is the next version of what the pass knows: else its spec or status may be
// another one, too.
func ownerApplied(p *pass, before string, answer client.Object) {
	if p.owner.GetResourceVersion() != before {
		return
	}
	p.owner.SetLabels(answer.GetLabels())
	p.owner.SetAnnotations(answer.GetAnnotations())
	p.owner.SetFinalizers(answer.GetFinalizers())
	p.owner.SetManagedFields(answer.GetManagedFields())
	p.owner.SetResourceVersion(answer.GetResourceVersion())
}

// productFinalizers are the finalizers that plans have put on the owner.
func productFinalizers(p *pass, o metav1.Object) []string {
	var out []string
	if child := p.plan.Owner; child != nil && onlyKeys(child.Object) {
		out = slices.Clone(child.Object.GetFinalizers())
	}
	entry := fieldset.Entry(o.GetManagedFields(), p.env.metadataManager())
	set := memory.Remembered(entry, p.owner.GetUID()).Set()
	for _, name := range []string{"metadata", "finalizers"} {
		if set = set.Field(name); set == nil {
			return out
		}
	}
	for _, item := range set.Items {
		if name, ok := item.Value.(string); ok {
			out = append(out, name)
		}
	}
	return out
}
