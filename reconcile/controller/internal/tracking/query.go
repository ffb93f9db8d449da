package tracking

import (
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// query is the selection of a list.
type query struct {
	text      string // canonical, the key of the query in its index
	namespace string // empty means all namespaces
	labels    labels.Selector
	fields    fields.Selector
	filed     *filing // the requirement by which the query is found; nil if it has none
}

// filing is one requirement of a query by which the query is found: values of a label or of a field.
type filing struct {
	field  bool // whether it is a field, not a label
	key    string
	values []string // one of them; empty for a label that only has to exist
}

// filings appends every requirement by which the query can be found. Requirements of absence are not among them.
func (q *query) filings(found []filing) []filing {
	if q.labels != nil {
		requirements, _ := q.labels.Requirements()
		for _, requirement := range requirements {
			switch requirement.Operator() {
			case selection.Equals, selection.DoubleEquals, selection.In:
				found = append(found, filing{key: requirement.Key(), values: requirement.ValuesUnsorted()})
			case selection.Exists, selection.GreaterThan, selection.LessThan:
				found = append(found, filing{key: requirement.Key()})
			case selection.NotEquals, selection.NotIn, selection.DoesNotExist:
			}
		}
	}
	if q.fields != nil {
		for _, requirement := range q.fields.Requirements() {
			if requirement.Operator == selection.Equals || requirement.Operator == selection.DoubleEquals {
				found = append(found, filing{field: true, key: requirement.Field, values: []string{requirement.Value}})
			}
		}
	}
	return found
}

// fieldExtractor returns the values of a field, and whether they are known.
type fieldExtractor func(object client.Object, field string) (values []string, known bool)

// subject is the object of an event during the search for queries that select it.
type subject struct {
	object  client.Object
	labels  labels.Set
	extract fieldExtractor
	fields  []extracted // values extracted so far; queries use few fields of an object
}

type extracted struct {
	field  string
	values []string // sorted, without duplicates
	known  bool
}

// values returns the values of a field, sorted and without duplicates, and whether they are known. It calls the extractor once.
func (s *subject) values(field string) ([]string, bool) {
	for i := range s.fields {
		if s.fields[i].field == field {
			return s.fields[i].values, s.fields[i].known
		}
	}
	values, known := s.extract(s.object, field)
	if len(values) > 1 {
		values = slices.Clone(values)
		slices.Sort(values)
		values = slices.Compact(values)
	}
	s.fields = append(s.fields, extracted{field: field, values: values, known: known})
	return values, known
}

// matches reports whether the query selects the object. A field without known values matches: enqueuing an owner in vain is
// harmless.
func (q *query) matches(s *subject) bool {
	if q.namespace != "" && q.namespace != s.object.GetNamespace() {
		return false
	}
	if q.labels != nil && !q.labels.Matches(s.labels) {
		return false
	}
	if q.fields == nil {
		return true
	}
	for _, requirement := range q.fields.Requirements() {
		values, known := s.values(requirement.Field)
		if !known {
			continue
		}
		if _, has := slices.BinarySearch(values, requirement.Value); has == (requirement.Operator == selection.NotEquals) {
			return false
		}
	}
	return true
}

// String returns the query as text.
func (q *query) String() string {
	text := "all"
	if q.namespace != "" {
		text += " in " + q.namespace
	}
	if q.labels != nil && !q.labels.Empty() {
		text += " with labels " + q.labels.String()
	}
	if q.fields != nil {
		text += " with fields " + q.fields.String()
	}
	return text
}
