package declaration

import (
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Filter selects the objects of a kind in the cache by labels, fields and namespace.
type Filter struct {
	Labels    labels.Selector // nil selects all
	Fields    fields.Selector // nil selects all
	Namespace string          // empty means all
}

var (
	errFilterEmpty = errors.New("option Filter: want at least one of client.MatchingLabels, client.MatchingLabelsSelector, client.MatchingFields, " +
		"client.MatchingFieldsSelector and client.InNamespace, got nothing that selects")
	errFilterMore = errors.New("option Filter: want labels, fields and a namespace, got another option of a list, such as a limit")
)

// FilterOf returns the filter from list options.
func FilterOf(options []client.ListOption) (*Filter, error) {
	list := (&client.ListOptions{}).ApplyOptions(options)
	if list.Limit != 0 || list.Continue != "" || list.Raw != nil || list.UnsafeDisableDeepCopy != nil {
		return nil, errFilterMore
	}
	f := &Filter{Labels: list.LabelSelector, Fields: list.FieldSelector, Namespace: list.Namespace}
	if f.Fields != nil && f.Fields.Empty() {
		f.Fields = nil
	}
	if f.Labels == nil && f.Fields == nil && f.Namespace == "" {
		return nil, errFilterEmpty
	}
	return f, nil
}

// ByObject returns the filter as an option of the cache.
func (f *Filter) ByObject() cache.ByObject {
	by := cache.ByObject{Label: f.Labels, Field: f.Fields}
	if f.Namespace != "" {
		by.Namespaces = map[string]cache.Config{f.Namespace: {}}
	}
	return by
}

// Matches reports whether the cache has an object with this key and labels. It evaluates the fields name and namespace, and assumes
// that all other fields match.
func (f *Filter) Matches(key client.ObjectKey, of labels.Labels) bool {
	if f.Namespace != "" && key.Namespace != f.Namespace || f.Labels != nil && !f.Labels.Matches(of) {
		return false
	}
	if f.Fields == nil {
		return true
	}
	for _, one := range f.Fields.Requirements() {
		value, known := keyField(key, one.Field)
		if known && (value == one.Value) == (one.Operator == selection.NotEquals) {
			return false
		}
	}
	return true
}

// byContent returns a field of the filter that is neither the name nor the namespace, empty if there is none.
func (f *Filter) byContent() string {
	if f == nil || f.Fields == nil {
		return ""
	}
	for _, one := range f.Fields.Requirements() {
		if _, known := keyField(client.ObjectKey{}, one.Field); !known {
			return one.Field
		}
	}
	return ""
}

// keyField returns the value of a field that every kind supports in field selectors.
func keyField(key client.ObjectKey, name string) (value string, known bool) {
	switch name {
	case "metadata.name":
		return key.Name, true
	case "metadata.namespace":
		return key.Namespace, true
	}
	return "", false
}

// String returns the filter as text.
func (f *Filter) String() string {
	if f == nil {
		return ""
	}
	var parts []string
	if f.Labels != nil {
		parts = append(parts, f.Labels.String())
	}
	if f.Fields != nil {
		parts = append(parts, f.Fields.String())
	}
	if f.Namespace != "" {
		parts = append(parts, "namespace "+f.Namespace)
	}
	return strings.Join(parts, " and ")
}
