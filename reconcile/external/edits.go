package external

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Edits is a [System] of edits to other controllers' objects that field ownership cannot express, such as a word in a string to which
// several owners add a word. Do and Undo compute an edit from the current object, so that it is undone whichever manager owns the field
// by then. For everything that field ownership can express, plan a contribution instead.
//
// An edit is one patch with the resourceVersion of the object that was read. Missing objects and objects that are being deleted are not
// edited. Also read the object in FetchRemoteState, so that a change of it enqueues the owner.
type Edits[T client.Object] struct {
	// Client reads from the cache and writes. Required before the first reconciliation.
	Client client.Client
	// Live reads from the API server. Required before the first reconciliation.
	Live client.Reader
	// FieldManager is the field manager of the edits. Required.
	FieldManager string
	// New returns an empty object. Its type must have all fields of the edited lists, as other fields are lost; an unstructured object has
	// all. Required.
	New func() T
	// Do makes the edit of an owner if it is missing; Undo reverts it if it exists. Both are pure functions of the object and the owner.
	// Required.
	Do, Undo func(object T, owner string)
}

// EditKey returns the key of an owner's edit of an object.
func EditKey(object client.Object, owner string) string {
	return object.GetNamespace() + "/" + object.GetName() + "/" + owner
}

// Observe reports whether the cached object has the edit.
func (e *Edits[T]) Observe(ctx context.Context, key string) (done bool, err error) {
	at, owner := editOf(key)
	object := e.New()
	if err := e.Client.Get(ctx, at, object); err != nil {
		return false, missing(err)
	}
	return !changes(object, e.Do, owner), nil
}

// Ensure makes the edit.
func (e *Edits[T]) Ensure(ctx context.Context, key string, _ struct{}) (done bool, err error) {
	return true, e.write(ctx, key, e.Do)
}

// Remove reverts the edit.
func (e *Edits[T]) Remove(ctx context.Context, key string) error {
	return client.IgnoreNotFound(e.write(ctx, key, e.Undo))
}

// UpToDate reports whether the edit exists.
func (*Edits[T]) UpToDate(_ struct{}, done bool) bool { return done }

func (e *Edits[T]) write(ctx context.Context, key string, edit func(T, string)) error {
	at, owner := editOf(key)
	object := e.New()
	if err := e.Live.Get(ctx, at, object); err != nil {
		return err
	}
	before, copied := object.DeepCopyObject().(client.Object)
	if !copied || object.GetDeletionTimestamp() != nil || !changes(object, edit, owner) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return e.Client.Patch(ctx, object, patch, client.FieldOwner(e.FieldManager))
}

// changes makes the edit and reports whether it changed the object.
func changes[T client.Object](object T, edit func(T, string), owner string) bool {
	before := object.DeepCopyObject()
	edit(object, owner)
	return !equality.Semantic.DeepEqual(before, object)
}

func missing(err error) error {
	if client.IgnoreNotFound(err) == nil {
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return err
}

func editOf(key string) (at client.ObjectKey, owner string) {
	namespace, rest, _ := strings.Cut(key, "/")
	name, owner, _ := strings.Cut(rest, "/")
	return client.ObjectKey{Namespace: namespace, Name: name}, owner
}
