package multicluster

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// splitter separates the kind of the owners from all others.
type splitter struct {
	scheme *runtime.Scheme
	owner  schema.GroupKind
}

// owners reports whether the object or the list is of the owners' kind.
func (s *splitter) owners(object runtime.Object) bool {
	gvk, err := apiutil.GVKForObject(object, s.scheme)
	return err == nil && s.ownersKind(gvk.GroupKind()) // the client that gets the object reports the error
}

func (s *splitter) ownersKind(kind schema.GroupKind) bool {
	return kind.Group == s.owner.Group && strings.TrimSuffix(kind.Kind, "List") == s.owner.Kind
}

// split reads owners in one cluster and all other objects in another one.
type split[R client.Reader] struct {
	*splitter

	others, ownersIn R
}

func (s *split[R]) of(object runtime.Object) R {
	if s.owners(object) {
		return s.ownersIn
	}
	return s.others
}

// Get reads one object.
func (s *split[R]) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	return s.of(into).Get(ctx, key, into, opts...)
}

// List reads a list.
func (s *split[R]) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	return s.of(into).List(ctx, into, opts...)
}
