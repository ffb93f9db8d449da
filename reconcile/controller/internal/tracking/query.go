package tracking

import (
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// query is what a list asked for.
type query struct {
	text      string // canonical, the key of the query in its index
	namespace string // empty is all namespaces
	labels    labels.Selector
	fields    fields.Selector
	filed     *filing // where the query is found; nil when it asks for nothing by which it can be found
}

// filing is one requirement of a query by which the query is found: values of a label or of a field.
type filing struct {
	field  bool // not a label
	key    string
	values []string // one of them; none of a label that only has to exist
}

// filings appends every requirement by which the query can be found. What must not be there is none.
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

// fieldExtractor returns the values of a field, and whether it knows the field.
type fieldExtractor func(object client.Object, field string) (values []string, known bool)

// subject is the object of an event while the queries that it concerns are looked for.
type subject struct {
	object  client.Object
	labels  labels.Set
	extract fieldExtractor
	fields  []extracted // what has been extracted so far; an object has few fields that reads ask for
}

type extracted struct {
	field  string
	values []string // sorted, each once
	known  bool
}

// values returns the values of a field, sorted and each once, and whether they can be known. The extractor is asked once.
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

// matches reports whether the object is in the list that the query gives. A field that cannot be looked up matches:
// waking an owner in vain is harmless.
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

// String is the query for a person.
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
