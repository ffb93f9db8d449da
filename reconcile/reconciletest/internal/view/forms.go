package view

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// object returns an object in the representation. It is shared and must not be modified.
func (v *View) object(
	k *viewKind, gvk schema.GroupVersionKind, as representation, u *unstructured.Unstructured,
) (client.Object, error) {
	transform := v.keeps(gvk).transform
	if as == "unstructured" && transform == nil {
		return u, nil
	}
	key := client.ObjectKeyFromObject(u)
	if c := k.converted[as][key]; c.from == u {
		return c.to, nil
	}
	out, err := v.convert(gvk, as, u)
	if err != nil {
		return nil, err
	}
	if transform != nil {
		changed, err := transform(out.DeepCopyObject())
		if o, ok := changed.(client.Object); err == nil && ok {
			out = o
		}
	}
	if k.converted[as] == nil {
		k.converted[as] = map[types.NamespacedName]converted{}
	}
	k.converted[as][key] = converted{from: u, to: out}
	return out, nil
}

// empty returns an object without content in a representation.
func (v *View) empty(gvk schema.GroupVersionKind, as representation) (client.Object, error) {
	switch as {
	case "unstructured":
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		return u, nil
	case "metadata":
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(gvk)
		return o, nil
	}
	obj, err := v.cluster.Scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	typed, ok := obj.(client.Object)
	if !ok {
		return nil, fmt.Errorf("cache %s: %T has no object metadata", gvk, obj)
	}
	return typed, nil
}

// convert returns a copy of an object in a representation.
func (v *View) convert(gvk schema.GroupVersionKind, as representation, u *unstructured.Unstructured) (client.Object, error) {
	if as == "unstructured" {
		return u.DeepCopy(), nil
	}
	out, err := v.empty(gvk, as)
	if err != nil {
		return nil, err
	}
	return out, objects.FromUnstructured(u, out)
}
