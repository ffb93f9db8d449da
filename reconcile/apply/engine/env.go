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
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// env is the state that all passes of an engine share. It has no state of a single owner.
type env struct {
	config
	client    client.Client
	live      client.Reader
	kinds     *intent.Kinds
	leftovers memory.Census
	stripped  sync.Map  // *intent.Kind to nothing: the cache strips managedFields
	orphaned  sync.Map  // types.UID to nothing: owners whose children are orphaned
	pool      sync.Pool // of *[]child, zeroed
	declared  declaredKinds
	settled   settledQuestions
	// cached are options for reads whose results are not modified and whose caller handles a stale cache.
	cached     []client.GetOption
	cachedList []client.ListOption
}

// newEnv returns the shared state of an engine with these options.
func newEnv(c client.Client, live client.Reader, o apply.Options) *env {
	return &env{
		config: newConfig(o), client: c, live: live, kinds: &intent.Kinds{Client: c}, declared: newDeclaredKinds(o.Kinds),
		cached:     []client.GetOption{client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency},
		cachedList: []client.ListOption{client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency},
	}
}

// newList returns an empty list in the representation of the kind; nil if the cache has none.
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

// If an owner is deleted with the propagation policy Orphan, its children stay: the garbage collector removes the owner references, and
// the engine deletes no children either. The API server marks this with a finalizer. The garbage collector removes that finalizer when it
// is done, possibly before the engine has had a pass. So the engine remembers it, and records it on the owner while another finalizer
// keeps the owner. https://kubernetes.io/docs/concepts/architecture/garbage-collection/

// orphanValue is the value of the annotation that records the orphaning.
const orphanValue = "true"

// announceOwner remembers an owner whose deletion orphans its children.
func (e *env) announceOwner(owner client.Object) {
	if owner.GetDeletionTimestamp() != nil && slices.Contains(owner.GetFinalizers(), metav1.FinalizerOrphanDependents) {
		e.orphaned.Store(owner.GetUID(), struct{}{})
	}
}

// takePool returns n zeroed children for one pass, reused from an earlier pass if possible.
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

func newUnstructuredList(gvk schema.GroupVersionKind) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	return list
}

// deleteExactly deletes the object with this UID, and with this resourceVersion if one is given. It returns no error if the object is gone
// or replaced.
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
