package controller

import (
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// Owners sets options of the kind of the owners. [Filter] and [Where] select the owners that the controller reconciles; by
// default it reconciles all objects of the kind.
//
// With a label or field selector and a cache with [CacheOptions], the process lists and watches only the selected objects,
// unless other code of the process uses the kind. Otherwise the controller ignores the events of other objects.
//
// When an owner stops matching, the controller stops reconciling it and deletes nothing: children, external resources and
// the status stay unchanged. It removes its finalizer, so that the owner can be deleted; the garbage collector then deletes
// the children with an owner reference, and the others remain. An owner that is being deleted and has the finalizer is
// always finalized. When a process starts, it also removes the finalizer from owners that stopped matching while no process
// was running.
//
// Groups are not objects and cannot be selected: use a Filter in [Builder.Members].
func (b *Builder) Owners(options ...KindOption) *Builder {
	for _, option := range options {
		option.applyToKind(&b.declarations[0])
	}
	return b
}

// Where selects owners with a function, in a call of [Builder.Owners]. The function takes the type of the owners, is pure
// and depends only on the owner. The API server cannot evaluate it, so the cache stores all objects of the kind, or those
// that a [Filter] selects.
func Where[T client.Object](selects func(owner T) bool) KindOption {
	at := declaration.Caller()
	return kindOption(func(d *declaration.Declaration) {
		want, got := reflect.TypeOf(d.Object), reflect.TypeFor[T]()
		switch {
		case d.Purpose != declaration.PurposeFor:
			d.Misused = append(d.Misused, "Where")
			return
		case selects == nil || want != got:
			d.Broken = fmt.Errorf("option Where: want a function that takes %s, as the owners are, got one that takes %s, or nil", want, got)
			return
		}
		d.Where = append(d.Where, declaration.Condition{Source: at, Holds: func(owner client.Object) bool {
			return selects(owner.(T)) //nolint:forcetypeassert // the condition above has compared the types
		}})
	})
}
