package tracking

import (
	"fmt"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Index finds the nodes of one kind that an object concerns. It finds a query by the label or the field value that it requires. The
// cost of an event depends on the number of labels of the object and of fields that queries use, not on the number of queries.
type Index struct {
	names   map[types.NamespacedName]*node
	queries map[string]*node
	values  map[fmt.Stringer]*node
	spaces  map[string]*space // by the namespace of the query
	extract fieldExtractor
	// Unread is called when no owner reads some object of the kind any more. Optional. It is set before the first read.
	Unread func()
}

// NewIndex returns the index of one kind; extract returns the values of its fields.
func NewIndex(extract fieldExtractor) *Index {
	return &Index{
		names:   map[types.NamespacedName]*node{},
		queries: map[string]*node{},
		values:  map[fmt.Stringer]*node{},
		spaces:  map[string]*space{},
		extract: extract,
	}
}

// byName returns the node of one object, a new one if no owner reads the object yet.
func (x *Index) byName(name types.NamespacedName) *node {
	n := x.names[name]
	if n == nil {
		n = &node{index: x, name: name}
		x.names[name] = n
	}
	return n
}

// byQuery returns the node of a query, a new one if no owner uses the query yet.
func (x *Index) byQuery(namespace string, l labels.Selector, f fields.Selector) *node {
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
	if x.spaces[namespace] == nil {
		x.spaces[namespace] = newSpace()
	}
	x.spaces[namespace].add(n)
	return n
}

// drop removes a node without readers.
func (x *Index) drop(n *node) {
	if n.value != nil {
		delete(x.values, n.value.of)
		return
	}
	if n.query == nil {
		delete(x.names, n.name)
		return
	}
	delete(x.queries, n.query.text)
	s := x.spaces[n.query.namespace]
	if s.remove(n); s.empty() {
		delete(x.spaces, n.query.namespace)
	}
}

// find appends the owners that read the object, unsorted and with duplicates. Each field is extracted once.
func (x *Index) find(found []types.NamespacedName, object client.Object) []types.NamespacedName {
	if n := x.names[client.ObjectKeyFromObject(object)]; n != nil {
		found = n.owners.appendTo(found)
	}
	s := subject{object: object, labels: object.GetLabels(), extract: x.extract}
	found = x.spaces[""].find(found, &s)
	if namespace := object.GetNamespace(); namespace != "" {
		found = x.spaces[namespace].find(found, &s)
	}
	return found
}

// reads reports whether an owner reads the object: by name, in a list, or in a derived value.
func (x *Index) reads(object client.Object) bool {
	if x.names[client.ObjectKeyFromObject(object)] != nil || len(x.queries) > 0 && len(x.find(nil, object)) > 0 {
		return true
	}
	for _, n := range x.values {
		if n.value.selects(object) {
			return true
		}
	}
	return false
}

// all appends every owner that reads anything of the kind.
func (x *Index) all(found []types.NamespacedName) []types.NamespacedName {
	for _, n := range x.names {
		found = n.owners.appendTo(found)
	}
	for _, n := range x.queries {
		found = n.owners.appendTo(found)
	}
	for _, n := range x.values {
		found = n.owners.appendTo(found)
	}
	return found
}
