package sparse

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SetTransform sets the transform of the cache, which runs on each object before the informer reduces it.
func (i *Informer) SetTransform(transform toolscache.TransformFunc) error {
	if transform == nil {
		i.transform.Store(nil)
		return nil
	}
	i.transform.Store(&transform)
	return nil
}

// reduce is the transform of the informer. It returns the object to store.
func (i *Informer) reduce(in any) (any, error) {
	if _, done := in.(*metadataOnly); done { // a streamed list is transformed twice
		return in, nil
	}
	object, ok := in.(client.Object)
	keep := !ok || i.all.Load() || i.ours(object) || i.isSingle(keyOf(object)) // before the transform, which may remove identifying fields
	if transform := i.transform.Load(); transform != nil {
		out, err := (*transform)(in)
		if err != nil {
			return out, err
		}
		if object, ok = out.(client.Object); !ok || keep {
			return i.whole(out), nil
		}
	} else if keep {
		return i.whole(in), nil
	}
	if i.wanted(object) {
		i.keep(object)
	} else {
		i.drop(keyOf(object))
	}
	return reduce(object, i.namespace(object.GetNamespace())), nil
}

// whole returns the object to store in full.
func (i *Informer) whole(object any) any {
	if o, ok := object.(metav1.Object); ok {
		i.drop(keyOf(o))
	}
	return object
}

func (i *Informer) namespace(name string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	known, ok := i.namespaces[name]
	if !ok {
		known = strings.Clone(name)
		i.namespaces[known] = known
	}
	return known
}
