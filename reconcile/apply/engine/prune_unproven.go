package engine

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// The proof of a child gets lost with its managedFields, in a reset or when it is restored from a backup. Garbage collection deletes a child
// that refers to the owner. A child out of its reach, such as a ClusterRole, would outlive the owner. So the engine keeps the owner's
// finalizer and names such objects, until they are gone, lose the label, or the owner's annotation permits their deletion.

// noteUnproven notes a listed object that may be a child without a proof, unless it was only copied. Objects in namespaces that the
// inventory does not name are ignored, because any account there could keep an owner by creating them.
func (p *pruning) noteUnproven(gvk schema.GroupVersionKind, o metav1.Object) error {
	id := applyset.ObjectID{GroupKind: gvk.GroupKind(), Key: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}}
	if known := p.memory.Children[id]; known != nil && known.InPass(p.memory.Pass) && !p.finalize {
		return nil // the child has an error
	}
	if p.group != nil || p.reaches(o.GetNamespace()) || metav1.GetControllerOfNoCopy(o) != nil || !p.inSet(o) || p.optedOut(o) ||
		!p.recordsNamespace(o.GetNamespace()) {
		return nil
	}
	if hidesManagers(o) {
		found, err := p.liveMetadata(gvk, id.Key)
		if err != nil || found == nil || found.UID != o.GetUID() || p.labelledByUs(found) {
			return err
		}
		o = found
	}
	if p.memory.Metadata.Labelled && isLabelWritten(o.GetManagedFields()) {
		return nil // the owner was not restored, so another manager copied or inherited the label
	}
	p.unproven = append(p.unproven, p.memberOf(gvk, o))
	return nil
}

// recordsNamespace reports whether the inventory names the namespace, or is lost. Cluster-scoped objects have none.
func (p *pruning) recordsNamespace(namespace string) bool {
	return namespace == "" || p.memory.Metadata.Lost || slices.Contains(recordedInventory(p.pass).Namespaces, namespace)
}

// hidesManagers reports whether the cache may have removed entries of managedFields, or shortened them.
func hidesManagers(o metav1.Object) bool {
	entries := o.GetManagedFields()
	return len(entries) == 0 || slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.FieldsV1 == nil })
}

// isLabelWritten reports whether a manager owns the part-of label. The API server gives the fields of an object without managers to a manager
// that it makes up, which has written nothing.
func isLabelWritten(entries []metav1.ManagedFieldsEntry) bool {
	return slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return !fieldset.MadeUp(&e) && fieldset.OwnsMetadata(&e, "labels", applyset.PartOfLabel)
	})
}

// ownsSetLabel reports whether the engine's field manager owns the label that it sets with the first inventory of an owner. A restored owner
// has the label from another manager.
func ownsSetLabel(p *pass, owner metav1.Object) bool {
	return slices.ContainsFunc(owner.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return (e.Manager == p.env.ownerManager() || p.env.ours(e.Manager)) && fieldset.OwnsMetadata(&e, "labels", p.keys.ID)
	})
}

// isUnprovenPart reports whether an object is a shared one whose parts have all lost their owners.
func isUnprovenPart(o metav1.Object) bool {
	_, shared := o.GetAnnotations()[applyset.SharedAnnotation]
	return shared && len(sharers(o)) == 0 && o.GetDeletionTimestamp() == nil && !isLabelled(o) && metav1.GetControllerOfNoCopy(o) == nil
}
