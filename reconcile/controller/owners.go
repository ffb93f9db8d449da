package controller

import (
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// Owners sets options of the kind of the owners. [Filter] and [Where] select the owners that the controller reconciles; without them it
// reconciles all objects of the kind.
//
// With a label or field selector, and a cache that [CacheOptions] describes, the process lists and watches the selected objects alone, unless
// something else in the process uses objects of the kind. Otherwise the controller ignores the events of objects that it does not
// select.
//
// When an owner stops matching, the controller stops reconciling it and deletes nothing: children, external resources and the status stay as they
// are. It removes its finalizer, so that the owner can be deleted; the garbage collector then deletes the children that have an owner
// reference, and nothing deletes the others. An owner that is being deleted while it has the finalizer is finalized as usual, whether or not it
// matches. Owners that stopped matching while no process was running are released when the next one starts.
//
// Groups have no object to select: give a Filter to [Builder.Members].
func (b *Builder) Owners(options ...KindOption) *Builder {
	for _, option := range options {
		option.applyToKind(&b.declarations[0])
	}
	return b
}

// Where selects owners, in a call of [Builder.Owners], by a function of the owner. It takes the type of the owners, is pure, and looks at nothing
// but the owner. The API server cannot evaluate it: the cache has all objects of the kind, or those that a [Filter] selects.
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
			return selects(owner.(T)) //nolint:forcetypeassert // the type is that of the owners
		}})
	})
}
