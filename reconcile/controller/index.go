package controller

import (
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// node is one thing of one kind that owners read: an object by name, or all objects that a query matches. Owners that
// read the same thing share its node.
type node struct {
	index  *index
	name   types.NamespacedName // of a read by name; unused with a query
	query  *query               // of a list; nil for a read by name
	owners owners
}

// query is what a list asked for.
type query struct {
	text      string // canonical, the key of the query in its index
	namespace string // empty is all namespaces
	labels    labels.Selector
	fields    fields.Selector
	bucket    *pair // the equality under which the query is found; nil when it has none
}

type pair struct{ key, value string }

// matches says whether the object is in the list that the query gives. A field that cannot be looked up matches: waking
// an owner in vain is harmless.
func (q *query) matches(object client.Object, extract fieldExtractor) bool {
	if q.namespace != "" && q.namespace != object.GetNamespace() {
		return false
	}
	if q.labels != nil && !q.labels.Matches(labels.Set(object.GetLabels())) {
		return false
	}
	if q.fields == nil {
		return true
	}
	for _, requirement := range q.fields.Requirements() {
		values, known := extract(object, requirement.Field)
		if !known {
			continue
		}
		if slices.Contains(values, requirement.Value) == (requirement.Operator == selection.NotEquals) {
			return false
		}
	}
	return true
}

// fieldExtractor returns the values of a field, and whether it knows the field.
type fieldExtractor func(object client.Object, field string) (values []string, known bool)

// index finds the nodes of one kind that an object concerns. A query with an equality among its label requirements is
// found through that label, so that an event costs as many steps as the object has labels, not as there are queries.
type index struct {
	names   map[types.NamespacedName]*node
	queries map[string]*node
	spaces  map[string]*space // by the namespace of the query
	extract fieldExtractor
}

// space holds the queries of one namespace, or those of all namespaces.
type space struct {
	equal map[pair]map[*node]struct{}
	other map[*node]struct{}
}

func newIndex(extract fieldExtractor) *index {
	return &index{
		names:   map[types.NamespacedName]*node{},
		queries: map[string]*node{},
		spaces:  map[string]*space{},
		extract: extract,
	}
}

// byName returns the node of one object, new when nobody reads it yet.
func (x *index) byName(name types.NamespacedName) *node {
	n := x.names[name]
	if n == nil {
		n = &node{index: x, name: name}
		x.names[name] = n
	}
	return n
}

// byQuery returns the node of a query, new when nobody asks it yet.
func (x *index) byQuery(namespace string, l labels.Selector, f fields.Selector) *node {
	text := namespace + "?"
	if l != nil {
		text += l.String()
		if _, selectable := l.Requirements(); !selectable { // labels.Nothing prints like labels.Everything
			text += "!"
		}
	}
	if f != nil && !f.Empty() {
		text += "&" + f.String()
	} else {
		f = nil
	}
	if n := x.queries[text]; n != nil {
		return n
	}
	n := &node{index: x, query: &query{text: text, namespace: namespace, labels: l, fields: f}}
	x.queries[text] = n
	x.space(namespace).add(n)
	return n
}

func (x *index) space(namespace string) *space {
	s := x.spaces[namespace]
	if s == nil {
		s = &space{equal: map[pair]map[*node]struct{}{}, other: map[*node]struct{}{}}
		x.spaces[namespace] = s
	}
	return s
}

// add files the query under the equality that fewest others share, because that one tells most.
func (s *space) add(n *node) {
	var requirements labels.Requirements
	if n.query.labels != nil {
		requirements, _ = n.query.labels.Requirements()
	}
	for _, requirement := range requirements {
		values := requirement.ValuesUnsorted()
		if len(values) != 1 || !equality(requirement.Operator()) {
			continue
		}
		candidate := pair{requirement.Key(), values[0]}
		if n.query.bucket == nil || len(s.equal[candidate]) < len(s.equal[*n.query.bucket]) {
			n.query.bucket = &candidate
		}
	}
	if n.query.bucket == nil {
		s.other[n] = struct{}{}
		return
	}
	if s.equal[*n.query.bucket] == nil {
		s.equal[*n.query.bucket] = map[*node]struct{}{}
	}
	s.equal[*n.query.bucket][n] = struct{}{}
}

func equality(operator selection.Operator) bool {
	return operator == selection.Equals || operator == selection.DoubleEquals || operator == selection.In
}

// drop removes a node that nobody reads any more.
func (x *index) drop(n *node) {
	if n.query == nil {
		delete(x.names, n.name)
		return
	}
	delete(x.queries, n.query.text)
	s := x.spaces[n.query.namespace]
	if n.query.bucket == nil {
		delete(s.other, n)
	} else {
		delete(s.equal[*n.query.bucket], n)
		if len(s.equal[*n.query.bucket]) == 0 {
			delete(s.equal, *n.query.bucket)
		}
	}
	if len(s.equal) == 0 && len(s.other) == 0 {
		delete(x.spaces, n.query.namespace)
	}
}

// find appends the owners that read the object, in no order and possibly several times.
func (x *index) find(found []types.NamespacedName, object client.Object) []types.NamespacedName {
	if n := x.names[client.ObjectKeyFromObject(object)]; n != nil {
		found = n.owners.appendTo(found)
	}
	found = x.findIn(found, x.spaces[""], object)
	if namespace := object.GetNamespace(); namespace != "" {
		found = x.findIn(found, x.spaces[namespace], object)
	}
	return found
}

func (x *index) findIn(found []types.NamespacedName, s *space, object client.Object) []types.NamespacedName {
	if s == nil {
		return found
	}
	for key, value := range object.GetLabels() {
		found = x.matching(found, s.equal[pair{key, value}], object)
	}
	return x.matching(found, s.other, object)
}

func (x *index) matching(
	found []types.NamespacedName, nodes map[*node]struct{}, object client.Object,
) []types.NamespacedName {
	for n := range nodes {
		if n.query.matches(object, x.extract) {
			found = n.owners.appendTo(found)
		}
	}
	return found
}

// all appends every owner that reads anything of the kind.
func (x *index) all(found []types.NamespacedName) []types.NamespacedName {
	for _, n := range x.names {
		found = n.owners.appendTo(found)
	}
	for _, n := range x.queries {
		found = n.owners.appendTo(found)
	}
	return found
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

// remove takes the owner out and says whether nobody is left.
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
