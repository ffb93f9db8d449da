package catalog

import (
	"errors"
	"fmt"
	"slices"

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
	// A source becomes a volume. The name of a volume has a prefix and at most 63 characters (RFC 1123).
	maxSourceName = 55
)

// userDocuments are the ConfigMaps that the operator creates and users then edit.
var userDocuments = []string{modelsName, serversName}

// usable returns the reason why a ConfigMap with the label of a source is unusable, or the empty string.
func usable(source *corev1.ConfigMap) error {
	if source.Name == defaultsName || slices.Contains(userDocuments, source.Name) {
		return errors.New("it is already mounted")
	}
	if len(source.Name) > maxSourceName {
		return fmt.Errorf("its name must have at most %d characters", maxSourceName)
	}
	if problems := validation.IsDNS1123Label(source.Name); len(problems) > 0 {
		return fmt.Errorf("its name is not a DNS label: %s", problems[0])
	}
	if _, exists := source.Data[sourcesKey]; !exists {
		return fmt.Errorf("data[%q] is missing", sourcesKey)
	}
	return nil
}

// sources is a document of sources with all fields that it may have.
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

// withoutRetired removes the entry that earlier versions have added to documents of users. It returns the empty string if there is
// nothing to remove.
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
