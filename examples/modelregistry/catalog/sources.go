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

// userDocuments are the ConfigMaps that the operator creates and then leaves to users.
var userDocuments = []string{modelsName, serversName}

// usable reports why a ConfigMap that offers itself as a source is none.
func usable(source *corev1.ConfigMap) error {
	if source.Name == defaultsName || slices.Contains(userDocuments, source.Name) {
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

// userDocument reports whether a document of users has to be written: with the text of the template when it is missing, else with the text
// that it returns. One that cannot be read is left alone.
func userDocument(found reconcile.FetchResult[*corev1.ConfigMap]) (text string, write bool, err error) {
	if !found.OK() {
		return "", found.IsNotFound(), nil // of another error the read has told
	}
	text, err = withoutRetired(found.Value.Data[sourcesKey])
	return text, text != "", err
}

// userChild declares a document of users: made when it is missing, and then theirs.
func userChild(template, name string) children.Child[facts] {
	return children.Child[facts]{
		Template: template, Retained: true,
		When: func(f facts) bool {
			_, write := f.documents[name]
			return write && !f.Disabled
		},
		Mutate: func(f facts, o manifests.Object) {
			if text := f.documents[name]; text != "" {
				o.SetLabels(nil)
				data(o)[sourcesKey] = text
			}
		},
		Dynamic: func(f facts) []apply.ChildOption {
			if f.documents[name] == "" {
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
	if f.defaults[sourcesKey] == data(o)[sourcesKey] {
		return
	}
	for key := range f.defaults {
		if key != sourcesKey {
			data(o)[key] = ""
		}
	}
}

// takeDefaults lets restoreDefaults take the keys from whoever has set them.
func takeDefaults(f facts) (options []apply.ChildOption) {
	for _, key := range slices.Sorted(maps.Keys(f.defaults)) {
		options = append(options, apply.Force(path(key)))
	}
	return options
}
