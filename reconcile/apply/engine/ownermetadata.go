package engine

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/planerror"
)

// What is planned of the owner's own metadata is decided about and applied like
// a contribution to somebody else's object, under a field manager of its own:
// neither the inventory nor a status is written under that name. Its object is
// the owner of the pass, and each write is pinned to the version that was
// looked at, so that the pass can go on with what was answered.

var (
	errGroupMetadata = planerror.Error("metadata: a group is no object and has none; leave Metadata out of its plan")
	errMoreMetadata  = planerror.Error("metadata: want only labels, annotations and finalizers of the owner")
	errPlannedOwner  = planerror.Error("child: it is the owner itself; plan its labels, annotations and finalizers with Metadata")
)

// metadataManager is the field manager of what plans say about owners.
func (e *env) metadataManager() string { return e.opts.FieldManager + ":metadata" }

// isOwner reports whether the object is the owner itself.
func (p *pass) isOwner(id applyset.ObjectID) bool {
	return p.group == nil && id.GroupKind == p.ownerKind.GVK.GroupKind() && id.Key == client.ObjectKeyFromObject(p.owner)
}

// resolveOwner resolves what is planned of the owner's metadata, or what has to
// be taken off it because nothing is planned any more. An owner that is being
// deleted keeps what it has.
func (p *pass) resolveOwner() {
	child := p.plan.Owner
	if p.finalize || (child == nil && !p.hasMetadata()) {
		return
	}
	if child == nil {
		child = &apply.Child{Mode: apply.Contribute, Object: &metav1.PartialObjectMetadata{}}
	}
	c := &planned{child: child, kind: p.engine.kinds.MetadataOf(p.ownerKind), manager: p.engine.metadataManager()}
	p.self = c
	c.id = applyset.ObjectID{GroupKind: c.kind.GVK.GroupKind(), Key: client.ObjectKeyFromObject(p.owner)}
	c.result.GVK, c.result.Key = c.kind.GVK, c.id.Key
	c.memory = p.memory.Child(c.id)
	c.memory.Mode, c.memory.GVK, c.memory.UID = apply.Contribute, c.kind.GVK, p.owner.GetUID()
	c.memory.Pass = p.memory.Pass
	switch {
	case p.group != nil:
		c.fail(apply.Failed, apply.ReasonInvalid, errGroupMetadata)
	case !onlyKeys(child.Object):
		c.fail(apply.Failed, apply.ReasonInvalid, errMoreMetadata)
	default:
		c.hash = p.engine.hasher.Child(child)
		if len(child.Object.GetFinalizers()) > 0 {
			p.identity += p.engine.hasher.Text(c.manager)
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
func (p *pass) hasMetadata() bool {
	if p.group != nil {
		return false
	}
	if managedfields.Entry(p.owner.GetManagedFields(), p.engine.metadataManager()) != nil {
		return true
	}
	m := p.memory.Children[applyset.ObjectID{GroupKind: p.ownerKind.GVK.GroupKind(), Key: client.ObjectKeyFromObject(p.owner)}]
	return m != nil && m.Owned.Known() && m.UID == p.owner.GetUID() && len(p.owner.GetManagedFields()) == 0
}

// ownerMetadata is the owner as the pass knows it, of which nothing but the
// metadata is looked at.
func (p *pass) ownerMetadata() *metav1.PartialObjectMetadata {
	o := p.owner
	out := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: o.GetName(), Namespace: o.GetNamespace(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(),
		Labels: o.GetLabels(), Annotations: o.GetAnnotations(), Finalizers: o.GetFinalizers(),
		ManagedFields: o.GetManagedFields(), DeletionTimestamp: o.GetDeletionTimestamp(),
	}}
	out.SetGroupVersionKind(p.ownerKind.GVK)
	return out
}

// writeOwner applies what is planned of the owner's metadata. That the
// inventory has just been written is no conflict.
func (p *pass) writeOwner() {
	c := p.self
	if c == nil || c.action == actionNone {
		return
	}
	if m := &p.memory.Metadata; c.live != nil && m.Replaced != "" && c.live.GetResourceVersion() == m.Replaced {
		c.live.SetResourceVersion(m.Written)
	}
	p.send(c)
}

// ownerApplied lets the pass go on with the owner as it was answered, if that
// is the next version of what the pass knows: else its spec or status may be
// another one, too.
func (p *pass) ownerApplied(before string, answer client.Object) {
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
func (p *pass) productFinalizers(o metav1.Object) []string {
	var out []string
	if child := p.plan.Owner; child != nil && onlyKeys(child.Object) {
		out = slices.Clone(child.Object.GetFinalizers())
	}
	entry := managedfields.Entry(o.GetManagedFields(), p.engine.metadataManager())
	set := memory.Remembered(entry).Set()
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

// withOwner are the children, what is planned of the owner first.
func (p *pass) withOwner() []*planned {
	if p.self == nil {
		return p.children
	}
	return append([]*planned{p.self}, p.children...)
}
