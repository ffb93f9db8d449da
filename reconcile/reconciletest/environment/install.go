package environment

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// install applies every object of the resources in folder/kustomization.yaml, in order, as kubectl apply --server-side does, and fails
// the test if an object has an unknown field. It supports files as resources, and patches that are merged into the object with their kind
// and name, but no other features of kustomize. It returns the objects.
func install(t testing.TB, c client.Client, folder string) (applied []*unstructured.Unstructured) {
	t.Helper()

	text, err := os.ReadFile(filepath.Join(folder, "kustomization.yaml"))
	if err != nil {
		t.Fatalf("install: %v", err)
	}

	var kustomization struct {
		Resources []string `json:"resources"`
		Patches   []struct {
			Patch string `json:"patch"`
		} `json:"patches"`
	}
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		t.Fatalf("install: %s/kustomization.yaml: %v", folder, err)
	}

	for _, name := range kustomization.Resources {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatalf("install: %v", err)
		}

		applied = append(applied, decodeAll(t, name, text)...)
	}

	for _, p := range kustomization.Patches {
		for _, patch := range decodeAll(t, "kustomization.yaml", []byte(p.Patch)) {
			for _, object := range applied {
				if object.GetKind() == patch.GetKind() && object.GetName() == patch.GetName() {
					merge(object.Object, patch.Object)
				}
			}
		}
	}

	for _, object := range applied {
		if err := client.WithFieldValidation(c, "Strict").Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object.DeepCopy()),
			client.FieldOwner("installer"), client.ForceOwnership); err != nil {
			t.Fatalf("install: apply %s %s: %v", object.GetKind(), object.GetName(), err)
		}

		if object.GetKind() == "CustomResourceDefinition" {
			waitFor(t, c, object.DeepCopy(), "Established") // an operator that starts earlier exits
		}
	}

	return applied
}

// merge merges the values of from into into, objects recursively.
func merge(into, from map[string]any) {
	for key, value := range from {
		inner, object := value.(map[string]any)
		if present, both := into[key].(map[string]any); object && both {
			merge(present, inner)

			continue
		}

		into[key] = value
	}
}

// decodeAll reads the objects of a file.
func decodeAll(t testing.TB, name string, text []byte) (found []*unstructured.Unstructured) {
	t.Helper()

	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), len(text)+1)

	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatalf("read %s: %v", name, err)
		}

		if len(object.Object) > 0 {
			found = append(found, object)
		}
	}
}
