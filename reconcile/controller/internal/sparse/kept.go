package sparse

import (
	"context"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// wanted reports whether a controller needs the object. Do not call it with the lock held: the controller takes another lock.
func (i *Informer) wanted(object client.Object) bool {
	i.mu.Lock()
	links := i.links
	i.mu.Unlock()
	for _, l := range links {
		if l.wanted(object) {
			return true
		}
	}
	return false
}

// keep keeps the object, unless a newer one is kept.
func (i *Informer) keep(object metav1.Object) {
	key := keyOf(object)
	i.mu.Lock()
	defer i.mu.Unlock()
	if last, known := i.kept[key]; known && last.GetUID() == object.GetUID() &&
		(last.gone || freshness.Older(object.GetResourceVersion(), last.GetResourceVersion())) {
		return
	}
	i.kept[key] = kept{Object: object}
}

// drop frees the memory of an object.
func (i *Informer) drop(key string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.kept, key)
}

// found returns the kept object for a stored one, or nil if none is as new. The result may be newer. Gone reports that the object is
// known to be deleted.
func (i *Informer) found(m *metadataOnly) (object any, gone bool) {
	key := m.name
	if m.namespace != "" {
		key = m.namespace + "/" + m.name
	}
	i.mu.Lock()
	last, known := i.kept[key]
	i.mu.Unlock()
	if !known {
		return nil, false
	}
	uid, version := m.identity()
	switch {
	case last.GetUID() != uid:
		return nil, false
	case last.gone:
		return nil, true
	case last.GetResourceVersion() == version || freshness.Older(version, last.GetResourceVersion()):
		return last.Object, false
	}
	return nil, false
}

// deleted drops the kept copy of a deleted object.
func (i *Informer) deleted(object any) {
	if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	m, ok := object.(*metadataOnly)
	if !ok {
		return
	}
	o := m.GetObjectMeta()
	i.mu.Lock()
	defer i.mu.Unlock()
	if last, known := i.kept[keyOf(o)]; known && last.GetUID() == o.GetUID() {
		delete(i.kept, keyOf(o))
	}
}

// sweep drops the objects that no controller needs any more.
func (i *Informer) sweep() {
	i.mu.Lock()
	all := maps.Clone(i.kept)
	i.mu.Unlock()
	for key, k := range all {
		if object, ok := k.Object.(client.Object); !ok || !i.wanted(object) {
			i.drop(key)
		}
	}
}

// turn waits until no other call reads the object live, and reports whether it waited. The caller calls done after its own read.
func (i *Informer) turn(ctx context.Context, key string) (waited bool, done func(), err error) {
	own := make(chan struct{})
	for {
		other, taken := i.turns.LoadOrStore(key, own)
		if !taken {
			return waited, func() {
				i.turns.Delete(key)
				close(own)
			}, nil
		}
		waited = true
		select {
		case <-other.(chan struct{}): //nolint:forcetypeassert // only this method stores
		case <-ctx.Done():
			return waited, nil, ctx.Err()
		}
	}
}

// MetadataOnlyError is the error of a read of an object whose metadata alone is cached.
type MetadataOnlyError struct {
	informer *Informer
	of       *metadataOnly
}

// Error tells how to read the object.
func (e *MetadataOnlyError) Error() string {
	return fmt.Sprintf("the cache keeps only the metadata of %s %s, which is not of the controllers that declare the kind: "+
		"read it with the reader of FetchRemoteState or from the API server, or declare the kind with controller.Whole",
		e.informer.kind.Kind, keyOf(e.of.GetObjectMeta()))
}

// Metadata returns the cached metadata: names, UID, resourceVersion, labels, owners and the time of the deletion.
func (e *MetadataOnlyError) Metadata() *metav1.PartialObjectMetadata {
	return e.of.partial(e.informer.kind)
}

// Turn waits until no other call reads the object live, and reports whether it waited: then the cache may have the object.
func (e *MetadataOnlyError) Turn(ctx context.Context) (waited bool, done func(), err error) {
	return e.informer.turn(ctx, keyOf(e.of.GetObjectMeta()))
}

// Keep adds the object of a live read to the cache, if a controller needs it. The cache owns the object from then on. Keep returns an error
// if the object is older than the cache.
func (e *MetadataOnlyError) Keep(object client.Object) error {
	if uid, version := e.of.identity(); object.GetUID() == uid && freshness.Older(object.GetResourceVersion(), version) {
		return fmt.Errorf("read %s %s: the API server answered with version %s, which is older than %s in the cache",
			e.informer.kind.Kind, client.ObjectKeyFromObject(object), object.GetResourceVersion(), version)
	}
	if e.informer.wanted(object) {
		e.informer.take(object)
	}
	return nil
}

// take keeps the object of a live read.
func (i *Informer) take(object client.Object) {
	if transform := i.transform.Load(); transform != nil {
		out, err := (*transform)(object)
		shortened, ok := out.(client.Object)
		if err != nil || !ok {
			return // the next read is live again
		}
		object = shortened
	}
	i.keep(object)
}

// goneFor records that an object no longer exists.
func (i *Informer) goneFor(key types.NamespacedName, uid types.UID) {
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: uid}}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.kept[keyOf(o)] = kept{Object: o, gone: true}
}
