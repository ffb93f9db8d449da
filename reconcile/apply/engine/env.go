package engine

import (
	"context"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// env is what all passes of an engine share. Nothing of it is about a single
// owner.
type env struct {
	client    client.Client
	live      client.Reader
	options   apply.Options
	kinds     *intent.Kinds
	encoder   *content.Encoder
	hasher    *intent.Hasher
	leftovers memory.Census
	stripped  sync.Map  // *intent.Kind to nothing: the cache strips managedFields
	orphaned  sync.Map  // types.UID to nothing: owners whose children are to stay
	pool      sync.Pool // of *[]child, zeroed
	declared  declaredKinds
	// standardKeys and ownKeys name the two places for an inventory.
	standardKeys, ownKeys applyset.Keys
	// cached are the options of reads that only look at the result and that
	// handle a lagging cache themselves.
	cached     []client.GetOption
	cachedList []client.ListOption
}

// newEnv returns what the passes of an engine with these options share.
func newEnv(c client.Client, live client.Reader, o apply.Options) *env {
	encoder := content.NewEncoder()
	return &env{
		client: c, live: live, options: o, declared: newDeclaredKinds(o.Kinds),
		kinds: &intent.Kinds{Client: c}, encoder: encoder, hasher: intent.NewHasher(encoder),
		standardKeys: applyset.StandardKeys(o.Domain), ownKeys: applyset.KeysOf(o.Domain, o.FieldManager),
		cached:     []client.GetOption{client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency},
		cachedList: []client.ListOption{client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency},
	}
}

// holdsData reports whether objects of the kind are never pruned without a
// reason that the engine knows of.
func (e *env) holdsData(gk schema.GroupKind) bool { return slices.Contains(e.options.GuardedKinds, gk) }

// newList returns an empty list in the representation of the kind; nil if
// there is none in the cache.
func (e *env) newList(k *intent.Kind) client.ObjectList {
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
	o, err := e.client.Scheme().New(gvk)
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

// orphanValue is the value of the annotation that records it.
const orphanValue = "true"

// announceOwner remembers an owner whose deletion leaves its children.
func (e *env) announceOwner(owner client.Object) {
	if owner.GetDeletionTimestamp() != nil && slices.Contains(owner.GetFinalizers(), metav1.FinalizerOrphanDependents) {
		e.orphaned.Store(owner.GetUID(), struct{}{})
	}
}

// takePool returns n zero children for one pass, from an earlier pass if there are.
func (e *env) takePool(n int) *[]child {
	room, ok := e.pool.Get().(*[]child)
	if !ok {
		room = &[]child{}
	}
	if cap(*room) < n {
		*room = make([]child, n)
	}
	*room = (*room)[:n]
	return room
}

// What belongs to a set is what can be proven: the part-of label names the set,
// and the managedFields say that this controller has put it there. A label that
// was inherited from another object, or copied with its manifest, proves
// nothing, as somebody else owns it.

// ours reports whether the manager is this controller, or was.
func (e *env) ours(manager string) bool {
	return manager == e.options.FieldManager || slices.Contains(e.options.FormerManagers, manager)
}

func newUnstructuredList(gvk schema.GroupVersionKind) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	return list
}

// deleteExactly deletes an object with this UID, and in this version if one is
// given. An object that is gone, or replaced, is no error: it does not exist.
func (e *env) deleteExactly(
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
		propagation = e.options.Propagation
	}
	err := e.client.Delete(ctx, o, pre, client.PropagationPolicy(propagation))
	return client.IgnoreNotFound(err)
}
