package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

const (
	sourceLabel  = "opendatahub.io/catalog-source"
	sourcesKey   = "sources.yaml"
	defaultsName = "default-catalog-sources"
	modelsName   = "model-catalog-sources"
	serversName  = "mcp-catalog-sources"
	retiredID    = "default_catalog"
	retiredName  = "model-catalog-default-sources"
	// A source becomes a volume, whose name has a prefix and at most 63 characters (RFC 1123).
	maxSourceName = 55
)

// usable reports why a ConfigMap that offers itself as a source is none.
func usable(source *corev1.ConfigMap) error {
	if slices.Contains([]string{defaultsName, modelsName, serversName}, source.Name) {
		return errors.New("it is mounted anyway")
	}
	if len(source.Name) > maxSourceName {
		return fmt.Errorf("its name must have at most %d characters", maxSourceName)
	}
	if problems := validation.IsDNS1123Label(source.Name); len(problems) > 0 {
		return fmt.Errorf("its name is no DNS label: %s", problems[0])
	}
	if _, exists := source.Data[sourcesKey]; !exists {
		return fmt.Errorf("data[%q] is missing", sourcesKey)
	}
	return nil
}

// sources is a document of sources, in all that it may have.
type sources struct {
	Catalogs      []source       `json:"catalogs,omitempty"`
	ModelCatalogs []source       `json:"model_catalogs,omitempty"`
	MCPCatalogs   []source       `json:"mcp_catalogs,omitempty"`
	Labels        []any          `json:"labels,omitempty"`
	NamedQueries  map[string]any `json:"namedQueries,omitempty"`
}

type source struct {
	Name       string            `json:"name,omitempty"`
	ID         string            `json:"id,omitempty"`
	Type       string            `json:"type,omitempty"`
	Enabled    *bool             `json:"enabled,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
	Labels     []string          `json:"labels,omitempty"`
}

// withoutRetired removes the entry that earlier versions have put into documents of users. The text is empty when there is nothing
// to remove.
func withoutRetired(text string) (string, error) {
	var parsed sources
	if err := yaml.UnmarshalStrict([]byte(text), &parsed); err != nil {
		return "", fmt.Errorf("data[%q]: %w", sourcesKey, err)
	}
	retired := func(s source) bool { return s.ID == retiredID }
	if !slices.ContainsFunc(parsed.Catalogs, retired) && !slices.ContainsFunc(parsed.ModelCatalogs, retired) {
		return "", nil
	}
	parsed.Catalogs = slices.DeleteFunc(parsed.Catalogs, retired)
	parsed.ModelCatalogs = slices.DeleteFunc(parsed.ModelCatalogs, retired)
	out, err := yaml.Marshal(parsed)
	return string(out), err
}

// document is what is to be written to a document of users: the template's, or another text into one that exists.
type document struct {
	exists bool
	text   string
}

// userDocument reports what has to be written to a document of users, nil for nothing. One that cannot be read is left alone.
func userDocument(name string, found reconcile.FetchResult[*corev1.ConfigMap]) (*document, error) {
	if found.IsNotFound() {
		return &document{}, nil
	}
	if found.HasError() {
		return nil, nil //nolint:nilnil // the read has told of it
	}
	text, err := withoutRetired(found.Value.Data[sourcesKey])
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s: %w", name, err)
	}
	if text == "" {
		return nil, nil //nolint:nilnil // nothing to write and nothing wrong
	}
	return &document{exists: true, text: text}, nil
}

// userChild declares a document of users: made when it is missing, and then theirs.
func userChild(template, name string) children.Child[facts] {
	return children.Child[facts]{
		Template: template, Retained: true,
		When: func(f facts) bool { return !f.Disabled && f.documents[name] != nil },
		Mutate: func(f facts, o manifests.Object) {
			if d := f.documents[name]; d.exists {
				o.SetLabels(nil)
				data(o)[sourcesKey] = d.text
			}
		},
		Dynamic: func(f facts) []apply.ChildOption {
			if d := f.documents[name]; d == nil || !d.exists {
				return nil
			}
			return []apply.ChildOption{apply.AdoptUncontrolled, apply.Force(path(sourcesKey))}
		},
	}
}

func path(key string) string { return fmt.Sprintf("data[%q]", key) }

func data(o manifests.Object) map[string]string {
	return o.(*corev1.ConfigMap).Data //nolint:forcetypeassert // its template is a ConfigMap
}

// restoreDefaults removes what somebody else has put beside the managed document when the document itself has to be restored: it
// takes the keys over, empty, and gives them up in the next pass.
func restoreDefaults(f facts, o manifests.Object) {
	ofPlatform(f, o)
	if f.defaults == nil || f.defaults.Data[sourcesKey] == data(o)[sourcesKey] {
		return
	}
	for key := range f.defaults.Data {
		if key != sourcesKey {
			data(o)[key] = ""
		}
	}
}

// takeDefaults lets restoreDefaults take the keys from whoever has set them.
func takeDefaults(f facts) (options []apply.ChildOption) {
	if f.defaults != nil {
		for _, key := range slices.Sorted(maps.Keys(f.defaults.Data)) {
			options = append(options, apply.Force(path(key)))
		}
	}
	return options
}
