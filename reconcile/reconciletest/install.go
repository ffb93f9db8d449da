package reconciletest

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

// Install applies every object of the resources that folder/kustomization.yaml lists, in that order, as kubectl apply --server-side
// does, and fails the test where one has a field that its kind does not have. Resources are files: what kustomize does beyond that,
// patches above all, is not done.
func Install(t testing.TB, c client.Client, folder string) {
	t.Helper()

	text, err := os.ReadFile(filepath.Join(folder, "kustomization.yaml"))
	if err != nil {
		t.Fatalf("install: %v", err)
	}

	var kustomization struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		t.Fatalf("install: %s/kustomization.yaml: %v", folder, err)
	}

	for _, name := range kustomization.Resources {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatalf("install: %v", err)
		}

		installFile(t, c, name, text)
	}
}

func installFile(t testing.TB, c client.Client, name string, text []byte) {
	t.Helper()

	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), len(text)+1)

	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("install: %s: %v", name, err)
		}

		if len(object.Object) == 0 {
			continue
		}

		if err := client.WithFieldValidation(c, "Strict").Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object),
			client.FieldOwner("installer"), client.ForceOwnership); err != nil {
			t.Fatalf("install: %s: apply %s %s: %v", name, object.GetKind(), object.GetName(), err)
		}
	}
}
