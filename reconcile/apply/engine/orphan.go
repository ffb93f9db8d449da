package engine

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An owner that is deleted with the propagation policy Orphan leaves its
// children: the garbage collector takes the owner references off, and the
// engine deletes none that it would otherwise delete itself. The API server
// says so with a finalizer, which the garbage collector removes when it is
// done, maybe before the engine has had a pass; so what was seen is remembered,
// and recorded on the owner while something else keeps it.
// https://kubernetes.io/docs/concepts/architecture/garbage-collection/

// orphanValue is the value of the annotation that records it.
const orphanValue = "true"

// announceOwner remembers an owner whose deletion leaves its children.
func (e *env) announceOwner(owner client.Object) {
	if owner.GetDeletionTimestamp() != nil && slices.Contains(owner.GetFinalizers(), metav1.FinalizerOrphanDependents) {
		e.orphaned.Store(owner.GetUID(), struct{}{})
	}
}

// orphans reports whether the owner is being deleted and its children stay.
func (p *pass) orphans() bool {
	if !p.finalize {
		return false
	}
	p.engine.announceOwner(p.owner)
	if _, orphaned := p.engine.orphaned.Load(p.owner.GetUID()); orphaned {
		return true
	}
	return p.owner.GetAnnotations()[p.keys.Orphan] == orphanValue
}
