package content

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Intent returns the unstructured content of the fields that the author of an object has set.
func (e *Encoder) Intent(obj any) (map[string]any, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		value, err := e.unstructured(u.UnstructuredContent(), 0)
		if err != nil {
			return nil, err
		}
		content, _ := value.(map[string]any)
		if m, ok := content["status"].(map[string]any); ok && len(m) == 0 {
			delete(content, "status")
		}
		return content, nil
	}
	content, err := e.Object(obj)
	if err != nil {
		return nil, err
	}
	// Some types serialise the zero counters of an empty status.
	if status := structField(obj, "Status"); status.IsValid() && status.IsZero() {
		delete(content, "status")
	}
	return content, nil
}

// Planned returns [Encoder.Intent] without the identity of the object and fields that only the server sets. The stringData of a Secret is
// merged into its data.
func (e *Encoder) Planned(obj any, secret bool) (map[string]any, error) {
	content, err := e.Intent(obj)
	if err != nil {
		return nil, err
	}
	StripIdentity(content)
	if secret {
		MergeStringData(content)
	}
	return content, nil
}

func structField(obj any, name string) reflect.Value {
	v := reflect.Indirect(reflect.ValueOf(obj))
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.FieldByName(name)
}

// Live returns the content of an object as the API server sent it.
func (e *Encoder) Live(obj any) (map[string]any, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		return u.UnstructuredContent(), nil
	}
	return e.Object(obj)
}

// errNullItem is returned for a list with a null item. The item cannot be left out, because that would change the indexes of later items.
var errNullItem = errors.New("an item of a list is null, want a value")

// unstructured copies unstructured content without the nulls of maps, and encodes values of other Go types in it. A null in a list is an
// error.
func (e *Encoder) unstructured(value any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	switch x := value.(type) {
	case nil, string, bool, int64, json.Number:
		return x, nil
	case float64:
		return float(x, 64)
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, v := range x {
			below, err := e.unstructured(v, depth+1)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k, err)
			}
			if below != nil {
				out[k] = below
			}
		}
		return out, nil
	case []any:
		out := make([]any, 0, len(x))
		for i, v := range x {
			below, err := e.unstructured(v, depth+1)
			if err != nil {
				return nil, fmt.Errorf("%d: %w", i, err)
			}
			if below == nil {
				return nil, fmt.Errorf("%d: %w", i, errNullItem)
			}
			out = append(out, below)
		}
		return out, nil
	}
	return e.dynamic(reflect.ValueOf(value), depth+1)
}

// StripIdentity removes the identity of the object and the fields that only the server sets.
func StripIdentity(content map[string]any) {
	delete(content, "apiVersion")
	delete(content, "kind")
	metadata, ok := content["metadata"].(map[string]any)
	if !ok {
		return
	}
	for name := range metadata {
		switch name {
		case "labels", "annotations", "ownerReferences", "finalizers":
		default:
			delete(metadata, name)
		}
	}
	if len(metadata) == 0 {
		delete(content, "metadata")
	}
}

// MergeStringData moves the write-only stringData of a Secret to data, where
// it can be owned and compared.
func MergeStringData(content map[string]any) {
	text, ok := content["stringData"].(map[string]any)
	if !ok {
		return
	}
	delete(content, "stringData")
	for name, value := range text {
		if s, ok := value.(string); ok {
			data, ok := content["data"].(map[string]any)
			if !ok {
				data = map[string]any{}
				content["data"] = data
			}
			data[name] = base64.StdEncoding.EncodeToString([]byte(s))
		}
	}
}

// Body encodes content as the body of an apply. A UID makes the server refuse to change another object, or to create one.
func Body(content map[string]any, gvk schema.GroupVersionKind, key types.NamespacedName, uid types.UID) ([]byte, error) {
	return PinnedBody(content, gvk, key, uid, "")
}

// PinnedBody is [Body] with an optional resourceVersion, which makes the server refuse to change another version.
func PinnedBody(
	content map[string]any, gvk schema.GroupVersionKind, key types.NamespacedName, uid types.UID, version string,
) ([]byte, error) {
	out := make(map[string]any, len(content)+2)
	maps.Copy(out, content)
	metadata := map[string]any{"name": key.Name}
	if given, ok := content["metadata"].(map[string]any); ok {
		maps.Copy(metadata, given)
	}
	if key.Namespace != "" {
		metadata["namespace"] = key.Namespace
	}
	if uid != "" {
		metadata["uid"] = string(uid)
	}
	if version != "" {
		metadata["resourceVersion"] = version
	}
	out["apiVersion"], out["kind"] = gvk.ToAPIVersionAndKind()
	out["metadata"] = metadata
	return json.Marshal(out)
}
