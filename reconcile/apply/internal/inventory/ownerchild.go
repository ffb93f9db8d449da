package inventory

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// ResolveOwner resolves what is planned of the owner's metadata, or what has to
// be taken off it because nothing is planned any more. An owner that is being
// deleted keeps what it has.
func ResolveOwner(p *pass.Pass) {
	child := p.Plan.Owner
	if p.Finalize || (child == nil && !hasMetadata(p)) {
		return
	}
	if child == nil {
		child = &apply.Child{Mode: apply.Contribute, Object: &metav1.PartialObjectMetadata{}}
	}
	c := &pass.Child{Planned: child, Kind: p.Env.Kinds.MetadataOf(p.OwnerKind), Manager: p.Env.MetadataManager()}
	p.OwnerChild = c
	c.ID = applyset.ObjectID{GroupKind: c.Kind.GVK.GroupKind(), Key: client.ObjectKeyFromObject(p.Owner)}
	c.Result.GVK, c.Result.Key = c.Kind.GVK, c.ID.Key
	c.Memory = p.Memory.Child(c.ID)
	c.Memory.PlannedOwner(p.Memory.Pass, c.Kind.GVK, p.Owner.GetUID())
	switch {
	case p.Group != nil:
		c.Fail(apply.OutcomeFailed, apply.ReasonInvalid, pass.ErrGroupMetadata)
	case !onlyKeys(child.Object):
		c.Fail(apply.OutcomeFailed, apply.ReasonInvalid, pass.ErrMoreMetadata)
	default:
		c.Hash = p.Env.Hasher.Child(child)
		if len(child.Object.GetFinalizers()) > 0 {
			p.Identity += p.Env.Hasher.Text(c.Manager)
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

// hasMetadata reports whether the owner has something of an earlier plan.
func hasMetadata(p *pass.Pass) bool {
	if p.Group != nil {
		return false
	}
	if fieldset.Entry(p.Owner.GetManagedFields(), p.Env.MetadataManager()) != nil {
		return true
	}
	m := p.Memory.Children[applyset.ObjectID{GroupKind: p.OwnerKind.GVK.GroupKind(), Key: client.ObjectKeyFromObject(p.Owner)}]
	return m != nil && m.Owned().Known() && m.Known(p.Owner.GetUID()) && len(p.Owner.GetManagedFields()) == 0
}

// OwnerMetadata is the owner as the pass knows it, of which nothing but the
// metadata is looked at.
func OwnerMetadata(p *pass.Pass) *metav1.PartialObjectMetadata {
	o := p.Owner
	out := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: o.GetName(), Namespace: o.GetNamespace(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(),
		Labels: o.GetLabels(), Annotations: o.GetAnnotations(), Finalizers: o.GetFinalizers(),
		ManagedFields: o.GetManagedFields(), DeletionTimestamp: o.GetDeletionTimestamp(),
	}}
	out.SetGroupVersionKind(p.OwnerKind.GVK)
	return out
}

// OwnerApplied lets the pass go on with the owner as it was answered, if that
// is the next version of what the pass knows: else its spec or status may be
// another one, too.
func OwnerApplied(p *pass.Pass, before string, answer client.Object) {
	if p.Owner.GetResourceVersion() != before {
		return
	}
	p.Owner.SetLabels(answer.GetLabels())
	p.Owner.SetAnnotations(answer.GetAnnotations())
	p.Owner.SetFinalizers(answer.GetFinalizers())
	p.Owner.SetManagedFields(answer.GetManagedFields())
	p.Owner.SetResourceVersion(answer.GetResourceVersion())
}

// productFinalizers are the finalizers that plans have put on the owner.
func productFinalizers(p *pass.Pass, o metav1.Object) []string {
	var out []string
	if child := p.Plan.Owner; child != nil && onlyKeys(child.Object) {
		out = slices.Clone(child.Object.GetFinalizers())
	}
	entry := fieldset.Entry(o.GetManagedFields(), p.Env.MetadataManager())
	set := memory.Remembered(entry, p.Owner.GetUID()).Set()
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
