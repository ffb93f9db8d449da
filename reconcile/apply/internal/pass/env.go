package pass

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
)

// NewEnv returns what the passes of an engine with these options share.
func NewEnv(c client.Client, live client.Reader, o apply.Options) *Env {
	encoder := content.NewEncoder()
	return &Env{
		Client: c, Live: live, Options: o, Declared: newDeclaredKinds(o.Kinds),
		Kinds: &intent.Kinds{Client: c}, Encoder: encoder, Hasher: intent.NewHasher(encoder),
		StandardKeys: applyset.StandardKeys(o.Domain), OwnKeys: applyset.KeysOf(o.Domain, o.FieldManager),
		Cached:     []client.GetOption{client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency},
		CachedList: []client.ListOption{client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency},
	}
}

// HoldsData reports whether objects of the kind are never pruned without a
// reason that the engine knows of.
func (e *Env) HoldsData(gk schema.GroupKind) bool { return slices.Contains(e.Options.GuardedKinds, gk) }

// NewList returns an empty list in the representation of the kind; nil if
// there is none in the cache.
func (e *Env) NewList(k *intent.Kind) client.ObjectList {
	if k == nil {
		return nil
	}
	gvk := k.GVK.GroupVersion().WithKind(k.GVK.Kind + "List")
	if k.Metadata {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(gvk)
		return list
	}
	if k.GoType == nil {
		return newUnstructuredList(gvk)
	}
	o, err := e.Client.Scheme().New(gvk)
	if err != nil {
		return nil
	}
	list, _ := o.(client.ObjectList)
	return list
}

// An owner that is deleted with the propagation policy Orphan leaves its
// children: the garbage collector takes the owner references off, and the
// engine deletes none that it would otherwise delete itself. The API server
// says so with a finalizer, which the garbage collector removes when it is
// done, maybe before the engine has had a pass; so what was seen is remembered,
// and recorded on the owner while something else keeps it.
// https://kubernetes.io/docs/concepts/architecture/garbage-collection/

// OrphanValue is the value of the annotation that records it.
const OrphanValue = "true"

// AnnounceOwner remembers an owner whose deletion leaves its children.
func (e *Env) AnnounceOwner(owner client.Object) {
	if owner.GetDeletionTimestamp() != nil && slices.Contains(owner.GetFinalizers(), metav1.FinalizerOrphanDependents) {
		e.Orphaned.Store(owner.GetUID(), struct{}{})
	}
}

// takePool returns n zero children for one pass, from an earlier pass if there are.
func (e *Env) takePool(n int) *[]Child {
	room, ok := e.pool.Get().(*[]Child)
	if !ok {
		room = &[]Child{}
	}
	if cap(*room) < n {
		*room = make([]Child, n)
	}
	*room = (*room)[:n]
	return room
}

// What belongs to a set is what can be proven: the part-of label names the set,
// and the managedFields say that this controller has put it there. A label that
// was inherited from another object, or copied with its manifest, proves
// nothing, as somebody else owns it.

// Ours reports whether the manager is this controller, or was.
func (e *Env) Ours(manager string) bool {
	return manager == e.Options.FieldManager || slices.Contains(e.Options.FormerManagers, manager)
}

func newUnstructuredList(gvk schema.GroupVersionKind) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	return list
}

// DeleteExactly deletes an object with this UID, and in this version if one is
// given. An object that is gone, or replaced, is no error: it does not exist.
func (e *Env) DeleteExactly(
	ctx context.Context, gvk schema.GroupVersionKind, key types.NamespacedName, uid types.UID, version string,
	propagation metav1.DeletionPropagation,
) error {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(gvk)
	o.Name, o.Namespace = key.Name, key.Namespace
	pre := client.Preconditions{UID: &uid}
	if version != "" {
		pre.ResourceVersion = &version
	}
	if propagation == "" {
		propagation = e.Options.Propagation
	}
	err := e.Client.Delete(ctx, o, pre, client.PropagationPolicy(propagation))
	return client.IgnoreNotFound(err)
}
