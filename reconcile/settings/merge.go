package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Layer is a document with settings.
type Layer struct {
	// Name names the layer in errors, such as the path of a file.
	Name string
	// Data is a YAML or JSON mapping. An empty document has no settings.
	Data []byte
}

// Format determines how keys are compared. The zero value compares them exactly.
type Format struct {
	// IgnoreCase treats keys that differ only in case as equal. The result has the spelling of the least specific layer. Two such keys in
	// one mapping are an error.
	IgnoreCase bool
}

// Merge merges the documents recursively by key, the most specific first, as in package layers. Lists and scalars are replaced entirely;
// a null sets nothing. The error names the layer that is not a mapping, or that repeats a key.
func (f Format) Merge(list ...Layer) (map[string]any, error) {
	merged := map[string]any{}
	for _, layer := range slices.Backward(list) {
		var document any
		if err := yaml.UnmarshalStrict(layer.Data, &document); err != nil {
			return nil, fmt.Errorf("%s: %w", layer.Name, err)
		}
		upper, ok := document.(map[string]any)
		if !ok && document != nil {
			return nil, fmt.Errorf("%s: want a mapping of settings, got %T", layer.Name, document)
		}
		if err := f.mergeInto(upper, merged, ""); err != nil {
			return nil, fmt.Errorf("%s: %w", layer.Name, err)
		}
	}
	return merged, nil
}

// mergeInto merges upper into lower in the order of the keys, so that errors have a stable order.
func (f Format) mergeInto(upper, lower map[string]any, path string) error {
	set := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(upper)) {
		name := f.keyIn(lower, key)
		if first, twice := set[name]; twice {
			return fmt.Errorf("%s%s: duplicates %s%s; remove one", path, key, path, first)
		}
		set[name] = key
		value := upper[key]
		if value == nil {
			continue
		}
		inner, isMapping := value.(map[string]any)
		if !isMapping {
			lower[name] = value
			continue
		}
		below, both := lower[name].(map[string]any)
		if !both {
			below = map[string]any{}
			lower[name] = below
		}
		if err := f.mergeInto(inner, below, path+key+"."); err != nil {
			return err
		}
	}
	return nil
}

// keyIn returns the key in the spelling of the lower layers.
func (f Format) keyIn(lower map[string]any, key string) string {
	if _, known := lower[key]; known || !f.IgnoreCase {
		return key
	}
	for _, known := range slices.Sorted(maps.Keys(lower)) {
		if strings.EqualFold(known, key) {
			return known
		}
	}
	return key
}
