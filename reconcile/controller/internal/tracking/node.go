package tracking

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/derived"
)

// node is one thing of one kind that owners read: an object by name, or all objects that a query matches. Owners that
// read the same thing share its node.
type node struct {
	index  *Index
	name   types.NamespacedName // of a read by name; unused with a query
	query  *query               // of a list; nil for a read by name
	value  *derivedValue        // of a derived read; nil for others
	owners owners
}

// owners is a set that costs no map while it has one element, as most have.
type owners struct {
	one  *ownerReads
	many map[*ownerReads]struct{}
}

func (o *owners) add(owner *ownerReads) {
	switch {
	case o.many != nil:
		o.many[owner] = struct{}{}
	case o.one == nil || o.one == owner:
		o.one = owner
	default:
		o.many = map[*ownerReads]struct{}{o.one: {}, owner: {}}
		o.one = nil
	}
}

// remove takes the owner out and reports whether nobody is left.
func (o *owners) remove(owner *ownerReads) (empty bool) {
	if o.many != nil {
		delete(o.many, owner)
		return len(o.many) == 0
	}
	if o.one == owner {
		o.one = nil
	}
	return o.one == nil
}

func (o *owners) appendTo(found []types.NamespacedName) []types.NamespacedName {
	if o.one != nil {
		return append(found, o.one.owner)
	}
	for owner := range o.many {
		found = append(found, owner.owner)
	}
	return found
}

// scope separates what a pass reads from what it writes: the two are replaced at different moments.
type scope int

const (
	ScopeRead scope = iota
	ScopeWrite
	scopes
)

// ownerReads is what is remembered for one owner.
type ownerReads struct {
	owner types.NamespacedName
	edges [scopes][]edge
}

type edge struct {
	node *node
	seen bool // in the running pass
}

// derivedValue is the value of a derivation while owners read it.
type derivedValue struct {
	*derived.Value
	of   fmt.Stringer // what computes it
	from query        // the objects that it is computed from
}

// selects reports whether the value is computed from the object.
func (v *derivedValue) selects(object client.Object) bool {
	return v.from.matches(&subject{object: object, labels: object.GetLabels()})
}
