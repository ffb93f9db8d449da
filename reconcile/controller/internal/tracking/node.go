package tracking

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/derived"
)

// node is a target of reads of one kind: an object by name, or all objects that match a query. Owners that read the same target share
// its node.
type node struct {
	index  *Index
	name   types.NamespacedName // of a read by name; unused with a query
	query  *query               // of a list; nil for a read by name
	value  *derivedValue        // of a derived read; nil for others
	owners owners
}

// owners is a set that needs no map for one element, the most frequent case.
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

// remove removes the owner and reports whether the set is empty.
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

// scope separates the reads of a pass from its writes, because they are replaced at different times.
type scope int

const (
	ScopeRead scope = iota
	ScopeWrite
	scopes
)

// ownerReads has the reads of one owner.
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
	of   fmt.Stringer // identifies the derivation
	from query        // selects the objects that it is computed from
}

// selects reports whether the value is computed from the object.
func (v *derivedValue) selects(object client.Object) bool {
	return v.from.matches(&subject{object: object, labels: object.GetLabels()})
}
