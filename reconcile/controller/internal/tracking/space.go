package tracking

import "k8s.io/apimachinery/pkg/types"

// space has the queries of one namespace, or those of all namespaces, by their requirements. Each query is stored under one of its
// requirements.
type space struct {
	labels map[string]*shelf
	fields map[string]*shelf
	other  nodes // queries without a requirement by which they can be found, such as the list of all objects
}

// shelf has the queries that are found by one label or by one field.
type shelf struct {
	equal map[string]nodes // by the value
	any   nodes            // for any value
}

type nodes map[*node]struct{}

func newSpace() *space {
	return &space{labels: map[string]*shelf{}, fields: map[string]*shelf{}, other: nodes{}}
}

// add stores the query under the requirement that the fewest others share, because it is the most selective.
func (s *space) add(n *node) {
	best, shared := -1, 0
	filings := n.query.filings(nil)
	for i := range filings {
		if others := s.sharing(&filings[i]); best < 0 || others < shared {
			best, shared = i, others
		}
	}
	if best < 0 {
		s.other[n] = struct{}{}
		return
	}
	n.query.filed = &filings[best]
	s.file(n)
}

// shelves returns the map of a filing.
func (s *space) shelves(f *filing) map[string]*shelf {
	if f.field {
		return s.fields
	}
	return s.labels
}

// sharing returns the number of queries that an object that meets the requirement would be compared with.
func (s *space) sharing(f *filing) int {
	shelf := s.shelves(f)[f.key]
	if shelf == nil {
		return 0
	}
	if len(f.values) == 0 {
		return len(shelf.any)
	}
	most := 0
	for _, value := range f.values {
		most = max(most, len(shelf.equal[value]))
	}
	return most
}

func (s *space) file(n *node) {
	f := n.query.filed
	shelves := s.shelves(f)
	if shelves[f.key] == nil {
		shelves[f.key] = &shelf{equal: map[string]nodes{}, any: nodes{}}
	}
	if len(f.values) == 0 {
		shelves[f.key].any[n] = struct{}{}
	}
	for _, value := range f.values {
		if shelves[f.key].equal[value] == nil {
			shelves[f.key].equal[value] = nodes{}
		}
		shelves[f.key].equal[value][n] = struct{}{}
	}
}

func (s *space) remove(n *node) {
	f := n.query.filed
	if f == nil {
		delete(s.other, n)
		return
	}
	shelves := s.shelves(f)
	shelf := shelves[f.key]
	delete(shelf.any, n)
	for _, value := range f.values {
		delete(shelf.equal[value], n)
		if len(shelf.equal[value]) == 0 {
			delete(shelf.equal, value)
		}
	}
	if len(shelf.equal)+len(shelf.any) == 0 {
		delete(shelves, f.key)
	}
}

func (s *space) empty() bool { return len(s.labels)+len(s.fields)+len(s.other) == 0 }

// find appends the owners of the queries that match.
func (s *space) find(found []types.NamespacedName, object *subject) []types.NamespacedName {
	if s == nil {
		return found
	}
	if len(s.labels) > 0 {
		for key, value := range object.labels {
			if shelf := s.labels[key]; shelf != nil {
				found = shelf.equal[value].matching(found, object)
				found = shelf.any.matching(found, object)
			}
		}
	}
	for field, shelf := range s.fields {
		values, known := object.values(field)
		if !known {
			for _, nodes := range shelf.equal {
				found = nodes.matching(found, object)
			}
			continue
		}
		for _, value := range values {
			found = shelf.equal[value].matching(found, object)
		}
	}
	return s.other.matching(found, object)
}

func (n nodes) matching(found []types.NamespacedName, object *subject) []types.NamespacedName {
	for node := range n {
		if node.query.matches(object) {
			found = node.owners.appendTo(found)
		}
	}
	return found
}
