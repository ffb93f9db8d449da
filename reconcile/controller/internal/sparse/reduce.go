package sparse

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SetTransform sets what the cache does with each object before it is decided what is kept of it.
func (i *Informer) SetTransform(transform toolscache.TransformFunc) error {
	if transform == nil {
		i.transform.Store(nil)
		return nil
	}
	i.transform.Store(&transform)
	return nil
}

// reduce is the transform of the informer: what goes into the store.
func (i *Informer) reduce(in any) (any, error) {
	if _, done := in.(*metadataOnly); done { // a list that is streamed is transformed twice
		return in, nil
	}
	object, ok := in.(client.Object)
	keep := !ok || i.all.Load() || i.ours(object) || i.isSingle(keyOf(object)) // before the transform, which may take away by what it is known
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

// whole is an object that goes into the store as it is.
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
