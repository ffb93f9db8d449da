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

// resolveOwner resolves the planned metadata of the owner, or the removal of metadata that left the plan. An owner that is being deleted
// keeps its metadata.
func resolveOwner(p *pass) {
	planned := p.plan.Owner
	if p.finalize || (planned == nil && !hasOwnerMetadata(p)) {
		return
	}
	if planned == nil {
		planned = &apply.Child{Mode: apply.Contribute, Object: &metav1.PartialObjectMetadata{}}
	}
	c := &child{}
	c.planned, c.kind, c.manager, c.ofOwner = planned, p.env.kinds.MetadataOf(p.ownerKind), p.env.metadataManager(), true
	p.ownerChild = c
	c.id = applyset.ObjectID{GroupKind: c.kind.GVK.GroupKind(), Key: client.ObjectKeyFromObject(p.owner)}
	c.result.GVK, c.result.Key = c.kind.GVK, c.id.Key
	c.memory = p.memory.Child(c.id)
	c.memory.PlannedOwner(p.memory.Pass, c.kind.GVK, p.owner.GetUID())
	switch {
	case p.group != nil:
		c.fail(apply.OutcomeFailed, apply.ReasonInvalid, errGroupMetadata)
	case len(planned.After) > 0:
		c.fail(apply.OutcomeFailed, apply.ReasonInvalid, errOrderedMetadata)
	case !onlyKeys(planned.Object):
		c.fail(apply.OutcomeFailed, apply.ReasonInvalid, errMoreMetadata)
	default:
		c.hash = p.env.hasher.Child(planned)
		if len(planned.Object.GetFinalizers()) > 0 {
			p.identity += p.env.hasher.Text(c.manager)
		}
	}
}

// onlyKeys reports whether only labels, annotations and finalizers are planned.
func onlyKeys(o client.Object) bool {
	partial, ok := o.(*metav1.PartialObjectMetadata)
	if !ok || partial == nil {
		return false
	}
	rest := partial.ObjectMeta
	rest.Labels, rest.Annotations, rest.Finalizers = nil, nil, nil
	return equality.Semantic.DeepEqual(rest, metav1.ObjectMeta{})
}

// hasOwnerMetadata reports whether the owner has metadata of an earlier plan.
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

// ownerMetadata returns the metadata of the owner in the pass.
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

// ownerApplied continues the pass with the returned owner if its version directly follows the known one. Otherwise its spec or status may
// have changed as well.
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

// productFinalizers returns the finalizers that plans have put on the owner.
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
