package engine_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/internal/widget"
)

// shelf is a client whose reads have the cost of a cache: objects are
// shared, and a list compares the labels of all objects of the namespace. It
// supports only deletes by UID as writes.
type shelf struct {
	client.Client
	scheme  *runtime.Scheme
	objects map[schema.GroupVersionKind]map[client.ObjectKey]client.Object
	lists   int
	deleted []string
	broken  error // the error of lists
}

func newShelf() *shelf {
	s := &shelf{scheme: runtime.NewScheme(), objects: map[schema.GroupVersionKind]map[client.ObjectKey]client.Object{}}
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, widget.AddToScheme} {
		if err := add(s.scheme); err != nil {
			panic(err)
		}
	}
	return s
}

func (s *shelf) put(o client.Object) {
	gvk, err := apiutil.GVKForObject(o, s.scheme)
	if err != nil {
		panic(err)
	}
	if s.objects[gvk] == nil {
		s.objects[gvk] = map[client.ObjectKey]client.Object{}
	}
	s.objects[gvk][client.ObjectKeyFromObject(o)] = o
}

func (s *shelf) Scheme() *runtime.Scheme { return s.scheme }

func (s *shelf) GroupVersionKindFor(o runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(o, s.scheme)
}

func (s *shelf) IsObjectNamespaced(runtime.Object) (bool, error) { return true, nil }

func (s *shelf) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(into, s.scheme)
	if err != nil {
		return err
	}
	found := s.objects[gvk][key]
	if found == nil {
		return apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found).Elem())
	return nil
}

func (s *shelf) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	if s.lists++; s.broken != nil {
		return s.broken
	}
	gvk, err := apiutil.GVKForObject(into, s.scheme)
	if err != nil {
		return err
	}
	gvk.Kind = gvk.Kind[:len(gvk.Kind)-len("List")]
	var o client.ListOptions
	o.ApplyOptions(opts)
	var found []runtime.Object
	for key, object := range s.objects[gvk] {
		if (o.Namespace == "" || o.Namespace == key.Namespace) && o.LabelSelector.Matches(labels.Set(object.GetLabels())) {
			found = append(found, object)
		}
	}
	return apimeta.SetList(into, found)
}

func (s *shelf) Delete(_ context.Context, o client.Object, opts ...client.DeleteOption) error {
	var options client.DeleteOptions
	options.ApplyOptions(opts)
	key := client.ObjectKeyFromObject(o)
	found := s.objects[o.GetObjectKind().GroupVersionKind()][key]
	if found == nil || options.Preconditions == nil || found.GetUID() != *options.Preconditions.UID {
		return fmt.Errorf("delete of %s without the UID of what is there", key)
	}
	delete(s.objects[o.GetObjectKind().GroupVersionKind()], key)
	s.deleted = slices.Concat(s.deleted, []string{key.Name + " " + string(found.GetUID())})
	return nil
}
