package chart_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

type objects map[string]map[string]any

// add adds an object without the fields that only Helm sets.
func (o objects) add(object map[string]any) {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return
	}
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		delete(annotations, "helm.sh/resource-policy")
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	namespace, _ := metadata["namespace"].(string)
	o[object["kind"].(string)+" "+namespace+"/"+metadata["name"].(string)] = object
}

// TestSame checks that a chart installed into the namespace of the kustomization creates the same objects, except for
// the namespace.
func TestSame(t *testing.T) {
	t.Parallel()
	charts, err := filepath.Glob("../../examples/*/chart")
	if err != nil || len(charts) == 0 {
		t.Fatalf("no charts found: %v", err)
	}
	for _, folder := range charts {
		t.Run(filepath.Base(filepath.Dir(folder)), func(t *testing.T) {
			t.Parallel()
			want, namespace := kustomized(t, filepath.Join(filepath.Dir(folder), "config"))
			if diff := cmp.Diff(want, rendered(t, folder, namespace)); diff != "" {
				t.Errorf("the chart differs from the kustomization (-kustomization +chart):\n%s", diff)
			}
		})
	}
}

// kustomized returns the objects of a kustomization and the namespace that it creates.
func kustomized(t *testing.T, folder string) (found objects, namespace string) {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	found = objects{}
	for _, resource := range built.Resources() {
		object, err := resource.Map()
		if err != nil {
			t.Fatal(err)
		}
		if resource.GetKind() == "Namespace" {
			namespace = resource.GetName()
			continue
		}
		text, err := yaml.Marshal(object) // for the same number types as in the chart
		if err == nil {
			object = nil
			err = yaml.Unmarshal(text, &object)
		}
		if err != nil {
			t.Fatal(err)
		}
		found.add(object)
	}
	return found, namespace
}

// rendered returns the objects of a release in the namespace.
func rendered(t *testing.T, folder, namespace string) objects {
	t.Helper()
	loaded, err := loader.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	values, err := commonutil.ToRenderValues(loaded, nil,
		common.ReleaseOptions{Name: loaded.Name(), Namespace: namespace, IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(loaded, values)
	if err != nil {
		t.Fatal(err)
	}
	found := objects{}
	for name, text := range files {
		if strings.HasSuffix(name, "/NOTES.txt") {
			continue
		}
		for document := range strings.SplitSeq(text, "\n---\n") {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			found.add(object)
		}
	}
	return found
}
